//! The runs with a prediction, those made here, and why there are none.

use sparsescope_core::record::MatrixRecord;

use crate::model::{Model, RunOf, matrix_key};
use crate::state::ViewState;
use crate::views::view::selected;

/// A run with its prediction.
pub struct Point<'a> {
    pub(super) run: RunOf<'a>,
    /// Predicted bytes.
    pub(super) bytes: f64,
    /// Seconds for moving the predicted bytes at the copy bandwidth.
    pub(super) predicted_s: f64,
    pub(super) median_s: f64,
}

/// Key of the selected matrix, if predictions were made for its runs because no run that passes the filter has one.
pub fn made(model: &Model, state: &ViewState) -> Option<String> {
    if model.has_predictions(&state.filter) {
        return None;
    }
    let key = matrix_key(selected(model, state)?);
    model.predictions(&key).map(|_| key)
}

/// A matrix for whose runs predictions can be made: the selected one, or the largest with known values.
pub fn to_predict<'a>(model: &'a Model, state: &ViewState) -> Option<&'a MatrixRecord> {
    let able = model.predictable(&state.filter);
    let can_be = |record: &&MatrixRecord| {
        let key = matrix_key(record);
        able.contains(&key) && model.has_values(record) && model.predictions(&key).is_none()
    };
    let all = model.matrices(&state.filter);
    let largest = all.iter().rev().map(|matrix| matrix.record);
    selected(model, state).into_iter().chain(largest).find(can_be)
}

/// What is said if no run that passes the filter has a prediction.
pub const WITHOUT: &str =
    "No matching run has a prediction: vendor kernels and older bundles have none.";

/// The same, and why none can be predicted here.
pub fn why_not(model: &Model, state: &ViewState) -> String {
    let able = model.predictable(&state.filter);
    let is_tried = able.iter().any(|key| model.predictions(key).is_some());
    let reason = match (able.is_empty(), is_tried) {
        (true, _) => {
            "None can be predicted here: that takes an SpMV in f64 by a CPU or CUDA kernel of \
             Sparsescope, without format parameters, and a measured copy bandwidth."
        }
        (false, true) => "The layout model predicts none of those tried here.",
        (false, false) => "To predict some here, open the file of a matrix.",
    };
    format!("{WITHOUT} {reason}")
}

/// Returns whether no run that passes the filter has a prediction.
pub(super) fn is_empty(model: &Model, state: &ViewState) -> bool {
    !model.has_predictions(&state.filter) && made(model, state).is_none()
}

/// The runs that pass the filter and have a time, a prediction and a copy bandwidth.
pub fn points<'a>(model: &'a Model, state: &ViewState) -> Vec<Point<'a>> {
    let made = made(model, state).and_then(|key| model.predictions(&key));
    let point = |run: RunOf<'a>| {
        let median_s = run.figures()?.median_s;
        let made = made.as_ref().and_then(|made| made.get(&run.index).copied());
        let bytes = run.predicted_bytes().or(made)?;
        let predicted_s = bytes / run.copy_bandwidth()?;
        let drawn = [predicted_s, median_s].iter().all(|value| value.is_finite() && *value > 0.0);
        drawn.then_some(Point { run, bytes, predicted_s, median_s })
    };
    model.runs(&state.filter).into_iter().filter_map(point).collect()
}
