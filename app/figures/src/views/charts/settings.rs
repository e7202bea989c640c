//! Charts against a setting: threads, or threads per block.

use std::collections::BTreeMap;

use sparsescope_core::kernel::{self, KernelName, Version};
use sparsescope_core::record::{Better, LaunchCost, Run};

use super::best::Class;
use super::bold::coinciding_words;
use super::looks::format_of_run;
use super::plot::{Data, Form, Plot, Point, Scale, kernel};
use super::solves::{Names, few};
use crate::model::{RunOf, subject_key, subject_size};
use crate::views::view::subject;

/// Runs of a series in a bundle, by setting and matrix; only matrices with a run for every setting.
type Group<'a> = BTreeMap<u32, BTreeMap<String, RunOf<'a>>>;

/// The groups with at least two settings that share matrices, by order and name of the series and
/// bundle number.
fn groups<'a>(
    data: &Data<'a>,
    setting: fn(&Run) -> Option<u32>,
    class: Class<'_, 'a>,
) -> BTreeMap<(usize, String, usize), Group<'a>> {
    let mut groups: BTreeMap<_, Group<'a>> = BTreeMap::new();
    for run in &data.runs {
        let (Some(setting), Some((order, name))) = (setting(run.run), class(run)) else { continue };
        let group = groups.entry((order, name, run.bundle.series)).or_default();
        let found = group.entry(setting).or_default().entry(run.key()).or_insert(*run);
        if run.beats(found) {
            *found = *run;
        }
    }
    groups.retain(|_, group| {
        let mut settings: BTreeMap<String, usize> = BTreeMap::new();
        for matrix in group.values().flat_map(BTreeMap::keys) {
            *settings.entry(matrix.clone()).or_default() += 1;
        }
        let all = group.len();
        for runs in group.values_mut() {
            runs.retain(|matrix, _| settings.get(matrix) == Some(&all));
        }
        group.len() > 1 && group.values().all(|runs| !runs.is_empty())
    });
    groups
}

/// A value of a run.
pub(super) type Value = for<'r, 'a> fn(&'r RunOf<'a>) -> Option<f64>;

pub(super) fn rate(run: &RunOf<'_>) -> Option<f64> {
    run.rate()
}

fn mean<'a>(runs: &BTreeMap<String, RunOf<'a>>, value: Value) -> Option<f64> {
    let values: Vec<f64> = runs.values().filter_map(value).collect();
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

/// The mean of a value over the matrices against a setting.
pub(super) fn against<'a>(
    data: &Data<'a>,
    titles: (&'static str, Scale),
    setting: fn(&Run) -> Option<u32>,
    class: Class<'_, 'a>,
    value: Value,
) -> Plot<'a> {
    let mut plot = Plot::plane(Scale::new(titles.0, true), titles.1);
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
    plot.tick_x_at_points();
    plot
}

const THREADS: &str = "threads";

pub(super) fn threads(run: &Run) -> Option<u32> {
    run.is_on_cpu().then_some(run.threads)
}

pub(super) fn by_threads<'a>(data: &Data<'a>) -> Plot<'a> {
    let parallel = &data.model.values(&data.state.filter.operation).parallel;
    let is_parallel = |run: &&RunOf<'a>| parallel.contains(&run.run.kernel);
    let (runs, note) = few(data.runs.iter().filter(is_parallel).copied().collect());
    let names = Names::of(&runs);
    let class = |run: &RunOf<'a>| Some(names.class(run));
    let data = &Data { runs, ..*data };
    let plot = against(data, (THREADS, data.rate_axis("mean ")), threads, &class, rate);
    Plot { note, ..plot }
}

pub(super) fn csr_hll_by_threads<'a>(data: &Data<'a>) -> Plot<'a> {
    let class = |run: &RunOf<'a>| {
        let (id, format) = (&run.run.kernel, format_of_run(run.run));
        let counts = ["csr", "hll"].contains(&format) && !KernelName::of(id).is_serial();
        counts.then(|| (0, format.to_owned()))
    };
    let title = Scale::new("mean GFLOPS of the best kernel", data.state.log);
    against(data, (THREADS, title), threads, &class, rate)
}

pub(super) fn one_matrix<'a>(data: &Data<'a>) -> Plot<'a> {
    let about = subject(data.model, data.state);
    let matrix = about.map(subject_key);
    let class = |run: &RunOf<'a>| {
        let counts = ["csr", "ell"].contains(&format_of_run(run.run));
        (counts && Some(run.key()) == matrix).then(|| (0, kernel(run)))
    };
    let plot = against(data, (THREADS, data.rate_axis("")), threads, &class, rate);
    Plot { subject: about, ..plot }
}

/// CPU kernels that ran with several thread counts; those of papers 000 and 004 first.
pub(super) fn parallel_kernels(data: &Data<'_>) -> Vec<String> {
    let mut found: Vec<String> =
        data.model.values(&data.state.filter.operation).parallel.iter().cloned().collect();
    let is_final =
        |id: &String| kernel::kernel(id).is_some_and(|k| k.version == Some(Version::Final));
    sparsescope_core::order::sort_by(&mut found, |a, b| {
        is_final(b).cmp(&is_final(a)).then_with(|| a.cmp(b))
    });
    found
}

/// Kernels that run in thread blocks.
pub(super) fn block_kernels(data: &Data<'_>) -> Vec<String> {
    data.model.values(&data.state.filter.operation).blocked.iter().cloned().collect()
}

/// A kernel's value against threads, one series per class of nnz, and for solves per
/// preconditioner.
fn by_nnz<'a>(data: &Data<'a>, title: String, value: Value) -> Plot<'a> {
    let chosen = data.chosen(&parallel_kernels(data));
    let class_of = |run: &RunOf<'a>| match run.matrix() {
        Some(matrix) => format!("{} nonzeros", matrix.statistics.nnz_class),
        None => run.name(),
    };
    let mut order: BTreeMap<String, usize> = BTreeMap::new();
    for run in &data.runs {
        let least = order.entry(class_of(run)).or_insert(usize::MAX);
        *least = (*least).min(usize::try_from(subject_size(run.subject)).unwrap_or(usize::MAX));
    }
    let (runs, note) = few(data.runs.clone());
    let names = Names::of_kernel(&runs);
    let class = |run: &RunOf<'a>| {
        if run.run.kernel != chosen {
            return None;
        }
        if run.solved().is_some() {
            return Some(names.class(run));
        }
        let name = class_of(run);
        Some((order.get(&name).copied().unwrap_or_default(), name))
    };
    let titles = (THREADS, Scale::new(title, false));
    let plot = against(&Data { runs, ..*data }, titles, threads, &class, value);
    Plot { note, ..plot }
}

pub(super) fn speedup<'a>(data: &Data<'a>) -> Plot<'a> {
    let value = |run: &RunOf<'_>| run.run.figures.as_ref()?.speedup;
    let chosen = data.chosen(&parallel_kernels(data));
    by_nnz(data, format!("mean speed-up of {chosen} over {}", data.reference()), value)
}

pub(super) fn efficiency<'a>(data: &Data<'a>) -> Plot<'a> {
    let value = |run: &RunOf<'_>| run.run.figures.as_ref()?.efficiency;
    let chosen = data.chosen(&parallel_kernels(data));
    let title = format!("mean speed-up of {chosen} over {}, per thread", data.reference());
    by_nnz(data, title, value)
}

pub(super) fn by_block<'a>(data: &Data<'a>) -> Plot<'a> {
    let class = |run: &RunOf<'a>| Some((0, kernel(run)));
    let titles = ("threads per block", data.rate_axis("mean "));
    against(data, titles, |run| run.block, &class, rate)
}

/// A run and one of its launches.
type Filled<'a> = (RunOf<'a>, &'a LaunchCost);

/// The launch of a run with the lowest occupancy.
fn filled<'a>(run: &RunOf<'a>) -> Option<&'a LaunchCost> {
    let launches = run.run.costs.launches.iter();
    launches.min_by(|a, b| a.occupancy.total_cmp(&b.occupancy))
}

pub(super) fn occupancy<'a>(data: &Data<'a>) -> Plot<'a> {
    let y = Scale::new("occupancy, % of a multiprocessor's threads", false);
    let mut plot = Plot::plane(Scale::new("threads per block", true), y);
    plot.form = Form::Lines;
    // The resources of a launch can depend on the subject: kernels are compiled for its width.
    let mut found: BTreeMap<(String, usize, u32), Vec<Filled<'a>>> = BTreeMap::new();
    for run in &data.runs {
        let (Some(block), Some(launch)) = (run.run.block, filled(run)) else { continue };
        let place = (kernel(run), run.bundle.series, block);
        found.entry(place).or_default().push((*run, launch));
    }
    for ((name, _, block), runs) in found {
        let least = runs.iter().min_by(|a, b| a.1.occupancy.total_cmp(&b.1.occupancy));
        let Some((run, launch)) = least else { continue };
        let (x, y) = (f64::from(block), launch.occupancy * 100.0);
        let mut point = match runs.len() {
            1 => Point::of(run, x, y),
            n => Point { at: [x, y], text: format!("Lowest of {n} runs. "), ..Point::default() },
        };
        let LaunchCost { function, registers, local_bytes, .. } = launch;
        point.text += &format!("{function}: {registers} registers");
        if *local_bytes > 0 {
            point.text += &format!(" and {local_bytes} bytes of local memory");
        }
        point.text += " per thread.";
        plot.add(0, &name, Some(run.bundle), point);
    }
    plot.note = coinciding_words(&plot);
    plot.tick_x_at_points();
    plot
}

/// The best block size of each kernel by mean and by peak.
pub(super) fn best_block<'a>(data: &Data<'a>) -> Plot<'a> {
    let mut plot = Plot::rows(data.rate_axis(""));
    let class = |run: &RunOf<'a>| Some((0, kernel(run)));
    for ((_, name, _), group) in groups(data, |run| run.block, &class) {
        let row = plot.row(|| name.clone(), &name);
        let matrices = group.values().map(BTreeMap::len).next().unwrap_or_default();
        let peaks = group.values().flat_map(BTreeMap::values);
        let peak = peaks.reduce(|best, run| if run.beats(best) { run } else { best });
        let sign = match peak.and_then(RunOf::metric).map(|metric| metric.better) {
            Some(Better::Less) => -1.0,
            _ => 1.0,
        };
        let means = group.iter().filter_map(|(block, runs)| Some((*block, mean(runs, rate)?)));
        let by_mean = means.max_by(|a, b| (sign * a.1).total_cmp(&(sign * b.1)));
        let Some((peak, (block, mean))) = peak.zip(by_mean) else { continue };
        let text = format!("Blocks of {block}; mean over {matrices} matrices.");
        let point = Point { at: [mean, row], label: block.to_string(), text, ..Point::default() };
        plot.add(0, "best mean", Some(peak.bundle), point);
        if let (Some(rate), Some(block)) = (peak.rate(), peak.run.block) {
            let point = Point { label: block.to_string(), ..Point::of(peak, rate, row) };
            plot.add(1, "best peak", Some(peak.bundle), point);
        }
    }
    if !plot.is_empty() {
        plot.note = "The numbers beside the marks are threads per block.".into();
    }
    plot
}
