//! The choice of what to compare with.

use egui::Ui;
use sparsescope_figures::model::Model;
use sparsescope_figures::state::{Numbering, ViewState};
use sparsescope_figures::views::spy::difference::others;

use super::fields::choose_of;

/// Offers the choice of what to compare with, if there is anything.
pub(super) fn settings(ui: &mut Ui, model: &Model, state: &mut ViewState) {
    let others = others(model, state);
    if others.is_empty() || state.spy.numbering != Numbering::Stored {
        return;
    }
    let none = (String::new(), "nothing".to_owned());
    let all: Vec<_> = std::iter::once(none).chain(others).collect();
    choose_of(ui, "Compare with", &mut state.spy.against, &all);
}
