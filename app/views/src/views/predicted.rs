//! The layout model's predictions against the measurements, for all runs.

use egui::{ScrollArea, Ui, vec2};
use sparsescope_core::record::Operation;
use sparsescope_figures::model::{Model, display_name, matrix_key, plural};
use sparsescope_figures::state::ViewState;
use sparsescope_figures::views::predicted::{
    HEIGHT, WITHOUT, figure, made, points, to_predict, why_not,
};

use super::view::{Screen, empty, kept, no_runs, note, nothing};
use crate::meshed::Meshed;
use crate::paint::Paint;

pub(super) const SCREEN: Screen = Screen { settings, more: None, show };

fn settings(ui: &mut Ui, model: &Model, state: &mut ViewState) {
    let from = (model.revision(), state.filter.clone(), made(model, state));
    let count = kept(ui, "predicted: points", from, || points(model, state).len());
    ui.weak(plural(*count as u64, "run"));
}

fn show(ui: &mut Ui, model: &Model, state: &mut ViewState) {
    let room = ui.available_size() - vec2(12.0, 12.0);
    let size = vec2(room.x.max(300.0), room.y.max(HEIGHT * 0.6));
    let made = made(model, state);
    let selected = (state.matrix.clone(), state.run);
    let looks = (state.theme, [size.x, size.y]);
    let from = (model.revision(), state.filter.clone(), made.clone(), selected, looks);
    let figure = kept(ui, "predicted", from, || {
        let points = points(model, state);
        (!points.is_empty()).then(|| Meshed::from(figure(&points, state, size)))
    });
    let Some(figure) = figure.as_ref() else { return without(ui, model, state) };
    if let Some(record) = made.and_then(|key| model.matrix(&key)) {
        let name = display_name(record);
        note(ui, Some(&format!("Predicted here for the fastest run of each kernel on {name}.")));
    }
    let clicked = ScrollArea::both()
        .auto_shrink(false)
        .show(ui, |ui| figure.show(ui, "Chart: predicted against measured time of every run"));
    if let Some(hit) = clicked.inner {
        (state.matrix, state.run) = (Some(hit.matrix), hit.run);
    }
}

/// Says what to do if no run has a prediction, and predicts the runs on a matrix whose values are known.
fn without(ui: &mut Ui, model: &Model, state: &mut ViewState) {
    let operation = state.filter.operation.as_str();
    if !["", Operation::Spmv.as_str()].contains(&operation) {
        return nothing(ui, &format!("Only SpMV is predicted: these are runs of {operation}."));
    }
    if model.count(&state.filter) == 0 {
        return no_runs(ui, model, state);
    }
    let Some(record) = to_predict(model, state) else {
        return nothing(ui, &why_not(model, state));
    };
    if empty(ui, WITHOUT, &format!("Predict the runs on {}", display_name(record))) {
        model.predict(record);
        state.matrix = Some(matrix_key(record));
    }
}
