//! The charts of products with several vectors against the number of columns: the rate, and what
//! one product gains over as many SpMVs.

use sparsescope_core::record::{Operation, Run};

use super::best::best;
use super::chart::{Chart, Group, Operations};
use super::plot::{COLUMNS, Data, Form, Guide, Plot, Point, Scale, kernel};
use super::settings::{against, rate};
use crate::model::{RunOf, subject_key};
use crate::state::Filter;
use crate::views::view::subject;

const SPMM: Operations = Operations::Only(&[Operation::Spmm]);

/// In display order within their groups.
pub(super) const CHARTS: [Chart; 2] = [
    Chart {
        id: "rate-vectors",
        group: Group::Scaling,
        name: "Rate against columns",
        sentence: "Mean rate of each kernel over the matrices, at its best setting, against the number of columns of X.",
        nothing: "No kernel has matching runs with several numbers of columns.",
        data: rates,
        of: None,
        operations: SPMM,
    },
    Chart {
        id: "spmm-spmv",
        group: Group::Compare,
        name: "One SpMM vs many SpMVs",
        sentence: "Speed-up of a product with k columns over k runs of the fastest SpMV kernel on the same device, for the selected matrix.",
        nothing: "No open bundle has both a matching run and an SpMV on the same matrix and device.",
        data: gains,
        of: None,
        operations: SPMM,
    },
];

fn rates<'a>(data: &Data<'a>) -> Plot<'a> {
    let class = |run: &RunOf<'a>| Some((0, kernel(run)));
    against(data, (COLUMNS, data.rate_axis("mean ")), Run::vectors, &class, rate)
}

fn median(run: &RunOf<'_>) -> Option<f64> {
    run.figures().map(|figures| figures.median_s)
}

/// The plain SpMVs of a subject, to compare products with.
fn products<'a>(data: &Data<'a>, key: &str) -> Vec<RunOf<'a>> {
    let filter = Filter { operation: Operation::Spmv.as_str().into(), ..Filter::everything() };
    let mut products = data.model.runs(&filter);
    let caches = !data.state.charts.cold;
    products.retain(|run| {
        run.ranks() && run.run.is_plain() && run.run.hot == caches && run.key() == key
    });
    products
}

fn gains<'a>(data: &Data<'a>) -> Plot<'a> {
    let title = Scale::new("time of k SpMVs / time of one SpMM", data.state.log);
    let mut plot = Plot::plane(Scale::new(COLUMNS, true), title);
    plot.form = Form::Lines;
    plot.subject = subject(data.model, data.state);
    let Some(key) = plot.subject.map(subject_key) else { return plot };
    let products = products(data, &key);
    let runs: Vec<RunOf<'a>> = data.runs.iter().filter(|run| run.key() == key).copied().collect();
    let class = |run: &RunOf<'a>| Some((run.run.vectors()? as usize, kernel(run)));
    let mut ends: Option<[f64; 2]> = None;
    for ((.., (k, name)), run) in best(&runs, &class) {
        let is_rival = |other: &&RunOf<'a>| {
            other.run.precision == run.run.precision && other.is_on_machine_of(&run)
        };
        let rivals = products.iter().filter(is_rival);
        let timed = rivals.filter_map(|other| Some((median(other)?, *other)));
        let fastest = timed.min_by(|(a, _), (b, _)| a.total_cmp(b));
        let (Some((one, other)), Some(all)) = (fastest, median(&run)) else { continue };
        let x = k as f64;
        let text = format!("Against {k} × {}.", other.run.kernel_and_precision());
        let point = Point { text, ..Point::of(&run, x, x * one / all) };
        plot.add(0, &name, Some(run.bundle), point);
        plot.rivals.push(other);
        let [low, high] = ends.unwrap_or([x, x]);
        ends = Some([low.min(x), high.max(x)]);
    }
    if let Some([low, high]) = ends {
        plot.guides.push(Guide { ends: [[low, 1.0], [high, 1.0]], name: "equal".into() });
    }
    plot.tick_x_at_points();
    plot
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use sparsescope_core::record::Work;

    use super::super::tests::{NNZ, bundle, drawn, model_of, run, serial, state};
    use super::*;
    use crate::model::Model;

    /// A product with k columns on the largest matrix, `gain` times as fast as k runs of
    /// cpu/csr/serial.
    fn product(kernel: &str, k: u32, gain: f64) -> Run {
        let block = kernel.starts_with("cuda").then_some(128);
        let mut run = run(2, kernel, (4, block), gain / f64::from(k));
        run.operation = "spmm".into();
        run.params.insert("vectors".into(), k.to_string());
        // Another column is 8 bytes more per row of X and of Y, 1000 each.
        run.costs.minimal_bytes += 16_000 * u64::from(k - 1);
        let bytes = run.costs.minimal_bytes as f64;
        run.figures.iter_mut().for_each(|figures| figures.gbs = bytes / figures.median_s / 1e9);
        let work = Work { flops: 2 * NNZ[2] * u64::from(k), ..Work::default() };
        run.metric = Some(Operation::Spmm.metric(&work, serial(2) * f64::from(k) / gain));
        run
    }

    fn products() -> Model {
        let mut bundle = bundle("products", 1.0);
        bundle.runs.extend([
            product("cpu/spmm/simd", 1, 2.0),
            product("cpu/spmm/simd", 8, 12.0),
            product("cpu/spmm/serial", 8, 1.0),
            product("cuda/spmm/row-split", 8, 90.0),
        ]);
        let mut turned = run(2, "cpu/csr/nnz", (4, None), 100.0);
        turned.params.insert("op".into(), "t".into());
        bundle.runs.push(turned);
        model_of(bundle)
    }

    fn assert_drawn(chart: &str, expected: &[(&str, &str, f64)]) {
        let found = drawn(&products(), &state(&format!("{chart};operation=spmm")));
        let same = found.len() == expected.len()
            && found.iter().zip(expected).all(|(found, (series, at, value))| {
                (found.0.as_str(), found.1.as_str()) == (*series, *at)
                    && (found.2 / value - 1.0).abs() < 1e-9
            });
        assert!(same, "{chart}: {found:?}\nexpected {expected:?}");
    }

    #[test]
    fn the_rate_is_drawn_for_each_kernel_with_several_numbers_of_columns() {
        // 2·nnz flops of a column in nnz nanoseconds.
        let expected = [("cpu/spmm/simd", "1", 4.0), ("cpu/spmm/simd", "8", 24.0)];
        assert_drawn("rate-vectors", &expected);
    }

    #[test]
    fn a_table_has_the_number_of_columns_once() {
        let model = products();
        for (chart, title) in [("rate-vectors", COLUMNS), ("spmm-spmv", COLUMNS), ("kernels", "k")]
        {
            let state = state(&format!("{chart};operation=spmm"));
            let table = super::super::view::plot(&Data::of(&model, &state)).table();
            let is_it = |heading: &&String| [COLUMNS, "k"].contains(&heading.as_str());
            let found: Vec<&String> = table[0].iter().filter(is_it).collect();
            assert_eq!(found, [title], "{chart}");
        }
    }

    #[test]
    fn the_roofline_has_a_mark_for_each_kernel_and_number_of_columns_of_which_all_have_a_colour() {
        let (model, state) = (products(), state("roofline;operation=spmm"));
        let data = Data::of(&model, &state);
        let plot = super::super::view::plot(&data);
        let found = plot.points().map(|(name, _, point)| (name, point.at));
        // 2·k flops per nonzero; 12 bytes per nonzero, 4 per row and one more, 16 per row and column.
        let nnz = NNZ[2] as f64;
        let intensity = |k: f64| 2.0 * k * nnz / (12.0 * nnz + 4_004.0 + 16_000.0 * k);
        // 2·k·nnz flops, `gain` times as fast as k·nnz nanoseconds.
        let expected =
            [("k = 1", 1.0, 4.0), ("k = 8", 8.0, 2.0), ("k = 8", 8.0, 24.0), ("k = 8", 8.0, 180.0)];
        let expected = expected.map(|(name, k, gflops)| (name, [intensity(k), gflops]));
        let near = |a: [f64; 2], b: [f64; 2]| (0..2).all(|i| (a[i] / b[i] - 1.0).abs() < 1e-9);
        let found: Vec<_> = found.collect();
        assert_eq!(found.len(), expected.len(), "{found:?}");
        for ((name, at), (of, expected)) in found.into_iter().zip(expected) {
            assert!(
                name == of && near(at, expected),
                "{name}: {at:?}, expected {of}: {expected:?}"
            );
        }
        assert!(plot.ordered && plot.guides.iter().any(|roof| roof.name.contains("copy")));
    }

    #[test]
    fn a_product_is_compared_with_the_fastest_plain_spmv_on_its_own_device() {
        // With four threads cpu/csr/nnz is 4 times as fast as cpu/csr/serial, and vector-mining on
        // the GPU 45 times.
        let expected = [
            ("cpu/spmm/serial", "8", 0.25),
            ("cpu/spmm/simd", "1", 0.5),
            ("cpu/spmm/simd", "8", 3.0),
            ("cuda/spmm/row-split", "8", 2.0),
        ];
        assert_drawn("spmm-spmv", &expected);
    }

    #[test]
    fn the_figure_names_the_bundles_of_both_operations() {
        let mut of_spmv = bundle("of spmv", 1.0);
        let mut of_spmm = bundle("of spmm", 1.0);
        of_spmm.runs = vec![product("cpu/spmm/simd", 8, 12.0)];
        of_spmv.created = "2026-02-01T12:00:00Z".into();
        let mut model = Model::default();
        for mut bundle in [of_spmv, of_spmm] {
            // Machines without a CPU model are different.
            bundle.environments[0].cpu.model = "CPU".into();
            model.open("one", &bundle.to_bytes().unwrap()).unwrap();
        }
        let svg = super::super::view::svg(&model, &state("spmm-spmv;operation=spmm"));
        for footer in ["of spmm: CPU, measured 2026-01-31", "of spmv: CPU, measured 2026-02-01"] {
            assert!(svg.contains(footer), "{footer} in {svg}");
        }
        let svg = super::super::view::svg(&model, &state("kernels;operation=spmm"));
        assert!(svg.contains("of spmm: CPU") && !svg.contains("of spmv"), "{svg}");
    }

    #[test]
    fn other_charts_show_the_number_of_columns_that_is_chosen_or_that_most_runs_have() {
        let model = products();
        for chart in ["kernels", "samples", "profile"] {
            let kernels = |chosen: &str| {
                let drawn = drawn(&model, &state(&format!("{chart};operation=spmm{chosen}")));
                let kernels: BTreeSet<String> = drawn.into_iter().map(|(name, ..)| name).collect();
                kernels.into_iter().collect::<Vec<_>>()
            };
            let with_eight = ["cpu/spmm/serial", "cpu/spmm/simd", "cuda/spmm/row-split"];
            assert_eq!(kernels(""), with_eight, "{chart}");
            assert_eq!(kernels(";vectors=1"), ["cpu/spmm/simd"], "{chart}");
        }
        for chart in ["kernels", "roofline"] {
            let alone = drawn(&model, &state(&format!("{chart};operation=spmm;vectors=1")));
            assert_eq!(alone.len(), 1, "{chart}: {alone:?}");
            assert!((alone[0].2 / 4.0 - 1.0).abs() < 1e-9, "{chart}: {alone:?}");
        }
    }
}
