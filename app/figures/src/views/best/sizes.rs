//! The rate over the size of the subjects: the chart of that, below the headline.

use super::bars;
use super::board::Board;
use crate::figure::Figure;
use crate::model::Model;
use crate::operation::{Winners, presentation};
use crate::state::{ChartState, ViewState};
use crate::views::charts::draw::{self, For};
use crate::views::charts::plot::Data;
use crate::views::charts::{Looks, view};

/// Height of the chart.
const HEIGHT: f32 = 480.0;

/// The chart of an operation's rate over size, if its subjects differ in little else.
pub(super) fn chart(operation: &str) -> Option<&'static str> {
    match presentation(operation).winners {
        Winners::Chart(chart) => Some(chart),
        Winners::ByNumber | Winners::Bars => None,
    }
}

/// The figure; `None` if there is nothing to draw.
pub(super) fn figure(
    board: &Board,
    model: &Model,
    looks: &Looks,
    state: &ViewState,
    width: f32,
) -> Option<Figure> {
    let chart = chart(&state.filter.operation).unwrap_or("time-entries").to_owned();
    let charts = ChartState { chart, ..ChartState::default() };
    let state = ViewState { charts, ..state.clone() };
    let plot = view::plot(&Data::of(model, &state));
    if plot.is_empty() {
        return None;
    }
    let (mut figure, _, y) = bars::start(board, &state, width);
    figure.size.y = y;
    figure.put_below(draw::figure(&plot, looks, &state, width, For::Screen(HEIGHT, None)));
    Some(figure)
}
