//! Playback of the levels of a sweep or the steps of an algorithm: buttons, keys, a slider, and autoplay.

use egui::{
    Button, Color32, Id, Key, Modifiers, Role, Slider, TextStyle, Ui, Vec2, WidgetInfo, vec2,
};

use crate::style;

/// Labels of the controls.
pub(super) struct Words {
    pub(super) back: &'static str,
    pub(super) next: &'static str,
    /// Label of the slider.
    pub(super) done: &'static str,
    /// Leaves the playback; and what is shown then.
    pub(super) all: &'static str,
    pub(super) all_shows: &'static str,
}

/// The words of the button that starts autoplay and stops it.
const PLAY: &str = "Play";
const PAUSE: &str = "Pause";
/// Autoplay takes about this many seconds, with a minimum number of steps per second.
const SECONDS: f32 = 12.0;
const LEAST_RATE: f32 = 3.0;

/// Whether autoplay is on, with the elapsed part of a step.
#[derive(Clone, Copy, Default)]
struct Playing(Option<f32>);

/// The steps done after `seconds` more, if `part` of one has elapsed, and the new elapsed part; `most` is the
/// end.
fn advanced(step: u32, part: f32, seconds: f32, most: u32) -> (u32, f32) {
    let rate = (most as f32 / SECONDS).max(LEAST_RATE);
    let passed = part + rate * seconds;
    (step.saturating_add(passed as u32).min(most), passed.fract())
}

/// The controls for `most` steps, of which `shown` are done if playback is on.
pub(super) fn player(ui: &mut Ui, shown: &mut Option<u32>, most: u32, words: &Words) {
    let id = Id::unique(("goes on by itself", words.done));
    let Playing(mut playing) = ui.data(|data| data.get_temp(id)).unwrap_or_default();
    let free = ui.ctx().memory(|memory| memory.focused().is_none());
    let pressed =
        |ui: &mut Ui, key| free && ui.input_mut(|input| input.consume_key(Modifiers::NONE, key));
    let now = shown.map(|step| step.min(most));
    let least = style::least_size(ui.ctx());
    // As wide as the wider word: what follows must not move.
    let font = TextStyle::Button.resolve(ui.style());
    let width = |word: &str| {
        let galley = ui.painter().layout_no_wrap(word.into(), font.clone(), Color32::PLACEHOLDER);
        galley.size().x + 2.0 * ui.spacing().button_padding.x
    };
    let wide = least.max(vec2(width(PLAY).max(width(PAUSE)), 0.0));
    let button = |ui: &mut Ui, name: &'static str, text: &str, size: Vec2, may: bool| {
        let keys = "Arrow keys step, Space plays, Home and End go to the start and end";
        let button = Button::new(text).min_size(size);
        let button = ui.add_enabled(may, button).on_hover_text(keys);
        button.widget_info(|| WidgetInfo::labeled(Role::Button, may, name));
        button.clicked()
    };
    let back = button(ui, words.back, "‹", least, now.is_some_and(|step| step > 0));
    let word = if playing.is_some() { PAUSE } else { PLAY };
    let play = button(ui, word, word, wide, true);
    let on = button(ui, words.next, "›", least, now.is_none_or(|step| step < most));
    let next = |step: Option<u32>| step.map_or(0, |step| (step + 1).min(most));
    let mut to = now;
    if back || pressed(ui, Key::ArrowLeft) {
        (to, playing) = (now.map(|step| step.saturating_sub(1)), None);
    }
    if on || pressed(ui, Key::ArrowRight) {
        (to, playing) = (Some(next(now)), None);
    }
    if pressed(ui, Key::Home) {
        (to, playing) = (Some(0), None);
    }
    if pressed(ui, Key::End) {
        (to, playing) = (Some(most), None);
    }
    if play || pressed(ui, Key::Space) {
        playing = if playing.is_some() { None } else { Some(0.0) };
        if playing.is_some() {
            to = Some(now.filter(|step| *step < most).unwrap_or(0));
        }
    }
    if let (Some(part), Some(step)) = (playing, to) {
        let seconds = ui.input(|input| input.stable_dt).min(0.1);
        let (step, part) = advanced(step, part, seconds, most);
        to = Some(step);
        playing = (step < most).then_some(part);
        ui.ctx().request_repaint();
    }
    let mut step = to.unwrap_or(0);
    let all = ui.available_width();
    ui.spacing_mut().slider_width = (all - 600.0).clamp(100.0, 360.0);
    let slider = ui.add(Slider::new(&mut step, 0..=most).show_value(false));
    slider.widget_info(|| WidgetInfo::slider(true, f64::from(step), words.done));
    if slider.changed() {
        (to, playing) = (Some(step), None);
    }
    let all = ui.add_enabled(to.is_some(), Button::new(words.all));
    if all.on_hover_text(words.all_shows).clicked() {
        (to, playing) = (None, None);
    }
    *shown = to;
    ui.data_mut(|data| data.insert_temp(id, Playing(playing)));
}

/// Describes a step, in the height of the longest text of all steps: what is below must not move.
pub(super) fn describe(ui: &mut Ui, words: String, longest: String) {
    let (font, width) = (TextStyle::Body.resolve(ui.style()), ui.available_width());
    let lines = ui.painter().layout(longest, font, Color32::PLACEHOLDER, width);
    ui.scope(|ui| {
        ui.set_min_height(lines.size().y);
        ui.label(words);
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sweep_of_any_length_ends_in_time_and_short_ones_are_slow_enough_to_be_followed() {
        for (most, expected) in [(15, 5.0), (36, 12.0), (1786, 12.0), (1_000_000, 12.0)] {
            let (mut step, mut part, mut seconds) = (0, 0.0, 0.0);
            while step < most {
                (step, part) = advanced(step, part, 1.0 / 60.0, most);
                seconds += 1.0 / 60.0;
            }
            assert!((seconds - expected as f32).abs() < 0.2, "{most} levels in {seconds} s");
        }
    }
}
