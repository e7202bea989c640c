//! Winners by energy and within a relative error, against hand-made numbers and the golden bundles.

use sparsescope_core::matrix::FormatSize;
use sparsescope_core::record::{Energy, Rounding, Run};

use super::VIEW;
use super::board::{Board, Row};
use super::headline::{about, headline};
use super::reasons::{NO_ENERGY, nothing};
use super::view::{automatic, form};
use crate::model::Model;
use crate::state::{Form, RankBy, Ranking, ViewState};
use crate::why::tests;

const CSR: &str = "cuda/csr/warp-ldg";
const HLL: &str = "cuda/hll/warp-per-row";

fn by_energy() -> ViewState {
    let mut state = ViewState::default();
    state.best.ranking.by = RankBy::Energy;
    state
}

fn within(error: f64) -> ViewState {
    let mut state = ViewState::default();
    state.best.ranking.max_error = Some(error);
    state
}

/// The kernel, its seconds, and joules and watts if they were measured.
type Measured<'k> = (&'k str, f64, Option<[f64; 2]>);

fn with_energies(of: &[Measured<'_>]) -> Model {
    let (run, statistics, environment) = tests::run(CSR);
    let measured = |(kernel, seconds, energy): &Measured<'_>| {
        let energy = energy.map(|[joules, watts]| Energy {
            joules,
            watts,
            windows: vec![joules],
            ..Energy::default()
        });
        Run { kernel: (*kernel).into(), samples: vec![*seconds; 3], energy, ..run.clone() }
    };
    tests::model(of.iter().map(measured).collect(), statistics, environment)
}

#[test]
fn by_energy_the_kernel_with_the_least_wins_however_slow_it_is() {
    let model = with_energies(&[(CSR, 1e-3, Some([0.5, 500.0])), (HLL, 2e-3, Some([0.25, 125.0]))]);
    let state = by_energy();
    let board = Board::of(&model, &state);
    let [row] = &board.rows[..] else { panic!("{board:?}") };
    assert_eq!((row.kernel.as_str(), row.second.as_str()), (HLL, CSR));
    // 0.25 J against 0.5 J.
    assert_eq!((row.rate, row.lead, board.span), (250.0, Some(2.0), [250.0, 500.0]));
    assert_eq!(row.runs.iter().map(|rival| rival.share).collect::<Vec<_>>(), [1.0, 0.5]);
    assert_eq!((board.rate.as_str(), board.less), ("energy, mJ (lower is better)", true));
    assert_eq!(headline(&board), "hll/warp-per-row takes the least energy on m");
    let about = about(&board, true);
    assert!(about.contains(" · energy per SpMV") && !about.contains("takes the least"), "{about}");
    // Twice the time at a quarter of the power.
    assert_eq!(
        row.why,
        "Takes 250 mJ per SpMV at 125 W: 2× the time of cuda/csr/warp-ldg, the fastest of these, \
         at 0.250× its power."
    );
    assert_eq!(row.clause.text(), "0.250× the power of the fastest; 125 W");
    assert!(row.runs[1].words.contains("500 mJ, "), "{}", row.runs[1].words);
    assert!(row.runs[1].words.contains(", 2× the least energy ("), "{}", row.runs[1].words);
    let svg = VIEW.svg.unwrap()(&model, &state);
    assert!(svg.contains(">250 mJ<") && svg.contains(">500<"), "{svg}");
    let usual = Board::of(&model, &ViewState::default());
    assert_eq!(usual.rows[0].kernel, CSR);
}

#[test]
fn the_list_has_the_unit_in_its_heading_and_bars_without_a_baseline_do_not_explain_it() {
    let svg = |model: &Model, form: Form, by: RankBy| {
        let mut state = by_energy();
        (state.best.form, state.best.ranking.by) = (form, by);
        VIEW.svg.unwrap()(model, &state)
    };
    let model = with_energies(&[(CSR, 1e-3, Some([0.5, 500.0])), (HLL, 2e-3, Some([0.25, 125.0]))]);
    let list = svg(&model, Form::List, RankBy::Energy);
    assert!(list.contains(">mJ<"), "{list}");
    let words = "marks the baseline";
    assert!(!svg(&model, Form::Rates, RankBy::Energy).contains(words));
    let example = golden("gpu.zip", include_bytes!("../../../../example/gpu.zip"));
    assert!(svg(&example, Form::Rates, RankBy::Rate).contains(words));
}

#[test]
fn by_energy_a_vendor_is_compared_with_by_energy() {
    let vendor = "vendor/cusparse/csr-alg1";
    let runs = [(vendor, 1e-3, Some([1.0, 1000.0])), (CSR, 2e-3, Some([0.25, 125.0]))];
    let board = Board::of(&with_energies(&runs), &by_energy());
    assert_eq!((board.rows[0].over, board.rows[0].gain), (Some(4.0), Some(4.0)));
    let expected = "csr/warp-ldg takes the least energy on m; the energy of cuSPARSE is 4.00× \
                    that of Sparsescope's best kernel";
    assert_eq!(headline(&board), expected);
    let alone = Board::of(&with_energies(&runs[..1]), &by_energy());
    assert_eq!(alone.rows[0].clause.reason, "also the fastest");
    assert!(alone.rows[0].why.ends_with(" at 1000 W, and is the fastest of these."));
}

#[test]
fn what_has_no_energy_does_not_compete_by_energy() {
    let model = with_energies(&[(CSR, 1e-3, None), (HLL, 2e-3, Some([0.25, 125.0]))]);
    let board = Board::of(&model, &by_energy());
    let [row] = &board.rows[..] else { panic!("{board:?}") };
    assert_eq!((row.kernel.as_str(), row.runs.len(), row.lead), (HLL, 1, None));
    assert_eq!(row.without, [(CSR.to_owned(), "its energy was not measured".to_owned())]);
    let model = with_energies(&[(CSR, 1e-3, None)]);
    assert!(!model.has_energy(&by_energy().filter));
    assert!(Board::of(&model, &by_energy()).rows.is_empty());
    assert_eq!(nothing(&model, &by_energy()), NO_ENERGY);
    // With an energy, but no error.
    let model = with_energies(&[(CSR, 1e-3, Some([0.5, 500.0]))]);
    let mut state = by_energy();
    state.best.ranking.max_error = Some(1e-6);
    assert!(Board::of(&model, &state).rows.is_empty());
    let words = "No matching run with warm caches and an energy and a recorded relative error of at \
                 most 1e-6 passed its check.";
    assert_eq!(nothing(&model, &state), words);
}

fn golden(name: &str, bytes: &[u8]) -> Model {
    let mut model = Model::default();
    model.open(name, bytes).unwrap();
    model
}

fn row<'b>(board: &'b Board, name: &str) -> &'b Row {
    board.rows.iter().find(|row| row.name.contains(name)).unwrap()
}

fn is_near(found: f64, expected: f64) -> bool {
    (found / expected - 1.0).abs() < 1e-12
}

#[test]
fn the_energies_of_the_golden_bundle_are_ranked() {
    let bytes = include_bytes!("../../../../../tests/golden/bundle-1.13-energy.zip");
    let board = Board::of(&golden("energy.zip", bytes), &by_energy());
    assert!(headline(&board).starts_with("By energy on 2 matrices, csr/warp-shuffle "));
    // The joules in `runs.json`, read by another program.
    for (name, joules) in
        [("stencil7", 0.000_464_611_222_624_741_9), ("stencil27", 0.026_875_727_190_153_877)]
    {
        let row = row(&board, name);
        assert!(is_near(row.rate, 1e3 * joules), "{name}: {}", row.rate);
        let reason = "energy is measured only for CUDA kernels on one GPU".to_owned();
        assert_eq!(row.without, [("cpu/csr/serial".to_owned(), reason)]);
    }
}

/// On one matrix: a CSR kernel in 4 ms (f64), 1 ms (f32, error 2e-7) and 0.5 ms (bf16, error 3e-3),
/// an HLL kernel in 2 ms (f64), and one in f32 whose error is not known.
fn in_fewer_bits() -> Model {
    let (mut run, mut statistics, environment) = tests::run(CSR);
    run.check.rel_err = Some(1e-16);
    let csr = FormatSize {
        format: "csr".into(),
        bytes: 12_000_000,
        slots: 800_000,
        padding: 1.0,
        minimal_bytes: 13_600_000,
    };
    statistics.formats.push(csr);
    let of = |kernel: &str, precision: &str, seconds: f64, norm: Option<f64>| {
        let mut run = run.clone();
        (run.kernel, run.precision) = (kernel.into(), precision.into());
        run.samples = vec![seconds; 3];
        run.check.rounding = norm.map(|norm| Rounding { norm, ..Rounding::default() });
        if precision == "f32" {
            run.costs.format_bytes = 9_000_000;
        }
        run
    };
    let runs = vec![
        of(CSR, "f64", 4e-3, None),
        of(CSR, "f32", 1e-3, Some(2e-7)),
        of(CSR, "bf16:f32", 0.5e-3, Some(3e-3)),
        of(HLL, "f64", 2e-3, None),
        of("cuda/csr/adaptive", "f32", 1e-4, None),
    ];
    tests::model(runs, statistics, environment)
}

#[test]
fn within_an_error_all_precisions_that_keep_it_compete() {
    let model = in_fewer_bits();
    let winner = |error: f64| {
        let board = Board::of(&model, &within(error));
        board.rows.first().map(|row| (row.title.clone(), row.runs.len()))
    };
    let found = |title: &str| Some((title.to_owned(), 2));
    assert_eq!(winner(1e-12), found(HLL));
    assert_eq!(winner(1e-7), found(HLL));
    assert_eq!(winner(2e-7), found("cuda/csr/warp-ldg (f32)"), "at most, not less");
    assert_eq!(winner(1e-3), found("cuda/csr/warp-ldg (f32)"));
    assert_eq!(winner(1e-2), found("cuda/csr/warp-ldg (bf16:f32)"));
    assert_eq!(winner(1e-17), None);
    let words = "No matching run with warm caches and a recorded relative error of at most 1e-17 \
                 passed its check.";
    assert_eq!(nothing(&model, &within(1e-17)), words);
    let usual = Board::of(&model, &ViewState::default());
    assert_eq!((usual.rows[0].title.as_str(), usual.rows[0].lead), (HLL, Some(2.0)));
}

#[test]
fn the_headline_and_the_reason_name_the_error_and_what_fewer_bits_save() {
    let model = in_fewer_bits();
    let board = Board::of(&model, &within(1e-6));
    let [row] = &board.rows[..] else { panic!("{board:?}") };
    assert_eq!((row.lead, row.second.as_str()), (Some(2.0), HLL));
    let words = "csr/warp-ldg (f32) is fastest within a relative error of 1e-6 on m";
    assert_eq!(headline(&board), words);
    assert!(about(&board, true).contains(" · relative error at most 1e-6"));
    // 9 MB instead of 12 MB.
    assert_eq!(row.clause.reason, "f32: 25 % fewer bytes than CSR in f64");
    assert!(row.why.ends_with(" Its relative error is 2.0e-7."), "{}", row.why);
    assert!(row.runs[0].words.contains(", relative error 2.0e-7 ("), "{}", row.runs[0].words);
    let reason = "its error against f64 is not recorded".to_owned();
    assert_eq!(row.without, [("cuda/csr/adaptive".to_owned(), reason)]);
}

#[test]
fn of_the_golden_bundle_the_fastest_run_within_the_error_wins() {
    let model = golden("narrow.zip", include_bytes!("../../../../../tests/golden/bundle-1.13.zip"));
    // Sorted by rate among those within the error by another program; all errors on the stencil
    // are 0.
    for (error, name, title, gflops) in [
        (1e-12, "stencil7", "cpu/csr/serial (f32)", 1.233_918_476_643_856),
        (1e-6, "powerlaw", "cpu/csr/serial (f32)", 0.635_656_348_286_707_5),
        (1e-8, "powerlaw", "cpu/csr/serial", 0.630_479_755_689_094_6),
    ] {
        let board = Board::of(&model, &within(error));
        let row = row(&board, name);
        assert_eq!(row.title, title, "{error} {name}");
        assert!(is_near(row.rate, gflops), "{error} {name}: {}", row.rate);
    }
}

#[test]
fn rates_over_size_are_not_drawn_in_another_ranking() {
    let model = in_fewer_bits();
    let mut state = within(1e-6);
    state.best.form = Form::Sizes;
    let board = Board::of(&model, &state);
    assert_eq!(form(&board, &state), automatic(&board, &state));
    state.best.ranking = Ranking::default();
    assert_eq!(form(&board, &state), Form::Sizes);
}
