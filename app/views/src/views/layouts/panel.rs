//! A lesson next to the layouts: its text, its question, and its navigation.

use std::sync::Arc;

use egui::{
    Align, Button, Frame, Key, Layout, Margin, Modifiers, RichText, Role, ScrollArea, Sense,
    Stroke, Ui, Vec2, WidgetInfo, vec2,
};
use sparsescope_core::matrix::Csr;
use sparsescope_figures::lesson::{Lesson, Move, Step};
use sparsescope_figures::model::Model;
use sparsescope_figures::state::ViewState;
use sparsescope_figures::theme::{BODY, TITLE};
use sparsescope_figures::views::layouts::numbers::Texts;

use super::stepper::stepper;
use crate::shell::{COPY_LINK, SAVE_LESSON, action_button, is_alone};
use crate::style::{self, strong};

/// The choice of a lesson.
pub(super) fn menu(ui: &mut Ui, model: &Model, state: &mut ViewState) {
    let button = ui.menu_button("Lessons", |ui| {
        for lesson in model.lessons.iter() {
            let steps = lesson.steps.len();
            let hover = format!("{steps} steps, language {}", lesson.language);
            if ui.button(&lesson.title).on_hover_text(hover).clicked() {
                lesson.show(0, false, state);
            }
        }
        ui.separator();
        ui.weak("A lesson is a file. Drop your own here.");
    });
    button.response.on_hover_text("Go through the layouts step by step, with questions");
}

/// The moves requested by keys. Presenters' remotes have PageUp and PageDown.
fn keys(ui: &Ui, walking: bool) -> Option<Move> {
    if ui.ctx().text_edit_focused() {
        return None;
    }
    let free = ui.ctx().memory(|memory| memory.focused().is_none());
    let keys = [
        (Key::PageDown, Move::Forward, true),
        (Key::PageUp, Move::Back, true),
        (Key::Space, Move::Reveal, free),
        (Key::Enter, Move::Reveal, free),
        // Otherwise these keys move through the steps of a kernel.
        (Key::ArrowRight, Move::Forward, free && !walking),
        (Key::ArrowLeft, Move::Back, free && !walking),
    ];
    let pressed = |key| ui.input_mut(|input| input.consume_key(Modifiers::NONE, key));
    keys.into_iter().find(|&(key, _, may)| may && pressed(key)).map(|(_, to, _)| to)
}

/// The lesson's step and its controls. `steps` is the number of steps of the followed kernel; with `walking`,
/// the view has steps of its own.
pub(super) fn show(
    ui: &mut Ui,
    lesson: &Lesson,
    texts: Arc<Texts>,
    state: &mut ViewState,
    steps: Option<u32>,
    walking: bool,
) {
    let asked = keys(ui, walking || steps.is_some());
    let page = state.layouts.lesson.as_ref().map_or(0, |(_, page)| *page);
    let page = page.min(lesson.steps.len().saturating_sub(1) as u32);
    let Some(step) = lesson.step(page) else { return };
    let mut to = asked;
    let alone = is_alone(ui);
    ui.set_max_width(ui.max_rect().width());
    ui.with_layout(Layout::bottom_up(Align::Min), |ui| {
        // On a phone one line, for the text needs the space.
        let phone = style::is_phone(ui.ctx());
        ui.horizontal_wrapped(|ui| {
            way(ui, lesson, page, &mut to);
            match steps {
                Some(most) if phone => stepper(ui, &mut state.layouts, most),
                _ if alone => {}
                _ => drop(ui.checkbox(&mut state.layouts.tools, "Settings")),
            }
        });
        if let Some(most) = steps.filter(|_| !phone) {
            ui.horizontal_wrapped(|ui| stepper(ui, &mut state.layouts, most));
        }
        ui.separator();
        ui.with_layout(Layout::top_down(Align::Min), |ui| {
            ScrollArea::vertical().auto_shrink(false).id_salt(("step", page)).show(ui, |ui| {
                ui.spacing_mut().item_spacing.y = 4.0;
                style::button_lines(ui);
                let (number, all) = (page + 1, lesson.steps.len());
                ui.weak(format!("{}: step {number} of {all}", lesson.title));
                ui.horizontal_wrapped(|ui| {
                    let hint = "Leave the lesson and keep what is shown";
                    if !alone && style::quiet_button(ui, "Leave").on_hover_text(hint).clicked() {
                        state.layouts.lesson = None;
                    }
                    // An audience needs the space for the text; keys do the same.
                    if !state.present {
                        action_button(ui, COPY_LINK, "Copy link to this step");
                        action_button(ui, SAVE_LESSON, "Save this lesson as one HTML file");
                    }
                    if phone && steps.is_some() && !alone {
                        ui.checkbox(&mut state.layouts.tools, "Settings");
                    }
                });
                let title = RichText::new(&step.title).font(strong(ui.ctx(), TITLE));
                style::live_label(ui, title);
                texts.text.iter().for_each(|text| style::live_label(ui, text));
                question(ui, step, &texts, state, &mut to);
            });
        });
    });
    if let Some(to) = to {
        lesson.go(to, state);
    }
}

fn way(ui: &mut Ui, lesson: &Lesson, page: u32, to: &mut Option<Move>) {
    let mut button = |text: &str, name: &str, may: bool, key: &str, wanted: Move| {
        let button = ui.add_enabled(may, Button::new(text));
        button.widget_info(|| WidgetInfo::labeled(Role::Button, may, name));
        if button.on_hover_text(format!("{name} ({key})")).clicked() {
            *to = Some(wanted);
        }
    };
    button("Back", "Lesson: previous step", page > 0, "PageUp", Move::Previous);
    let more = page as usize + 1 < lesson.steps.len();
    button("Next", "Lesson: next step", more, "PageDown, which first shows the answer", Move::Next);
}

/// The question to the class, and the answer once it is shown.
fn question(ui: &mut Ui, step: &Step, texts: &Texts, state: &mut ViewState, to: &mut Option<Move>) {
    let Some(ask) = &texts.ask else { return };
    let told = state.layouts.told;
    ui.add_space(4.0);
    let ask = RichText::new(ask).font(strong(ui.ctx(), BODY));
    style::live_label(ui, ask);
    for (number, choice) in texts.choices.iter().enumerate() {
        let chosen = state.layouts.guess == Some(number as u32);
        let right = step.right == Some(number);
        let word = match (told, chosen, right) {
            (true, true, true) => "chosen and right",
            (true, false, true) => "right",
            (true, true, false) => "chosen, but wrong",
            (false, true, _) => "chosen",
            _ => "",
        };
        let text = if word.is_empty() { choice.clone() } else { format!("{choice} ({word})") };
        ui.horizontal(|ui| {
            sign(ui, told, chosen, right);
            let button = Button::selectable(chosen, &text).wrap();
            let button = ui.add(button.min_size(style::least_size(ui.ctx())));
            button.widget_info(|| {
                WidgetInfo::selected(Role::Button, !told, chosen, format!("Choice: {text}"))
            });
            if button.clicked() && !told {
                state.layouts.guess = Some(number as u32);
            }
        });
    }
    if !told {
        let hover = "Show the answer (Space, Enter, PageDown)";
        if style::filled_button(ui, "Reveal").on_hover_text(hover).clicked() {
            *to = Some(Move::Reveal);
        }
        return;
    }
    let stroke = Stroke::new(2.0, ui.visuals().hyperlink_color);
    let frame = Frame::new().stroke(stroke).inner_margin(Margin::same(6));
    let shown = frame.show(ui, |ui| {
        ui.set_width(ui.available_width());
        texts.answer.iter().for_each(|text| style::live_label(ui, text));
    });
    // Where space is short the answer matters most: scrolled to once.
    let place = egui::Id::unique("answer of a lesson's step");
    let told = (state.layouts.lesson.clone(), shown.response.rect.height().to_bits());
    if ui.data(|data| data.get_temp(place)) != Some(told.clone()) {
        ui.data_mut(|data| data.insert_temp(place, told));
        shown.response.scroll_to_me(Some(Align::BOTTOM));
    }
}

/// A tick, a cross, a full or an empty circle, with the same meaning as the words beside it.
fn sign(ui: &mut Ui, told: bool, chosen: bool, right: bool) {
    let (space, _) = ui.allocate_exact_size(Vec2::splat(16.0), Sense::hover());
    let stroke = Stroke::new(2.0, ui.visuals().text_color());
    let at = |x: f32, y: f32| space.min + vec2(x, y);
    let painter = ui.painter();
    match (told && right, told && chosen) {
        (true, _) => drop(painter.line(vec![at(2.0, 8.0), at(6.0, 13.0), at(14.0, 3.0)], stroke)),
        (false, true) => {
            painter.line_segment([at(3.0, 3.0), at(13.0, 13.0)], stroke);
            painter.line_segment([at(13.0, 3.0), at(3.0, 13.0)], stroke);
        }
        _ => {
            painter.circle_stroke(space.center(), 5.0, stroke);
            if chosen {
                painter.circle_filled(space.center(), 3.0, stroke.color);
            }
        }
    }
}

/// The texts of the current step with their numbers, computed once.
pub(super) fn counted(
    ui: &Ui,
    lesson: &Lesson,
    state: &ViewState,
    selected: Option<&Csr<f64>>,
) -> Arc<Texts> {
    type Known = (Step, Option<Csr<f64>>, Arc<Texts>);
    let page = state.layouts.lesson.as_ref().map_or(0, |(_, page)| *page);
    let Some(step) = lesson.step(page) else { return Arc::default() };
    let place = egui::Id::unique(("texts of a lesson", &lesson.id, page));
    let known: Option<Arc<Known>> = ui.data(|data| data.get_temp(place));
    if let Some(known) = known.filter(|known| known.0 == *step && known.1.as_ref() == selected) {
        return known.2.clone();
    }
    let texts = Arc::new(Texts::counted(step, selected).unwrap_or_else(Texts::only));
    let known: Arc<Known> = Arc::new((step.clone(), selected.cloned(), texts.clone()));
    ui.data_mut(|data| data.insert_temp(place, known));
    texts
}
