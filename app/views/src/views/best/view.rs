//! The settings, the list or the heat table.

use egui::{ComboBox, Role, ScrollArea, Ui, WidgetInfo};
use sparsescope_figures::model::Model;
use sparsescope_figures::state::ViewState;
use sparsescope_figures::views::best::board::{Board, baselines};
use sparsescope_figures::views::best::{heat, solves};
use sparsescope_figures::views::view::no_run;

use super::list;
use crate::paint::Paint;
use crate::views::view::{Screen, kept, nothing};

pub(in crate::views) const SCREEN: Screen = Screen { settings, more: None, show };

fn settings(ui: &mut Ui, model: &Model, state: &mut ViewState) {
    for (heat, name) in [(false, "List"), (true, "All kernels")] {
        if ui.selectable_label(state.best.heat == heat, name).clicked() {
            state.best.heat = heat;
        }
    }
    if state.best.heat {
        return;
    }
    let offered = baselines(model, state);
    let found = offered.iter().find(|(word, _)| *word == state.best.over).or(offered.first());
    let shown = found.map_or("", |(_, name)| name.as_str()).to_owned();
    ui.label("Compare with");
    let combo = ComboBox::from_id_salt("over").selected_text(&shown).width(170.0);
    let combo = combo.show_ui(ui, |ui| {
        for (word, name) in &offered {
            ui.selectable_value(&mut state.best.over, word.clone(), name);
        }
    });
    let name = format!("Compare with: {shown}");
    combo.response.widget_info(|| WidgetInfo::labeled(Role::ComboBox, true, &name));
}

fn show(ui: &mut Ui, model: &Model, state: &mut ViewState) {
    let from = (model.revision(), state.filter.clone(), state.best.clone());
    let board = kept(ui, "best", from, || Board::of(model, state));
    if board.rows.is_empty() {
        let text = match model.count(&state.filter) {
            0 => no_run(model, state),
            _ => "No matching run passed its check with warm caches, in f64 or, for kernels without f64, in f32.".into(),
        };
        return nothing(ui, &text);
    }
    ui.label(summary(&board));
    let from = (model.revision(), state.filter.clone(), state.matrix.clone());
    let to_solution = kept(ui, "best: to the solution", from, || solves::summary(model, state));
    if !to_solution.is_empty() {
        ui.label(to_solution.as_str());
    }
    if state.best.heat {
        let from = (model.revision(), state.to_fragment());
        let figure = kept(ui, "best: heat", from, || heat::figure(&board, state.theme.ink()));
        let area = ScrollArea::both().auto_shrink(false);
        let clicked = area.show(ui, |ui| figure.show(ui, "Share of the best rate, by kernel"));
        if let Some(hit) = clicked.inner {
            state.run = hit.run.or(state.run);
            state.matrix = Some(hit.matrix);
        }
    } else {
        list::show(ui, &board, model, state);
    }
}

/// A sentence on the kernel that wins most often.
fn summary(board: &Board) -> String {
    let wins = |kernel: &str| board.rows.iter().filter(|row| row.kernel == kernel).count();
    let all = board.rows.len();
    let mut words: Vec<String> = Vec::new();
    for kernel in board.kernels.iter().take(3) {
        match wins(kernel) {
            0 => break,
            count => words.push(format!("{kernel} on {count}")),
        }
    }
    let leads = board.rows.iter().filter_map(|row| row.lead);
    let close = leads.filter(|lead| *lead < 1.05).count();
    let close = match close {
        0 => String::new(),
        close => format!("; on {close}, the runner-up is within 5 %"),
    };
    format!("Best: {} of {all}{close}.", words.join(", "))
}
