//! The layout model's prediction against the measurement: one point per run.

use std::collections::HashSet;

use ecolor::Color32;
use emath::{Pos2, Rect, pos2, vec2};
use sparsescope_core::kernel::{GridMapping, Mapping, mapping_of};
use sparsescope_core::record::MatrixRecord;

use super::provenance::provenance;
use super::view::{View, selected};
use crate::figure::{Anchor, Axis, Figure, Hit, Mark, text_width};
use crate::model::{Model, RunOf, bytes, matrix_key, seconds, significant};
use crate::state::ViewState;
use crate::theme::{Ink, filling, format_color};

pub const VIEW: View = View {
    id: "predicted",
    name: "Predicted",
    sentence: "Measured time against the time to move the predicted bytes.",
    table,
    svg: Some(svg),
    of_operation: false,
    is_empty,
};

const TYPE: f32 = 13.0;
const RADIUS: f32 = 4.5;
/// Height of a saved figure, and minimum height on the screen.
pub const HEIGHT: f32 = 560.0;

/// A run with its prediction.
pub struct Point<'a> {
    run: RunOf<'a>,
    /// Predicted bytes.
    bytes: f64,
    /// Seconds for moving the predicted bytes at the copy bandwidth.
    predicted_s: f64,
    median_s: f64,
}

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

/// Key of the selected matrix, if predictions were made for its runs because no run that passes the filter has one.
pub fn made(model: &Model, state: &ViewState) -> Option<String> {
    if model.has_predictions(&state.filter) {
        return None;
    }
    let key = matrix_key(selected(model, state)?);
    model.predictions(&key).map(|_| key)
}

/// A matrix for whose runs predictions can be made: the selected one, or the largest with known values.
pub fn to_predict<'a>(model: &'a Model, state: &ViewState) -> Option<&'a MatrixRecord> {
    let able = model.predictable(&state.filter);
    let can_be = |record: &&MatrixRecord| {
        let key = matrix_key(record);
        able.contains(&key) && model.has_values(record) && model.predictions(&key).is_none()
    };
    let all = model.matrices(&state.filter);
    let largest = all.iter().rev().map(|matrix| matrix.record);
    selected(model, state).into_iter().chain(largest).find(can_be)
}

/// What is said if no run that passes the filter has a prediction.
pub const WITHOUT: &str =
    "No matching run has a prediction: vendor kernels and older bundles have none.";

/// The same, and why none can be predicted here.
pub fn why_not(model: &Model, state: &ViewState) -> String {
    let able = model.predictable(&state.filter);
    let is_tried = able.iter().any(|key| model.predictions(key).is_some());
    let reason = match (able.is_empty(), is_tried) {
        (true, _) => {
            "None can be predicted here: that takes an SpMV in f64 by a CPU or CUDA kernel of \
             Sparsescope, without format parameters, and a measured copy bandwidth."
        }
        (false, true) => "The layout model predicts none of those tried here.",
        (false, false) => "To predict some here, open the file of a matrix.",
    };
    format!("{WITHOUT} {reason}")
}

/// Returns whether no run that passes the filter has a prediction.
fn is_empty(model: &Model, state: &ViewState) -> bool {
    !model.has_predictions(&state.filter) && made(model, state).is_none()
}

/// The runs that pass the filter and have a time, a prediction and a copy bandwidth.
pub fn points<'a>(model: &'a Model, state: &ViewState) -> Vec<Point<'a>> {
    let made = made(model, state).and_then(|key| model.predictions(&key));
    let point = |run: RunOf<'a>| {
        let median_s = run.figures()?.median_s;
        let made = made.as_ref().and_then(|made| made.get(&run.index).copied());
        let bytes = run.predicted_bytes().or(made)?;
        let predicted_s = bytes / run.copy_bandwidth()?;
        let drawn = [predicted_s, median_s].iter().all(|value| value.is_finite() && *value > 0.0);
        drawn.then_some(Point { run, bytes, predicted_s, median_s })
    };
    model.runs(&state.filter).into_iter().filter_map(point).collect()
}

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
    let figure = figure(&points, state.theme.ink(), vec2(900.0, HEIGHT));
    figure.to_svg(VIEW.sentence, &provenance(model, &runs))
}

/// Both axes are logarithmic; on the diagonal, prediction and measurement are equal.
pub fn figure(points: &[Point<'_>], ink: Ink, size: emath::Vec2) -> Figure {
    let mut figure = Figure::new(size, ink.paper);
    let top = legend(&mut figure, points, ink) + 38.0;
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
    diagonal(&mut figure, (&x, &y), ink);
    let middle = (left + right) * 0.5;
    let title = "Predicted: bytes moved / copy bandwidth (logarithmic)";
    let inside = middle.min(size.x - 4.0 - text_width(title, TYPE) * 0.5);
    figure.text(pos2(inside, bottom + 35.0), Anchor::Middle, TYPE, ink.text, title);
    let title = "Measured: median time (logarithmic)";
    figure.text(pos2(8.0, top - 18.0), Anchor::Start, TYPE, ink.text, title);
    let place_of = |point: &Point<'_>| pos2(x.place(point.predicted_s), y.place(point.median_s));
    let seen = uppermost(points, place_of);
    for (point, is_seen) in points.iter().zip(seen) {
        let at = place_of(point);
        if is_seen {
            let color = format_color(format_of(&point.run));
            let mark = WORKERS.get(worker(&point.run)).map_or(Mark::Circle, |(_, mark)| *mark);
            let fill = filling(color, point.run.bundle.series, ink.paper);
            let outline = if fill == color { ink.paper } else { color };
            figure.mark(at, mark, RADIUS, fill, outline);
        }
        let rect = Rect::from_center_size(at, vec2(2.0, 2.0) * RADIUS);
        let matrix = point.run.key();
        let run = Some(point.run.index);
        figure.hits.push(Hit { rect, text: tooltip(point), matrix, run, series: None });
    }
    figure.message = message(points);
    figure
}

/// Whether each point is seen: not if a later one has the same mark and colour at the same pixel. Runs differ
/// in their thread block, and thousands of marks take long to draw.
fn uppermost<'a>(points: &[Point<'a>], place_of: impl Fn(&Point<'a>) -> Pos2) -> Vec<bool> {
    let mut taken = HashSet::new();
    let is_seen = |point: &Point<'a>| {
        let at = place_of(point).round();
        let looks = (format_of(&point.run), worker(&point.run), point.run.bundle.series);
        taken.insert((at.x as i32, at.y as i32, looks))
    };
    let mut seen: Vec<bool> = points.iter().rev().map(is_seen).collect();
    seen.reverse();
    seen
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

/// Colours of the formats, shapes of the workers and fills of the bundles that occur; returns the
/// bottom.
fn legend(figure: &mut Figure, points: &[Point<'_>], ink: Ink) -> f32 {
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
    at.y + 11.0
}

#[cfg(test)]
mod tests {
    use sparsescope_core::record::{Predicted, Run};

    use super::*;
    use crate::figure::Shape;
    use crate::model::made::with_recipe;
    use crate::why::tests;

    /// On a machine that copies 40 GB/s: 3 M sectors, so 96 MB or 2.4 ms, measured 1 ms; lines of
    /// 20 MB, so 0.5 ms, measured 4 ms; and a run without a prediction.
    fn model() -> Model {
        let (mut gpu, statistics, environment) = tests::run("cuda/csr/warp-shuffle");
        let (load_sectors, store_sectors) = (Some(2_900_000), Some(100_000));
        gpu.costs.predicted =
            Some(Predicted { load_sectors, store_sectors, ..Predicted::default() });
        let (mut cpu, ..) = tests::run("cpu/csr/nnz");
        cpu.samples = vec![4e-3; 3];
        cpu.costs.predicted =
            Some(Predicted { line_bytes: Some(20_000_000), ..Predicted::default() });
        let (vendor, ..) = tests::run("vendor/cusparse/csr-alg1");
        tests::model(vec![gpu, cpu, vendor], statistics, environment)
    }

    fn near(one: f64, other: f64) -> bool {
        (one / other - 1.0).abs() < 1e-9
    }

    /// Position of a label.
    fn label(figure: &Figure, wanted: &str, anchored: Anchor) -> Pos2 {
        let found = figure.shapes.iter().find_map(|shape| match shape {
            Shape::Text { pos, anchor, text, .. } if text == wanted && *anchor == anchored => {
                Some(*pos)
            }
            _ => None,
        });
        found.unwrap_or_else(|| panic!("no label {wanted}"))
    }

    #[test]
    fn points_lie_where_prediction_and_time_belong() {
        let (model, state) = (model(), ViewState::default());
        let points = points(&model, &state);
        let found: Vec<_> = points.iter().map(|p| (p.predicted_s, p.median_s)).collect();
        let expected = [(2.4e-3, 1e-3), (0.5e-3, 4e-3)];
        assert_eq!(found.len(), expected.len());
        for (found, expected) in found.iter().zip(expected) {
            assert!(near(found.0, expected.0) && near(found.1, expected.1), "{found:?}");
        }
        // Between the ticks of 1 and 2 ms, a decade's share of log 2 apart.
        let figure = figure(&points, state.theme.ink(), vec2(800.0, 600.0));
        let (one, two) = ("1 ms", "2 ms");
        let xs = [one, two].map(|tick| label(&figure, tick, Anchor::Middle).x);
        let ys = [one, two].map(|tick| label(&figure, tick, Anchor::End).y);
        let at = |[one, two]: [f32; 2], value: f64| one + (two - one) * (value * 1e3).log2() as f32;
        assert_eq!(figure.hits.len(), 2);
        for (hit, (predicted, median)) in figure.hits.iter().zip(expected) {
            let wanted = pos2(at(xs, predicted), at(ys, median));
            assert!(hit.rect.center().distance(wanted) < 0.1, "{wanted:?} {:?}", hit.rect);
        }
        // The diagonal goes through (1 ms, 1 ms) with both axes' slope.
        let sloped = figure.shapes.iter().find_map(|shape| match shape {
            Shape::Line { points, .. } => match points.as_slice() {
                [from, to] if from.x != to.x && from.y != to.y => Some((*from, *to)),
                _ => None,
            },
            _ => None,
        });
        let (from, to) = sloped.unwrap();
        let share = (xs[0] - from.x) / (to.x - from.x);
        assert!((from.y + share * (to.y - from.y) - ys[0]).abs() < 0.1);
    }

    #[test]
    fn of_equal_marks_at_a_pixel_the_uppermost_is_drawn() {
        let (model, state) = (model(), ViewState::default());
        let twice: Vec<_> =
            points(&model, &state).into_iter().chain(points(&model, &state)).collect();
        let at_one_pixel = |_: &Point<'_>| pos2(3.0, 4.0);
        assert_eq!(uppermost(&twice, at_one_pixel), [false, false, true, true]);
        assert!(
            message(&twice).starts_with("Half of 4 runs take at least 8"),
            "{}",
            message(&twice)
        );
        let once = points(&model, &state);
        assert_eq!(uppermost(&once, at_one_pixel), [true, true]); // by different workers
        let figure = |points: &[Point<'_>]| figure(points, state.theme.ink(), vec2(800.0, 600.0));
        let (once, twice) = (figure(&once), figure(&twice));
        assert_eq!(
            (twice.shapes.len(), twice.hits.len()),
            (once.shapes.len(), 2 * once.hits.len())
        );
    }

    #[test]
    fn no_mark_covers_the_name_of_the_line() {
        let (mut model, state) = (Model::default(), ViewState::default());
        model.open("gpu.zip", include_bytes!("../../../example/gpu.zip")).unwrap();
        let figure = figure(&points(&model, &state), state.theme.ink(), vec2(900.0, HEIGHT));
        let words = "as predicted";
        let name = figure.shapes.iter().find_map(|shape| match shape {
            Shape::Text { pos, text, .. } if text == words => Some(*pos),
            _ => None,
        });
        let (name, half) = (name.unwrap(), vec2(0.0, TYPE * 0.5));
        let end = name + vec2(text_width(words, TYPE), 0.0);
        let place = Rect::from_min_max(name - half, end + half);
        assert!(figure.hits.iter().all(|hit| !hit.rect.intersects(place)));
    }

    #[test]
    fn predictions_are_offered_only_where_one_can_be_made() {
        let (run, mut statistics, environment) = tests::run("cpu/csr/nnz");
        (statistics.rows, statistics.cols, statistics.nnz) = (400, 400, 1920);
        let mut with_params = run.clone();
        with_params.params.insert("reads".into(), "gather".into());
        let mut single = run.clone();
        single.precision = "f32".into();
        let (vendor, ..) = tests::run("vendor/mkl/csr");
        let with = |runs: Vec<Run>| {
            let model = tests::model(runs, statistics.clone(), environment.clone());
            with_recipe(model, "gen:poisson2d?n=20")
        };
        let mut state = ViewState::default();
        for run in [with_params, single, vendor.clone()] {
            let model = with(vec![run]);
            assert!(to_predict(&model, &state).is_none());
            assert!(why_not(&model, &state).contains(". None can be predicted here: "));
        }
        let model = with(vec![vendor, run]);
        assert!(to_predict(&model, &state).is_some());
        state.filter.kernel = "vendor/mkl/csr".into();
        assert!(to_predict(&model, &state).is_none(), "the filter leaves out the one that can be");
    }

    #[test]
    fn the_table_is_what_is_drawn() {
        let (model, mut state) = (model(), ViewState::default());
        let lines = (VIEW.table)(&model, &state);
        assert_eq!(lines.len(), 3);
        assert_eq!(lines[1][2..3], ["cuda/csr/warp-shuffle"]);
        assert_eq!(lines[1][8], "96000000");
        assert!(near(lines[2][9].parse().unwrap(), 0.5e-3), "{:?}", lines[2]);
        state.filter.backend = "cuda".into();
        assert_eq!((VIEW.table)(&model, &state).len(), 2);
        assert!((VIEW.svg.unwrap())(&model, &state).contains("a warp per row"));
    }
}
