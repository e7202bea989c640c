//! A view in its pane: a sentence on what it shows, its settings, its export, and the view.

use egui::scroll_area::ScrollBarVisibility;
use egui::{Align, Frame, Layout, Panel, Role, ScrollArea, Ui, WidgetInfo};
use sparsescope_figures::model::Model;
use sparsescope_figures::state::ViewState;
use sparsescope_figures::views::{View, draws_its_lesson, teaches};

use super::export::Export;
use super::export_menu::show as export;
use crate::views::{self, layouts};

/// Requested files, what was copied, and errors.
#[derive(Debug, Default)]
pub(super) struct Saved {
    pub(super) exports: Vec<Export>,
    pub(super) copied: Vec<String>,
    pub(super) failures: Vec<String>,
}

/// The use of a view.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Purpose {
    /// Work, among this many panes.
    Work(usize),
    /// A presentation, below a bar of its own.
    Audience,
}

/// Screens narrower than this are phones.
const PHONE: f32 = 420.0;
/// Panes narrower than this have the export below the settings.
const WIDE: f32 = 640.0;
/// Screens lower than this have no space for the sentence.
const LOW: f32 = 480.0;

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
    let rect = ui.max_rect().shrink2(egui::vec2(side, 8.0));
    ui.scope_builder(egui::UiBuilder::new().max_rect(rect).id_salt(view.id), |ui| {
        ui.set_clip_rect(ui.clip_rect().intersect(rect.expand2(egui::vec2(side, 8.0))));
        let teaches = teaches(view, model, state);
        if purpose != Purpose::Audience && (!teaches || state.layouts.tools) {
            if ui.ctx().content_rect().width() < PHONE {
                // The picture comes first, then its controls.
                let panel = Panel::bottom(ui.scope_id().with("below")).show_separator_line(true);
                panel.frame(Frame::NONE).show(ui, |ui| {
                    ui.add_space(6.0);
                    settings(ui, view, model, state);
                    ui.horizontal(|ui| export(ui, view, model, state, saved, several));
                });
            } else {
                ui.scope(|ui| head(ui, view, model, state, saved, several));
                ui.separator();
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

fn head(
    ui: &mut Ui,
    view: &View,
    model: &Model,
    state: &mut ViewState,
    saved: &mut Saved,
    several: bool,
) {
    let size = if several { 14.0 } else { 15.0 };
    let sentence = egui::Label::new(egui::RichText::new(view.sentence).size(size)).wrap();
    // Texts and buttons of a line are centred on each other.
    ui.spacing_mut().interact_size.y = 24.0;
    let wide = ui.available_width() >= WIDE;
    let low = ui.ctx().content_rect().height() < LOW;
    if wide {
        let line = egui::vec2(ui.available_width(), ui.spacing().interact_size.y);
        ui.allocate_ui_with_layout(line, Layout::right_to_left(Align::Center), |ui| {
            export(ui, view, model, state, saved, several);
            ui.with_layout(Layout::left_to_right(Align::Center), |ui| match low {
                true => settings(ui, view, model, state),
                false => drop(ui.add(sentence)),
            });
        });
    } else if !low {
        ui.add(sentence);
    }
    if !(wide && low) {
        settings(ui, view, model, state);
    }
    if !wide {
        ui.horizontal(|ui| export(ui, view, model, state, saved, several));
    }
}

/// The view's settings in one line; if they do not fit, the line scrolls and a button shows all of them.
pub(super) fn settings(ui: &mut Ui, view: &View, model: &Model, state: &mut ViewState) {
    let id = ui.scope_id().with(("width of the settings", view.id));
    let needed: f32 = ui.data(|data| data.get_temp(id)).unwrap_or_default();
    let available = ui.available_width();
    ui.horizontal(|ui| {
        ui.set_min_height(24.0);
        if needed > available {
            let all = ui.menu_button("Settings", |ui| {
                ui.set_max_width(420.0_f32.min(available));
                ui.horizontal_wrapped(|ui| views::settings(ui, view, model, state));
            });
            let name = format!("Settings of {}", view.name);
            all.response.widget_info(|| WidgetInfo::labeled(Role::Button, true, name.as_str()));
        }
        let line = ScrollArea::horizontal().id_salt(view.id).auto_shrink(true);
        let line = line.scroll_bar_visibility(ScrollBarVisibility::AlwaysHidden);
        let drawn = line.show(ui, |ui| {
            ui.horizontal(|ui| {
                ui.spacing_mut().interact_size.y = 24.0;
                views::settings(ui, view, model, state);
            });
        });
        let width = drawn.content_size.x;
        if (width - needed).abs() > 0.5 {
            ui.data_mut(|data| data.insert_temp(id, width));
            ui.ctx().request_repaint();
        }
    });
}
