//! The keyboard in the table of runs.

use egui::{Id, Key, Ui};
use sparsescope_figures::model::Model;
use sparsescope_figures::state::ViewState;
use sparsescope_figures::views::matrix;

use super::chosen::{Move, focused_cell, select};

/// Moves the selection by the arrow keys, if a row has the focus or nothing has it; Enter opens the matrix.
pub(super) fn keys(ui: &Ui, model: &Model, runs: &[usize], state: &mut ViewState) -> Move {
    let focus = ui.memory(|memory| memory.focused());
    let cell: Option<Id> = ui.data(|data| data.get_temp(focused_cell()));
    if focus.is_some() && focus != cell {
        return Move::None;
    }
    let (up, down, enter) = ui.input(|input| {
        (
            input.key_pressed(Key::ArrowUp),
            input.key_pressed(Key::ArrowDown),
            input.key_pressed(Key::Enter),
        )
    });
    if !(up || down || enter) {
        return Move::None;
    }
    let now = state.run.and_then(|run| runs.iter().position(|number| *number == run));
    let wanted = match now {
        None => 0,
        Some(row) if up => row.saturating_sub(1),
        Some(row) => row + usize::from(down),
    };
    let run = runs.get(wanted).filter(|_| up || down).and_then(|number| model.run(*number));
    if let Some(run) = &run {
        select(model, run, state, false);
    }
    if enter && now.is_some() {
        state.view = matrix::VIEW.id.into();
    }
    match (run, focus) {
        (None, _) => Move::None,
        (Some(_), None) => Move::Selected,
        (Some(_), Some(_)) => Move::Focused,
    }
}
