//! The view: the patterns with their controls, and the same as a table and as SVG.

use std::sync::Arc;

use emath::vec2;

use super::saved;
use super::sheet::Told;
use super::subject::Subject;
use crate::figure::Figure;
use crate::model::Model;
use crate::set_up::{Part, SetUp};
use crate::state::ViewState;
use crate::views::view::View;

pub const VIEW: View = View {
    id: "preconditioner",
    name: "Preconditioner",
    sentence: "How a factorised sparse approximate inverse (FSAI) is set up, from A to G.",
    table,
    svg: Some(svg),
    of_operation: true,
    is_empty: super::subject::is_empty,
};

/// The system of the row that the state names.
pub fn gathered(set_up: &SetUp, state: &ViewState) -> Option<Arc<crate::set_up::Gathered>> {
    set_up.gathered(state.fsai.row?).map(Arc::new)
}

fn svg(model: &Model, state: &ViewState) -> String {
    let none = Figure::new(vec2(0.0, 0.0), state.theme.ink().paper);
    let Ok(subject) = Subject::shown(model, state, true) else {
        return none.to_svg(VIEW.sentence, &Default::default());
    };
    let provenance = subject.provenance(model, state);
    let found = subject.set_up.get(&subject.a, subject.asked, true);
    let Some(Ok(set_up)) = found else { return none.to_svg(VIEW.sentence, &provenance) };
    let told = Told::new(&subject, set_up, gathered(set_up, state), state);
    let title = format!("Preconditioner of {}", subject.name);
    saved::saved(&told, state).to_svg(&title, &provenance)
}

/// Every nonzero of A, of the pattern and of G.
fn table(model: &Model, state: &ViewState) -> Vec<Vec<String>> {
    let header = ["matrix", "row", "column", "a", "part", "g", "dropped"];
    let mut lines = vec![header.map(str::to_owned).to_vec()];
    let Ok(subject) = Subject::shown(model, state, true) else { return lines };
    let Some(Ok(set_up)) = subject.set_up.get(&subject.a, subject.asked, true) else {
        return lines;
    };
    let value = |(col, val): (&[u32], &[f64]), j: u32| {
        let place = col.binary_search(&j).ok();
        place.and_then(|k| val.get(k)).map(f64::to_string).unwrap_or_default()
    };
    for i in 0..set_up.rows() {
        for cell in set_up.row(i) {
            let part = match cell.part {
                Part::Left => "left out",
                Part::Filtered => "not in the pattern",
                Part::Kept => "kept",
                Part::Second => "added",
                Part::Third => "added by power 3",
                Part::Merged => "merged",
            };
            lines.push(vec![
                subject.name.clone(),
                i.to_string(),
                cell.col.to_string(),
                value(set_up.a.row(i), cell.col),
                part.into(),
                value(set_up.g.row(i), cell.col),
                cell.dropped.to_string(),
            ]);
        }
    }
    lines
}
