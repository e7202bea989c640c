//! The order of the rows, and those that are folded.

use super::board::{Board, Row};
use super::headline::subjects;
use crate::state::ViewState;

/// The largest first, unless an order was chosen.
pub(super) fn in_order<'r>(mut rows: Vec<&'r Row>, state: &ViewState) -> Vec<&'r Row> {
    if state.best.by.is_empty() && !state.best.down {
        rows.reverse();
    }
    rows
}

/// The lines to show: rows, and `None` for the title of the launch-bound ones, which come last and
/// only if they are unfolded.
pub fn lines<'b>(board: &'b Board, state: &ViewState) -> Vec<Option<&'b Row>> {
    let [shown, folded] = board.parts().map(|rows| in_order(rows, state));
    let mut lines: Vec<Option<&Row>> = shown.into_iter().map(Some).collect();
    if !folded.is_empty() {
        lines.push(None);
        lines.extend(folded.into_iter().filter(|_| state.best.unfolded).map(Some));
    }
    lines
}

/// The title of the launch-bound rows, which says what a click on it does.
pub fn title_of_folded(board: &Board, state: &ViewState) -> String {
    let [_, folded] = board.parts();
    let (rows, subjects) = (folded.len(), subjects(board, folded.len()));
    let verb = if state.best.unfolded { "Hide" } else { "Show" };
    format!(
        "{verb} {rows} launch-bound {subjects} (an empty kernel launch takes at least half of the median time)"
    )
}
