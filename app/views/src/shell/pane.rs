//! A view in its pane: a sentence on what it shows, its settings and its export in one line, and the view.

use egui::scroll_area::ScrollBarVisibility;
use egui::{
    Align, Align2, FontId, Frame, Id, Label, Layout, Panel, Popup, PopupCloseBehavior, Rect,
    RichText, Role, ScrollArea, Sense, Ui, UiKind, UiStackInfo, WidgetInfo, vec2,
};
use sparsescope_figures::figure::elided_at_word;
use sparsescope_figures::model::Model;
use sparsescope_figures::state::ViewState;
use sparsescope_figures::theme::{BODY, SMALL, SPACE};
use sparsescope_figures::views::{View, draws_its_lesson, teaches};

pub(super) use super::export::Saved;
use super::export_menu::show as export;
use crate::style::{self, LINE};
use crate::views::{self, layouts};

/// The use of a view.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Purpose {
    /// Work, among this many panes.
    Work(usize),
    /// A presentation, below a bar of its own.
    Audience,
}

/// Minimum height of a pane with controls on a phone.
const WITH_CONTROLS: f32 = 280.0;

/// Width of the buttons after the settings on a phone.
const BUTTONS: f32 = 140.0;

/// Minimum width of the sentence on a view.
const SENTENCE: f32 = 140.0;

/// Draws the view into the whole pane.
pub(super) fn show(
    ui: &mut Ui,
    view: &View,
    model: &Model,
    state: &mut ViewState,
    saved: &mut Saved,
    purpose: Purpose,
) {
    let several = matches!(purpose, Purpose::Work(2..));
    let side = if several { 10.0 } else { 16.0 };
    let rect = ui.max_rect().shrink2(vec2(side, 8.0));
    ui.scope_builder(egui::UiBuilder::new().max_rect(rect).id_salt(view.id), |ui| {
        ui.set_clip_rect(ui.clip_rect().intersect(rect.expand2(vec2(side, 8.0))));
        let teaches = teaches(view, model, state);
        if purpose != Purpose::Audience && (!teaches || state.layouts.tools) {
            if !style::is_phone(ui.ctx()) {
                head(ui, view, model, state, saved, several);
                ui.add_space(SPACE * 0.5);
            } else if ui.available_height() >= WITH_CONTROLS {
                // The picture comes first, then its controls.
                let panel = Panel::bottom(ui.scope_id().with("below")).show_separator_line(true);
                let in_a_line = Settings::of(ui, view).width + BUTTONS <= ui.available_width();
                panel.frame(Frame::NONE).show(ui, |ui| {
                    ui.add_space(6.0);
                    if !in_a_line {
                        settings(ui, view, model, state);
                    }
                    ui.horizontal(|ui| {
                        if in_a_line {
                            settings(ui, view, model, state);
                        }
                        more(ui, view, model, state, several);
                        export(ui, view, model, state, saved, several);
                    });
                });
            }
        }
        let draw = |ui: &mut Ui, state: &mut ViewState| views::show(ui, view, model, state);
        if teaches && !draws_its_lesson(view) {
            layouts::beside(ui, model, state, draw);
        } else {
            draw(ui, state);
        }
    });
}

/// The line above the view: from the right its export and its rarer settings, from the left the sentence, if
/// there is space, and its settings.
fn head(
    ui: &mut Ui,
    view: &View,
    model: &Model,
    state: &mut ViewState,
    saved: &mut Saved,
    several: bool,
) {
    let line = vec2(ui.available_width(), ui.spacing().interact_size.y.max(LINE));
    ui.allocate_ui_with_layout(line, Layout::right_to_left(Align::Center), |ui| {
        export(ui, view, model, state, saved, several);
        more(ui, view, model, state, several);
        ui.with_layout(Layout::left_to_right(Align::Center), |ui| {
            sentence(ui, view);
            settings(ui, view, model, state);
        });
    });
}

/// The sentence in what the settings leave of the line; only for screen readers if that is too little.
fn sentence(ui: &mut Ui, view: &View) {
    let room = ui.available_width() - Settings::of(ui, view).width - 2.0 * SPACE;
    if room >= SENTENCE {
        let shown = elided_at_word(view.sentence, room - SPACE, SMALL);
        let is_cut = shown != view.sentence;
        let label = ui.add(Label::new(RichText::new(shown).small().weak()).extend());
        label.widget_info(|| WidgetInfo::labeled(Role::Label, true, view.sentence));
        if is_cut {
            label.on_hover_text(view.sentence);
        }
        ui.add_space(SPACE);
    } else {
        let place = Rect::from_min_size(ui.max_rect().min, vec2(1.0, LINE));
        let silent = ui.interact(place, ui.scope_id().with("sentence"), Sense::hover());
        silent.widget_info(|| WidgetInfo::labeled(Role::Label, true, view.sentence));
    }
}

/// What the last frame has measured of a view's settings.
#[derive(Clone, Copy)]
struct Settings {
    width: f32,
    /// They fitted into their line.
    fit: bool,
}

impl Settings {
    fn id(view: &View) -> Id {
        Id::unique(("settings", view.id))
    }

    fn of(ui: &Ui, view: &View) -> Self {
        let known = ui.data(|data| data.get_temp(Self::id(view)));
        known.unwrap_or(Self { width: f32::INFINITY, fit: true })
    }
}

/// The view's settings in one line; if they do not fit, it ends with an ellipsis and scrolls, and all of them are
/// behind the button of [`more`], too.
pub(super) fn settings(ui: &mut Ui, view: &View, model: &Model, state: &mut ViewState) {
    let before = Settings::of(ui, view);
    let available = ui.available_width();
    let line = ScrollArea::horizontal().id_salt(view.id).auto_shrink(true);
    let line =
        line.scroll_bar_visibility(ScrollBarVisibility::AlwaysHidden).min_scrolled_width(0.0);
    let drawn = line.show(ui, |ui| {
        style::button_lines(ui);
        ui.horizontal(|ui| views::settings(ui, view, model, state));
    });
    let width = drawn.content_size.x;
    if width > drawn.state.clamped_offset().x + drawn.inner_rect.width() + 0.5 {
        let mut end = drawn.inner_rect.with_min_x(drawn.inner_rect.right() - 2.0 * SPACE);
        end.set_height(drawn.content_size.y);
        ui.painter().rect_filled(end, 0.0, ui.visuals().panel_fill);
        let (font, color) = (FontId::proportional(BODY), ui.visuals().text_color());
        ui.painter().text(end.center(), Align2::CENTER_CENTER, "…", font, color);
    }
    let now = Settings { width, fit: width <= available + 0.5 };
    if (now.width - before.width).abs() > 0.5 || now.fit != before.fit {
        ui.data_mut(|data| data.insert_temp(Settings::id(view), now));
        ui.ctx().request_repaint();
    }
}

/// The button "More" with the view's rarer settings, and with all that do not fit into their line.
pub(super) fn more(ui: &mut Ui, view: &View, model: &Model, state: &mut ViewState, several: bool) {
    let (rest, fit) = (views::more(view), Settings::of(ui, view).fit);
    if rest.is_none() && fit {
        return;
    }
    let button = style::quiet_button(ui, "More");
    if several {
        let name = format!("More settings of {}", view.name);
        button.widget_info(|| WidgetInfo::labeled(Role::Button, true, name.as_str()));
    }
    let id = Id::unique(("more settings", view.id));
    let mut open = ui.data(|data| data.get_temp::<bool>(id)).unwrap_or_default();
    open ^= button.clicked();
    // The popup stays open while its own menus are used, which are not menus of a menu.
    let inner_menu = Popup::is_any_open(ui.ctx());
    let popup = Popup::from_response(&button).info(UiStackInfo::new(UiKind::GenericArea));
    let popup = popup.open_bool(&mut open).close_behavior(PopupCloseBehavior::IgnoreClicks);
    let shown = popup.show(|ui| {
        ui.set_max_width(360.0);
        style::button_lines(ui);
        if !fit {
            ui.horizontal_wrapped(|ui| views::settings(ui, view, model, state));
        }
        if let Some(rest) = rest {
            rest(ui, model, state);
        }
    });
    let elsewhere = shown.is_some_and(|shown| shown.response.clicked_elsewhere());
    if elsewhere && !inner_menu && !button.clicked() {
        open = false;
    }
    ui.data_mut(|data| data.insert_temp(id, open));
}

#[cfg(test)]
mod tests {
    use egui::Shape;
    use egui_kittest::Harness;

    use crate::shell::App;

    #[test]
    fn settings_that_do_not_fit_end_with_an_ellipsis() {
        for (width, is_cut) in [(390.0, true), (1920.0, false)] {
            let mut app = App::new();
            app.open_bytes("cpu.zip", include_bytes!("../../../example/cpu.zip"));
            app.follow("v1;view=levels;levels-of=grid9x8");
            let mut harness = Harness::builder()
                .with_size([width, 844.0])
                .with_max_steps(1000)
                .build_ui_state(|ui, app: &mut App| app.ui(ui), app);
            harness.run();
            let is_ellipsis =
                |shape: &Shape| matches!(shape, Shape::Text(text) if text.galley.text() == "…");
            let found = harness.output().shapes.iter().any(|of| is_ellipsis(&of.shape));
            assert_eq!(found, is_cut, "{width}");
        }
    }
}
