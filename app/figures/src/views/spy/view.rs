//! The view: the pictures with their descriptions, and the same as a table and as SVG.

use std::ops::Range;
use std::sync::Arc;

use emath::vec2;

use super::draw::size_words;
use super::scene::{Scene, Shown, is_known, subject};
use crate::figure::{Figure, Shape};
use crate::model::Model;
use crate::state::{Numbering, Saved, ViewState};
use crate::views::provenance::record_provenance;
use crate::views::view::{View, selected};

pub const VIEW: View = View {
    id: "spy",
    name: "Structure",
    sentence: "Where the nonzeros of the selected matrix are: darker or brighter cells hold more.",
    table,
    svg: Some(svg),
    of_operation: false,
    is_empty,
};

/// Returns whether no matrix is selected, or its structure is unknown.
fn is_empty(model: &Model, state: &ViewState) -> bool {
    !selected(model, state).is_some_and(|record| is_known(model, record))
}

/// The usual size of a saved figure.
const SAVED: Saved = Saved { size: [1000.0, 820.0], pixels: 2.0 };

fn svg(model: &Model, state: &ViewState) -> String {
    let paper = state.theme.ink().paper;
    let mut whole = Figure::new(vec2(0.0, 0.0), paper);
    let Ok(of) = subject(model, state, true) else {
        return whole.to_svg(VIEW.sentence, &Default::default());
    };
    let Saved { size, pixels } = state.spy.saved.unwrap_or(SAVED);
    for one in &of.shown {
        let Some(scene) = Scene::new(one, size.into(), pixels, state) else { continue };
        let mut figure = scene.figure(one, state, paper);
        let pixels = Arc::new(scene.image(pixels));
        let image = Shape::Image { rect: scene.place.area, pixels };
        figure.shapes.insert(0, image);
        whole.put_beside(figure);
    }
    let provenance = of.record.map(|record| record_provenance(model, record));
    let size = of.shown.first().map_or_else(String::new, |one| size_words(&one.picture));
    let title = format!("Structure of {}: {size}", of.name);
    whole.to_svg(&title, &provenance.unwrap_or_default())
}

/// The nonempty cells in view.
fn table(model: &Model, state: &ViewState) -> Vec<Vec<String>> {
    let header = [
        "matrix",
        "numbering",
        "first_row",
        "first_column",
        "rows",
        "columns",
        "entries",
        "compared_with",
        "entries_there",
    ];
    let mut lines = vec![header.map(str::to_owned).to_vec()];
    let Ok(of) = subject(model, state, true) else { return lines };
    let name = of.record.map_or(&of.name, |record| &record.name);
    for one in &of.shown {
        cells_in_view(&mut lines, name, one, state);
    }
    lines
}

fn cells_in_view(lines: &mut Vec<Vec<String>>, matrix: &str, shown: &Shown, state: &ViewState) {
    let picture = &shown.picture;
    let Some(scene) = Scene::new(shown, SAVED.size.into(), 1.0, state) else { return };
    let renumbered = shown.key.ends_with(Numbering::Rcm.id());
    let numbering = if renumbered { Numbering::Rcm } else { Numbering::Stored };
    let shift = scene.cells.shift();
    let cells = |span: Range<usize>| span.start >> shift..((span.end - 1) >> shift) + 1;
    let (rows, cols) = (cells(scene.place.rows()), cells(scene.place.cols()));
    let (mut here, mut there) = (vec![0; cols.len()], vec![0; cols.len()]);
    let name = shown.other.as_ref().map_or("", |other| other.name.as_str());
    let side = |cell: usize, n: usize| (n - (cell << shift)).min(1 << shift).to_string();
    for r in rows {
        scene.cells.line(r, cols.start, &mut here);
        if let Some(other) = &scene.other {
            other.line(r, cols.start, &mut there);
        }
        let filled = cols.clone().zip(here.iter().zip(&there));
        for (c, (entries, others)) in filled.filter(|(_, (one, other))| *one + *other > 0) {
            lines.push(vec![
                matrix.into(),
                numbering.id().into(),
                (r << shift).to_string(),
                (c << shift).to_string(),
                side(r, picture.pyramid.rows()),
                side(c, picture.pyramid.cols()),
                entries.to_string(),
                name.into(),
                if name.is_empty() { String::new() } else { others.to_string() },
            ]);
        }
    }
}
