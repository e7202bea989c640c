//! Winners, leads and baselines, against hand-made numbers.

use super::VIEW;
use super::board::{Board, baselines};
use super::solves::summary;
use crate::model::{Model, solved};
use crate::state::ViewState;
use crate::why::tests;

/// Three kernels on a matrix: 1, 2 and 4 ms; the slowest also with flushed caches, then faster than
/// all.
fn model() -> Model {
    let (run, statistics, environment) = tests::run("cpu/csr/serial");
    let timed = |kernel: &str, seconds: f64, hot: bool| {
        let mut run = run.clone();
        (run.kernel, run.hot, run.samples) = (kernel.into(), hot, vec![seconds; 3]);
        run
    };
    let mut refused = timed("cpu/ell/rows", 1.0, true);
    refused.samples.clear();
    refused.check.verdict = sparsescope_core::record::Verdict::Refused;
    refused.check.reason = Some("too large".into());
    let runs = vec![
        timed("cpu/csr/serial", 4e-3, true),
        timed("cpu/csr/nnz", 1e-3, true),
        timed("vendor/mkl/csr", 2e-3, true),
        timed("cpu/csr/serial", 1e-4, false),
        refused,
    ];
    tests::model(runs, statistics, environment)
}

#[test]
fn the_best_kernel_leads_over_the_second_and_over_the_vendor() {
    let (model, mut state) = (model(), ViewState::default());
    state.best.over = "vendor".into();
    let board = Board::of(&model, &state);
    let [row] = &board.rows[..] else { panic!("{board:?}") };
    assert_eq!((row.kernel.as_str(), row.second.as_str()), ("cpu/csr/nnz", "vendor/mkl/csr"));
    assert_eq!((row.lead, row.over, row.rate), (Some(2.0), Some(2.0), 1.6));
    let shares: Vec<f64> = row.runs.iter().map(|rival| rival.share).collect();
    assert_eq!(shares, [1.0, 0.5, 0.25], "flushed caches do not compete");
    assert_eq!(board.rate, "GFLOPS");
    assert_eq!(baselines(&model, &state).len(), 2, "one bundle is not compared with itself");
}

#[test]
fn the_heat_table_has_a_column_a_kernel_and_says_who_has_no_time() {
    let (model, mut state) = (model(), ViewState::default());
    state.best.heat = true;
    let lines = (VIEW.table)(&model, &state);
    assert_eq!(lines[0], ["matrix", "cpu/csr/nnz", "cpu/csr/serial", "vendor/mkl/csr"]);
    assert_eq!(lines[1], ["m", "1", "0.25", "0.5"]);
    let board = Board::of(&model, &state);
    assert_eq!(board.rows[0].without, [("cpu/ell/rows".to_owned(), "too large".to_owned())]);
    let svg = VIEW.svg.unwrap()(&model, &state);
    assert!(svg.contains(">best<") && svg.contains("cpu/csr/nnz"));
}

#[test]
fn what_has_no_least_bytes_has_no_share_of_the_copy_and_the_heading_says_what_rows_are() {
    use crate::model::skylines;
    let mut bundle = skylines::bundle();
    let set = skylines::add_set(&mut bundle, "cube", "gen:points-independent?n=9&d=2", [9, 2]);
    let mut run = skylines::run(&set, "cpu/skyline/fast", (1, None), 1e-3, 1);
    run.figures.as_mut().unwrap().set_copy(1e10);
    assert_eq!(run.figures.as_ref().unwrap().pct_copy, Some(0.0));
    bundle.runs.push(run);
    let model = skylines::model(&bundle);
    let state = ViewState::from_fragment("v1;operation=skyline").unwrap();
    let board = Board::of(&model, &state);
    assert_eq!((board.rows[0].pct_copy, board.what), (None, "Points"));
    let svg = VIEW.svg.unwrap()(&model, &state);
    assert!(svg.contains(">–<") && !svg.contains("0 %") && svg.contains(">Points<"), "{svg}");
    assert_eq!(Board::of(&self::model(), &ViewState::default()).what, "Matrix");
}

#[test]
fn the_figure_holds_what_the_table_says() {
    let (model, state) = (model(), ViewState::default());
    let lines = (VIEW.table)(&model, &state);
    assert_eq!(lines[1][2], "cpu/csr/nnz");
    let svg = VIEW.svg.unwrap()(&model, &state);
    for words in ["cpu/csr/nnz", "1.6", "2×", "Moves at least 10 MB per SpMV"] {
        assert!(svg.contains(words), "{words}");
    }
}

#[test]
fn of_solves_preconditioners_compete_and_a_sentence_says_who_is_first_with_its_set_up() {
    let model = solved::model(vec![
        solved::run(solved::SERIAL, &[("precond", "jacobi")], 100, &[("diagonal", 1.0)]),
        solved::run(solved::THREADS, &[("precond", "jacobi")], 90, &[("diagonal", 1.0)]),
        solved::run(solved::THREADS, &[], 40, &[("values", 80.0)]),
    ]);
    let state = ViewState::from_fragment("v1;operation=solve").unwrap();
    let board = Board::of(&model, &state);
    let [row] = &board.rows[..] else { panic!("{board:?}") };
    assert_eq!((row.title.as_str(), row.runs.len()), ("FSAI k 2, cpu/pcg/threads", 3));
    assert_eq!(row.lead, Some(90.0 / 40.0));
    assert!(row.setting.starts_with("2 threads; FSAI k 2; b a1;"), "{}", row.setting);
    assert_eq!(
        summary(&model, &state),
        "Fastest on m including setup: Jacobi (cpu/pcg/threads, 2 threads), 91 ms (1 ms of setup, \
         90 ms for 90 iterations). Once set up, FSAI k 2 (cpu/pcg/threads, 2 threads) is fastest: \
         40 ms for 40 iterations, after 80 ms of setup."
    );
    assert_eq!(summary(&self::model(), &ViewState::default()), "");
}

#[test]
fn solves_that_do_not_rank_win_nowhere_however_fast_they_are() {
    let model = solved::model(solved::planted());
    let mut state = ViewState::from_fragment("v1;operation=solve").unwrap();
    let board = Board::of(&model, &state);
    let [row] = &board.rows[..] else { panic!("{board:?}") };
    assert_eq!((row.kernel.as_str(), row.lead, row.runs.len()), (solved::SERIAL, None, 1));
    assert_eq!(board.kernels, [solved::SERIAL]);
    let limited = &row.without[0];
    assert_eq!(limited.0, solved::THREADS);
    assert_eq!(limited.1, "the relative residual is 1e-8");
    state.best.heat = true;
    assert_eq!((VIEW.table)(&model, &state), [["matrix", solved::SERIAL], ["m", "1"]]);
    let words = summary(&model, &state);
    assert!(words.contains(solved::SERIAL) && !words.contains(solved::THREADS), "{words}");
    let best = model.best(&state.filter);
    assert!(best.iter().all(|run| run.run.kernel == solved::SERIAL) && best.len() == 1);
    // Neither beats a run that ranks, and such a run beats both.
    let runs = model.runs(&state.filter);
    let [right, limited, idle] = &runs[..] else { panic!("{}", runs.len()) };
    for other in [limited, idle] {
        assert!(right.beats(other) && !other.beats(right) && !other.beats(other));
    }
}
