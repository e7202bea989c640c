//! The fastest kernels for A' and for both products, where matrices were multiplied by A and by its transpose.

use sparsescope_figures::model::Model;
use sparsescope_figures::state::{Filter, ViewState};
use sparsescope_figures::views::Board;

use crate::cli::table::{Column, DASH, Kind, fitted};

/// A table with a line per such matrix, after an empty line; empty if there is none. Kernels are named without this
/// device.
pub(super) fn table(
    model: &Model,
    operation: &str,
    device: &str,
    (colors, room): (bool, Option<usize>),
) -> String {
    let state = ViewState { filter: Filter::all_of(operation), ..ViewState::default() };
    let board = Board::of(model, &state);
    let rows: Vec<_> = board.best_of_pairs().collect();
    if rows.is_empty() {
        return String::new();
    }
    let names = rows.iter().map(|row| row.name.to_owned());
    let cells = |answer: usize, of: &dyn Fn(&[String], &str) -> String| -> Vec<String> {
        let answers = rows.iter().map(|row| row.answers.get(answer)?.as_ref());
        let cells = answers.map(|answer| answer.map(|(kernels, numbers)| of(kernels, numbers)));
        cells.map(|cell| cell.unwrap_or_else(|| DASH.to_owned())).collect()
    };
    let kernels = |kernels: &[String], _: &str| -> String {
        let names: Vec<&str> = kernels.iter().map(|kernel| short(kernel, device)).collect();
        names.join(" + ")
    };
    // Units as in the first table.
    let numbers = |_: &[String], numbers: &str| -> String { numbers.replace('µ', "u") };
    let columns = [
        Column::new(Kind::Name, "matrix", names),
        Column::new(Kind::Best, "fastest for A'", cells(1, &kernels)),
        Column::new(Kind::Number, "median, bytes", cells(1, &numbers)),
        Column::new(Kind::Name, "fastest for both", cells(2, &kernels)),
        Column::new(Kind::Spare, "sum of medians, bytes", cells(2, &numbers)),
    ];
    let mut shown = rows.iter().flat_map(|row| row.answers.iter().skip(1).take(2).flatten());
    let is_chosen = shown.any(|(kernels, _)| kernels.iter().any(|kernel| kernel.contains('*')));
    let note = if is_chosen { "* chosen by an automatic kernel\n" } else { "" };
    format!("\n{}{note}", fitted(&columns, colors, room))
}

/// A kernel id without this device.
pub(super) fn short<'k>(kernel: &'k str, device: &str) -> &'k str {
    kernel.strip_prefix(device).and_then(|rest| rest.strip_prefix('/')).unwrap_or(kernel)
}
