//! The view: the orders shown with their controls, and the same as a table and as SVG.

use emath::vec2;

use super::saved;
use super::sheet::Told;
use super::subject::Subject;
use crate::figure::Figure;
use crate::model::Model;
use crate::state::{Order, ViewState};
use crate::views::view::View;

pub const VIEW: View = View {
    id: "levels",
    name: "Levels",
    sentence: "Which rows of a Gauss–Seidel sweep wait for others, and how many can be computed at once.",
    table,
    svg: Some(svg),
    of_operation: true,
    is_empty: super::subject::is_empty,
};

/// Minimum width for a second order next to the first.
const LEAST_BESIDE: f32 = 640.0;

/// The orders shown.
pub fn orders(state: &ViewState, width: f32) -> Vec<Order> {
    let first = state.levels.order;
    let with_colors = state.levels.beside && first != Order::Colors && width >= LEAST_BESIDE;
    let mut orders = vec![first];
    orders.extend(with_colors.then_some(Order::Colors));
    orders
}

fn svg(model: &Model, state: &ViewState) -> String {
    let mut whole = Figure::new(vec2(0.0, 0.0), state.theme.ink().paper);
    let Ok(subject) = Subject::shown(model, state, true) else {
        return whole.to_svg(VIEW.sentence, &Default::default());
    };
    let provenance = subject.provenance(model, state);
    let Ok(waves) = subject.waves(true) else {
        return whole.to_svg(VIEW.sentence, &provenance);
    };
    for order in orders(state, f32::INFINITY) {
        whole.put_beside(saved::saved(&Told::new(&subject, waves, order, state), state));
    }
    whole.to_svg(&format!("Levels of {}", subject.name), &provenance)
}

/// Every level with its rows, and the row of the critical path.
fn table(model: &Model, state: &ViewState) -> Vec<Vec<String>> {
    let header = ["matrix", "order", "level", "rows", "rows_before", "path_row"];
    let mut lines = vec![header.map(str::to_owned).to_vec()];
    let Ok(subject) = Subject::shown(model, state, true) else { return lines };
    let Ok(waves) = subject.waves(true) else { return lines };
    for order in orders(state, f32::INFINITY) {
        let wave = waves.wave(order);
        let mut before = 0;
        for (level, width) in wave.widths.iter().enumerate() {
            lines.push(vec![
                subject.name.clone(),
                order.id().into(),
                level.to_string(),
                width.to_string(),
                before.to_string(),
                wave.path.get(level).map(u32::to_string).unwrap_or_default(),
            ]);
            before += u64::from(*width);
        }
    }
    lines
}
