//! The charts of solves, from a generated bundle with known numbers.

use sparsescope_core::bundle::Bundle;
use sparsescope_core::record::{Check, Run, Verdict};

use super::CHARTS;
use crate::model::solved::{NNZ, SERIAL, THREADS, model, planted, run};
use crate::model::{Model, subject_key};
use crate::state::ViewState;
use crate::views::charts::plot::Data;
use crate::views::charts::tests::drawn;
use crate::views::charts::view::{plot, svg};

/// Jacobi in 100 iterations, and FSAI with three powers and two with merging.
fn solves() -> Vec<Run> {
    let set_up = [("pattern", 20.0), ("values", 100.0)];
    let longer = [("pattern", 30.0), ("values", 300.0)];
    vec![
        run(THREADS, &[("precond", "jacobi")], 100, &[("diagonal", 1.0)]),
        run(THREADS, &[("power", "1")], 50, &set_up),
        run(THREADS, &[("power", "2")], 40, &longer),
        run(THREADS, &[("power", "3"), ("format_g", "hyb")], 30, &longer),
        run(THREADS, &[("merge", "1")], 20, &set_up),
        run(THREADS, &[("merge", "1.05"), ("merge_block", "8192")], 10, &set_up),
    ]
}

fn state(chart: &str) -> ViewState {
    ViewState::from_fragment(&format!("v1;operation=solve;chart={chart}")).unwrap()
}

fn near(found: f64, expected: f64) -> bool {
    (found / expected - 1.0).abs() < 1e-9
}

/// Asserts series, position and value of each point; values to nine digits.
fn assert_drawn(model: &Model, chart: &str, expected: &[(&str, &str, f64)]) {
    let found = drawn(model, &state(chart));
    let same = found.iter().zip(expected).all(|(found, (series, at, value))| {
        (found.0.as_str(), found.1.as_str()) == (*series, *at) && near(found.2, *value)
    });
    assert!(same && found.len() == expected.len(), "{chart}: {found:?}\nexpected {expected:?}");
}

#[test]
fn kernels_that_go_the_same_way_share_a_line_and_a_true_residual_stands_at_its_end() {
    let jacobi = |kernel| run(kernel, &[("precond", "jacobi")], 10, &[]);
    let mut nearly = jacobi(THREADS);
    for value in &mut nearly.history.as_mut().unwrap().series[0].values {
        *value *= 1.005;
    }
    let mut gave_up = run(SERIAL, &[("precond", "none")], 5, &[]);
    gave_up.check = Check { verdict: Verdict::Fail, ..Check::default() };
    (gave_up.figures, gave_up.metric) = (None, None);
    gave_up.solve.as_mut().unwrap().converged = false;
    // A solve that gave up adds nothing if another with the same residuals finished.
    let mut shorter = jacobi(SERIAL);
    (shorter.figures, shorter.metric) = (None, None);
    shorter.check = Check { verdict: Verdict::Fail, ..Check::default() };
    shorter.solve.as_mut().unwrap().converged = false;
    let model = model(vec![jacobi(SERIAL), nearly, gave_up, shorter]);
    let found = drawn(&model, &state("convergence"));
    let of = |name: &str| found.iter().filter(|of| of.0 == name).collect::<Vec<_>>();
    let shared = of("Jacobi, cpu/pcg/serial (and threads)");
    assert_eq!(shared.len(), 11, "{found:?}");
    for (k, (_, at, value)) in shared.into_iter().enumerate() {
        assert!(*at == k.to_string() && near(*value, 10f64.powi(-(k as i32))), "{at} {value}");
    }
    assert_eq!(of("no preconditioner, cpu/pcg/serial").len(), 6, "what gave up has come some way");
    let ends = of("final true residual |b − Ax| / |b|");
    assert_eq!(
        ends.iter().map(|end| (end.1.as_str(), end.2)).collect::<Vec<_>>(),
        [("5", 2e-10), ("10", 2e-10)]
    );
    let state = state("convergence");
    let guides = plot(&Data::of(&model, &state)).guides;
    assert!(guides.len() == 1 && guides[0].ends == [[0.0, 1e-10], [10.0, 1e-10]], "{guides:?}");
}

#[test]
fn in_time_a_line_begins_after_its_set_up_and_gains_a_mean_iteration_each_step() {
    let model = model(vec![run(SERIAL, &[], 4, &[("pattern", 3.0), ("values", 4.0)])]);
    let found = drawn(&model, &state("convergence-time"));
    let line: Vec<f64> =
        found.iter().filter(|of| of.0 == "FSAI, k = 2").map(|of| of.1.parse().unwrap()).collect();
    assert!(
        line.len() == 5 && line.iter().enumerate().all(|(k, at)| near(*at, 7.0 + k as f64)),
        "{line:?}"
    );
}

#[test]
fn bars_have_the_phases_in_order_and_then_the_iterations() {
    let model = model(vec![run(SERIAL, &[], 40, &[("values", 30.0), ("pattern", 10.0)])]);
    let row = "FSAI, k = 2";
    let expected = [("pattern", row, 10.0), ("values", row, 30.0), ("iterations", row, 40.0)];
    assert_drawn(&model, "set-up-and-solve", &expected);
    assert_drawn(&model, "set-up-and-solve;of=setup only", &expected[..2]);
    let state = state("set-up-and-solve");
    let data = Data::of(&model, &state);
    let plot = plot(&data);
    let mut ranges: Vec<[f64; 2]> = plot.points().filter_map(|(.., point)| point.range).collect();
    ranges.sort_by(|a, b| a[0].total_cmp(&b[0]));
    assert!(ranges[0][0] == 0.0 && near(ranges[2][1], 80.0), "{ranges:?}");
    assert!(ranges.windows(2).all(|pair| pair[0][1] == pair[1][0]), "bars touch: {ranges:?}");
}

#[test]
fn solves_that_differ_in_one_parameter_alone_are_held_against_each_other() {
    let model = model(solves());
    let iterations = [("m", "0", 50.0), ("m", "1", 40.0), ("m", "2", 30.0)];
    assert_drawn(&model, "parameters;of=power k: iterations", &iterations);
    let density = iterations.map(|(name, at, k)| (name, at, 5.0 * k / NNZ as f64));
    assert_drawn(&model, "parameters;of=power k: nnz(G) / nnz(A)", &density);
    let in_all = [("m", "0", 0.170), ("m", "1", 0.370), ("m", "2", 0.360)];
    assert_drawn(&model, "parameters;of=power k: setup and solve", &in_all);
    // Off, 1 and 1.05, in this order.
    assert_drawn(&model, "groups", &[("m", "0", 400.0), ("m", "1", 200.0), ("m", "2", 100.0)]);
    let found = drawn(&model, &state("parameters;of=power k: all measures"));
    let ratios: Vec<f64> = found.iter().filter(|of| of.0 == "iterations").map(|of| of.2).collect();
    assert_eq!(ratios, [1.0, 0.8, 0.6]);
}

#[test]
fn solves_with_values_stored_in_several_ways_are_one_line_of_the_fastest() {
    let of = |power: &'static str, values: &'static str, iterations| {
        run(THREADS, &[("power", power), ("values", values)], iterations, &[])
    };
    let model = model(vec![
        of("1", "auto", 50),
        of("1", "plain", 60),
        of("2", "auto", 45),
        of("2", "plain", 40),
        of("3", "auto", 30),
    ]);
    let iterations = [("m", "0", 50.0), ("m", "1", 40.0), ("m", "2", 30.0)];
    assert_drawn(&model, "parameters;of=power k: iterations", &iterations);
}

#[test]
fn a_matrix_without_such_solves_gives_way_to_one_that_has_them() {
    let mut both = model(solves());
    let mut larger = Bundle::clone(&both.bundles()[0].bundle);
    larger.runs = vec![run(THREADS, &[("precond", "jacobi")], 10, &[])];
    let record = &mut larger.matrices[0].record;
    record.sha256 = "cd".repeat(32);
    record.statistics.nnz = 2 * NNZ;
    both.show_unfinished("larger.zip", larger);
    for selected in ["", ";matrix=cdcdcdcdcdcdcdcd-real"] {
        let state = state(&format!("parameters{selected}"));
        let plot = plot(&Data::of(&both, &state));
        assert!(!plot.is_empty(), "{selected}");
        assert_eq!(plot.subject.map(subject_key).as_deref(), Some("abababababababab-real"));
    }
}

#[test]
fn spectra_stand_in_rows_that_tell_the_bound_and_its_steps() {
    let model = model(vec![run(SERIAL, &[], 4, &[])]);
    let row = "FSAI, k = 2: κ ≥ 4, from 4 steps";
    let expected = [0.5, 1.0, 2.0].map(|value| ("FSAI, k = 2", row, value));
    assert_drawn(&model, "spectrum", &expected);
}

#[test]
fn set_ups_pay_by_what_each_solve_gains_and_sooner_with_a_kept_pattern() {
    let model = model(solves().into_iter().take(2).collect());
    // 119 ms more setup for 50 ms per solve; 99 ms without the pattern's 20 ms.
    let expected = [
        ("including the whole setup", "FSAI, k = 1", 3.0),
        ("reusing the pattern", "FSAI, k = 1", 2.0),
    ];
    assert_drawn(&model, "set-up-break-even", &expected);
    let slower = self::model(vec![
        run(THREADS, &[("precond", "jacobi")], 10, &[]),
        run(THREADS, &[], 20, &[("pattern", 1.0)]),
    ]);
    assert_eq!(drawn(&slower, &state("set-up-break-even"))[0].2, f64::INFINITY);
}

#[test]
fn speed_ups_and_times_against_threads_have_a_line_for_each_preconditioner() {
    let at = |precond: &str, threads: u32, speedup: f64, iterations| {
        let kernel = if threads == 1 { SERIAL } else { THREADS };
        let mut run = run(kernel, &[("precond", precond)], iterations, &[]);
        run.threads = threads;
        run.figures.as_mut().unwrap().speedup = Some(speedup);
        Run { kernel: THREADS.into(), ..run }
    };
    let model = model(vec![
        at("jacobi", 1, 0.9, 100),
        at("jacobi", 2, 1.8, 50),
        at("fsai", 1, 1.0, 40),
        at("fsai", 2, 1.5, 30),
    ]);
    let speedups = [
        ("Jacobi", "1", 0.9),
        ("Jacobi", "2", 1.8),
        ("FSAI, k = 2", "1", 1.0),
        ("FSAI, k = 2", "2", 1.5),
    ];
    assert_drawn(&model, "speedup", &speedups);
    let times = [
        ("Jacobi", "1", 100.0),
        ("Jacobi", "2", 50.0),
        ("FSAI, k = 2", "1", 40.0),
        ("FSAI, k = 2", "2", 30.0),
    ];
    assert_drawn(&model, "threads", &times);
}

#[test]
fn formats_are_compared_under_one_preconditioner() {
    let of = |format, iterations| run(THREADS, &[("format_a", format)], iterations, &[]);
    let model =
        model(vec![of("csr", 10), of("hyb", 20), run(THREADS, &[("precond", "jacobi")], 5, &[])]);
    let expected = [("A in CSR, G in CSR", "m", 1000.0), ("A in HYB, G in CSR", "m", 1000.0)];
    assert_drawn(&model, "solve-formats", &expected);
}

#[test]
fn of_many_preconditioners_the_plain_ones_are_drawn_and_those_that_solve_first() {
    let mut runs = vec![run(THREADS, &[("precond", "jacobi")], 900, &[])];
    for k in 1..=20_u64 {
        runs.push(run(THREADS, &[("postfilter", &format!("0.{k:02}"))], 40 - k, &[]));
    }
    let model = model(runs);
    let state = state("set-up-and-solve");
    let data = Data::of(&model, &state);
    let plot = plot(&data);
    let rows: Vec<String> = plot.rows.iter().flatten().map(|row| row.name.clone()).collect();
    let mut expected = vec!["Jacobi".to_owned()];
    expected.extend((14..=20).map(|k| format!("FSAI, k = 2, τ = 0.{k}")));
    assert_eq!(rows, expected);
    assert!(plot.note.starts_with("13 slower preconditioners"), "{}", plot.note);
}

#[test]
fn every_chart_draws_tells_and_saves_and_says_why_where_there_is_nothing() {
    let mut all = solves();
    all.push(run(THREADS, &[("power", "3")], 30, &[("pattern", 1.0)]));
    let (full, none) = (model(all), model(Vec::new()));
    for chart in &CHARTS {
        for (model, drawn) in [(&full, true), (&none, false), (&Model::default(), false)] {
            let state = state(chart.id);
            assert_eq!(!plot(&Data::of(model, &state)).is_empty(), drawn, "{}", chart.id);
            let svg = svg(model, &state);
            assert_eq!(svg.contains(chart.nothing.split_at(36).0), !drawn, "{}", chart.id);
            assert!(!svg.contains("NaN") && !svg.contains("inf\""), "{}", chart.id);
        }
    }
}

#[test]
fn no_chart_draws_a_solve_that_does_not_rank() {
    let model = model(planted());
    let mut drawn = 0;
    for chart in crate::views::charts::ids_for("solve") {
        let state = state(chart);
        let plot = plot(&Data::of(&model, &state));
        for (_, _, point) in plot.points() {
            let kernel = point.run.map_or(SERIAL, |run| run.run.kernel.as_str());
            assert_eq!(kernel, SERIAL, "{chart}");
            drawn += 1;
        }
    }
    assert!(drawn > 0);
}
