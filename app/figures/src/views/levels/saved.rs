//! One order of the rows on the screen: the matrix, the grid's points, the widths, the sentences.

use emath::{Vec2, vec2};

use super::front::Front;
use super::grid;
use super::histogram::Histogram;
use super::numbers::{Numbers, progress_words};
use super::sheet::Told;
use crate::figure::Figure;
use crate::state::ViewState;

pub fn points_figure(told: &Told<'_>, of: crate::state::Grid, size: Vec2) -> Figure {
    let front = Front { wave: told.waves.wave(told.order), shift: 0 };
    grid::figure(of, &front, told.step, told.path(), &told.colors, size)
}

pub fn histogram(told: &Told<'_>, size: Vec2) -> Histogram {
    Histogram::new(told.waves.wave(told.order), told.order, told.step, &told.colors, size)
}

/// The same as a saved figure.
pub(super) fn saved(told: &Told<'_>, state: &ViewState) -> Figure {
    let paper = state.theme.ink().paper;
    let mut whole = Figure::new(vec2(0.0, 0.0), paper);
    if let Some(grid) = told.subject.grid.filter(|_| state.levels.shows("points")) {
        whole.put_below(points_figure(told, grid, vec2(460.0, 460.0)));
    }
    if state.levels.shows("matrix") || told.subject.grid.is_none() {
        whole
            .put_below(told.saved(vec2(700.0, 700.0), 2.0, state).unwrap_or_else(|| whole.clone()));
    }
    if state.levels.shows("widths") {
        whole.put_below(histogram(told, vec2(700.0, 280.0)).figure);
    }
    let wave = told.waves.wave(told.order);
    let mut words = Numbers::of(wave).words(told.order);
    words.extend(told.step.map(|step| progress_words(wave, told.order, step)));
    words.retain(|_| state.levels.shows("words"));
    let mut text = Figure::new(vec2(700.0, 12.0 + 20.0 * words.len() as f32), paper);
    for (line, words) in words.iter().enumerate() {
        let at = emath::pos2(10.0, 10.0 + 20.0 * line as f32);
        let ink = state.theme.ink().text;
        text.text(at, crate::figure::Anchor::Start, 13.0, ink, words);
    }
    whole.put_below(text);
    whole
}
