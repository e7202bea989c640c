//! Winners, leads and baselines, against hand-made numbers.

use super::VIEW;
use sparsescope_core::bundle::Bundle;
use sparsescope_core::record::{Choice, Energy, Run};

use super::baseline::baselines;
use super::board::{Board, Row};
use super::headline::{about, headline};
use super::places::clause;
use super::view::automatic;
use crate::figure::{Shape, text_width};
use crate::model::{Model, solved};
use crate::state::{Form, Theme, ViewState};
use crate::theme::SMALL;
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
fn the_heat_table_has_a_column_a_kernel_and_says_who_has_no_time() {
    let (model, mut state) = (model(), ViewState::default());
    state.best.form = Form::Heat;
    let lines = (VIEW.table)(&model, &state);
    assert_eq!(lines[0], ["matrix", "cpu/csr/nnz", "cpu/csr/serial", "vendor/mkl/csr"]);
    assert_eq!(lines[1], ["m", "1", "0.25", "0.5"]);
    let board = Board::of(&model, &state);
    assert_eq!(board.rows[0].without, [("cpu/ell/rows".to_owned(), "too large".to_owned())]);
    let svg = VIEW.svg.unwrap()(&model, &state);
    let title = "csr/nnz is fastest on m; Sparsescope's best kernel is 2.00× as fast as MKL";
    for words in [">1.60<", ">0.25<", ">csr/nnz<", ">mkl/csr<", title] {
        assert!(svg.contains(words), "{words} in {svg}");
    }
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
    assert_eq!((row.title.as_str(), row.runs.len()), ("FSAI, k = 2, cpu/pcg/threads", 3));
    assert_eq!(row.lead, Some(90.0 / 40.0));
    assert!(row.setting.starts_with("2 threads; FSAI, k = 2; b a1;"), "{}", row.setting);
    let whole = row.whole.as_ref().unwrap();
    let words = "Fastest including setup: Jacobi (cpu/pcg/threads, 2 threads), 91 ms (1 ms of setup, \
                 90 ms for 90 iterations).";
    assert_eq!((whole.method.as_str(), whole.words.as_str()), ("Jacobi", words));
    assert_eq!(
        headline(&board),
        "FSAI, k = 2 is fastest on m once set up; including setup, Jacobi is fastest"
    );
    let svg = VIEW.svg.unwrap()(&model, &state);
    assert!(svg.contains(&format!(">{words}<")), "{svg}");
    let spmv = Board::of(&self::model(), &ViewState::default());
    assert!(spmv.rows[0].whole.is_none());
}

#[test]
fn the_solves_of_a_preconditioner_stand_together_with_iterations_and_setup() {
    let model = solved::model(vec![
        solved::run(solved::SERIAL, &[("precond", "jacobi")], 100, &[("diagonal", 1.0)]),
        solved::run(solved::THREADS, &[("precond", "jacobi")], 90, &[("diagonal", 1.0)]),
        solved::run(solved::SERIAL, &[], 95, &[("values", 80.0)]),
        solved::run(solved::THREADS, &[], 40, &[("values", 80.0)]),
    ]);
    let state = ViewState::from_fragment("v1;operation=solve").unwrap();
    let svg = VIEW.svg.unwrap()(&model, &state);
    // By time alone the order is 40, 90, 95, 100.
    let texts = [
        ">FSAI, k = 2<",
        ">40 ms, 40 iterations, setup 80 ms<",
        ">95 ms, 95 iterations, setup 80 ms<",
        ">Jacobi<",
        ">90 ms, 90 iterations, setup 1 ms<",
        ">100 ms, 100 iterations, setup 1 ms<",
    ];
    let places = texts.map(|text| svg.find(text).unwrap_or_else(|| panic!("{text} in {svg}")));
    assert!(places.is_sorted(), "{places:?}");
    assert_eq!(svg.matches(">Jacobi<").count(), 1);
}

#[test]
fn solves_that_a_kernel_does_not_support_are_counted_in_one_line() {
    let mut model = Model::default();
    model.open("solvers.zip", include_bytes!("../../../../example/solvers.zip")).unwrap();
    let state = ViewState::from_fragment("v1;operation=solve").unwrap();
    let board = Board::of(&model, &state);
    // Counted in the file by another program.
    let expected = "80 of 138 solves are not supported: format_a cannot be hll: expected csr (50), \
                    format_a cannot be hyb: expected csr (18), format_g cannot be hll: expected csr \
                    (6), format_g cannot be hyb: expected csr (6)";
    assert_eq!(board.unsupported.as_deref(), Some(expected));
    let about = about(&board, true);
    assert!(about.ends_with(expected) && about.contains("once set up, Sparsescope's"), "{about}");
    assert_eq!(
        headline(&board),
        "On 3 matrices, FSAI, k = 3, τ = 0.001 wins 2 and FSAI, k = 1 wins 1 once set up; \
         including setup, FSAI, k = 1 wins 2 and Jacobi wins 1"
    );
    let spmv = Board::of(&self::model(), &ViewState::default());
    assert_eq!(spmv.unsupported, None);
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
    state.best.form = Form::Heat;
    assert_eq!((VIEW.table)(&model, &state), [["matrix", solved::SERIAL], ["m", "1"]]);
    let words = &row.whole.as_ref().unwrap().words;
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

/// The example of a GPU: 30 matrices, 25 kernels.
fn example() -> Model {
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
        "on 7 the second kernel is within 5 %",
        "a win of an automatic kernel counts for the kernel that it chose",
        "generated stand-ins for real matrices",
    ] {
        assert!(about.contains(words), "{words} in {about}");
    }
    let row = |name: &str| board.rows.iter().find(|row| row.name.starts_with(name)).unwrap();
    assert_eq!(row("Cube").clause.text(), "4×4 blocks: 27 % fewer bytes; 94 % of copy");
    assert_eq!(clause(row("Cube"), 900.0), "4×4 blocks: 27 % fewer bytes than CSR");
    assert_eq!(clause(row("nlpkkt80"), 900.0), "16-bit columns: 13 % fewer bytes");
    assert_eq!(row("olm1000").clause.limit, "launch bound");
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

/// The place in an SVG of the first upright text that contains this.
fn upright(svg: &str, text: &str) -> usize {
    let mut at = svg.match_indices("rotate(-90)").map(|(at, _)| at);
    at.find(|at| svg[*at..].lines().next().unwrap().contains(text)).unwrap()
}

#[test]
fn the_heat_map_has_the_vendors_best_first_and_shows_folded_rows_when_asked() {
    let (model, mut state) = (example(), ViewState::default());
    let board = Board::of(&model, &state);
    assert_eq!(automatic(&board, &state), Form::Heat);
    let svg = VIEW.svg.unwrap()(&model, &state);
    let names = ["cusparse/", "csr/adaptive", "hll/compact"];
    let places = names.map(|name| upright(&svg, name));
    assert!(places.is_sorted(), "{places:?}");
    let last = svg.rfind("rotate(-90)").unwrap();
    assert!(svg[last..].lines().next().unwrap().contains("csr-alg2"), "another vendor's");
    assert!(svg.contains(">Cube_Coup_dt0<") && !svg.contains(">olm1000<"));
    assert!(svg.find(">Cube_Coup_dt0<") < svg.find(">thermal2<"), "the largest first");
    state.best.unfolded = true;
    assert!(VIEW.svg.unwrap()(&model, &state).contains(">olm1000<"));
    // Narrow figures leave out why, and then the ratio.
    let shown = |width: f32, words: &str| {
        let figure = super::heat::draw(&board, &state, width).figure;
        format!("{:?}", figure.shapes).contains(words)
    };
    assert!(shown(1200.0, "4×4 blocks") && shown(1200.0, "1.55×"));
    assert!(!shown(600.0, "4×4 blocks") && shown(600.0, "1.55×"));
    assert!(!shown(400.0, "1.55×") && shown(400.0, "Cube_Coup_dt0"));
}

#[test]
fn the_first_screen_has_the_vendors_column_and_the_legend() {
    let (model, state) = (example(), ViewState::default());
    let board = Board::of(&model, &state);
    // The view in a window of 1280 points, and on a phone.
    for width in [980.0, 374.0] {
        let figure = super::heat::draw(&board, &state, width).figure;
        let head = figure.head.unwrap();
        let mut found = Vec::new();
        for shape in &figure.shapes[head.shapes.clone()] {
            match shape {
                Shape::Turned { pos, text, color, .. } if text.starts_with("cusparse/") => {
                    assert_eq!(*color, state.theme.ink().vendor);
                    found.extend((pos.x < width).then_some("vendor"));
                }
                Shape::Text { pos, text, .. } => {
                    let right = pos.x + text_width(text, SMALL);
                    assert!(right < width && head.y[0] < pos.y && pos.y < head.y[1], "{text}");
                    let named = ["Share of the best rate", "the winner, in GFLOPS", "not ranked"];
                    found.extend(named.into_iter().find(|name| name == text));
                }
                _ => {}
            }
        }
        let all = ["Share of the best rate", "the winner, in GFLOPS", "not ranked", "vendor"];
        assert!(all.iter().all(|one| found.contains(one)), "{width}: {found:?}");
    }
    let figure = super::heat::draw(&board, &state, 980.0).figure;
    let is =
        |shape: &Shape, words: &str| matches!(shape, Shape::Text { text, .. } if text == words);
    let has = |words: &str| figure.shapes.iter().any(|shape| is(shape, words));
    assert!(has("0.25") && has("0.1"), "shares have no more digits than they need");
    let places = super::places::Places::of(&board, 980.0);
    let room = places.ratio.unwrap() - places.winner.unwrap()[1];
    assert!((60.0..80.0).contains(&room), "as wide as `cuSPARSE`, {room}");
}

#[test]
fn a_projector_of_1024_by_768_pixels_shows_seven_rows() {
    let (model, mut state) = (example(), ViewState::default());
    let board = Board::of(&model, &state);
    state.theme = Theme::Projector;
    // Its points, less the margins beside the view, and the bars above it.
    let (width, height) = (1024.0 / 1.5 - 42.0, 768.0 / 1.5 - 122.0);
    let drawn = super::heat::draw(&board, &state, width);
    let (seventh, _) = &drawn.thumbs[6];
    assert!(seventh.bottom() < height, "{} of {height}", seventh.bottom());
    let is_said = |shape: &Shape| matches!(shape, Shape::Text { text, .. } if text == "vs vendor");
    assert!(drawn.figure.shapes.iter().any(is_said), "what the ratios are to");
    // Other screens have rows of the height of a finger.
    state.theme = Theme::Light;
    let drawn = super::heat::draw(&board, &state, width);
    assert!(drawn.thumbs[1].0.top() - drawn.thumbs[0].0.top() >= 44.0);
}

#[test]
fn cells_are_grey_for_colours_are_formats_or_what_is_selected() {
    let (model, mut state) = (example(), ViewState::default());
    let board = Board::of(&model, &state);
    for theme in Theme::ALL {
        state.theme = theme;
        let shapes = super::heat::draw(&board, &state, 1200.0).figure.shapes;
        let fills = shapes.iter().filter_map(|shape| match shape {
            Shape::Rect { fill, .. } => Some([fill.r(), fill.g(), fill.b()]),
            _ => None,
        });
        let fills: std::collections::BTreeSet<_> = fills.collect();
        assert!(fills.len() > 20, "{theme:?}: shares differ");
        assert!(fills.iter().all(|[r, g, b]| r == g && g == b), "{theme:?}: {fills:?}");
    }
}

#[test]
fn as_many_cells_are_outlined_in_a_column_as_the_headline_says_it_wins() {
    let (model, mut state) = (example(), ViewState::default());
    state.best.unfolded = true;
    let board = Board::of(&model, &state);
    let outlined = |kernel: &str| {
        let runs = |row: &Row| row.runs.iter().any(|r| r.run == row.credited && r.kernel == kernel);
        board.rows.iter().filter(|row| runs(row)).count()
    };
    assert_eq!((outlined("cuda/csr/adaptive"), outlined("cuda/hll/compact")), (9, 6));
    assert_eq!(outlined("cuda/spmv/auto"), 0, "what it picked was measured, too");
    let figure = super::heat::draw(&board, &state, 2000.0).figure;
    let winner = state.theme.ink().winner;
    let is_outline =
        |shape: &&Shape| matches!(shape, Shape::Line { color, .. } if *color == winner);
    let outlines = figure.shapes.iter().filter(is_outline).count();
    assert_eq!(outlines, 30 + 1, "and the one of the legend");
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
fn bars_of_times_are_cut_where_the_slowest_would_flatten_all_others() {
    let mut model = Model::default();
    model.open("solvers.zip", include_bytes!("../../../../example/solvers.zip")).unwrap();
    let state = ViewState::from_fragment("v1;operation=solve;search=Cubo").unwrap();
    let svg = VIEW.svg.unwrap()(&model, &state);
    let board = Board::of(&model, &state);
    let looks = crate::views::charts::Looks::of(&model, "solve");
    let figure = super::bars::ranked(&board, &looks, &state, 1000.0);
    let [row] = &board.rows[..] else { panic!("{board:?}") };
    assert!(svg.contains(">3104 ms, "), "its number is written");
    let bars = || {
        figure.shapes.iter().filter_map(|shape| match shape {
            Shape::Rect { rect, .. } => Some(rect.width()),
            _ => None,
        })
    };
    // The fastest takes 26.6 ms, the slowest 3104.
    let (least, most) = (bars().fold(f32::INFINITY, f32::min), bars().fold(0.0, f32::max));
    assert!(least > 0.15 * most, "{least} of {most}");
    let arrows = figure.shapes.iter().filter(|shape| matches!(shape, Shape::Polygon { .. }));
    let slow = row.runs.iter().filter(|rival| rival.rate > 300.0).count();
    assert_eq!((arrows.count(), slow), (3, 3));
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

/// A bundle of a machine with the seconds of a kernel on each matrix.
fn measured(machine: &str, times: &[(&str, f64)]) -> Bundle {
    let one = |(matrix, seconds): &(&str, f64)| {
        let (mut run, statistics, mut environment) = tests::run("cpu/csr/serial");
        environment.cpu.model = machine.into();
        run.samples = vec![*seconds; 3];
        let model = tests::model(vec![run], statistics, environment);
        let mut bundle = Bundle::clone(&model.bundles()[0].bundle);
        bundle.runs[0].matrix = (*matrix).into();
        let record = &mut bundle.matrices[0].record;
        (record.id, record.name) = ((*matrix).into(), (*matrix).into());
        record.sha256 = matrix.repeat(64);
        bundle
    };
    let mut all = times.iter().map(one);
    let mut first = all.next().unwrap();
    for bundle in all {
        first.runs.extend(bundle.runs);
        first.matrices.extend(bundle.matrices);
    }
    first
}

fn opened(bundles: &[Bundle]) -> Model {
    let mut model = Model::default();
    for (name, bundle) in ["a.zip", "b.zip", "c.zip"].into_iter().zip(bundles) {
        model.show_unfinished(name, bundle.clone());
    }
    model
}

#[test]
fn of_two_bundles_the_faster_is_named_first() {
    let (slow, fast) = (measured("one", &[("a", 4e-3)]), measured("other", &[("a", 1e-3)]));
    let board = Board::of(&opened(&[slow, fast]), &ViewState::default());
    let words = super::view::headline(Form::Compare, &board);
    assert!(words.ends_with("; b.zip is 4.00× as fast as a.zip"), "{words}");
}

#[test]
fn bundles_of_two_machines_are_compared_over_the_matrices_that_both_have() {
    let one = measured("one", &[("a", 1e-3), ("b", 2e-3), ("c", 1e-3), ("d", 1e-3)]);
    let other = measured("other", &[("a", 4e-3), ("b", 1e-3), ("c", 1.04e-3)]);
    let (model, mut state) = (opened(&[one, other]), ViewState::default());
    let board = Board::of(&model, &state);
    assert_eq!(automatic(&board, &state), Form::Compare);
    // 4, 1/2 and 1.04, whose geometric mean is the third root of 2.08.
    let words =
        "On 3 matrices in common: a.zip wins 1, b.zip 1, 1 tie; a.zip is 1.28× as fast as b.zip";
    assert_eq!(super::view::headline(Form::Compare, &board), words);
    let svg = VIEW.svg.unwrap()(&model, &state);
    for text in [words, "1 in one bundle only", ">4.00×<", ">0.50×<", ">1.04×<", ">1st / this<"]
    {
        assert!(svg.contains(text), "{text} in {svg}");
    }
    state.best.form = Form::Compare;
    let lines = (VIEW.table)(&model, &state);
    let header = ["kernel, a.zip", "rate, a.zip", "kernel, b.zip", "rate, b.zip", "a.zip / b.zip"];
    assert_eq!(lines[0][3..], header);
    assert_eq!((lines[1][0].as_str(), lines[1][7].as_str()), ("a", "4"));
    assert_eq!(lines[4], ["d", "800000", "GFLOPS", "cpu/csr/serial", "1.6", "", "", ""]);
}

#[test]
fn bundles_that_nobody_named_are_called_by_their_machines_where_these_differ() {
    let times: &[(&str, f64)] = &[("a", 1e-3)];
    let on = |device: &str| {
        let mut bundle = measured(device, times);
        bundle.runs.iter_mut().for_each(|run| run.device = device.into());
        bundle
    };
    let called = |bundles: &[Bundle]| {
        let (model, state) = (opened(bundles), ViewState::default());
        let board = Board::of(&model, &state);
        let sides: Vec<String> = board.sides.iter().map(|side| side.name.clone()).collect();
        let offered = baselines(&model, &state).into_iter().map(|(_, name)| name);
        assert!(sides.iter().all(|side| offered.clone().any(|name| name == *side)), "{sides:?}");
        assert!(sides.contains(&board.rows[0].bundle), "{board:?}");
        sides.join(", ")
    };
    assert_eq!(called(&[on("H200"), on("EPYC")]), "H200, EPYC");
    assert_eq!(called(&[on("H200"), on("H200")]), "a.zip, b.zip");
    let mut named = on("EPYC");
    named.label = Some("mine".into());
    assert_eq!(called(&[on("H200"), named]), "H200, mine");
}

#[test]
fn parts_of_a_sweep_are_one_side_and_a_revision_is_another() {
    let times: &[(&str, f64)] = &[("a", 1e-3), ("b", 1e-3)];
    let sides = |change: &dyn Fn(&mut Bundle)| {
        let part = measured("one", &times[1..]);
        let mut last = measured("one", times);
        change(&mut last);
        let (model, state) =
            (opened(&[measured("one", &times[..1]), part, last]), ViewState::default());
        let board = Board::of(&model, &state);
        let names: Vec<String> = board.sides.iter().map(|side| side.name.clone()).collect();
        (names.join(", "), automatic(&board, &state) == Form::Compare)
    };
    assert_eq!(sides(&|_| ()), ("a.zip, b.zip, c.zip".to_owned(), false), "only if asked");
    let two = ("a.zip and 1 more, c.zip".to_owned(), true);
    assert_eq!(sides(&|last| last.producer.revision = Some("new".into())), two);
    assert_eq!(sides(&|last| last.environments[0].cpu.model = "other".into()), two);
    // Nothing to compare: no matrix in common.
    let [one, other] = [("one", &times[..1]), ("other", &times[1..])].map(|(m, t)| measured(m, t));
    let (model, state) = (opened(&[one, other]), ViewState::default());
    assert_ne!(automatic(&Board::of(&model, &state), &state), Form::Compare);
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
