//! The view: the board with or without a lesson next to it, and the same as a table and as SVG.

use std::sync::Arc;

use emath::vec2;

use super::arrays;
use super::scene::{Shown, scene};
use super::sizes::Fit;
use super::subject::Subject;
use super::walk::{Walk, walks};
use crate::figure::{Figure, Provenance};
use crate::model::Model;
use crate::state::{Theme, ViewState};
use crate::views::view::View;

pub const VIEW: View = View {
    id: "layouts",
    name: "Layouts",
    sentence: "Where each format stores every nonzero of a small matrix. Click a nonzero to find it in all formats.",
    table,
    svg: Some(svg),
    of_operation: false,
    is_empty: crate::views::view::never,
};

/// Returns whether the view has a frame of its own, like lessons: on a projector.
pub fn is_framed(state: &ViewState) -> bool {
    state.theme == Theme::Projector && state.layouts.lesson.is_none()
}

fn table(model: &Model, state: &ViewState) -> Vec<Vec<String>> {
    let header = ["format", "array", "index", "value", "belongs to"];
    let mut lines = vec![header.map(str::to_owned).to_vec()];
    let Ok(subject) = Subject::of(model, state) else { return lines };
    for panel in arrays::panels(&Arc::new(subject.a.clone()), &state.layouts) {
        for strip in panel.arrays.iter().flat_map(|(strips, _)| strips) {
            for cell in &strip.cells {
                let (index, owner) = (cell.elements.start.to_string(), cell.owner.words());
                let line = [&panel.id, &strip.name, &index, &cell.text, &owner];
                lines.push(line.map(String::clone).to_vec());
            }
        }
    }
    lines
}

fn svg(model: &Model, state: &ViewState) -> String {
    let Ok(subject) = Subject::of(model, state) else {
        return Figure::new(vec2(1.0, 1.0), state.theme.ink().paper)
            .to_svg(VIEW.sentence, &Provenance::default());
    };
    let walks = walks(&Arc::new(subject.a.clone()), &state.layouts, |a, layouts, id| {
        Walk::of(a, layouts, id).map(Arc::new)
    });
    let (figure, _) =
        scene(&Shown::of(&subject, &state.layouts, &walks), state, 1000.0, Fit::USUAL);
    figure.to_svg(&format!("Memory layouts of {}", subject.title), &Provenance::default())
}
