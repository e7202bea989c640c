//! The look of the interface in each theme, and its kinds of buttons.

use std::sync::Arc;

use egui::accesskit::Live;
use egui::style::ScrollStyle;
use egui::{
    Button, Color32, Context, FontData, FontFamily, FontId, IntoAtoms, Response, RichText, Stroke,
    TextStyle, Ui, Visuals, WidgetText,
};
use sparsescope_figures::figure::SEMIBOLD;
use sparsescope_figures::state::Theme;
use sparsescope_figures::theme::{BODY, SMALL, SPACE, TITLE, blend};

/// Screens narrower than this are phones.
pub(crate) const PHONE: f32 = 420.0;
/// Minimum height of what a finger touches.
const TOUCH: f32 = 44.0;

/// The name of the semibold face and its family.
const STRONG: &str = "semibold";

fn family() -> FontFamily {
    FontFamily::Name(STRONG.into())
}

fn is_loaded(context: &Context) -> bool {
    context.fonts(|fonts| fonts.definitions().families.contains_key(&family()))
}

/// Adds the semibold face to the fonts, of which other characters are taken. It is there from the next frame
/// on.
fn load(context: &Context) {
    let mut all = context.fonts(|fonts| fonts.definitions().clone());
    all.font_data.insert(STRONG.into(), Arc::new(FontData::from_static(SEMIBOLD)));
    let others = all.families.get(&FontFamily::Proportional).cloned().unwrap_or_default();
    let faces = std::iter::once(STRONG.to_owned()).chain(others).collect();
    all.families.insert(family(), faces);
    context.set_fonts(all);
}

/// The semibold face at this size, for titles, winners and names; the usual face before it is there.
pub(crate) fn strong(context: &Context, size: f32) -> FontId {
    match is_loaded(context) {
        true => FontId::new(size, family()),
        false => FontId::proportional(size),
    }
}

/// Whether the screen is a phone's.
pub(crate) fn is_phone(context: &Context) -> bool {
    context.content_rect().width() < PHONE
}

/// Scroll bars that are always seen, each with a handle darker than its track.
pub(crate) fn show_scroll_bars(ui: &mut Ui) {
    ui.spacing_mut().scroll = ScrollStyle { foreground_color: true, ..ScrollStyle::solid() };
}

/// A button without a frame until the pointer or the keyboard is on it.
pub(crate) fn quiet<'a>(text: impl IntoAtoms<'a>) -> Button<'a> {
    Button::new(text).frame_when_inactive(false)
}

/// Adds a button without a frame until the pointer or the keyboard is on it.
pub(crate) fn quiet_button<'a>(ui: &mut Ui, text: impl IntoAtoms<'a>) -> Response {
    ui.add(quiet(text))
}

/// Height of a line with buttons.
pub(crate) const LINE: f32 = 24.0;

/// Adds a text that screen readers read when it appears.
pub(crate) fn live_label(ui: &mut Ui, text: impl Into<WidgetText>) {
    let label = ui.label(text);
    ui.ctx().accesskit_node_builder(label.id, |node| node.set_live(Live::Polite));
}

/// Makes the lines that follow as high as a button, which centres their widgets: a line that grows with its
/// widgets leaves the first ones where they were.
pub(crate) fn button_lines(ui: &mut Ui) {
    let height = ui.spacing().interact_size.y.max(LINE);
    ui.spacing_mut().interact_size.y = height;
}

/// Draws the buttons that follow without frames until the pointer or the keyboard is on them.
pub(crate) fn without_frames(ui: &mut Ui) {
    ui.visuals_mut().widgets.inactive.weak_bg_fill = Color32::TRANSPARENT;
}

/// The minimum size of a button with a short name: on a phone, that of what a finger touches.
pub(crate) fn least_size(context: &Context) -> egui::Vec2 {
    egui::Vec2::splat(if is_phone(context) { TOUCH } else { 0.0 })
}

/// Adds the most important button of a screen, filled with the accent colour. A screen has at most one.
pub(crate) fn filled_button(ui: &mut Ui, text: &str) -> Response {
    let (accent, paper) = (ui.visuals().hyperlink_color, ui.visuals().panel_fill);
    let text_color = ui.visuals().text_color();
    let near = blend(accent, text_color, 0.25);
    ui.scope(|ui| {
        let widgets = &mut ui.visuals_mut().widgets;
        widgets.inactive.weak_bg_fill = accent;
        widgets.hovered.weak_bg_fill = near;
        widgets.active.weak_bg_fill = near;
        widgets.active.bg_stroke.color = text_color;
        ui.add(Button::new(RichText::new(text).color(paper)))
    })
    .inner
}

/// Sets what buttons look like at rest, near the pointer and with the keyboard's focus.
fn buttons(visuals: &mut Visuals, theme: Theme) {
    let (ink, dark) = (theme.ink(), theme == Theme::Dark);
    let (rest, near) = if dark { (42, 58) } else { (240, 226) };
    let widgets = &mut visuals.widgets;
    widgets.noninteractive.bg_stroke = Stroke::new(1.0, ink.grid);
    widgets.inactive.weak_bg_fill = Color32::from_gray(rest);
    for of in [&mut widgets.hovered, &mut widgets.open, &mut widgets.active] {
        of.weak_bg_fill = Color32::from_gray(near);
        of.bg_stroke = Stroke::NONE;
    }
    widgets.active.bg_stroke = focus_ring(ink.accent);
}

/// The ring around what has the keyboard's focus.
pub(crate) fn focus_ring(accent: Color32) -> Stroke {
    Stroke::new(2.0, accent)
}

/// Applies the theme to the whole interface, scaled by `zoom`; on a phone, targets have a finger's height.
pub(crate) fn apply(theme: Theme, context: &Context, zoom: f32, phone: bool) {
    if !is_loaded(context) {
        load(context);
    }
    let (ink, dark) = (theme.ink(), theme == Theme::Dark);
    let mut visuals = if dark { Visuals::dark() } else { Visuals::light() };
    visuals.panel_fill = ink.paper;
    visuals.window_fill = ink.paper;
    visuals.override_text_color = Some(ink.text);
    visuals.weak_text_color = Some(ink.weak);
    visuals.hyperlink_color = ink.accent;
    visuals.faint_bg_color = if dark { Color32::from_gray(31) } else { Color32::from_gray(246) };
    visuals.extreme_bg_color = if dark { Color32::from_gray(10) } else { Color32::from_gray(232) };
    visuals.selection.bg_fill =
        if dark { Color32::from_rgb(22, 74, 110) } else { Color32::from_rgb(196, 224, 243) };
    visuals.selection.stroke = Stroke::new(1.5, visuals.hyperlink_color);
    buttons(&mut visuals, theme);
    visuals.text_cursor.blink = false; // each blink would be a frame
    context.set_theme(if dark { egui::Theme::Dark } else { egui::Theme::Light });
    // A frame may take longer than the limit of egui, which would lose the click.
    context.options_mut(|options| options.input_options.max_click_duration = f64::INFINITY);
    let usual = egui::style::Spacing::default().interact_size.y;
    context.all_styles_mut(|style| {
        style.visuals = visuals.clone();
        style.spacing.item_spacing = egui::vec2(SPACE, SPACE * 0.5);
        style.spacing.button_padding = egui::vec2(SPACE, SPACE * 0.5);
        style.spacing.interact_size.y = if phone { TOUCH } else { usual };
        style.spacing.scroll.dormant_handle_opacity = 0.4; // what scrolls is seen to do so
        let mut size = |text_style, size| {
            style.text_styles.insert(text_style, FontId::proportional(size));
        };
        size(TextStyle::Body, BODY);
        size(TextStyle::Button, BODY);
        size(TextStyle::Small, SMALL);
        size(TextStyle::Heading, TITLE);
    });
    context.set_zoom_factor(theme.scale() * zoom);
}

#[cfg(test)]
mod tests {
    use egui_kittest::Harness;
    use egui_kittest::kittest::Queryable as _;

    use super::*;

    #[test]
    fn a_press_of_two_seconds_is_a_click() {
        let button = |ui: &mut Ui, is_clicked: &mut bool| {
            apply(Theme::Light, ui.ctx(), 1.0, false);
            *is_clicked |= ui.button("Run").clicked();
        };
        let mut harness = Harness::builder().with_step_dt(1.0).build_ui_state(button, false);
        harness.run_steps(2);
        let at = harness.get_by_label("Run").rect().center();
        harness.drag_at(at);
        harness.run_steps(3);
        harness.drop_at(at);
        harness.run_steps(2);
        assert!(*harness.state());
    }
}
