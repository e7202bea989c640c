//! Each chart of skylines, from generated runs against an independent calculation.

use sparsescope_core::bundle::Bundle;
use sparsescope_core::record::{LaunchCost, Run};

use super::CHARTS;
use crate::model::Model;
use crate::model::skylines::{add_set, bundle, model, on_gpu, run};
use crate::state::ViewState;
use crate::views::charts::list::CHARTS as OF_ALL;
use crate::views::charts::plot::Data;
use crate::views::charts::tests::drawn;
use crate::views::charts::view::{plot, svg};

const OLD: &str = "cpu/skyline/own-points";
const MARKS: &str = "cpu/skyline/shared-marks";
const COALESCED: &str = "cuda/skyline/coalesced";
const ROWS: &str = "cuda/skyline/row-major";
const LOCAL: &str = "cuda/skyline/coalesced-local";

fn state(chart: &str) -> ViewState {
    ViewState::from_fragment(&format!("v1;operation=skyline;chart={chart}")).unwrap()
}

fn note(model: &Model, chart: &str) -> String {
    plot(&Data::of(model, &state(chart))).note
}

/// Asserts series, position and value of each point; values to nine digits.
fn assert_drawn(model: &Model, chart: &str, expected: &[(&str, &str, f64)]) {
    let found = drawn(model, &state(chart));
    let same = found.iter().zip(expected).all(|(found, (series, at, value))| {
        (found.0.as_str(), found.1.as_str()) == (*series, *at)
            && (found.2 / value - 1.0).abs() < 1e-9
    });
    assert!(same && found.len() == expected.len(), "{chart}: {found:?}\nexpected {expected:?}");
}

/// The ranges of the hollow marks of a chart, by series and row.
fn ranges(model: &Model, chart: &str) -> Vec<(String, [f64; 2])> {
    let (model, state) = (model, state(chart));
    let data = Data::of(model, &state);
    let plot = plot(&data);
    let of = |(name, _, point): (&str, _, &crate::views::charts::plot::Point<'_>)| {
        Some((name.to_owned(), point.range?))
    };
    plot.points().filter_map(of).collect()
}

/// Numbers of points in steps of four, in eight dimensions, and one set of another kind.
const SIZES: [u64; 3] = [1000, 4000, 16_000];

/// On N points the CPU takes N²·10⁻⁸ s with one thread. The GPU takes a hundredth of that, plus 40
/// ms for copies and 20 ms for allocation.
fn grown() -> Bundle {
    let mut bundle = bundle();
    for n in SIZES {
        let recipe = format!("gen:points-independent?n={n}&d=8");
        let set = add_set(&mut bundle, &format!("cube-{n}"), &recipe, [n, 8]);
        let (all, time_s) = (n * (n - 1), (n * n) as f64 * 1e-8);
        for threads in [1, 2, 4] {
            let of = |kernel: &str, time_s: f64, made: u64| {
                run(&set, kernel, (threads, None), time_s / f64::from(threads), made)
            };
            bundle.runs.push(of(OLD, 2.0 * time_s, all));
            bundle.runs.push(of(MARKS, time_s, all / 2 + u64::from(threads)));
        }
        for (block, times) in [(32, 2.0), (64, 1.0)] {
            let of = |kernel: &str, times: f64, counting: &str| {
                let run = run(&set, kernel, (1, Some(block)), time_s / 100.0 * times, all);
                let mut run = on_gpu(run, 0.04, 0.02);
                run.params.insert("counting".into(), counting.into());
                run.costs.launches.push(LaunchCost {
                    occupancy: f64::from(block) / 64.0,
                    ..LaunchCost::default()
                });
                run
            };
            bundle.runs.push(of(COALESCED, times, "device"));
            bundle.runs.push(of(COALESCED, times * 3.0, "host"));
            bundle.runs.push(of(ROWS, times * 8.0, "device"));
            bundle.runs.push(of(LOCAL, times * 1.5, "device"));
        }
    }
    bundle
}

#[test]
fn times_stand_at_the_numbers_of_points_of_one_kind_in_ascending_order() {
    let mut bundle = grown();
    let other = add_set(&mut bundle, "ball", "gen:points-sphere?n=2000&d=8", [2000, 8]);
    bundle.runs.push(run(&other, OLD, (4, None), 1.0, 1));
    let model = model(&bundle);
    // Milliseconds at the best setting: 4 threads, blocks of 64.
    let of = |kernel: &'static str, times: f64| {
        SIZES.map(|n| (kernel, n, (n * n) as f64 * 1e-5 * times))
    };
    let lines =
        [of(OLD, 0.5), of(MARKS, 0.25), of(COALESCED, 0.01), of(LOCAL, 0.015), of(ROWS, 0.08)];
    let at: Vec<String> = SIZES.map(|n| n.to_string()).to_vec();
    let expected: Vec<_> = lines
        .iter()
        .flat_map(|line| {
            line.iter().zip(&at).map(|((kernel, _, ms), at)| (*kernel, at.as_str(), *ms))
        })
        .collect();
    assert_drawn(&model, "time-points", &expected);
    assert!(note(&model, "time-points").contains("points-independent, D = 8"));
    let bytes = drawn(&model, &state("time-bytes;kernel=cpu/skyline/own-points"));
    let at: Vec<&str> = bytes.iter().map(|(_, at, _)| at.as_str()).collect();
    assert_eq!(
        at,
        ["0.064", "0.128", "0.256", "1.024"],
        "8 bytes a coordinate, the ball among them"
    );
}

#[test]
fn dimensions_are_compared_on_sets_of_as_many_points_within_one_percent() {
    let mut bundle = bundle();
    // The numbers of rbox, which adds the corners.
    for (n, d) in [(100_400, 200), (100_020, 10), (100_100, 50), (50_000, 20)] {
        let set = add_set(&mut bundle, &format!("d{d}"), &format!("rbox {n} d D{d}"), [n, d]);
        bundle.runs.push(run(&set, OLD, (1, None), d as f64 * 1e-3, 1));
    }
    let model = model(&bundle);
    let expected = [(OLD, "10", 10.0), (OLD, "50", 50.0), (OLD, "200", 200.0)];
    assert_drawn(&model, "time-dimensions", &expected);
    assert_eq!(drawn(&model, &state("time-points")), [], "no two have as many dimensions");
}

#[test]
fn the_older_version_is_held_against_the_final_one_by_size_and_by_threads() {
    let model = model(&grown());
    let of = |kernel: &'static str, times: f64| {
        [("0.064", 1e3), ("0.256", 4e3), ("1.024", 16e3)]
            .map(|(at, n): (&str, f64)| (kernel, at, n * n * 1e-5 * times / 4.0))
    };
    assert_drawn(&model, "versions", &[of(OLD, 2.0), of(MARKS, 1.0)].concat());
    let ms = 16e3 * 16e3 * 1e-5;
    let by_threads = |kernel: &'static str, times: f64| {
        [("1", 1.0), ("2", 2.0), ("4", 4.0)].map(|(at, p)| (kernel, at, ms * times / p))
    };
    let expected = [by_threads(OLD, 2.0), by_threads(MARKS, 1.0)].concat();
    assert_drawn(&model, "versions;of=cube-16000", &expected);
    let told = note(&model, "versions;of=cube-16000");
    assert!(told.contains("2 at 1, 2 at 2, 2 at 4 (threads)"), "{told}");
}

#[test]
fn versions_are_paired_set_by_set_where_two_have_as_many_bytes() {
    let mut bundle = bundle();
    for (name, recipe, [old, last]) in
        [("cube", "points-independent", [6.0, 2.0]), ("ball", "points-sphere", [5.0, 1.0])]
    {
        let set = add_set(&mut bundle, name, &format!("gen:{recipe}?n=1000&d=8"), [1000, 8]);
        bundle.runs.push(run(&set, OLD, (1, None), old, 1));
        bundle.runs.push(run(&set, MARKS, (1, None), last, 1));
    }
    // One set has only the older version, the other only the final one.
    for (name, kernel, seconds) in [("shell", OLD, 100.0), ("front", MARKS, 0.01)] {
        let set = add_set(&mut bundle, name, &format!("gen:{name}?n=1000&d=8"), [1000, 8]);
        bundle.runs.push(run(&set, kernel, (1, None), seconds, 1));
    }
    let told = note(&model(&bundle), "versions");
    assert!(told.contains("3 on cube") && told.contains("5 on ball"), "{told}");
    assert!(!told.contains("shell") && !told.contains("front"), "{told}");
}

#[test]
fn what_was_measured_at_one_number_of_points_has_no_line_and_is_said() {
    let mut bundle = grown();
    let set = bundle.subjects[1].record.id.clone();
    // At 4000 points it would be the fastest on the GPU by far.
    let fast = on_gpu(run(&set, "cuda/skyline/fast", (1, Some(64)), 1e-6, 1), 1e-6, 1e-6);
    bundle.runs.push(fast);
    let with = model(&bundle);
    let (told, before) = (note(&with, "crossover"), note(&model(&grown()), "crossover"));
    let alone = "Measured at a single number of points, so no line: cuda/skyline/fast.";
    assert_eq!(told.replace(&format!("{alone} "), ""), before);
    assert!(told.contains(alone) && !before.contains("so no line"), "{told}");
    assert!(note(&with, "time-points").ends_with(alone));
    assert!(drawn(&with, &state("time-points")).iter().any(|(name, ..)| name.ends_with("/fast")));
}

#[test]
fn ways_of_reading_points_stand_side_by_side_with_the_mean_of_what_they_gain() {
    let model = model(&grown());
    let found = drawn(&model, &state("ways"));
    let of = |kernel: &str| -> Vec<f64> {
        found.iter().filter(|(name, ..)| name == kernel).map(|(.., ms)| *ms).collect()
    };
    for (kernel, times) in [(ROWS, 8.0), (COALESCED, 1.0), (LOCAL, 1.5)] {
        let expected = SIZES.map(|n| (n * n) as f64 * 1e-7 * times);
        assert!(
            of(kernel).iter().zip(expected).all(|(a, b)| (a / b - 1.0).abs() < 1e-9),
            "{kernel}"
        );
        assert_eq!(of(kernel).len(), 3);
    }
    let told = note(&model, "ways");
    assert!(told.starts_with("Row-major reading takes 8.00 times as long"), "{told}");
    assert!(told.contains("coalesced reading takes 1.50 times as long"), "{told}");
}

/// Seconds of the best CPU kernel on N points, and of a GPU kernel that takes `times` as long as
/// the fastest.
fn pair(n: u64, times: f64) -> [f64; 2] {
    let time_s = (n * n) as f64 * 1e-8;
    [time_s / 4.0, time_s / 100.0 * times]
}

#[test]
fn a_gpu_is_held_against_the_processors_best_alone_and_with_all_around_it() {
    let model = model(&grown());
    let kernels = [(COALESCED, 1.0), (LOCAL, 1.5), (ROWS, 8.0)];
    let mut expected = Vec::new();
    let mut reaches = Vec::new();
    for (kernel, times) in kernels {
        for (n, row) in SIZES.into_iter().zip(["cube-1000", "cube-4000", "cube-16000"]) {
            let [cpu, gpu] = pair(n, times);
            expected.push((kernel, row, cpu / gpu));
            reaches.push((kernel, [cpu / gpu, cpu / (gpu + 0.06)]));
        }
    }
    assert_drawn(&model, "gpu-gain", &expected);
    let found = ranges(&model, "gpu-gain");
    assert_eq!(found.len(), reaches.len());
    for ((name, range), (kernel, ends)) in found.iter().zip(&reaches) {
        assert_eq!(name, kernel);
        assert!(
            range.iter().zip(ends).all(|(a, b)| (a / b - 1.0).abs() < 1e-9),
            "{range:?} {ends:?}"
        );
    }
    // Against the older version alone, twice as much; both sides include reading.
    let of_old = drawn(&model, &state(&format!("gpu-gain;of={OLD}")));
    assert!(of_old.iter().zip(&expected).all(|(a, b)| (a.2 / b.2 / 2.0 - 1.0).abs() < 1e-9));
    let state = state("gpu-gain");
    let data = Data::of(&model, &state);
    let plot = plot(&data);
    let text = &plot.points().next().unwrap().2.text;
    // (2.5 + 250) / (0.1 + 60 + 250) ms.
    assert!(text.contains("0.814 times including reading the points on both sides"), "{text}");
}

#[test]
fn transfer_and_allocation_are_shares_of_all_that_a_run_takes() {
    let model = model(&grown());
    let found = ranges(&model, "transfer;kernel=cuda/skyline/row-major");
    assert_eq!(found.len(), 3);
    for (n, (_, range)) in SIZES.into_iter().zip(found) {
        let [_, gpu] = pair(n, 8.0);
        let expected = [4.0, 6.0].map(|part| part / (gpu + 0.06));
        assert!(range.iter().zip(expected).all(|(a, b)| (a / b - 1.0).abs() < 1e-9), "{range:?}");
    }
    // Costs that were not recorded are not shown.
    let mut bare = grown();
    bare.runs.retain(|run| run.backend == "cuda");
    bare.runs.iter_mut().for_each(|run| run.costs.allocate_s = None);
    assert_eq!(drawn(&self::model(&bare), &state("transfer")), []);
}

#[test]
fn the_crossing_is_told_with_what_it_was_interpolated_between() {
    let model = model(&grown());
    let drawn = drawn(&model, &state("crossover"));
    let gpu: Vec<f64> =
        drawn.iter().filter(|(name, ..)| name == COALESCED).map(|(.., ms)| *ms).collect();
    let expected = SIZES.map(|n| (pair(n, 1.0)[1] + 0.06) * 1e3);
    assert!(gpu.iter().zip(expected).all(|(a, b)| (a / b - 1.0).abs() < 1e-9) && gpu.len() == 3);
    // On 4000 points 40 ms against 61.6, on 16 000 640 against 85.6: a straight line on logarithmic
    // axes.
    let [above, below] = [61.6_f64 / 40.0, 85.6 / 640.0];
    let points = 4000.0 * 4.0_f64.powf(above.ln() / (above.ln() - below.ln()));
    let told = note(&model, "crossover");
    let expected = format!("N ≈ {points:.0} (interpolated between the measured 4000 and 16000)");
    assert!(told.contains(&expected), "{told}, expected {expected}");
    let mut alone = grown();
    alone.runs.retain(|run| run.backend == "cpu");
    assert!(plot(&Data::of(&self::model(&alone), &state("crossover"))).is_empty());
}

#[test]
fn counting_on_the_host_is_paired_with_the_device_at_the_same_blocks() {
    let model = model(&grown());
    let found = drawn(&model, &state("counting"));
    assert_eq!(found.len(), 3, "one kernel counted on both sides: {found:?}");
    for (n, (name, _, ratio)) in SIZES.into_iter().zip(found) {
        let [_, device] = pair(n, 1.0);
        let back = 0.04 / 3.0;
        let expected = (3.0 * device + back) / (device + back);
        assert!(name == COALESCED && (ratio / expected - 1.0).abs() < 1e-9, "{ratio} {expected}");
    }
}

#[test]
fn comparisons_are_told_as_a_share_with_what_changes_from_run_to_run() {
    let model = model(&grown());
    let found = drawn(&model, &state("comparisons;search=cube-1000"));
    let of = |kernel: &str| found.iter().find(|(name, ..)| name == kernel).unwrap().2;
    let all = 1000.0 * 999.0;
    assert_eq!(of(OLD), 1.0);
    assert!((of(MARKS) / ((all / 2.0 + 4.0) / all) - 1.0).abs() < 1e-12, "with 4 threads");
    // With one thread, three fewer.
    let reach = ranges(&model, "comparisons;search=cube-1000");
    assert_eq!(reach.len(), 1);
    assert!((reach[0].1[1] / ((all / 2.0 + 1.0) / all) - 1.0).abs() < 1e-12);
    let told = note(&model, "comparisons");
    assert!(told.ends_with(&format!("Varies between executions: {MARKS}.")), "{told}");
}

/// Runs with p threads on N₀·√p points in fifty dimensions, with the given efficiencies.
fn weakly(runs: &[(u32, u64, f64)]) -> Model {
    let mut bundle = bundle();
    for (threads, n, efficiency) in runs {
        let recipe = format!("gen:points-independent?n={n}&d=50");
        let set = add_set(&mut bundle, &format!("cube-{n}"), &recipe, [*n, 50]);
        bundle.runs.push(run(&set, MARKS, (*threads, None), 0.5 / efficiency, n * (n - 1)));
    }
    model(&bundle)
}

#[test]
fn weak_efficiency_pairs_sets_whose_work_grows_with_the_threads_and_says_what_lacks() {
    // 10 000·√2 is 14 142, and ·√4 is 20 000: 0.9 % off is accepted, 1.1 % is not.
    let model = weakly(&[(1, 10_000, 1.0), (2, 14_142, 0.9), (4, 20_180, 0.75), (8, 28_600, 0.5)]);
    let name = format!("{MARKS} on points-independent, D = 50, N₀ = 10000");
    let expected =
        [("1", 1.0), ("2", 0.9), ("4", 0.75)].map(|(at, value)| (name.as_str(), at, value));
    assert_drawn(&model, "weak", &expected);
    let told = note(&model, "weak");
    assert!(told.contains("missing 28284 points with 8 threads"), "{told}");
    let state = state("weak");
    let data = Data::of(&model, &state);
    let plot = plot(&data);
    let texts: Vec<_> = plot.points().map(|(.., point)| point.text.clone()).collect();
    assert!(texts[1].contains("Each thread made 1.00 times as many comparisons"), "{texts:?}");
    let none = weakly(&[(1, 10_000, 1.0), (2, 10_001, 0.9)]);
    let svg = svg(&none, &state);
    assert!(svg.contains("14142 points with 2 threads"), "{svg}");
}

#[test]
fn occupancy_is_drawn_against_blocks_and_speed_up_against_threads_for_skylines_too() {
    let mut bundle = grown();
    for run in &mut bundle.runs {
        let one = if run.kernel == MARKS { 1.0 } else { 2.0 };
        let serial = run.figures.as_ref().unwrap().median_s * f64::from(run.threads) / one;
        let threads = (run.backend == "cpu").then_some(run.threads);
        run.figures.as_mut().unwrap().set_serial(serial, threads);
    }
    let model = model(&bundle);
    let each = |kernel: &'static str| [(kernel, "32", 50.0), (kernel, "64", 100.0)];
    assert_drawn(&model, "occupancy", &[each(COALESCED), each(LOCAL), each(ROWS)].concat());
    let lines = |divide: bool| {
        let of = move |set: &'static str| {
            [("1", 1.0), ("2", 2.0), ("4", 4.0)]
                .map(|(at, p): (&str, f64)| (set, at, if divide { 1.0 } else { p }))
        };
        ["cube-1000", "cube-4000", "cube-16000"].map(of).concat()
    };
    assert_drawn(&model, &format!("speedup;of={MARKS}"), &lines(false));
    assert_drawn(&model, &format!("efficiency;of={MARKS}"), &lines(true));
}

#[test]
fn every_chart_draws_tells_and_saves_and_says_why_where_there_is_nothing() {
    let (full, none) = (model(&grown()), model(&bundle()));
    let known = OF_ALL.iter().map(|chart| chart.id);
    for chart in &CHARTS {
        assert!(known.clone().all(|id| id != chart.id), "{}", chart.id);
        let lacks = ["time-dimensions", "weak"].contains(&chart.id);
        for (model, drawn) in [(&full, !lacks), (&none, false), (&Model::default(), false)] {
            let state = state(chart.id);
            let data = Data::of(model, &state);
            assert_eq!(!plot(&data).is_empty(), drawn, "{}", chart.id);
            let svg = svg(model, &state);
            assert_eq!(svg.contains(chart.nothing.split_at(36).0), !drawn, "{}", chart.id);
            assert!(!svg.contains("NaN") && !svg.contains("inf\""), "{}", chart.id);
        }
    }
}

#[test]
fn no_chart_mixes_runs_of_another_operation_in() {
    let mut bundle = grown();
    let others: Vec<Run> =
        bundle.runs.iter().cloned().map(|run| Run { operation: "sorting".into(), ..run }).collect();
    bundle.runs.extend(others);
    let (alone, mixed) = (model(&grown()), model(&bundle));
    for chart in &CHARTS {
        assert_eq!(
            drawn(&mixed, &state(chart.id)),
            drawn(&alone, &state(chart.id)),
            "{}",
            chart.id
        );
    }
}
