//! The fastest kernels for A' and for both products, where matrices were multiplied by A and by its transpose.

use sparsescope_figures::model::Model;
use sparsescope_figures::state::{Filter, ViewState};
use sparsescope_figures::views::Board;

use crate::cli::table::{Column, DASH, Kind, fitted};

/// A table with a line per such matrix, after an empty line; empty if there is none.
pub(super) fn table(model: &Model, operation: &str, colors: bool) -> String {
    let state = ViewState { filter: Filter::all_of(operation), ..ViewState::default() };
    let board = Board::of(model, &state);
    let rows: Vec<_> = board.best_of_pairs().collect();
    if rows.is_empty() {
        return String::new();
    }
    let names = rows.iter().map(|(_, name, _)| (*name).to_owned());
    let cells = |answer: usize, part: usize| -> Vec<String> {
        let cells = rows.iter().map(|(.., answers)| answers.get(answer)?.as_ref()?.get(part));
        cells.map(|cell| cell.cloned().unwrap_or_else(|| DASH.to_owned())).collect()
    };
    let columns = [
        Column::new(Kind::Name, "matrix", names),
        Column::new(Kind::Best, "fastest for A'", cells(1, 0)),
        Column::new(Kind::Number, "median, memory", cells(1, 1)),
        Column::new(Kind::Name, "for both", cells(2, 0)),
        Column::new(Kind::Number, "medians, memory", cells(2, 1)),
    ];
    format!("\n{}", fitted(&columns, colors))
}
