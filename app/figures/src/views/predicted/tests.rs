//! The view, from runs with known predictions.

use emath::{Pos2, Rect, pos2, vec2};
use sparsescope_core::record::{Predicted, Run};

use super::draw::{HEIGHT, MANY, TYPE, figure, marked};
use super::points::{points, to_predict, why_not};
use super::view::VIEW;
use crate::figure::{Anchor, Figure, Shape, text_width};
use crate::model::Model;
use crate::model::made::with_recipe;
use crate::state::ViewState;
use crate::why::tests;

/// On a machine that copies 40 GB/s: 3 M sectors, so 96 MB or 2.4 ms, measured 1 ms; lines of
/// 20 MB, so 0.5 ms, measured 4 ms; and a run without a prediction.
fn model() -> Model {
    let (mut gpu, statistics, environment) = tests::run("cuda/csr/warp-shuffle");
    let (load_sectors, store_sectors) = (Some(2_900_000), Some(100_000));
    gpu.costs.predicted = Some(Predicted { load_sectors, store_sectors, ..Predicted::default() });
    let (mut cpu, ..) = tests::run("cpu/csr/nnz");
    cpu.samples = vec![4e-3; 3];
    cpu.costs.predicted = Some(Predicted { line_bytes: Some(20_000_000), ..Predicted::default() });
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
    let figure = figure(&points, &state, vec2(800.0, 600.0));
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
fn of_many_runs_the_fastest_and_the_selected_have_marks_above_squares_of_the_others() {
    let (model, mut state) = (model(), ViewState::default());
    // The first of each pair takes 1 ms on the GPU, the second 4 ms on the CPU.
    let many: Vec<_> = (0..=MANY / 2).flat_map(|_| points(&model, &state)).collect();
    let places = |state: &ViewState| -> Vec<usize> {
        let marked = marked(&many, state).into_iter().enumerate();
        marked.filter(|(_, is_marked)| *is_marked).map(|(place, _)| place).collect()
    };
    assert_eq!(places(&state), [0]);
    state.matrix = Some(many[0].run.key());
    assert_eq!(places(&state), [0, 1], "each kernel on the selected matrix");
    (state.matrix, state.run) = (None, Some(many[1].run.index));
    assert_eq!(places(&state), [0, 1], "the selected run");
    let figure = figure(&many, &state, vec2(800.0, 600.0));
    let below = figure.shapes.iter().filter(|shape| matches!(shape, Shape::Rect { .. }));
    // The legend has one, too.
    assert_eq!(below.count(), 1 + 2);
    assert!(!matches!(figure.shapes.last(), Some(Shape::Rect { .. })));
    assert_eq!(figure.hits.len(), many.len());
    assert_eq!(figure.hits.last().and_then(|hit| hit.run), state.run);
    let few = points(&model, &state);
    assert_eq!(marked(&few, &state), [true; 2]);
}

#[test]
fn no_mark_covers_the_name_of_the_line() {
    let (mut model, state) = (Model::default(), ViewState::default());
    model.open("gpu.zip", include_bytes!("../../../../example/gpu.zip")).unwrap();
    let figure = figure(&points(&model, &state), &state, vec2(900.0, HEIGHT));
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
