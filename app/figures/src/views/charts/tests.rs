//! Each chart's numbers, from a generated bundle against an independent calculation.

use emath::Rect;
use sparsescope_core::bundle::{Bundle, Comparison, MatrixFolder};
use sparsescope_core::matrix::{FormatSize, RowLengths, Statistics, nnz_class};
use sparsescope_core::record::{
    Bandwidth, Check, Costs, Environment, Figures, LaunchCost, MatrixRecord, Producer, Run, Source,
    Verdict, matrix_id,
};

use super::list::CHARTS;
use super::looks::{Looks, format_of};
use super::plot::Data;
use super::view::{plot, svg};
use super::{VIEW, draw};
use crate::model::{Model, matrix_key};
use crate::state::ViewState;

/// Nonzeros of the matrices `small`, `middle` and `large`.
pub(super) const NNZ: [u64; 3] = [1_000, 200_000, 4_000_000];
const NAMES: [&str; 3] = ["small", "middle", "large"];
/// Bytes that SpMV with ELLPACK moves: two slots per nonzero.
const ELL: [u64; 3] = [24 * NNZ[0] + 16_000, 24 * NNZ[1] + 16_000, 24 * NNZ[2] + 16_000];

fn record(index: usize) -> MatrixRecord {
    let (name, nnz) = (NAMES[index], NNZ[index]);
    let sha256 = format!("{index:x}").repeat(64);
    let size = |format: &str, slots: u64, minimal_bytes| FormatSize {
        format: format.into(),
        bytes: 12 * slots + 4_004,
        slots,
        padding: slots as f64 / nnz as f64,
        minimal_bytes,
    };
    MatrixRecord {
        id: matrix_id(name, &sha256),
        name: name.into(),
        source: if index == 2 { Source::StandIn } else { Source::Generated },
        generator: None,
        reordered: None,
        sha256,
        field: "real".into(),
        symmetry: "general".into(),
        read_seconds: 1.0,
        statistics: Statistics {
            rows: 1_000,
            cols: 1_000,
            nnz,
            nnz_class: nnz_class(nnz).into(),
            row: RowLengths {
                percent_average_deviation: [0.0, 20.0, 60.0][index],
                ..RowLengths::default()
            },
            formats: vec![size("csr", nnz, 12 * nnz + 20_004), size("ell", 2 * nnz, ELL[index])],
            ..Statistics::default()
        },
    }
}

/// Twenty samples with this median.
fn samples(median: f64) -> Vec<f64> {
    (0..20).map(|k| median * (1.0 + (f64::from(k) - 9.5) * 1e-3)).collect()
}

/// A launch whose occupancy grows with the block size.
fn launch(block: u32) -> LaunchCost {
    let occupancy = f64::from(block) / 256.0;
    LaunchCost { function: "f".into(), registers: 32, occupancy, ..LaunchCost::default() }
}

/// Seconds of cpu/csr/serial.
pub(super) fn serial(index: usize) -> f64 {
    NNZ[index] as f64 * 1e-9
}

/// A run that is `times` as fast as cpu/csr/serial.
pub(super) fn run(index: usize, kernel: &str, setting: (u32, Option<u32>), times: f64) -> Run {
    let record = record(index);
    let samples = samples(serial(index) / times);
    let cuda = !kernel.starts_with("cpu");
    let format = record.statistics.formats.iter().find(|f| kernel.contains(&f.format));
    let minimal_bytes = format.map_or(12 * NNZ[index] + 20_004, |format| format.minimal_bytes);
    let mut figures =
        Figures::from_samples(&samples, 2.0 * NNZ[index] as f64, minimal_bytes).unwrap();
    figures.set_serial(serial(index), (!cuda).then_some(setting.0));
    Run {
        matrix: record.id.clone(),
        operation: "spmv".into(),
        kernel: kernel.into(),
        origin: vec!["ours".into()],
        backend: if cuda { "cuda" } else { "cpu" }.into(),
        device: if cuda { "GPU" } else { "CPU" }.into(),
        environment: "a".into(),
        threads: setting.0,
        block: setting.1,
        hot: true,
        precision: "f64".into(),
        params: Default::default(),
        check: Check {
            verdict: Verdict::Pass,
            worst: Some(0.25 * times.min(4.0)),
            rel_err: Some(1e-16),
            s_paper: Some(0.0),
            ..Check::default()
        },
        samples,
        repetitions: 1,
        warmup: 0,
        costs: Costs {
            conversion_s: 3.0 * serial(index),
            plan_s: serial(index),
            minimal_bytes,
            launches: setting.1.map(launch).into_iter().collect(),
            break_even: (times > 1.0).then(|| (4.0 / (1.0 - 1.0 / times)).ceil()),
            ..Costs::default()
        },
        figures: Some(figures),
        ..Run::default()
    }
}

/// Serial, parallel and GPU kernels on three matrices; GPU kernels with warm and flushed caches.
pub(super) fn bundle(label: &str, faster: f64) -> Bundle {
    let producer = Producer { name: "t".into(), version: "0".into(), revision: None };
    let mut bundle = Bundle::new(producer, "2026-01-31T12:00:00Z".into());
    bundle.label = Some(label.into());
    bundle.complete = true;
    let gpu = sparsescope_core::record::Gpu {
        model: "GPU".into(),
        copy: Some(4e12),
        ..Default::default()
    };
    let bandwidth = |threads: u32| Bandwidth {
        threads,
        array_bytes: 1 << 20,
        copy: 1e10 * f64::from(threads),
        triad: 1.5e10 * f64::from(threads),
        read: 2e10,
    };
    bundle.environments.push(Environment {
        id: "a".into(),
        gpus: vec![gpu],
        bandwidth: vec![bandwidth(1), bandwidth(4)],
        ..Environment::default()
    });
    for index in 0..3 {
        let folder = MatrixFolder { record: record(index), files: Default::default() };
        bundle.matrices.push(folder);
        let more = index as f64;
        let mut add = |kernel: &str, setting, times: f64| {
            bundle.runs.push(run(index, kernel, setting, times * faster));
        };
        add("cpu/csr/serial", (1, None), 1.0 / faster);
        add("cpu/hll/serial", (1, None), 0.5);
        for threads in [1, 2, 4] {
            let times = f64::from(threads);
            add("cpu/csr/nnz", (threads, None), times.powf(0.5 + 0.25 * more));
            add("cpu/hll/guided", (threads, None), times * 0.9);
            // No time with 4 threads on the largest matrix.
            if index < 2 || threads < 4 {
                add("cpu/ell/rows", (threads, None), times * 0.5);
            }
        }
        for (block, times) in [(32, 10.0), (64, 20.0 + 5.0 * more), (128, 24.0)] {
            add("cuda/csr/thread-per-row", (1, Some(block)), times);
            add("cuda/csr/vector-mining", (1, Some(block)), times * 1.5);
        }
        let mut flushed = run(index, "cuda/csr/vector-mining", (1, Some(32)), 7.5 * faster);
        flushed.hot = false;
        bundle.runs.push(flushed);
    }
    bundle
}

pub(super) fn model(bundles: &[(&str, f64)]) -> Model {
    let mut model = Model::default();
    for (label, faster) in bundles {
        model.open(label, &bundle(label, *faster).to_bytes().unwrap()).unwrap();
    }
    model
}

pub(super) fn model_of(bundle: Bundle) -> Model {
    let mut model = Model::default();
    model.open("one", &bundle.to_bytes().unwrap()).unwrap();
    model
}

pub(super) fn state(chart: &str) -> ViewState {
    ViewState::from_fragment(&format!("v1;chart={chart}")).unwrap()
}

/// The points of a chart in drawing order: series, row or x, value.
pub(super) fn drawn(model: &Model, state: &ViewState) -> Vec<(String, String, f64)> {
    let data = Data::of(model, state);
    let plot = plot(&data);
    let points = plot.points().map(|(name, _, point)| match &plot.rows {
        Some(rows) => (name.to_owned(), rows[point.at[1] as usize].name.clone(), point.at[0]),
        None => (name.to_owned(), point.at[0].to_string(), point.at[1]),
    });
    points.collect()
}

fn assert_drawn(chart: &str, expected: &[(&str, &str, f64)]) {
    let found = drawn(&model(&[("a", 1.0)]), &state(chart));
    let matches = |found: &(String, String, f64), (series, at, value): &(&str, &str, f64)| {
        let same = (found.0.as_str(), found.1.as_str()) == (*series, *at);
        same && (found.2 == *value || (found.2 / value - 1.0).abs() < 1e-9)
    };
    let same =
        found.len() == expected.len() && found.iter().zip(expected).all(|(f, e)| matches(f, e));
    assert!(same, "{chart}: {found:?}\nexpected {expected:?}");
}

/// 2·nnz flops in nnz nanoseconds.
const SERIAL: f64 = 2.0;
const LARGE: &str = "large (stand-in)";

#[test]
fn rows_hold_the_fastest_run_of_each_class() {
    let names = ["small", "middle", LARGE];
    let each = |series: &'static str, values: [f64; 3]| {
        std::array::from_fn::<_, 3, _>(|k| (series, names[k], SERIAL * values[k]))
    };
    let of = |all: &[[(&'static str, &'static str, f64); 3]]| all.concat();
    let nnz = each("cpu/csr/nnz", [2.0, 4.0_f64.powf(0.75), 4.0]);
    let [serial, hll] = [each("cpu/csr/serial", [1.0; 3]), each("cpu/hll/serial", [0.5; 3])];
    let guided = each("cpu/hll/guided", [3.6; 3]);
    let ell = each("cpu/ell/rows", [2.0, 2.0, 1.0]);
    let scalar = each("cuda/csr/thread-per-row", [24.0, 25.0, 30.0]);
    let vector = each("cuda/csr/vector-mining", [36.0, 37.5, 45.0]);
    assert_drawn("serial", &of(&[serial, hll]));
    assert_drawn("kernels", &of(&[nnz, serial, ell, guided, hll, scalar, vector]));
    assert_drawn("format;of=csr", &of(&[nnz, serial, scalar, vector]));
    assert_drawn("csr-hll", &of(&[each("csr", [36.0, 37.5, 45.0]), each("hll", [3.6; 3])]));
    assert_drawn(
        "csr-hll;backend=cpu",
        &of(&[each("csr", [2.0, 4.0_f64.powf(0.75), 4.0]), each("hll", [3.6; 3])]),
    );
    assert_drawn("parallel", &of(&[serial, each("parallel", [3.6, 3.6, 4.0])]));
    let parallel = each("parallel CSR", [2.0, 4.0_f64.powf(0.75), 4.0]);
    assert_drawn("four", &of(&[serial, parallel, scalar, vector]));
}

#[test]
fn means_against_threads_are_over_the_same_matrices_at_each() {
    let mean = |threads: f64, of: &[f64]| {
        SERIAL * of.iter().map(|power| threads.powf(*power)).sum::<f64>() / of.len() as f64
    };
    let all = [0.5, 0.75, 1.0];
    let mut expected = Vec::new();
    for (at, threads) in [("1", 1.0), ("2", 2.0), ("4", 4.0)] {
        expected.push(("cpu/csr/nnz", at, mean(threads, &all)));
    }
    let csr = expected.clone();
    for (at, threads) in [("1", 1.0), ("2", 2.0), ("4", 4.0)] {
        // Without the largest matrix, which has no time with 4 threads.
        expected.push(("cpu/ell/rows", at, SERIAL * 0.5 * threads));
    }
    let guided = [("1", 1.0), ("2", 2.0), ("4", 4.0)].map(|(at, t)| ("hll", at, SERIAL * 0.9 * t));
    expected.extend(guided.map(|(_, at, value)| ("cpu/hll/guided", at, value)));
    assert_drawn("threads", &expected);
    let csr = csr.into_iter().map(|(_, at, value)| ("csr", at, value));
    assert_drawn("csr-hll-threads", &csr.chain(guided).collect::<Vec<_>>());

    let model = model(&[("a", 1.0)]);
    let mut one = state("matrix-threads");
    one.matrix = Some(matrix_key(&record(0)));
    let found = drawn(&model, &one);
    assert_eq!(found.len(), 6, "{found:?}");
    assert!((found[2].2 - SERIAL * 2.0).abs() < 1e-9 && (found[5].2 - SERIAL * 2.0).abs() < 1e-9);
}

#[test]
fn speedup_and_efficiency_have_a_line_for_each_class_of_nnz_smallest_first() {
    let classes =
        [("<10k nonzeros", 0.5), ("100k-500k nonzeros", 0.75), ("2.5M-10M nonzeros", 1.0_f64)];
    let lines = |divide: bool| {
        let of = move |(class, power): (&'static str, f64)| {
            [("1", 1.0), ("2", 2.0), ("4", 4.0_f64)].map(|(at, threads)| {
                (class, at, threads.powf(power) / if divide { threads } else { 1.0 })
            })
        };
        classes.into_iter().flat_map(of).collect::<Vec<_>>()
    };
    assert_drawn("speedup", &lines(false));
    assert_drawn("efficiency", &lines(true));
    let other = [("1", 0.9), ("2", 1.8), ("4", 3.6)];
    let expected: Vec<_> = classes
        .iter()
        .flat_map(|(class, _)| other.map(|(at, value)| (*class, at, value)))
        .collect();
    assert_drawn("speedup;of=cpu/hll/guided", &expected);
}

#[test]
fn blocks_are_compared_by_mean_and_by_peak() {
    // Over the matrices: 10, then 20, 25, 30, then 24.
    let lines = [("32", 10.0), ("64", 25.0), ("128", 24.0)].map(|(at, t)| (at, t * SERIAL));
    let [scalar, vector] = ["cuda/csr/thread-per-row", "cuda/csr/vector-mining"];
    let mut expected: Vec<_> = lines.iter().map(|(at, value)| (scalar, *at, *value)).collect();
    expected.extend(lines.iter().map(|(at, value)| (vector, *at, *value * 1.5)));
    assert_drawn("blocks", &expected);
    assert_drawn(
        "best-block",
        &[
            ("best mean", scalar, 50.0),
            ("best mean", vector, 75.0),
            ("best peak", scalar, 60.0),
            ("best peak", vector, 90.0),
        ],
    );
    let filled = [("32", 12.5), ("64", 25.0), ("128", 50.0)];
    let filled = [scalar, vector].map(|kernel| filled.map(|(at, share)| (kernel, at, share)));
    assert_drawn("occupancy", &filled.concat());
    let (model, state) = (model(&[("a", 1.0)]), state("best-block"));
    let data = Data::of(&model, &state);
    let labels: Vec<_> = plot(&data).points().map(|(.., point)| point.label.clone()).collect();
    assert_eq!(labels, ["64", "64", "64", "64"]);
}

#[test]
fn a_matrix_without_deviation_stands_at_the_beginning_of_a_logarithmic_axis() {
    let found = drawn(&model(&[("a", 1.0)]), &state("deviation;kernel=cpu/csr/nnz"));
    let places: Vec<_> = found.iter().map(|(_, x, _)| x.as_str()).collect();
    assert_eq!(places, ["0.1", "20", "60"]);
    let linear = drawn(&model(&[("a", 1.0)]), &state("deviation;kernel=cpu/csr/nnz;log=false"));
    assert_eq!(linear[0].1, "0");
    assert!((linear[2].2 - SERIAL * 4.0).abs() < 1e-9);
}

#[test]
fn the_roofline_has_the_devices_bandwidth_and_tells_padding_apart() {
    let (model, state) = (model(&[("a", 1.0)]), state("roofline;search=small"));
    let data = Data::of(&model, &state);
    let plot = plot(&data);
    let of = |format: &str| plot.points().find(|(name, ..)| *name == format).unwrap().2;
    let csr = 2000.0 / (12.0 * 1000.0 + 20_004.0);
    assert!((of("csr").at[0] - csr).abs() < 1e-12 && of("csr").range.is_none());
    // ELLPACK moves 12 bytes per empty slot, and has as many empty slots as nonzeros.
    let (useful, whole) = (2000.0 / (ELL[0] - 12_000) as f64, 2000.0 / ELL[0] as f64);
    assert_eq!(of("ell").range, Some([useful, whole]));
    assert_eq!(of("ell").at, [useful, of("ell").run.unwrap().rate().unwrap()]);
    // The GPU's copy, then triad and copy of four threads.
    let roofs: Vec<f64> =
        plot.guides.iter().map(|roof| roof.ends[1][1] / roof.ends[1][0]).collect();
    let expected = [4000.0, 60.0, 40.0];
    assert!(roofs.iter().zip(expected).all(|(a, b)| (a / b - 1.0_f64).abs() < 1e-9), "{roofs:?}");
    assert_eq!(roofs.len(), 3);
}

#[test]
fn a_profile_counts_the_matrices_within_tau() {
    let (model, mut state) = (model(&[("a", 1.0)]), state("profile;backend=cpu"));
    // Times of cpu/csr/nnz over the best: 1.8, 3.6/2.83 and 1.
    for (tau, share) in [(1.0, 1.0), (1.2, 1.0), (1.3, 2.0), (1.79, 2.0), (1.81, 3.0)] {
        state.charts.tau = tau;
        let found = drawn(&model, &state);
        let at = |series: &str| {
            found.iter().find(|(name, x, _)| name == series && *x == tau.to_string()).unwrap().2
        };
        assert!((at("cpu/csr/nnz") - 100.0 * share / 3.0).abs() < 1e-9, "{tau}: {found:?}");
        let guided = if tau < 4.0 / 3.6 { 2.0 } else { 3.0 };
        assert!((at("cpu/hll/guided") - 100.0 * guided / 3.0).abs() < 1e-9);
    }
}

#[test]
fn raw_times_are_all_there_with_their_quartiles() {
    let (model, mut state) = (model(&[("a", 1.0)]), state("samples;kernel=cpu/csr/serial"));
    state.matrix = Some(matrix_key(&record(1)));
    let data = Data::of(&model, &state);
    let plot = plot(&data);
    let points: Vec<_> = plot.points().map(|(.., point)| point.clone()).collect();
    assert_eq!(points.len(), 21);
    // 200 µs; the quartiles of twenty samples 0.1 % apart lie 4.75 steps from the middle.
    assert!((points[0].at[0] - 200.0).abs() < 1e-9);
    let [low, high] = points[0].range.unwrap();
    assert!(
        (low - 200.0 * (1.0 - 4.75e-3)).abs() < 1e-9
            && (high - 200.0 * (1.0 + 4.75e-3)).abs() < 1e-9
    );
    let mut times: Vec<f64> = points[1..].iter().map(|point| point.at[0] / 1e6).collect();
    times.sort_by(f64::total_cmp);
    assert!(times.iter().zip(samples(serial(1))).all(|(a, b)| (a / b - 1.0).abs() < 1e-12));
}

#[test]
fn bytes_are_told_without_and_with_padding() {
    let (model, state) = (model(&[("a", 1.0)]), state("bytes;search=middle"));
    let data = Data::of(&model, &state);
    let found: Vec<_> = plot(&data)
        .points()
        .map(|(name, _, point)| (name.to_owned(), point.at[0], point.range))
        .collect();
    let nnz = NNZ[1] as f64;
    let (useful, whole) = ((12.0 * nnz + 4004.0) / nnz, (24.0 * nnz + 4004.0) / nnz);
    assert_eq!(
        found,
        [("csr".to_owned(), useful, None), ("ell".to_owned(), useful, Some([useful, whole]))]
    );
}

#[test]
fn warm_caches_are_paired_with_flushed_ones_at_the_same_setting() {
    let found = drawn(&model(&[("a", 1.0)]), &state("hot-cold"));
    // Only blocks of 32 have both; the fastest warm run has another size.
    assert_eq!(found.len(), 3);
    for (kernel, warm, flushed) in found {
        assert_eq!(kernel, "cuda/csr/vector-mining");
        assert!(
            (warm.parse::<f64>().unwrap() - 30.0).abs() < 1e-9 && (flushed - 15.0).abs() < 1e-9
        );
    }
    let cold = drawn(&model(&[("a", 1.0)]), &state("kernels;cold=true"));
    assert_eq!(cold.len(), 3, "only runs with flushed caches");
    let svg = svg(&model(&[("a", 1.0)]), &state("kernels;cold=true;backend=cpu"));
    assert!(svg.contains("used warm caches"), "{svg}");
}

#[test]
fn conversion_is_counted_in_serial_products_and_break_even_says_never() {
    let only = "search=small;backend=cpu";
    assert_drawn(
        &format!("conversion;{only}"),
        &[
            ("cpu/csr/nnz", "small", 4.0),
            ("cpu/ell/rows", "small", 4.0),
            ("cpu/hll/guided", "small", 4.0),
            ("cpu/hll/serial", "small", 4.0),
        ],
    );
    // Twice as fast: saves four SpMVs' worth of time after eight.
    assert_drawn(
        &format!("break-even;{only}"),
        &[
            ("cpu/csr/nnz", "small", 8.0),
            ("cpu/ell/rows", "small", 8.0),
            ("cpu/hll/guided", "small", 6.0),
            ("cpu/hll/serial", "small", f64::INFINITY),
        ],
    );
    let (model, state) = (model(&[("a", 1.0)]), state(&format!("break-even;{only}")));
    let table = (VIEW.table)(&model, &state);
    assert_eq!(table.last().and_then(|line| line.last()).map(String::as_str), Some("never"));
}

#[test]
fn changes_are_those_of_the_comparison_and_turn_round_with_the_baseline() {
    let model = model(&[("before", 1.0), ("after", 2.0)]);
    let mut state = state("compare");
    let data = Data::of(&model, &state);
    let shown = plot(&data);
    let [before, after] = [("before", 1.0), ("after", 2.0)].map(|(l, f)| bundle(l, f));
    let expected = Comparison::of(&before, &after);
    assert_eq!(shown.rows.as_ref().unwrap().len(), expected.runs.len());
    let mut ratios: Vec<f64> = expected.runs.iter().map(|run| run.ratio.value).collect();
    ratios.sort_by(f64::total_cmp);
    let mut found: Vec<_> = shown.points().map(|(.., point)| point.clone()).collect();
    found.sort_by(|a, b| a.at[1].total_cmp(&b.at[1]));
    assert_eq!(found.iter().map(|point| point.at[0]).collect::<Vec<_>>(), ratios, "sorted");
    for point in &found {
        let is_it = |run: &&sparsescope_core::bundle::ComparedRun<'_>| {
            run.ratio.interval.map(|(low, high)| [low, high]) == point.range
        };
        assert!(expected.runs.iter().any(|run| is_it(&run)), "{point:?}");
    }
    // All except the three runs of cpu/csr/serial are twice as fast.
    let faster = expected.runs.len() - 3;
    assert!(
        shown.note.contains(&format!("{faster} faster, 0 slower, 3 unclear")),
        "{}",
        shown.note
    );
    assert!(shown.note.starts_with("after after before: "));

    state.charts.baseline = model.bundles()[1].sha256[..12].into();
    let turned = drawn(&model, &state);
    let turned = turned.iter().map(|(.., ratio)| *ratio).fold(0.0, f64::max);
    assert!((turned - 2.0).abs() < 1e-9);
    state.filter.search = "small".into();
    assert_eq!(drawn(&model, &state).len(), 18, "the runs of one matrix");
}

#[test]
fn errors_are_drawn_by_kernel_threads_and_block_a_mark_a_run() {
    let model = model(&[("a", 1.0)]);
    let of = |words: &str| {
        let mut state = state("errors;kernel=cpu/csr/nnz");
        state.charts.of = words.into();
        drawn(&model, &state)
    };
    let kernels = of("worst row, error / bound by kernel");
    assert_eq!(kernels.len(), 9, "three matrices with three thread counts");
    assert!(kernels.iter().all(|(_, row, error)| row == "cpu/csr/nnz" && *error >= 0.25));
    let threads = of("relative error |z − y| / |y| by threads");
    let at: Vec<&str> = threads.iter().map(|(_, at, _)| at.as_str()).collect();
    assert_eq!(at, ["1", "2", "4", "1", "2", "4", "1", "2", "4"]);
    assert!(threads.iter().all(|(.., error)| *error == 1e-16));
    assert!(of("s (CSR/HLL report) by threads per block").is_empty(), "no GPU runs");
    // A logarithmic axis has no 0.
    assert!(of("s of paper 000 by kernel").iter().all(|(.., error)| *error == 1e-18));
}

#[test]
fn every_chart_draws_tells_and_saves_what_it_has_for_one_bundle_two_and_none() {
    let models = [Model::default(), model(&[("a", 1.0)]), model(&[("a", 1.0), ("b", 1.5)])];
    for (opened, model) in models.iter().enumerate() {
        for chart in &CHARTS {
            let state = state(chart.id);
            let data = Data::of(model, &state);
            let plot = plot(&data);
            if !chart.is_for("spmv") {
                continue; // sweeps have their own bundle
            }
            // There is no time of ELLPACK with one thread here, no kernel that chooses another, and no energy.
            let absent = ["ell-four", "expected", "energy"].contains(&chart.id);
            let lacks = absent || opened == 1 && chart.id == "compare";
            let drawn = opened > 0 && !lacks;
            assert_eq!(!plot.is_empty(), drawn, "{} of {opened}", chart.id);
            let whom = draw::For::Screen(420.0, None);
            let figure = draw::figure(&plot, &Looks::of(model, "spmv"), &state, 640.0, whom);
            let inside = Rect::from_min_size(emath::Pos2::ZERO, figure.size).expand(0.5);
            for hit in &figure.hits {
                assert!(inside.contains(hit.rect.center()), "{}: {hit:?}", chart.id);
            }
            let table = plot.table();
            assert_eq!(table.len(), 1 + plot.points().count());
            assert!(table.iter().all(|line| line.len() == table[0].len()), "{}", chart.id);
            let svg = svg(model, &state);
            let says = svg.contains(chart.nothing.split_at(36).0);
            assert_eq!(says, !drawn, "{} of {opened}", chart.id);
            assert!(!svg.contains("NaN") && !svg.contains("inf\""), "{}", chart.id);
            assert!(svg.contains("STAND-INS") || !drawn, "{}", chart.id);
        }
    }
}

#[test]
fn a_kernel_keeps_its_look_in_every_chart_and_under_every_filter() {
    let model = model(&[("a", 1.0)]);
    let ink = crate::state::Theme::Light.ink();
    let looks = Looks::of(&model, "spmv");
    let kernels: Vec<&str> = model.values("spmv").kernels.iter().map(String::as_str).collect();
    let of = |index: usize| looks.find("cpu/csr/serial", index, &ink);
    assert_eq!(of(0), of(7), "whatever its place among those drawn");
    for (k, one) in kernels.iter().enumerate() {
        for other in &kernels[k + 1..] {
            assert_ne!(looks.find(one, 0, &ink), looks.find(other, 0, &ink), "{one}, {other}");
        }
        let format = format_of(one);
        let (own, plain) = (looks.find(one, 0, &ink).0, looks.find(format, 0, &ink).0);
        // The ninth kernel of a format repeats the first mark, darker.
        let darker = crate::theme::blend(plain, ink.text, 0.45);
        assert!([plain, darker].contains(&own), "colour of {format}");
    }
}

#[test]
fn ellpack_is_compared_with_one_thread_of_the_same_bundle() {
    let mut ways = bundle("a", 1.0);
    ways.runs.push(run(0, "cpu/ell/serial", (1, None), 0.5));
    ways.runs.push(run(0, "cuda/ell/column-major", (1, Some(64)), 20.0));
    let mut model = model(&[("without", 1.0)]);
    assert_eq!(drawn(&model, &state("ell-four")), []);
    model.open("ways", &ways.to_bytes().unwrap()).unwrap();
    let found = drawn(&model, &state("ell-four"));
    let expected =
        [("cpu/ell/serial", 1.0), ("cpu/ell/rows", 4.0), ("cuda/ell/column-major", 40.0)];
    assert_eq!(found.len(), expected.len(), "{found:?}");
    for ((name, times), (series, row, gain)) in expected.into_iter().zip(found) {
        assert_eq!((series.as_str(), row.as_str()), (name, "small"));
        assert!((gain / times - 1.0).abs() < 1e-9, "{name}: {gain}");
    }
}

#[test]
fn one_kernel_is_told_by_matrix_and_block_size() {
    let blocks = [("blocks of 32", 15.0), ("blocks of 64", 30.0), ("blocks of 128", 36.0)];
    let expected = blocks.map(|(series, times)| (series, "small", SERIAL * times));
    assert_drawn("matrix-blocks;of=cuda/csr/vector-mining;search=small", &expected);
}
