//! The view: the figure, and the same as a table and as SVG.

use emath::vec2;

use super::draw::{HEIGHT, figure};
use super::points::{Point, is_empty, points};
use crate::model::{Model, RunOf};
use crate::state::ViewState;
use crate::views::provenance::provenance;
use crate::views::view::View;

pub const VIEW: View = View {
    id: "predicted",
    name: "Predicted",
    sentence: "Measured time against the time to move the predicted bytes.",
    table,
    svg: Some(svg),
    of_operation: false,
    is_empty,
};

fn table(model: &Model, state: &ViewState) -> Vec<Vec<String>> {
    let header = [
        "matrix",
        "source",
        "kernel",
        "bundle",
        "device",
        "threads",
        "block",
        "hot",
        "predicted_bytes",
        "predicted_s",
        "median_s",
    ];
    let mut lines = vec![header.map(str::to_owned).to_vec()];
    for Point { run, bytes, predicted_s, median_s } in points(model, state) {
        lines.push(vec![
            run.subject.name().into(),
            run.subject.source().as_str().into(),
            run.run.kernel.clone(),
            run.bundle.label().into(),
            run.run.device.clone(),
            run.run.threads.to_string(),
            run.run.block.map(|block| block.to_string()).unwrap_or_default(),
            run.run.hot.to_string(),
            bytes.to_string(),
            predicted_s.to_string(),
            median_s.to_string(),
        ]);
    }
    lines
}

fn svg(model: &Model, state: &ViewState) -> String {
    let points = points(model, state);
    let runs: Vec<RunOf<'_>> = points.iter().map(|point| point.run).collect();
    let figure = figure(&points, state, vec2(900.0, HEIGHT));
    figure.to_svg(VIEW.sentence, &provenance(model, &runs))
}
