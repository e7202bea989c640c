//! Winners, leads and baselines, against hand-made numbers.

use super::VIEW;
use sparsescope_core::bundle::Bundle;
use sparsescope_core::record::{Choice, Energy, Figures, Run};

use super::baseline::baselines;
use super::board::Board;
use super::headline::{about, headline};
use super::places::clause;
use super::view::automatic;
use crate::figure::Shape;
use crate::model::Model;
use crate::state::{Form, ViewState};
use crate::why::tests;

/// Three kernels on a matrix: 1, 2 and 4 ms; the slowest also with flushed caches, then faster than
/// all.
pub(super) fn model() -> Model {
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
fn the_kernel_with_the_least_energy_need_not_be_the_fastest() {
    let model = |joules: [Option<f64>; 2]| {
        let (run, statistics, environment) = tests::run("cuda/csr/thread-per-row");
        let timed = |kernel: &str, seconds: f64, joules: Option<f64>| {
            let energy =
                joules.map(|joules| Energy { joules, windows: vec![joules], ..Energy::default() });
            let samples = vec![seconds; 3];
            Run { kernel: kernel.into(), samples, energy, ..run.clone() }
        };
        let [fast, slow] = joules;
        let runs = vec![
            timed("cuda/csr/warp-ldg", 1e-3, fast),
            timed("cuda/hll/warp-per-row", 2e-3, slow),
        ];
        tests::model(runs, statistics, environment)
    };
    let said = |joules| about(&Board::of(&model(joules), &ViewState::default()), true);
    assert!(
        said([Some(0.4), Some(0.3)])
            .contains("hll/warp-per-row takes the least measured energy on 1 ")
    );
    assert!(
        said([Some(0.4), None])
            .contains("csr/warp-ldg takes the least measured energy on 1 matrix")
    );
    assert!(!said([None, None]).contains("energy"));
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
    let state = ViewState::from_fragment("v1;operation=skyline;as=list").unwrap();
    let board = Board::of(&model, &state);
    assert_eq!((board.rows[0].pct_copy, board.what), (None, "Points"));
    let svg = VIEW.svg.unwrap()(&model, &state);
    assert!(svg.contains(">–<") && !svg.contains("0 %") && svg.contains(">Points<"), "{svg}");
    assert_eq!(Board::of(&self::model(), &ViewState::default()).what, "Matrix");
}

#[test]
fn the_figure_holds_what_the_table_says() {
    let (model, mut state) = (model(), ViewState::default());
    state.best.form = Form::List;
    let lines = (VIEW.table)(&model, &state);
    assert_eq!(lines[1][2], "cpu/csr/nnz");
    let svg = VIEW.svg.unwrap()(&model, &state);
    for words in ["cpu/csr/nnz", "1.6", "2×", "Moves at least 10 MB per SpMV"] {
        assert!(svg.contains(words), "{words}");
    }
}

/// The example of a GPU: 30 matrices, 25 kernels.
pub(super) fn example() -> Model {
    let mut model = Model::default();
    model.open("gpu.zip", include_bytes!("../../../../example/gpu.zip")).unwrap();
    model
}

#[test]
fn the_headline_says_who_wins_and_its_mean_leaves_out_what_launching_bounds() {
    // Counted and averaged from the records by another program.
    let (model, state) = (example(), ViewState::default());
    let board = Board::of(&model, &state);
    assert_eq!(
        headline(&board),
        "On 30 matrices, csr/adaptive wins 9 and hll/compact 6; Sparsescope's kernels are 1.26× as \
         fast as cuSPARSE on 15 of them"
    );
    let about = about(&board, false);
    for words in [
        "double precision · warm caches · every result checked",
        "16 shown, 14 launch-bound matrices folded below and not averaged",
        "geometric mean over 15 matrices",
        "on 7 matrices the second kernel is within 5 %",
        "a win of an automatic kernel counts for the kernel that it chose",
        "generated stand-ins for real matrices",
    ] {
        assert!(about.contains(words), "{words} in {about}");
    }
    let [ties, generated] = ["within 5 %", "generated"].map(|words| about.find(words));
    assert!(ties < generated, "ties are not in what is cut: {about}");
    let row = |name: &str| board.rows.iter().find(|row| row.name.starts_with(name)).unwrap();
    assert_eq!(row("Cube").clause.text(), "4×4 blocks: 27 % fewer bytes; 94 % of copy");
    assert_eq!(clause(row("Cube"), 900.0), "4×4 blocks: 27 % fewer bytes than CSR");
    assert_eq!(clause(row("nlpkkt80"), 900.0), "16-bit columns: 13 % fewer bytes");
    assert_eq!(row("olm1000").clause.limit, "launch-bound");
    assert!(row("webbase").clause.reason.starts_with("rows of 1 to 4.70 k: split over blocks"));
    // It picked `hll/compact`, which is not its rival.
    assert_eq!(
        (row("PR02R").kernel.as_str(), row("PR02R").second.as_str()),
        ("cuda/spmv/auto", "cuda/bsr/warp")
    );
}

#[test]
fn a_kernel_without_others_does_not_win() {
    let state = ViewState::from_fragment("v1;kernel=cuda/hll/compact;over=serial").unwrap();
    let words = headline(&Board::of(&example(), &state));
    let expected = "On 30 matrices, hll/compact is the only kernel; it is ";
    assert!(words.starts_with(expected), "{words}");
}

#[test]
fn a_winner_that_is_the_baseline_is_not_compared_with_itself() {
    let (run, statistics, environment) = tests::run("cpu/csr/serial");
    let timed = |kernel: &str, seconds: f64| {
        let (samples, flops) = (vec![seconds; 3], 2.0 * statistics.nnz as f64);
        let mut figures = Figures::from_samples(&samples, flops, run.costs.minimal_bytes).unwrap();
        figures.set_copy(40e9);
        figures.set_serial(1e-3, None);
        Run { kernel: kernel.into(), samples, figures: Some(figures), ..run.clone() }
    };
    let runs = vec![timed("cpu/csr/serial", 1e-3), timed("cpu/csr/nnz", 2e-3)];
    let model = tests::model(runs, statistics, environment);
    let board = Board::of(&model, &ViewState::default());
    assert_eq!(board.rows[0].gain, Some(1.0));
    let words = headline(&board);
    assert!(words.ends_with("csr/serial is fastest on m"), "{words}");
}

#[test]
fn the_headline_names_what_is_compared_and_counts_in_the_singular() {
    let (run, statistics, environment) = tests::run("cpu/csr/serial");
    let timed = |kernel: &str, seconds: f64| {
        let mut run = run.clone();
        (run.kernel, run.samples) = (kernel.into(), vec![seconds; 3]);
        run
    };
    let of_two = |kernel: &str, seconds: f64| {
        let runs = vec![timed("vendor/mkl/csr", 1e-3), timed(kernel, seconds)];
        let model = tests::model(runs, statistics.clone(), environment.clone());
        headline(&Board::of(&model, &ViewState::default()))
    };
    assert_eq!(
        of_two("cpu/csr/nnz", 1.25e-3),
        "mkl/csr is fastest on m; Sparsescope's best kernel is 0.80× as fast as MKL"
    );
    let users = of_two("user/my/f", 0.5e-3);
    assert!(users.ends_with("; the best other kernel is 2.00× as fast as MKL"), "{users}");
    let mut state = ViewState::default();
    state.best.over = "serial".into();
    let mut board = Board::of(&example(), &state);
    let serial = headline(&board);
    assert!(serial.contains("; the fastest kernels are "), "{serial}");
    let averaged = board.rows.iter().filter(|row| !row.folded && row.gain.is_some()).count();
    assert!(averaged < 30);
    let end = format!("× as fast as the serial reference on {averaged} of them");
    assert!(serial.ends_with(&end), "{serial}");
    for (place, row) in board.rows.iter_mut().enumerate() {
        (row.folded, row.stand_in) = (place == 0, place == 0);
    }
    let about = about(&board, true);
    assert!(about.contains("29 shown, 1 launch-bound matrix below and not averaged"), "{about}");
    assert!(about.contains(" · 1 generated stand-in for a real matrix · "), "{about}");
}

#[test]
fn a_kernel_that_picks_gets_the_win_where_what_it_picked_was_not_measured() {
    let (run, statistics, environment) = tests::run("cpu/csr/serial");
    let mut auto = run.clone();
    (auto.kernel, auto.samples) = ("cpu/spmv/auto".into(), vec![1e-6; 3]);
    auto.costs.choice = Some(Choice { kernel: "cpu/csr/nnz".into(), ..Choice::default() });
    let model = tests::model(vec![run, auto], statistics, environment);
    let board = Board::of(&model, &ViewState::default());
    let [row] = &board.rows[..] else { panic!("{board:?}") };
    assert_eq!((row.credited, row.wins_as.as_str()), (row.run, "cpu/spmv/auto"));
    assert!(!about(&board, false).contains("that it chose"));
}

#[test]
fn bars_of_rates_are_never_cut() {
    let (model, state) = (example(), ViewState::from_fragment("v1;search=cage4").unwrap());
    let board = Board::of(&model, &state);
    let looks = crate::views::charts::Looks::of(&model, "spmv");
    let figure = super::bars::ranked(&board, &looks, &state, 1000.0);
    assert!(figure.shapes.iter().all(|shape| !matches!(shape, Shape::Polygon { .. })));
}

#[test]
fn a_vendor_is_compared_with_on_its_device_only() {
    let (run, statistics, environment) = tests::run("cpu/csr/serial");
    let timed = |kernel: &str, device: &str, seconds: f64| {
        let mut run = run.clone();
        (run.kernel, run.device) = (kernel.into(), device.into());
        run.samples = vec![seconds; 3];
        run
    };
    let mut runs = vec![
        timed("cpu/csr/nnz", "CPU", 1e-3),
        timed("cuda/csr/warp-shuffle", "GPU", 2e-3),
        timed("vendor/cusparse/csr-alg1", "GPU", 3e-3),
    ];
    let board = |runs: &[Run], over: &str| {
        let mut state = ViewState::default();
        state.best.over = over.into();
        Board::of(&tests::model(runs.to_vec(), statistics.clone(), environment.clone()), &state)
    };
    let other = board(&runs, "vendor");
    assert_eq!((other.rows[0].over, other.rows[0].gain), (None, None));
    assert_eq!(headline(&other), "cpu/csr/nnz is fastest on m");
    assert_eq!(board(&runs, "").baseline, "serial", "no vendor has anything to compare");
    runs.push(timed("vendor/mkl/csr", "CPU", 2e-3));
    let same = board(&runs, "");
    assert_eq!((same.rows[0].over, same.rows[0].gain), (Some(2.0), Some(2.0)));
    assert_eq!(same.against.short(), "MKL");
}

#[test]
fn a_kernel_that_picks_does_not_lead_over_what_it_picked() {
    let (run, statistics, environment) = tests::run("cpu/csr/serial");
    let timed = |kernel: &str, picked: Option<&str>, seconds: f64| {
        let mut run = run.clone();
        (run.kernel, run.samples) = (kernel.into(), vec![seconds; 3]);
        run.costs.choice =
            picked.map(|kernel| Choice { kernel: kernel.into(), ..Choice::default() });
        run
    };
    let runs = vec![
        timed("cpu/spmv/auto", Some("cpu/csr/nnz"), 1e-3),
        timed("cpu/csr/nnz", None, 1.1e-3),
        timed("cpu/spmv/other", Some("cpu/csr/rows"), 1.2e-3),
        timed("cpu/csr/serial", None, 4e-3),
    ];
    let model = tests::model(runs, statistics, environment);
    let board = Board::of(&model, &ViewState::default());
    let [row] = &board.rows[..] else { panic!("{board:?}") };
    assert_eq!((row.second.as_str(), row.lead), ("cpu/csr/serial", Some(4.0)));
}

#[test]
fn a_kernel_is_its_own_rival_only_on_another_machine() {
    let (run, statistics, mut environment) = tests::run("cpu/csr/serial");
    environment.cpu.model = "CPU".into();
    let whole = tests::model(vec![run], statistics, environment);
    let part: Bundle = Bundle::clone(&whole.bundles()[0].bundle);
    let lead = |change: &dyn Fn(&mut Bundle)| {
        let mut other = part.clone();
        change(&mut other);
        let mut model = Model::default();
        for (name, bundle) in [("a.zip", &part), ("b.zip", &other)] {
            model.show_unfinished(name, bundle.clone());
        }
        let board = Board::of(&model, &ViewState::default());
        assert!(board.bundles && board.rows[0].bundle == "a.zip", "{board:?}");
        board.rows[0].lead
    };
    // Parts of a sweep differ in what was measured.
    assert_eq!(lead(&|part| part.environments[0].noise.load_before = Some(9.0)), None);
    assert_eq!(lead(&|part| part.environments[0].cpu.model = "other".into()), Some(1.0));
}

#[test]
fn what_is_open_decides_the_form() {
    let form = |model: &Model, fragment: &str| {
        let state = ViewState::from_fragment(fragment).unwrap();
        automatic(&Board::of(model, &state), &state)
    };
    let example = example();
    assert_eq!(form(&example, "v1"), Form::Heat);
    assert_eq!(form(&example, "v1;search=thermal2"), Form::Bars);
    assert_eq!(form(&example, "v1;kernel=cuda/csr/adaptive"), Form::Rates);
    assert_eq!(form(&example, "v1;search=thermal"), Form::Heat);
    for fragment in ["v1;view=best;as=bars", "v1;view=best;as=rates", "v1;view=best;as=sizes"] {
        let state = ViewState::from_fragment(fragment).unwrap();
        let svg = VIEW.svg.unwrap()(&example, &state);
        let named = svg.contains("Cube_Coup_dt0") || fragment.ends_with("sizes");
        assert!(svg.contains("On 30 matrices") && named, "{fragment}");
    }
    // Links of older versions.
    let old = ViewState::from_fragment("v1;view=best;heat=true").unwrap();
    let again = "v1;view=best;over=serial;as=heat;launch=open";
    assert_eq!((old.best.form, old.to_fragment().as_str()), (Form::Heat, again));
    let old = ViewState::from_fragment("v1;view=best;heat=false").unwrap();
    assert_eq!(old.best.form, Form::List);
    assert_eq!(ViewState::not_understood("v1;heat=true;as=list;launch=open"), None);
}

#[test]
fn what_is_said_of_a_kernel_without_settings_has_no_empty_part() {
    let board = Board::of(&example(), &ViewState::default());
    let rivals = || board.rows.iter().flat_map(|row| &row.runs);
    assert!(rivals().any(|rival| rival.words.starts_with("vendor/")));
    let odd: Vec<&str> =
        rivals().map(|rival| rival.words.as_str()).filter(|words| words.contains(", ,")).collect();
    assert_eq!(odd, [""; 0]);
}

#[test]
fn products_with_different_numbers_of_columns_are_never_compared() {
    let (run, statistics, environment) = tests::run("cpu/spmm/simd");
    let product = |kernel: &str, k: u32, seconds: f64| {
        let mut run = run.clone();
        (run.operation, run.kernel) = ("spmm".into(), kernel.into());
        run.samples = vec![seconds; 3];
        run.params.insert("vectors".into(), k.to_string());
        run
    };
    let board = |runs: &[Run], more: &str| {
        let model = tests::model(runs.to_vec(), statistics.clone(), environment.clone());
        let link = format!("v1;view=best;as=list;operation=spmm{more}");
        Board::of(&model, &ViewState::from_fragment(&link).unwrap())
    };
    let (ours, vendors) = ("cpu/spmm/simd", "vendor/mkl/spmm");
    let apart = [product(vendors, 1, 4e-3), product(ours, 32, 1e-3)];
    // On a tie the larger k is shown.
    for (more, kernel, k) in [("", ours, "k = 32"), (";vectors=1", vendors, "k = 1")] {
        let board = board(&apart, more);
        let [row] = &board.rows[..] else { panic!("{board:?}") };
        assert_eq!((row.kernel.as_str(), board.conditions[0].as_str()), (kernel, k));
        let title = headline(&board);
        assert!(title.contains(&format!(" is fastest with {k} on ")), "{title}");
        assert_eq!((row.lead, row.gain, row.runs.len()), (None, None, 1), "{board:?}");
    }
    assert!(board(&apart, ";vectors=2").rows.is_empty());
    // Of three runs, two have k = 1.
    let together = [&apart[..], &[product(ours, 1, 2e-3)]].concat();
    let board = board(&together, "");
    let [row] = &board.rows[..] else { panic!("{board:?}") };
    assert_eq!((board.conditions[0].as_str(), row.lead, row.gain), ("k = 1", Some(2.0), Some(2.0)));
}
