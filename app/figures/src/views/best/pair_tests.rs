//! A with its transpose, against hand-made numbers.

use sparsescope_core::bundle::Bundle;
use sparsescope_core::record::{Choice, Energy, Rounding, Run};

use super::VIEW;
use super::board::Board;
use super::pairs::{Answer, PairRow};
use super::view::{about, automatic, form, headline};
use crate::model::Model;
use crate::state::{Form, RankBy, ViewState};
use crate::why::tests;

/// `n` or `t`, the kernel, its milliseconds and its megabytes.
type Measured<'k> = (&'k str, &'k str, f64, u64);

/// Of A, HLL is the fastest, and of A' CSR.
const RUNS: [Measured<'static>; 6] = [
    ("n", "cpu/csr/simd", 4.0, 12),
    ("n", "cpu/hll/simd", 2.0, 16),
    ("n", "vendor/mkl/csr", 5.0, 12),
    ("t", "cpu/csr/simd", 6.0, 13),
    ("t", "cpu/hll/simd", 8.0, 20),
    ("t", "vendor/mkl/csr", 9.0, 12),
];

fn run(of: &Run, &(op, kernel, milliseconds, megabytes): &Measured<'_>) -> Run {
    let mut run = of.clone();
    (run.kernel, run.samples) = (kernel.into(), vec![1e-3 * milliseconds; 3]);
    run.costs.format_bytes = 1_000_000 * megabytes;
    if op == "t" {
        run.params.insert("op".into(), "t".into());
    }
    run
}

fn runs() -> Vec<Run> {
    let (of, ..) = tests::run("cpu/csr/serial");
    RUNS.iter().map(|measured| run(&of, measured)).collect()
}

fn model(runs: Vec<Run>) -> Model {
    let (_, statistics, environment) = tests::run("cpu/csr/serial");
    tests::model(runs, statistics, environment)
}

/// These runs on the matrix m, and others on a matrix b.
fn on_two(runs: Vec<Run>, others: Vec<Run>) -> Model {
    let mut bundle = Bundle::clone(&model(runs).bundles()[0].bundle);
    let of_others = Bundle::clone(&model(others).bundles()[0].bundle).runs;
    let mut other = bundle.matrices[0].clone();
    (other.record.id, other.record.name) = ("b".into(), "b".into());
    other.record.sha256 = "cd".repeat(32);
    bundle.matrices.push(other);
    bundle.runs.extend(of_others.into_iter().map(|run| Run { matrix: "b".into(), ..run }));
    let mut model = Model::default();
    model.show_unfinished("two.zip", bundle);
    model
}

fn pair(runs: Vec<Run>) -> PairRow {
    let board = Board::of(&model(runs), &ViewState::default());
    let [row] = &board.pairs[..] else { panic!("{board:?}") };
    row.clone()
}

/// The kernels, the microseconds and the megabytes of an answer.
fn numbers(answer: &Option<Answer>) -> (String, f64, u64) {
    let answer = answer.as_ref().unwrap();
    let megabytes = answer.bytes.unwrap() / 1_000_000;
    (answer.kernels.join(" + "), (1e6 * answer.cost).round(), megabytes)
}

fn expected(kernels: &str, microseconds: f64, megabytes: u64) -> (String, f64, u64) {
    (kernels.to_owned(), microseconds, megabytes)
}

#[test]
fn each_product_and_both_have_a_winner_and_its_memory() {
    let row = pair(runs());
    let [plain, transposed, both, one_copy] = &row.answers;
    assert_eq!(numbers(plain), expected("cpu/hll/simd", 2000.0, 16));
    assert_eq!(numbers(transposed), expected("cpu/csr/simd", 6000.0, 13));
    // 2 ms + 6 ms; 16 MB + 13 MB.
    assert_eq!(numbers(both), expected("cpu/hll/simd + cpu/csr/simd", 8000.0, 29));
    // oneMKL reads A itself, as the CSR kernel for A does: 4 ms + 9 ms, and 12 MB once.
    assert_eq!(numbers(one_copy), expected("cpu/csr/simd + vendor/mkl/csr", 13_000.0, 12));
    // 5 ms + 9 ms against 8 ms.
    assert!((row.gain.unwrap() / 1.75 - 1.0).abs() < 1e-12, "{:?}", row.gain);
}

#[test]
fn the_kernel_that_reads_a_for_its_transpose_needs_no_second_matrix() {
    let mut all = runs();
    // 3 MB more than A, for what its threads own.
    all.push(run(&all[0], &("t", "cpu/csr/transposed", 7.0, 15)));
    let [_, _, _, one_copy] = &pair(all).answers;
    assert_eq!(numbers(one_copy), expected("cpu/csr/simd + cpu/csr/transposed", 11_000.0, 15));
}

#[test]
fn scaled_cold_and_narrow_runs_are_in_no_pair_and_without_the_transpose_there_is_none() {
    let mut all = runs();
    let fast = run(&all[0], &("t", "cpu/csr/rows", 1.0, 1));
    let changes: [fn(&mut Run); 3] = [
        |run| drop(run.params.insert("scale".into(), "2:1".into())),
        |run| run.hot = false,
        |run| run.precision = "f32".into(),
    ];
    for change in changes {
        let mut run = fast.clone();
        change(&mut run);
        all.push(run);
    }
    let row = pair(all.clone());
    assert_eq!(numbers(&row.answers[1]), expected("cpu/csr/simd", 6000.0, 13));
    all.retain(|run| !run.params.contains_key("op"));
    let board = Board::of(&model(all), &ViewState::default());
    assert!(board.pairs.is_empty());
}

#[test]
fn without_pairs_another_form_is_shown_and_says_why() {
    let plain: Vec<Run> = runs().into_iter().filter(|run| !run.params.contains_key("op")).collect();
    for (model, expected) in
        [(model(plain.clone()), Form::Bars), (on_two(plain.clone(), plain), Form::List)]
    {
        let mut state = ViewState::default();
        state.best.form = Form::Pair;
        let board = Board::of(&model, &state);
        let shown = form(&board, &state);
        assert_eq!((shown, automatic(&board, &state)), (expected, expected));
        let sentence = "o matrix has runs of both A·x and A'·x";
        assert!(about(shown, &board, true).contains(sentence));
        let svg = VIEW.svg.unwrap()(&model, &state);
        assert!(svg.contains(sentence), "{svg}");
        state.best.form = Form::Auto;
        let board = Board::of(&model, &state);
        assert!(!about(shown, &board, true).contains(sentence), "nothing else was wanted");
    }
}

#[test]
fn the_kernel_that_another_one_chose_is_named_and_wins() {
    let mut all = runs();
    // 1 ms for A.
    let mut auto = run(&all[0], &("n", "cpu/spmv/auto", 1.0, 14));
    auto.costs.choice = Some(Choice { kernel: "cpu/bsr/rows".into(), ..Choice::default() });
    all.push(auto);
    let (model, mut state) = (model(all), ViewState::default());
    state.best.form = Form::Pair;
    let board = Board::of(&model, &state);
    let [plain, _, both, _] = &board.pairs[0].answers;
    assert_eq!(numbers(plain), expected("cpu/bsr/rows*", 1000.0, 14));
    assert_eq!(numbers(both), expected("cpu/bsr/rows* + cpu/csr/simd", 7000.0, 27));
    let words = headline(Form::Pair, &board);
    assert!(words.starts_with("bsr/rows is fastest for A and csr/simd for A' on m; "), "{words}");
    assert!(about(Form::Pair, &board, true).contains("* chosen by an automatic kernel"));
}

#[test]
fn a_kernel_that_is_chosen_for_a_and_measured_for_its_transpose_is_named_once() {
    let mut all = runs();
    let mut auto = run(&all[0], &("n", "cpu/spmv/auto", 1.0, 12));
    auto.costs.choice = Some(Choice { kernel: "cpu/csr/simd".into(), ..Choice::default() });
    all.push(auto);
    let board = Board::of(&model(all), &ViewState::default());
    let [_, _, both, _] = &board.pairs[0].answers;
    assert_eq!(both.as_ref().unwrap().kernels, ["cpu/csr/simd*"]);
}

#[test]
fn products_by_the_transpose_alone_are_said_to_be_for_it() {
    let mut all = runs();
    all.retain(|run| run.params.contains_key("op"));
    let board = Board::of(&model(all.clone()), &ViewState::default());
    let words = headline(Form::Bars, &board);
    assert!(words.starts_with("csr/simd is fastest for A' on m; "), "{words}");
    let board = Board::of(&on_two(all.clone(), all), &ViewState::default());
    let words = headline(Form::List, &board);
    assert!(words.starts_with("For A' on 2 matrices, csr/simd wins all; "), "{words}");
}

#[test]
fn both_are_on_one_device() {
    let with_gpu = |milliseconds: f64| {
        let mut all = runs();
        let (of, ..) = tests::run("cuda/csr/adaptive");
        let measured =
            [("n", "cuda/csr/adaptive", 1.0, 12), ("t", "cuda/csr/adaptive", milliseconds, 13)];
        all.extend(measured.iter().map(|measured| run(&of, measured)));
        pair(all)
    };
    // 1 ms + 9 ms on the GPU, 8 ms on the CPU.
    let slow = with_gpu(9.0);
    assert_eq!(numbers(&slow.answers[0]), expected("cuda/csr/adaptive", 1000.0, 12));
    assert_eq!(numbers(&slow.answers[1]), expected("cpu/csr/simd", 6000.0, 13));
    assert_eq!(numbers(&slow.answers[2]), expected("cpu/hll/simd + cpu/csr/simd", 8000.0, 29));
    // 1 ms + 6.5 ms; a kernel that wins both is named once.
    let fast = with_gpu(6.5);
    assert_eq!(numbers(&fast.answers[2]), expected("cuda/csr/adaptive", 7500.0, 25));
    assert_eq!(fast.gain, None, "no vendor on the GPU");
}

#[test]
fn by_energy_the_least_joules_win() {
    let mut all = runs();
    // Every kernel takes 100 W but HLL for A, which takes 500 W: 1 J instead of 0.4 J.
    for run in &mut all {
        let is_hot = run.kernel == "cpu/hll/simd" && !run.params.contains_key("op");
        let joules = run.samples[0] * if is_hot { 500.0 } else { 100.0 };
        run.energy = Some(Energy { joules, windows: vec![joules], ..Energy::default() });
    }
    let mut state = ViewState::default();
    state.best.ranking.by = RankBy::Energy;
    let board = Board::of(&model(all), &state);
    let [plain, _, both, _] = &board.pairs[0].answers;
    assert_eq!(plain.as_ref().unwrap().kernels, ["cpu/csr/simd"]);
    // 0.4 J + 0.6 J.
    assert!((both.as_ref().unwrap().cost / 1000.0 - 1.0).abs() < 1e-12, "{both:?}");
    let words = headline(Form::Pair, &board);
    assert!(words.starts_with("csr/simd takes the least energy for A and csr/simd "), "{words}");
}

#[test]
fn within_an_error_the_precision_is_named_unless_it_is_f64() {
    let mut all = runs();
    all.iter_mut().for_each(|run| run.check.rel_err = Some(1e-16));
    // In f32, CSR for A takes 1 ms and 8 MB.
    let mut narrow = run(&all[0], &("n", "cpu/csr/simd", 1.0, 8));
    narrow.precision = "f32".into();
    narrow.check.rounding = Some(Rounding { norm: 2e-7, ..Rounding::default() });
    all.push(narrow);
    let (model, mut state) = (model(all), ViewState::default());
    (state.best.form, state.best.ranking.max_error) = (Form::Pair, Some(1e-6));
    let board = Board::of(&model, &state);
    let [plain, transposed, both, _] = &board.pairs[0].answers;
    assert_eq!(numbers(plain), expected("cpu/csr/simd (f32)", 1000.0, 8));
    assert_eq!(numbers(transposed), expected("cpu/csr/simd", 6000.0, 13));
    // The same kernel in two precisions is two answers: 1 ms + 6 ms, 8 MB + 13 MB.
    assert_eq!(numbers(both), expected("cpu/csr/simd (f32) + cpu/csr/simd", 7000.0, 21));
    let words = headline(Form::Pair, &board);
    assert!(words.starts_with("csr/simd (f32) is fastest for A and csr/simd for A' "), "{words}");
    let svg = VIEW.svg.unwrap()(&model, &state);
    assert!(svg.contains(">csr/simd (f32) + csr/simd<"), "{svg}");
}

#[test]
fn the_form_has_a_row_per_matrix_and_a_table_of_all_answers() {
    let (model, mut state) = (model(runs()), ViewState::default());
    state.best.form = Form::Pair;
    let board = Board::of(&model, &state);
    // 29 MB / 16 MB.
    assert_eq!(
        headline(Form::Pair, &board),
        "hll/simd is fastest for A and csr/simd for A' on m; both together take 1.81× the memory \
         of A alone; Sparsescope's best two are 1.75× as fast as the best two of MKL"
    );
    let svg = VIEW.svg.unwrap()(&model, &state);
    for text in [">hll/simd + csr/simd<", ">8 ms, 29 MB<", ">both together<", ">1.75×<"] {
        assert!(svg.contains(text), "{text} in {svg}");
    }
    // 13 ms / 8 ms.
    assert!(svg.contains("from one copy of A: 1.6"), "{svg}");
    let lines = (VIEW.table)(&model, &state);
    let [header, line] = &lines[..] else { panic!("{lines:?}") };
    assert_eq!(header[2..5], ["kernel, A", "s, A", "bytes, A"]);
    assert_eq!(header[8..11], ["kernel, together", "s, together", "bytes, together"]);
    assert_eq!(line[..5], ["m", "800000", "cpu/hll/simd", "0.002", "16000000"]);
    assert_eq!((line[8].as_str(), line[10].as_str()), ("cpu/hll/simd + cpu/csr/simd", "29000000"));
    assert_eq!((line.len(), header.len()), (15, 15));
    // Of several matrices, all with both products, this is the first form.
    let state = ViewState::default();
    let board = Board::of(&on_two(runs(), runs()), &state);
    assert_eq!(automatic(&board, &state), Form::Pair);
    let words = headline(Form::Pair, &board);
    assert!(words.starts_with("On 2 matrices, hll/simd wins 2 for A, and csr/simd 2 for A'; "));
    // On one of them HLL for A' takes 1 ms.
    let mut others = runs();
    others.push(run(&others[0], &("t", "cpu/hll/simd", 1.0, 20)));
    let board = Board::of(&on_two(runs(), others), &state);
    let words = headline(Form::Pair, &board);
    let expected = "On 2 matrices, hll/simd wins 2 for A, and 2 kernels win 1 each for A'; ";
    assert!(words.starts_with(expected), "{words}");
}
