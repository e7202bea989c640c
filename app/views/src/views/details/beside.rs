//! A few runs side by side.

use egui::{Label, Layout, RichText, Role, ScrollArea, Ui, WidgetInfo, vec2};
use sparsescope_figures::model::{Model, RunOf};
use sparsescope_figures::state::{MOST_BESIDE, ViewState};
use sparsescope_figures::theme::{BODY, SPACE};
use sparsescope_figures::views::runs::beside::{Compared, compared};

use super::parts::{close, quiet, swatch};
use crate::style::strong;
use crate::views::view::kept;

/// Width of the names.
const NAMES: f32 = 136.0;
/// Least width of a run's column.
const COLUMN: f32 = 160.0;

pub(super) fn show(ui: &mut Ui, model: &Model, runs: &[RunOf<'_>], state: &mut ViewState) {
    ui.horizontal(|ui| {
        close(ui, state);
        let font = strong(ui.ctx(), BODY);
        ui.label(RichText::new(format!("{} runs side by side", runs.len())).font(font));
        let is_new = state.run.is_some_and(|run| model.key_beside(state, run).is_none());
        let more = runs.len() < MOST_BESIDE && is_new;
        if more && quiet(ui, "Add another", state).on_hover_text("Then select it").clicked() {
            state.keep_beside();
        }
    });
    ui.weak("≠ marks what differs.");
    let keys: Vec<String> = runs.iter().map(RunOf::link_key).collect();
    let lines = kept(ui, "details: beside", (model.revision(), keys), || compared(runs));
    ScrollArea::both().id_salt("runs side by side").auto_shrink([false, true]).show(ui, |ui| {
        let share = (ui.available_width() - NAMES) / runs.len() as f32;
        let width = (share - SPACE).max(COLUMN);
        titles(ui, model, runs, width, state);
        let mut group = "";
        for line in lines.iter() {
            if line.group != group {
                group = line.group;
                ui.add_space(SPACE);
                let font = strong(ui.ctx(), BODY);
                ui.label(RichText::new(group).font(font));
            }
            show_line(ui, line, width);
        }
    });
}

/// The colour of each run's format, and the button that removes the run.
fn titles(ui: &mut Ui, model: &Model, runs: &[RunOf<'_>], width: f32, state: &mut ViewState) {
    let mut removed = None;
    ui.horizontal_top(|ui| {
        cell(ui, NAMES, |_| ());
        for run in runs {
            cell(ui, width, |ui| {
                ui.horizontal(|ui| {
                    swatch(ui, run.run.format());
                    let remove = ui.small_button("×");
                    let words = format!("Remove {} on {}", run.run.kernel, run.name());
                    remove.widget_info(|| WidgetInfo::labeled(Role::Button, true, &words));
                    if remove.on_hover_text("Remove this run from the comparison").clicked() {
                        removed = Some(run.index);
                    }
                });
            });
        }
    });
    if removed.is_some() {
        // A key may name the bundle of another run than the one shown for it.
        state.beside.retain(|key| model.run_of_key(key) != removed);
        if state.run == removed {
            (state.run, state.run_key) = (None, state.beside.pop().unwrap_or_default());
        }
    }
}

fn show_line(ui: &mut Ui, line: &Compared, width: f32) {
    ui.horizontal_top(|ui| {
        let name = match line.differs {
            true => format!("≠ {}", line.name),
            false => line.name.to_owned(),
        };
        cell(ui, NAMES, |ui| {
            ui.weak(name);
        });
        for value in &line.values {
            let text = RichText::new(if value.is_empty() { "–" } else { value.as_str() });
            let text = match line.differs {
                true => text.font(strong(ui.ctx(), BODY)),
                false => text,
            };
            cell(ui, width, |ui| {
                ui.add(Label::new(text).wrap());
            });
        }
    });
}

/// An area of this width.
fn cell(ui: &mut Ui, width: f32, show: impl FnOnce(&mut Ui)) {
    let layout = Layout::top_down(egui::Align::Min);
    ui.allocate_ui_with_layout(vec2(width, 0.0), layout, |ui| {
        ui.set_width(width);
        show(ui);
    });
}
