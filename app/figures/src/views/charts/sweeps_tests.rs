//! The charts of sweeps: residuals, levels and passes.

use sparsescope_core::matrix::Csr;
use sparsescope_core::memory::MemoryLimit;
use sparsescope_core::record::{History, Operation, Series, Work};
use sparsescope_core::symgs::Wavefronts;

use super::list::CHARTS;
use super::plot::Data;
use super::tests::{NNZ, bundle, drawn, model, run, serial};
use super::view::{plot, svg};
use crate::model::Model;
use crate::state::ViewState;

/// Sweeps over one matrix, with levels in the bundle and given residuals and passes.
fn swept() -> Model {
    let mut bundle = bundle("sweeps", 1.0);
    bundle.runs.clear();
    let mut add = |kernel: &str, times: f64, residuals: &[f64], passes: &[(f64, f64)]| {
        let mut run = run(0, kernel, (1, None), times);
        run.operation = "symgs".into();
        let work = Work { flops: NNZ[0], ..Work::default() };
        run.metric = Some(Operation::Symgs.metric(&work, serial(0) / times));
        let series = |name: &str, values: Vec<f64>, step: Option<&str>| Series {
            name: name.into(),
            values,
            every: 1,
            step: step.map(str::to_owned),
        };
        let mut told = vec![series("relative residual", residuals.to_vec(), None)];
        if !passes.is_empty() {
            let (launched, work) = passes.iter().copied().unzip();
            told.push(series("blocks launched", launched, Some("pass")));
            told.push(series("blocks with work", work, Some("pass")));
        }
        run.history = Some(History { step: "sweep".into(), series: told });
        bundle.runs.push(run);
    };
    let exact = [1.0, 0.5, 0.25];
    add("cpu/symgs/levels", 2.0, &exact, &[]);
    add("cpu/symgs/serial", 1.0, &exact, &[]);
    add("cpu/symgs/colored", 4.0, &[1.0, 0.75, 0.0], &[]);
    add("cuda/symgs/ready-done", 0.5, &exact, &[(1000.0, 1.0), (1000.0, 600.0), (1000.0, 399.0)]);
    // A chain of pairs: 500 levels of two rows.
    let before = (2..1000).map(|i| (i, i - 2, 1.0));
    let t: Vec<_> = (0..1000).map(|i| (i, i, 1.0)).chain(before).collect();
    let chain = Csr::from_triplets(1000, 1000, &t).unwrap();
    let files = Wavefronts::files_of(&chain, 1 << 16, MemoryLimit::unlimited()).unwrap();
    bundle.matrices[0].files = files;
    let mut model = Model::default();
    model.open("sweeps", &bundle.to_bytes().unwrap()).unwrap();
    model
}

fn of_sweeps(chart: &str) -> ViewState {
    let link = format!("v1;operation=symgs;search=small;chart={chart}");
    ViewState::from_fragment(&link).unwrap()
}

#[test]
fn kernels_that_go_the_same_way_share_a_line_of_residuals_and_others_have_their_own() {
    let expected: Vec<(String, String, f64)> = [
        ("cpu/symgs/colored", "0", 1.0),
        ("cpu/symgs/colored", "1", 0.75),
        ("cpu/symgs/colored", "2", 1e-18),
        ("cpu/symgs/serial (and levels, ready-done)", "0", 1.0),
        ("cpu/symgs/serial (and levels, ready-done)", "1", 0.5),
        ("cpu/symgs/serial (and levels, ready-done)", "2", 0.25),
    ]
    .map(|(name, at, value)| (name.to_owned(), at.to_owned(), value))
    .to_vec();
    let model = swept();
    assert_eq!(drawn(&model, &of_sweeps("convergence")), expected);
    let data_state = of_sweeps("convergence");
    let data = Data::of(&model, &data_state);
    assert!(plot(&data).note.contains("1 residuals below 1e-18"), "a residual of 0 has its place");
}

#[test]
fn residuals_against_time_have_a_line_for_each_kernel_and_leave_out_what_no_axis_has() {
    let found = drawn(&swept(), &of_sweeps("convergence-time"));
    let median = serial(0) * 1e3;
    let of = |kernel: &str| -> Vec<(f64, f64)> {
        let found = found.iter().filter(|(name, ..)| name == kernel);
        found.map(|(_, at, value)| (at.parse().unwrap(), *value)).collect()
    };
    for (kernel, times, residuals) in
        [("cpu/symgs/levels", 2.0, [0.5, 0.25]), ("cpu/symgs/colored", 4.0, [0.75, 1e-18])]
    {
        let of = of(kernel);
        assert_eq!(of.len(), 2, "no sweep takes no time: {of:?}");
        for (k, (time, residual)) in of.into_iter().enumerate() {
            let expected = (k + 1) as f64 * median / times;
            assert!((time / expected - 1.0).abs() < 1e-3 && residual == residuals[k], "{kernel}");
        }
    }
    let state = ViewState { log: false, ..of_sweeps("convergence-time") };
    assert_eq!(drawn(&swept(), &state).len(), 12, "on a linear axis the beginning, too");
}

#[test]
fn times_stand_at_the_mean_width_or_the_number_of_levels_of_both_sweeps() {
    let model = swept();
    let at = |of: &str| {
        let state = of_sweeps(&format!("parallelism;of={of}"));
        let serial =
            drawn(&model, &state).into_iter().find(|(name, ..)| name == "cpu/symgs/serial");
        let (_, x, y) = serial.unwrap();
        (x.parse::<f64>().unwrap(), y)
    };
    // 500 levels forward, 1 backward.
    let (width, micro) = at("time against mean level width");
    assert!((width - 2000.0 / 501.0).abs() < 1e-9 && (micro / 1.0 - 1.0).abs() < 1e-3);
    assert_eq!(at("time against levels").0, 501.0);
    let (_, nano) = at("time per level against mean width");
    assert!((nano / (1000.0 / 501.0) - 1.0).abs() < 1e-3, "{nano}");
    assert_eq!(at("time a level against mean width"), at("time per level against mean width"));
}

#[test]
fn passes_are_told_with_the_share_of_their_blocks_that_had_work() {
    let (model, state) = (swept(), of_sweeps("passes"));
    let found = drawn(&model, &state);
    let kernel = "cuda/symgs/ready-done";
    let expected: Vec<_> = [("launched", [1000.0; 3]), ("with work", [1.0, 600.0, 399.0])]
        .into_iter()
        .flat_map(|(what, blocks)| {
            let name = format!("blocks {what}, {kernel}");
            blocks.into_iter().enumerate().map(move |(k, b)| (name.clone(), (k + 1).to_string(), b))
        })
        .collect();
    assert_eq!(found, expected);
    let note = plot(&Data::of(&model, &state)).note;
    assert!(note.contains("3 passes, 33.3 % of the blocks had work"), "{note}");
}

#[test]
fn charts_of_sweeps_draw_tell_and_save_and_say_why_where_there_is_nothing() {
    let bare = model(&[("a", 1.0)]);
    for chart in CHARTS.iter().filter(|chart| !chart.is_for("spmv")) {
        for (model, drawn) in [(&swept(), true), (&bare, false)] {
            let state = of_sweeps(chart.id);
            let data = Data::of(model, &state);
            assert_eq!(!plot(&data).is_empty(), drawn, "{}", chart.id);
            let svg = svg(model, &state);
            assert_eq!(svg.contains(chart.nothing.split_at(36).0), !drawn, "{}", chart.id);
            assert!(!svg.contains("NaN") && !svg.contains("inf\""), "{}", chart.id);
        }
    }
}
