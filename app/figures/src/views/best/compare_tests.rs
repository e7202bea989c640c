//! The comparison of bundles, against hand-made numbers.

use sparsescope_core::bundle::Bundle;

use super::VIEW;
use super::baseline::baselines;
use super::board::Board;
use super::compare::draw;
use super::tests::example;
use super::view::{automatic, headline};
use crate::model::Model;
use crate::state::{Filter, Form, ViewState};
use crate::why::tests;

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
    let words = headline(Form::Compare, &board);
    assert!(words.ends_with("; b.zip is 4.00× as fast as a.zip"), "{words}");
}

#[test]
fn bundles_with_spmm_are_compared_at_a_number_of_columns_that_most_of_them_have() {
    let spmm = |machine: &str, runs: &[(&str, &str)]| {
        let mut bundle = measured(machine, &[("a", 1e-3)]);
        let of = bundle.runs.remove(0);
        bundle.runs.extend(runs.iter().map(|(kernel, k)| {
            let mut run = of.clone();
            (run.operation, run.kernel) = ("spmm".into(), (*kernel).into());
            run.params.insert("vectors".into(), (*k).into());
            run
        }));
        bundle
    };
    let (simd, rows) = ("cpu/spmm/simd", "cpu/spmm/rows");
    let several = spmm("one", &[(simd, "32"), (rows, "32"), (simd, "8")]);
    let model = opened(&[several, spmm("other", &[(simd, "8")])]);
    let filter = Filter::all_of("spmm");
    assert_eq!(model.of_one_product(&filter).vectors, Some(8));
    let mut state = ViewState { filter, ..ViewState::default() };
    for form in [Form::Compare, Form::Heat, Form::List] {
        state.best.form = form;
        let table = (VIEW.table)(&model, &state);
        assert_eq!(table.len(), 2, "{table:?}");
        let ends = table.iter().map(|line| line.last().unwrap().as_str());
        assert_eq!(ends.collect::<Vec<_>>(), ["k", "8"], "{table:?}");
    }
}

#[test]
fn a_figure_names_the_bundles_of_winners_and_of_others() {
    let (mut slow, fast) = (measured("one", &[("a", 4e-3)]), measured("one", &[("a", 1e-3)]));
    slow.runs[0].kernel = "cpu/csr/nnz".into();
    let mut model = Model::default();
    model.add_bundle("fast.zip", fast, "1".repeat(64));
    model.add_bundle("slow.zip", slow, "2".repeat(64));
    let mut state = ViewState::default();
    state.best.form = Form::Bars;
    let svg = VIEW.svg.unwrap()(&model, &state);
    assert!(svg.contains("fast.zip: CPU") && svg.contains("slow.zip: CPU"), "{svg}");
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
    assert_eq!(headline(Form::Compare, &board), words);
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
fn on_a_phone_both_bundles_of_a_comparison_are_in_sight() {
    let (mut model, state) = (example(), ViewState::default());
    model.open("cpu.zip", include_bytes!("../../../../example/cpu.zip")).unwrap();
    let board = Board::of(&model, &state);
    assert_eq!(board.sides.len(), 2);
    let shown = |width: f32| draw(&board, &state, width).figure;
    let has_ratios = |width: f32| format!("{:?}", shown(width).shapes).contains("1st / this");
    let phone = shown(374.0);
    assert_eq!(phone.size.x, 374.0);
    let sides = board.rows.iter().flat_map(|row| row.beside(&board.sides)).flatten();
    let cells: Vec<f32> =
        phone.hits.iter().filter(|hit| hit.run.is_some()).map(|hit| hit.rect.right()).collect();
    assert_eq!(cells.len(), sides.count());
    assert!(cells.iter().all(|right| *right <= 374.0), "{cells:?}");
    assert!(has_ratios(700.0) && !has_ratios(374.0));
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
