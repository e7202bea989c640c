//! The chart of what fewer bits save and cost: errors of results against the result in f64, against
//! the time, with the bytes that a product moves; one series per precision.

use sparsescope_core::record::{Operation, Rounding};

use super::best::best;
use super::chart::{Chart, Group, Operations};
use super::errors::{ZERO, drawn_at_zero};
use super::plot::{Data, Plot, Point, Scale, kernel};
use super::vectors::columns;
use crate::model::{RunOf, bytes, subject_key};
use crate::views::view::subject;

pub(super) const CHARTS: [Chart; 1] = [Chart {
    id: "rounding",
    group: Group::Compare,
    name: "Error against time",
    sentence: "Error of each kernel in fewer bits than f64, at its fastest setting, against its time or the bytes that it moves, for the selected matrix; one colour per precision.",
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
    let class = |run: &RunOf<'a>| {
        let columns = columns(run.run).unwrap_or(1) as usize;
        run.run.check.rounding.map(|_| (columns, kernel(run)))
    };
    let mut zeros = 0;
    for run in best(&runs, &class).into_values() {
        let (Some(rounding), Some(figures)) = (run.run.check.rounding, run.figures()) else {
            continue;
        };
        let moved = run.run.costs.minimal_bytes;
        let x = match against {
            "time" => figures.median_s * 1e6,
            _ => moved as f64 / 1e6,
        };
        let error = of(&rounding);
        let at = if log { error.max(ZERO) } else { error };
        zeros += usize::from(at > error);
        let product = match columns(run.run) {
            Some(k) => format!("An SpMM with k = {k}"),
            None => "An SpMV".to_owned(),
        };
        let text = format!("{product} moves at least {}.", bytes(moved));
        let point = Point { text, ..Point::of(&run, x, at) };
        plot.add(0, &run.run.precision, Some(run.bundle), point);
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
    fn products_with_several_columns_have_a_point_for_each_number_of_columns() {
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
        let found = drawn(&model_of(bundle), &state("rounding;operation=spmm"));
        let mut times: Vec<f64> = found.iter().map(|(_, x, _)| x.parse().unwrap()).collect();
        times.sort_by(f64::total_cmp);
        let expected = [10.0, 5.0].map(|gain| serial(2) * 1e6 / gain);
        let near = |(found, expected): (&f64, &f64)| (found / expected - 1.0).abs() < 1e-9;
        assert!(times.len() == 2 && times.iter().zip(&expected).all(near), "{times:?}");
    }

    #[test]
    fn runs_in_f64_alone_have_nothing_to_draw() {
        assert!(drawn(&model_of(bundle("wide", 1.0)), &state("rounding")).is_empty());
    }
}
