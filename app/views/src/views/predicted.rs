//! The layout model's predictions against the measurements: one point per run.

use egui::{ScrollArea, Ui, vec2};
use sparsescope_figures::model::Model;
use sparsescope_figures::state::ViewState;
use sparsescope_figures::views::predicted::{HEIGHT, figure, points};

use super::view::{Screen, kept, nothing};
use crate::paint::Paint;

pub(super) const SCREEN: Screen = Screen { settings, more: None, show };

fn settings(ui: &mut Ui, model: &Model, state: &mut ViewState) {
    let from = (model.revision(), state.filter.clone());
    let count = kept(ui, "predicted: points", from, || points(model, state).len());
    ui.weak(format!("{count} runs"));
}

fn show(ui: &mut Ui, model: &Model, state: &mut ViewState) {
    let room = ui.available_size() - vec2(12.0, 12.0);
    let size = vec2(room.x.max(300.0), room.y.max(HEIGHT * 0.6));
    let from = (model.revision(), state.filter.clone(), state.theme, [size.x, size.y]);
    let figure = kept(ui, "predicted", from, || {
        let points = points(model, state);
        (!points.is_empty()).then(|| figure(&points, state.theme.ink(), size))
    });
    let Some(figure) = figure.as_ref() else {
        return nothing(
            ui,
            "No matching run has a prediction. Vendor kernels and older bundles have none.",
        );
    };
    let clicked = ScrollArea::both()
        .auto_shrink(false)
        .show(ui, |ui| figure.show(ui, "Chart: predicted against measured time of every run"));
    if let Some(hit) = clicked.inner {
        (state.matrix, state.run) = (Some(hit.matrix), hit.run);
    }
}
