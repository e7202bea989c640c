//! The view: its settings, the list or the heat table, and both as a table and as SVG.

use super::board::{Board, Row};
use super::{heat, list};
use crate::model::{Model, RunOf};
use crate::state::ViewState;
use crate::views::provenance::provenance;
use crate::views::view::View;

pub(in crate::views) const VIEW: View = View {
    id: "best",
    name: "Best",
    sentence: "Which kernel wins on each matrix, and by how much: checked runs, warm caches, f64 unless stated.",
    table,
    svg: Some(svg),
    of_operation: false,
    is_empty: crate::views::view::never,
};

/// Width of a saved figure.
const SAVED: f32 = 1180.0;

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
