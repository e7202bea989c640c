//! Winners among solves, against hand-made numbers and the example.

use super::VIEW;
use super::bars::ranked;
use super::board::Board;
use super::headline::{about, headline};
use super::tests::model;
use crate::figure::Shape;
use crate::model::{Model, solved};
use crate::state::{Form, ViewState};
use crate::views::charts::Looks;

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

#[test]
fn bars_of_times_are_cut_where_the_slowest_would_flatten_all_others() {
    let mut model = Model::default();
    model.open("solvers.zip", include_bytes!("../../../../example/solvers.zip")).unwrap();
    let state = ViewState::from_fragment("v1;operation=solve;search=Cubo").unwrap();
    let svg = VIEW.svg.unwrap()(&model, &state);
    let board = Board::of(&model, &state);
    let looks = Looks::of(&model, "solve");
    let figure = ranked(&board, &looks, &state, 1000.0);
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
