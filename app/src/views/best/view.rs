//! The view: its settings, the list or the heat table, and both as a table and as SVG.

use egui::{ComboBox, Role, ScrollArea, Ui, WidgetInfo};

use super::board::{Board, Row, baselines};
use super::{heat, list, solves};
use crate::model::{Model, RunOf};
use crate::state::ViewState;
use crate::views::provenance::provenance;
use crate::views::view::{View, kept, no_run, nothing};

pub(in crate::views) const VIEW: View = View {
    id: "best",
    name: "Best",
    sentence: "Which kernel wins on each matrix, and by how much: right results with warm caches, in f64 unless named.",
    settings,
    show,
    table,
    svg: Some(svg),
};

/// Width of the figure in files.
const SAVED: f32 = 1180.0;

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
            _ => "No run that passes the filters was right with warm caches, in f64 or of a kernel that has only f32.".into(),
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

/// Who wins most often, in a sentence.
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
        close => format!("; on {close} the second is within 5 %"),
    };
    format!("Of {all}: {} win most often{close}.", words.join(", "))
}

fn table(model: &Model, state: &ViewState) -> Vec<Vec<String>> {
    let board = Board::of(model, state);
    if state.best.heat {
        return heat::table(&board);
    }
    let header = [
        "matrix", "size", "kernel", "setting", "device", "rate", "unit", "pct_copy", "second",
        "lead", "over", "why",
    ];
    let mut lines = vec![header.map(str::to_owned).to_vec()];
    let number = |value: Option<f64>| value.map(|value| value.to_string()).unwrap_or_default();
    for row in &board.rows {
        let Row { name, kernel, setting, device, second, why, .. } = row.clone();
        let (size, rate) = (row.size.to_string(), row.rate.to_string());
        let shares = [row.pct_copy, row.lead, row.over].map(number);
        let [pct_copy, lead, over] = shares;
        let unit = board.rate.clone();
        lines.push(vec![
            name, size, kernel, setting, device, rate, unit, pct_copy, second, lead, over, why,
        ]);
    }
    lines
}

fn svg(model: &Model, state: &ViewState) -> String {
    let board = Board::of(model, state);
    let runs: Vec<RunOf<'_>> = board.rows.iter().filter_map(|row| model.run(row.run)).collect();
    let ink = state.theme.ink();
    let figure = match state.best.heat {
        true => heat::figure(&board, ink),
        false => list::figure(&board, model, state, SAVED),
    };
    let title = if state.best.heat { heat::TITLE } else { VIEW.sentence };
    figure.to_svg(title, &provenance(model, &runs))
}
