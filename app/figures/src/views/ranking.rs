//! The kernels of one subject, best first.

use crate::model::{Model, RunOf};
use crate::state::ViewState;

/// The runs that compete on the subject with this key, best first.
pub(super) fn ranked<'a>(model: &'a Model, state: &ViewState, key: &str) -> Vec<RunOf<'a>> {
    model.standing_of(&state.filter, key).map_or_else(Vec::new, |standing| standing.runs)
}
