//! Charts against a setting: threads, or threads a block.

use std::collections::BTreeMap;

use sparsescope_core::record::Run;

use super::plot::{Class, Data, Form, Plot, Point, Scale, format_of, kernel};
use crate::model::{RunOf, matrix_key};
use crate::views::view::selected;

/// Runs of a series in a bundle, by setting and matrix; only matrices with a run at every setting.
type Group<'a> = BTreeMap<u32, BTreeMap<String, RunOf<'a>>>;

/// The groups in which at least two settings have matrices in common, by order and name of the
/// series and number of the bundle.
fn groups<'a>(
    data: &Data<'a>,
    setting: fn(&Run) -> Option<u32>,
    class: Class<'_, 'a>,
) -> BTreeMap<(usize, String, usize), Group<'a>> {
    let mut groups: BTreeMap<_, Group<'a>> = BTreeMap::new();
    for run in &data.runs {
        let (Some(setting), Some((order, name))) = (setting(run.run), class(run)) else { continue };
        let group = groups.entry((order, name, run.bundle.series)).or_default();
        let found = group.entry(setting).or_default().entry(matrix_key(run.record)).or_insert(*run);
        if found.gflops() < run.gflops() {
            *found = *run;
        }
    }
    groups.retain(|_, group| {
        let all = group.clone();
        for runs in group.values_mut() {
            runs.retain(|matrix, _| all.values().all(|other| other.contains_key(matrix)));
        }
        group.len() > 1 && group.values().all(|runs| !runs.is_empty())
    });
    groups
}

/// A number of a run.
type Value = for<'r, 'a> fn(&'r RunOf<'a>) -> Option<f64>;

fn gflops(run: &RunOf<'_>) -> Option<f64> {
    run.gflops()
}

fn mean<'a>(runs: &BTreeMap<String, RunOf<'a>>, value: Value) -> Option<f64> {
    let values: Vec<f64> = runs.values().filter_map(value).collect();
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

/// The mean of a value over the matrices against a setting.
fn against<'a>(
    data: &Data<'a>,
    titles: [&'static str; 2],
    setting: fn(&Run) -> Option<u32>,
    class: Class<'_, 'a>,
    value: Value,
) -> Plot<'a> {
    let log = data.state.log;
    let mut plot = Plot::plane(Scale::new(titles[0], true), Scale::new(titles[1], log));
    plot.form = Form::Lines;
    for ((order, name, _), group) in groups(data, setting, class) {
        for (setting, runs) in group {
            let (Some(run), Some(mean)) = (runs.values().next(), mean(&runs, value)) else {
                continue;
            };
            let x = f64::from(setting);
            let point = match runs.len() {
                1 => Point::of(run, x, mean),
                n => Point {
                    at: [x, mean],
                    text: format!("Mean over {n} matrices."),
                    ..Point::default()
                },
            };
            plot.add(order, &name, Some(run.bundle), point);
        }
    }
    let mut ticks: Vec<f64> = plot.points().map(|(_, _, point)| point.at[0]).collect();
    ticks.sort_unstable_by(f64::total_cmp);
    ticks.dedup();
    plot.x.ticks = ticks;
    plot
}

const THREADS: &str = "threads";

fn threads(run: &Run) -> Option<u32> {
    (run.backend == "cpu").then_some(run.threads)
}

pub(super) fn by_threads<'a>(data: &Data<'a>) -> Plot<'a> {
    let class = |run: &RunOf<'a>| Some((0, kernel(run)));
    against(data, [THREADS, "mean GFLOPS"], threads, &class, gflops)
}

pub(super) fn csr_hll_by_threads<'a>(data: &Data<'a>) -> Plot<'a> {
    let class = |run: &RunOf<'a>| {
        let (id, format) = (&run.run.kernel, format_of(&run.run.kernel));
        let counts = ["csr", "hll"].contains(&format) && !id.ends_with("/serial");
        counts.then(|| (0, format.to_owned()))
    };
    against(data, [THREADS, "mean GFLOPS of the best kernel"], threads, &class, gflops)
}

pub(super) fn one_matrix<'a>(data: &Data<'a>) -> Plot<'a> {
    let matrix = selected(data.model, data.state).map(matrix_key);
    let class = |run: &RunOf<'a>| {
        let counts = ["csr", "ell"].contains(&format_of(&run.run.kernel));
        (counts && Some(matrix_key(run.record)) == matrix).then(|| (0, kernel(run)))
    };
    against(data, [THREADS, "GFLOPS"], threads, &class, gflops)
}

/// CPU kernels that ran with several thread counts; the one of paper 000 first.
pub(super) fn parallel_kernels(data: &Data<'_>) -> Vec<String> {
    let mut found: Vec<String> = data.model.values().parallel.iter().cloned().collect();
    let place = |kernel: &String| kernel != "cpu/csr/nnz";
    crate::order::sort_by(&mut found, |a, b| place(a).cmp(&place(b)).then_with(|| a.cmp(b)));
    found
}

/// A kernel's value against threads, a series for each class of nnz.
fn by_nnz<'a>(data: &Data<'a>, title: &'static str, value: Value) -> Plot<'a> {
    let chosen = data.chosen(&parallel_kernels(data));
    let class_of = |run: &RunOf<'a>| run.record.statistics.nnz_class.clone();
    let mut order: BTreeMap<String, usize> = BTreeMap::new();
    for run in &data.runs {
        let least = order.entry(class_of(run)).or_insert(usize::MAX);
        *least = (*least).min(usize::try_from(run.record.statistics.nnz).unwrap_or(usize::MAX));
    }
    let class = |run: &RunOf<'a>| {
        let name = class_of(run);
        (run.run.kernel == chosen).then(|| (order.get(&name).copied().unwrap_or_default(), name))
    };
    let mut plot = against(data, [THREADS, title], threads, &class, value);
    plot.y.log = false;
    plot
}

pub(super) fn speedup<'a>(data: &Data<'a>) -> Plot<'a> {
    let value = |run: &RunOf<'_>| run.run.figures.as_ref()?.speedup;
    by_nnz(data, "mean speed-up over cpu/csr/serial", value)
}

pub(super) fn efficiency<'a>(data: &Data<'a>) -> Plot<'a> {
    let value = |run: &RunOf<'_>| run.run.figures.as_ref()?.efficiency;
    by_nnz(data, "mean efficiency (speed-up / threads)", value)
}

pub(super) fn by_block<'a>(data: &Data<'a>) -> Plot<'a> {
    let class = |run: &RunOf<'a>| Some((0, kernel(run)));
    against(data, ["threads a block", "mean GFLOPS"], |run| run.block, &class, gflops)
}

/// For each kernel its best block size by mean and by peak.
pub(super) fn best_block<'a>(data: &Data<'a>) -> Plot<'a> {
    let mut plot = Plot::rows(Scale::new("GFLOPS", data.state.log));
    let class = |run: &RunOf<'a>| Some((0, kernel(run)));
    for ((_, name, _), group) in groups(data, |run| run.block, &class) {
        let row = plot.row(|| name.clone(), &name);
        let matrices = group.values().map(BTreeMap::len).next().unwrap_or_default();
        let means = group.iter().filter_map(|(block, runs)| Some((*block, mean(runs, gflops)?)));
        let by_mean = means.max_by(|a, b| a.1.total_cmp(&b.1));
        let peaks = group.values().flat_map(BTreeMap::values);
        let peak = peaks.max_by(|a, b| {
            a.gflops().partial_cmp(&b.gflops()).unwrap_or(std::cmp::Ordering::Equal)
        });
        let Some((peak, (block, mean))) = peak.zip(by_mean) else { continue };
        let text = format!("Blocks of {block}; mean over {matrices} matrices.");
        let point = Point { at: [mean, row], label: block.to_string(), text, ..Point::default() };
        plot.add(0, "best mean", Some(peak.bundle), point);
        if let (Some(gflops), Some(block)) = (peak.gflops(), peak.run.block) {
            let point = Point { label: block.to_string(), ..Point::of(peak, gflops, row) };
            plot.add(1, "best peak", Some(peak.bundle), point);
        }
    }
    plot
}
