//! The figure: measured against predicted times.

use std::collections::BTreeMap;

use ecolor::Color32;
use emath::{Pos2, Rect, Vec2, pos2, vec2};
use sparsescope_core::kernel::{GridMapping, Mapping, mapping_of};

use super::points::Point;
use crate::figure::{Anchor, Axis, Figure, Hit, Mark, area, text_width, wrapped};
use crate::model::{RunOf, bytes, plural, seconds, significant};
use crate::state::ViewState;
use crate::theme::{Ink, blend, filling, format_color};

pub(super) const TYPE: f32 = 13.0;
const RADIUS: f32 = 4.5;
/// Height of a saved figure, and minimum height on the screen.
pub const HEIGHT: f32 = 560.0;
/// Up to this many runs, each has a mark.
pub(super) const MANY: usize = 60;
/// Side of a square.
const SQUARE: f32 = 5.0;

/// The workers that process a row: the shape of a point.
const WORKERS: [(&str, Mark); 7] = [
    ("a CPU thread", Mark::Hexagon),
    ("a thread per row", Mark::Circle),
    ("a warp per row", Mark::Square),
    ("a thread per hack", Mark::Triangle),
    ("a warp per span", Mark::Diamond),
    ("several lanes per row, a warp per hack or block row", Mark::Down),
    ("a block per tile", Mark::Right),
];

fn worker(run: &RunOf<'_>) -> usize {
    match mapping_of(run.run) {
        Some(Mapping::Grid(GridMapping::ThreadPerRow)) => 1,
        Some(Mapping::Grid(GridMapping::WarpPerRow)) => 2,
        Some(Mapping::Grid(GridMapping::ThreadPerHack)) => 3,
        Some(Mapping::Grid(GridMapping::WarpPerSpan)) => 4,
        Some(Mapping::Grid(
            GridMapping::LanesPerRow | GridMapping::WarpPerHack | GridMapping::WarpPerBlockRow,
        )) => 5,
        Some(Mapping::Grid(GridMapping::BlockPerTile)) => 6,
        _ => 0,
    }
}

fn format_of<'a>(run: &RunOf<'a>) -> &'a str {
    run.run.format()
}

/// Both axes are logarithmic; on the diagonal, prediction and measurement are equal. Of many runs, those that matter
/// have marks, and the others are counted in squares.
pub fn figure(points: &[Point<'_>], state: &ViewState, size: Vec2) -> Figure {
    let ink = state.theme.ink();
    let mut figure = Figure::new(size, ink.paper);
    let is_marked = marked(points, state);
    let of = |marked: bool| {
        let all = points.iter().zip(&is_marked);
        all.filter(move |(_, is)| **is == marked).map(|(point, _)| point)
    };
    let others: Vec<&Point<'_>> = of(false).collect();
    // The selected run comes last, on top.
    let is_selected = |point: &Point<'_>| Some(point.run.index) == state.run;
    let mut marked: Vec<&Point<'_>> = of(true).collect();
    sparsescope_core::order::sort_by(&mut marked, |a, b| is_selected(a).cmp(&is_selected(b)));
    let top = legend(&mut figure, (&marked, &others), state) + 38.0;
    let (left, right, bottom) = (76.0, size.x - 24.0, size.y - 46.0);
    let x = Axis::new(points.iter().map(|p| p.predicted_s), true, left, right);
    let y = Axis::new(points.iter().map(|p| p.median_s), true, bottom, top);
    let mut taken = f32::NEG_INFINITY;
    for tick in x.ticks() {
        let (at, label) = (x.place(tick), seconds(tick));
        figure.line(pos2(at, top), pos2(at, bottom + 5.0), 1.0, ink.grid);
        let half = text_width(&label, TYPE) * 0.5;
        if at - half > taken {
            figure.text(pos2(at, bottom + 15.0), Anchor::Middle, TYPE, ink.weak, &label);
            taken = at + half + 6.0;
        }
    }
    for tick in y.ticks() {
        let at = y.place(tick);
        figure.line(pos2(left - 5.0, at), pos2(right, at), 1.0, ink.grid);
        figure.text(pos2(left - 9.0, at), Anchor::End, TYPE, ink.weak, &seconds(tick));
    }
    let place_of = |point: &Point<'_>| pos2(x.place(point.predicted_s), y.place(point.median_s));
    squares(&mut figure, others.iter().map(|point| place_of(point)), ink);
    diagonal(&mut figure, (&x, &y), ink);
    let middle = (left + right) * 0.5;
    let title = "Predicted: bytes moved / copy bandwidth (logarithmic)";
    let inside = middle.min(size.x - 4.0 - text_width(title, TYPE) * 0.5);
    figure.text(pos2(inside, bottom + 35.0), Anchor::Middle, TYPE, ink.text, title);
    let title = "Measured: median time (logarithmic)";
    figure.text(pos2(8.0, top - 18.0), Anchor::Start, TYPE, ink.text, title);
    for point in &marked {
        let color = format_color(format_of(&point.run));
        let mark = WORKERS.get(worker(&point.run)).map_or(Mark::Circle, |(_, mark)| *mark);
        let fill = filling(color, point.run.bundle.series, ink.paper);
        let (radius, outline) = match is_selected(point) {
            true => (RADIUS * 1.4, ink.text),
            false if fill == color => (RADIUS, ink.paper),
            false => (RADIUS, color),
        };
        figure.mark(place_of(point), mark, radius, fill, outline);
    }
    // The pointer finds the last one first.
    for point in others.iter().chain(&marked) {
        let rect = Rect::from_center_size(place_of(point), vec2(2.0, 2.0) * RADIUS);
        let (text, matrix, run) = (tooltip(point), point.run.key(), Some(point.run.index));
        figure.hits.push(Hit { rect, text, matrix, run, series: None });
    }
    figure.message = message(points);
    figure
}

/// Which runs have marks of their own: of many, the fastest on each matrix, the fastest of each kernel on the selected
/// matrix, and the selected run.
pub(super) fn marked(points: &[Point<'_>], state: &ViewState) -> Vec<bool> {
    if points.len() <= MANY {
        return vec![true; points.len()];
    }
    let mut fastest: BTreeMap<(usize, String, &str), usize> = BTreeMap::new();
    for (place, point) in points.iter().enumerate() {
        let key = point.run.key();
        let is_selected = state.matrix.as_ref() == Some(&key);
        let kernel = if is_selected { point.run.run.kernel.as_str() } else { "" };
        let best = fastest.entry((point.run.bundle.series, key, kernel)).or_insert(place);
        if points.get(*best).is_some_and(|best| is_before(point, best)) {
            *best = place;
        }
    }
    let selected = points.iter().position(|point| Some(point.run.index) == state.run);
    let mut marked = vec![false; points.len()];
    for place in fastest.into_values().chain(selected) {
        if let Some(is_marked) = marked.get_mut(place) {
            *is_marked = true;
        }
    }
    marked
}

/// Returns whether a run competes, with warm caches, and the other does not, or else whether it is faster.
fn is_before(one: &Point<'_>, other: &Point<'_>) -> bool {
    let competes = |point: &Point<'_>| point.run.ranks() && point.run.run.hot;
    match (competes(one), competes(other)) {
        (one, other) if one != other => one,
        _ => one.median_s < other.median_s,
    }
}

/// Squares, the darker the more of the places lie in them.
fn squares(figure: &mut Figure, places: impl Iterator<Item = Pos2>, ink: Ink) {
    let mut counts: BTreeMap<[i32; 2], u32> = BTreeMap::new();
    for at in places {
        let square = [at.x, at.y].map(|along| (along / SQUARE).floor() as i32);
        *counts.entry(square).or_default() += 1;
    }
    let most = counts.values().copied().max().unwrap_or(1);
    for (square, count) in counts {
        let share = (count as f32).ln() / (most as f32).ln().max(1.0);
        let [left, top] = square.map(|place| place as f32 * SQUARE);
        figure.rect(area(left, top, left + SQUARE, top + SQUARE), shade(share, ink));
    }
}

/// The grey of a square: `share` is 0 for a single run and 1 for the most runs.
fn shade(share: f32, ink: Ink) -> Color32 {
    blend(ink.paper, ink.weak, 0.2 + 0.6 * share)
}

/// How far the times are from the predictions, in a sentence.
fn message(points: &[Point<'_>]) -> String {
    let mut times: Vec<f64> =
        points.iter().map(|point| point.median_s / point.predicted_s).collect();
    times.sort_unstable_by(f64::total_cmp);
    let Some(middle) = times.get(times.len() / 2) else { return String::new() };
    format!(
        "Half of {} runs take at least {} times as long as predicted.",
        times.len(),
        significant(*middle)
    )
}

/// The line where prediction and measurement are equal, as far as both axes reach.
fn diagonal(figure: &mut Figure, (x, y): (&Axis, &Axis), ink: Ink) {
    let (x_low, x_high) = x.range();
    let (y_low, y_high) = y.range();
    let (from, to) = (x_low.max(y_low), x_high.min(y_high));
    if from >= to {
        return;
    }
    let at = |value: f64| pos2(x.place(value), y.place(value));
    let (start, end) = (at(from), at(to));
    figure.line(start, end, 1.5, ink.weak);
    // Below the line at its start: points there are far above it, as a kernel takes some time whatever it moves.
    let name = start + (end - start) * 0.12;
    figure.text(name + vec2(14.0, 14.0), Anchor::Start, TYPE, ink.weak, "as predicted");
}

fn tooltip(point: &Point<'_>) -> String {
    let Point { run, predicted_s, median_s, .. } = point;
    format!(
        "{} on {}: predicted {} to move {}, measured {}, {} times as long ({}). {}",
        run.run.kernel,
        run.name(),
        seconds(*predicted_s),
        bytes(point.bytes as u64),
        seconds(*median_s),
        significant(median_s / predicted_s),
        run.bundle.label(),
        run.why()
    )
}

/// Colours of the formats, shapes of the workers and fills of the bundles of the marks, and what the squares are;
/// returns the bottom.
fn legend(
    figure: &mut Figure,
    (points, others): (&[&Point<'_>], &[&Point<'_>]),
    state: &ViewState,
) -> f32 {
    let ink = state.theme.ink();
    let mut formats: Vec<&str> = points.iter().map(|point| format_of(&point.run)).collect();
    sparsescope_core::order::sort(&mut formats);
    formats.dedup();
    let mut workers: Vec<usize> = points.iter().map(|point| worker(&point.run)).collect();
    sparsescope_core::order::sort(&mut workers);
    workers.dedup();
    let mut bundles: Vec<(usize, &str)> =
        points.iter().map(|point| (point.run.bundle.series, point.run.bundle.label())).collect();
    sparsescope_core::order::sort(&mut bundles);
    bundles.dedup();
    let colored = formats.into_iter().map(|f| (f, Mark::Circle, format_color(f), 0));
    let formed = WORKERS.iter().enumerate().filter(|(place, _)| workers.contains(place));
    let formed = formed.map(|(_, (name, mark))| (*name, *mark, Color32::GRAY, 0));
    let several = bundles.len() > 1;
    let filled = bundles.into_iter().filter(|_| several);
    let filled = filled.map(|(series, label)| (label, Mark::Circle, Color32::GRAY, series));
    let mut at: Pos2 = pos2(16.0, 14.0);
    for (name, mark, color, bundle) in colored.chain(formed).chain(filled) {
        let width = text_width(name, TYPE) + 38.0;
        if at.x > 16.0 && at.x + width > figure.size.x {
            at = pos2(16.0, at.y + 22.0);
        }
        figure.mark(at, mark, RADIUS, filling(color, bundle, ink.paper), color);
        figure.text(at + vec2(12.0, 0.0), Anchor::Start, TYPE, ink.text, name);
        at.x += width;
    }
    if others.is_empty() {
        return at.y + 11.0;
    }
    at = pos2(16.0, at.y + 22.0);
    figure.rect(Rect::from_center_size(at, vec2(2.0, 2.0) * RADIUS), shade(0.5, ink));
    let of_kernels = match &state.matrix {
        Some(_) => ", and of each kernel on the selected one",
        None => "",
    };
    let words = format!(
        "{}, darker where there are more; marks: the fastest on each matrix{of_kernels}",
        plural(others.len() as u64, "other run")
    );
    for line in wrapped(&words, figure.size.x - 36.0, TYPE) {
        figure.text(at + vec2(12.0, 0.0), Anchor::Start, TYPE, ink.text, &line);
        at.y += 18.0;
    }
    at.y - 7.0
}
