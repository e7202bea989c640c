//! Which runs are selected, and how the selection moves.

use egui::{Id, Response};
use sparsescope_figures::model::RunOf;
use sparsescope_figures::state::ViewState;

/// Whether and how the selection moved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Move {
    None,
    /// The selection moved.
    Selected,
    /// The same, and the keyboard's focus follows.
    Focused,
}

/// Where the id of the cell that has the focus is kept.
pub(super) fn focused_cell() -> Id {
    Id::unique("runs: the cell with the focus")
}

/// Whether a click adds a run to the selected ones.
pub(super) fn adds(response: &Response) -> bool {
    response.ctx.input(|input| input.modifiers.command || input.modifiers.shift)
}

/// Whether the run is the selected one or beside it.
pub(super) fn is_chosen(run: &RunOf<'_>, state: &ViewState) -> bool {
    state.run == Some(run.index)
        || (!state.beside.is_empty() && state.beside.contains(&run.link_key()))
}

pub(super) fn select(run: &RunOf<'_>, state: &mut ViewState, adds: bool) {
    state.select_run(run.index, run.link_key(), adds);
    state.matrix = Some(run.key());
}
