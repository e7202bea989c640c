//! Which runs are selected, how the selection moves, and where it is seen.

use egui::{Align, Id, Rangef, Rect, Response, Ui};
use sparsescope_figures::model::{Model, RunOf};
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
pub(super) fn is_chosen(model: &Model, run: &RunOf<'_>, state: &ViewState) -> bool {
    state.run == Some(run.index) || model.key_beside(state, run.index).is_some()
}

pub(super) fn select(model: &Model, run: &RunOf<'_>, state: &mut ViewState, adds: bool) {
    let key = model.key_beside(state, run.index).cloned();
    state.select_run(run.index, key.unwrap_or_else(|| run.link_key()), adds);
    state.matrix = Some(run.key());
}

/// Scrolls a row to the middle of the area, unless all of it is seen.
pub(super) fn into_view(ui: &Ui, row: Rangef) {
    let seen = ui.clip_rect().y_range();
    if !(seen.contains(row.min) && seen.contains(row.max)) {
        ui.scroll_to_rect(
            Rect::from_x_y_ranges(ui.clip_rect().x_range(), row),
            Some(Align::Center),
        );
    }
}
