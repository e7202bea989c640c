//! The chart of what fewer bits save and cost: errors of results against the result in f64, against
//! the time, with the bytes that a product moves; one series per precision.

use sparsescope_core::record::{Operation, Rounding};

use super::best::best;
use super::chart::{Chart, Group, Operations};
use super::errors::{ZERO, drawn_at_zero};
use super::plot::{Data, Guide, Plot, Point, Scale, kernel};
use crate::model::{RunOf, bytes, subject_key};
use crate::views::view::subject;

pub(super) const CHARTS: [Chart; 1] = [Chart {
    id: "rounding",
    group: Group::Compare,
    name: "Error against time",
    sentence: "Error of each kernel in fewer bits than f64, at its fastest setting, against its time or the bytes that it moves, for the selected matrix; one colour per precision and op, and a line at the fastest run in f64.",
    nothing: "No matching run in fewer bits than f64 records its error against the f64 result.",
    data: errors,
    of: Some(options),
    operations: Operations::Only(&[Operation::Spmv, Operation::Spmm]),
}];

/// A name and its error.
type Measure = (&'static str, fn(&Rounding) -> f64);

/// The measures of the error.
const MEASURES: [Measure; 2] = [
    ("max |z − y| / max |y|", |rounding| rounding.max),
    ("norm |z − y| / |y|", |rounding| rounding.norm),
];

/// What errors are drawn against.
const AGAINST: [&str; 2] = ["time", "bytes"];

fn options(_: &Data<'_>) -> Vec<String> {
    let all = MEASURES.iter().flat_map(|(name, _)| AGAINST.map(|against| words(name, against)));
    all.collect()
}

fn words(name: &str, against: &str) -> String {
    format!("{name} by {against}")
}

fn errors<'a>(data: &Data<'a>) -> Plot<'a> {
    let chosen = data.chosen(&options(data));
    let mut all = MEASURES.iter().flat_map(|measure| AGAINST.map(|against| (measure, against)));
    let found = all.find(|((name, _), against)| words(name, against) == chosen);
    let log = data.state.log;
    let Some(((name, of), against)) = found else {
        return Plot::plane(Scale::default(), Scale::default());
    };
    let title = if against == "time" { "time, µs" } else { "minimum bytes moved, MB" };
    let mut plot = Plot::plane(Scale::new(title, log), Scale::new(*name, log).lower());
    plot.subject = subject(data.model, data.state);
    let Some(key) = plot.subject.map(subject_key) else { return plot };
    let runs: Vec<RunOf<'a>> = data.runs.iter().filter(|run| run.key() == key).copied().collect();
    let class = |run: &RunOf<'a>| run.run.check.rounding.map(|_| (0, kernel(run)));
    let moved = |run: &RunOf<'a>| run.run.costs.minimal_bytes;
    let cost = |run: &RunOf<'a>| match against {
        "time" => run.figures().map(|figures| figures.median_s * 1e6),
        _ => Some(moved(run) as f64 / 1e6),
    };
    let mut zeros = 0;
    for run in best(&runs, &class).into_values() {
        let (Some(rounding), Some(x)) = (run.run.check.rounding, cost(&run)) else { continue };
        let error = of(&rounding);
        let at = if log { error.max(ZERO) } else { error };
        zeros += usize::from(at > error);
        let product = match run.run.vectors() {
            Some(k) => format!("An SpMM with k = {k}"),
            None => "An SpMV".to_owned(),
        };
        let text = format!("{product} moves at least {}.", bytes(moved(&run)));
        let point = Point { text, ..Point::of(&run, x, at) };
        let variant = run.run.variant();
        plot.add(0, variant.trim_matches([' ', '(', ')']), Some(run.bundle), point);
    }
    let wide = runs.iter().filter(|run| run.run.precision == "f64" && run.run.is_plain());
    let fastest = wide.reduce(|best, run| if run.beats(best) { run } else { best });
    let beside = plot.points().next().map(|(.., point)| point.at[1]);
    if let (Some(x), Some(y)) = (fastest.and_then(cost), beside) {
        plot.guides.push(Guide { ends: [[x, y]; 2], name: "fastest in f64".into() });
    }
    if zeros > 0 {
        plot.note = drawn_at_zero(zeros);
    }
    plot
}

#[cfg(test)]
mod tests {
    use sparsescope_core::record::{Run, Work};

    use super::super::tests::{NNZ, bundle, drawn, model_of, run, serial, state};
    use super::super::view::plot;
    use super::*;
    use crate::model::Model;

    /// A run on the largest matrix, `times` as fast as cpu/csr/serial, with these errors.
    fn narrow(precision: &str, block: u32, times: f64, [max, norm]: [f64; 2]) -> Run {
        let mut run = run(2, "cuda/csr/adaptive", (4, Some(block)), times);
        run.precision = precision.into();
        run.check.rounding = Some(Rounding { max, norm, bound: 1.0 });
        run
    }

    fn model() -> Model {
        let mut bundle = bundle("narrow", 1.0);
        bundle.runs.extend([
            narrow("f32", 128, 50.0, [2e-8, 1e-8]),
            narrow("bf16:f32", 128, 70.0, [3e-3, 1e-3]),
            narrow("bf16:f32", 256, 80.0, [3e-3, 1e-3]),
            narrow("f16:f32", 128, 70.0, [0.0, 0.0]),
        ]);
        model_of(bundle)
    }

    fn points(of: &str) -> Vec<(String, f64, f64)> {
        let mut state = state("rounding");
        state.charts.of = of.into();
        let points = drawn(&model(), &state).into_iter();
        points.map(|(series, x, y)| (series, x.parse().unwrap(), y)).collect()
    }

    #[test]
    fn the_fastest_setting_of_each_precision_has_its_error_at_its_time_and_at_its_bytes() {
        let us = serial(2) * 1e6;
        let moved = run(2, "cuda/csr/adaptive", (4, Some(128)), 50.0).costs.minimal_bytes;
        let megabytes = moved as f64 / 1e6;
        for (of, times, errors) in [
            ("max |z − y| / max |y| by time", true, [3e-3, 1e-18, 2e-8]),
            ("norm |z − y| / |y| by bytes", false, [1e-3, 1e-18, 1e-8]),
        ] {
            let found = points(of);
            let names: Vec<&str> = found.iter().map(|(series, ..)| series.as_str()).collect();
            let expected = ["bf16:f32", "f16:f32", "f32"];
            assert_eq!(names, expected);
            for (((_, x, y), error), gain) in found.iter().zip(errors).zip([80.0, 70.0, 50.0]) {
                let at = if times { us / gain } else { megabytes };
                assert!((x / at - 1.0).abs() < 1e-9 && *y == error, "{of}: {x} {y}");
            }
        }
    }

    #[test]
    fn a_tooltip_has_the_least_bytes_that_a_product_moves() {
        let (model, state) = (model(), state("rounding"));
        let data = Data::of(&model, &state);
        let moved = run(2, "cuda/csr/adaptive", (4, Some(128)), 50.0).costs.minimal_bytes;
        let expected = format!("An SpMV moves at least {}.", bytes(moved));
        let plot = errors(&data);
        assert_eq!(plot.points().filter(|(_, _, point)| point.text == expected).count(), 3);
    }

    #[test]
    fn a_line_marks_the_time_of_the_fastest_run_in_f64() {
        let (model, state) = (model(), state("rounding"));
        let plot = errors(&Data::of(&model, &state));
        // cuda/csr/vector-mining is 45 times as fast as cpu/csr/serial.
        let [guide] = &plot.guides[..] else { panic!("{:?}", plot.guides) };
        let [x, _] = guide.ends[0];
        assert!((x / (serial(2) * 1e6 / 45.0) - 1.0).abs() < 1e-9, "{x}");
    }

    #[test]
    fn one_k_of_products_with_several_vectors_is_drawn_that_of_most_runs_unless_one_is_chosen() {
        let product = |k: u32, block: u32, times: f64| {
            let mut run = narrow("f32", block, times, [1e-8, 1e-8]);
            run.operation = "spmm".into();
            run.kernel = "cuda/spmm/row-split".into();
            run.params.insert("vectors".into(), k.to_string());
            let work = Work { flops: 2 * NNZ[2] * u64::from(k), ..Work::default() };
            run.metric = Some(Operation::Spmm.metric(&work, serial(2) / times));
            run
        };
        let mut bundle = bundle("narrow", 1.0);
        bundle.runs.extend([product(8, 128, 10.0), product(32, 128, 4.0), product(32, 256, 5.0)]);
        let model = model_of(bundle);
        for (chosen, k, gain) in [("", "32", 5.0), (";vectors=8", "8", 10.0)] {
            let state = state(&format!("rounding;operation=spmm{chosen}"));
            let found = drawn(&model, &state);
            let times: Vec<f64> = found.iter().map(|(_, x, _)| x.parse().unwrap()).collect();
            let near = |time: &f64| (time / (serial(2) * 1e6 / gain) - 1.0).abs() < 1e-9;
            assert!(times.len() == 1 && times.iter().all(near), "{times:?}");
            let plot = plot(&Data::of(&model, &state));
            assert!(plot.note.starts_with(&format!("SpMM with k = {k}. ")), "{}", plot.note);
            let table = plot.table();
            let column = table[0].iter().position(|title| title == "k").unwrap();
            assert_eq!(table[1][column], k);
        }
    }

    #[test]
    fn products_with_the_transpose_have_a_colour_and_a_column_of_their_own() {
        let mut bundle = bundle("narrow", 1.0);
        let mut transposed = narrow("f32", 128, 20.0, [1e-8, 1e-8]);
        transposed.params.insert("op".into(), "t".into());
        bundle.runs.extend([narrow("f32", 128, 50.0, [2e-8, 1e-8]), transposed]);
        let (model, state) = (model_of(bundle), state("rounding"));
        let names: Vec<String> = drawn(&model, &state).into_iter().map(|(name, ..)| name).collect();
        assert_eq!(names, ["f32", "f32, op t"]);
        let table = plot(&Data::of(&model, &state)).table();
        let column = table[0].iter().position(|title| title == "op").unwrap();
        assert_eq!([&table[1][column], &table[2][column]], ["", "t"]);
        assert!(!table[0].iter().any(|title| title == "k"), "{table:?}");
    }

    #[test]
    fn runs_in_f64_alone_have_nothing_to_draw() {
        assert!(drawn(&model_of(bundle("wide", 1.0)), &state("rounding")).is_empty());
    }
}
