//! One number of a run against another: row lengths, caches, the roofline.

use std::collections::{BTreeMap, BTreeSet};

use sparsescope_core::record::RunKey;

use super::best::{Place, best};
use super::looks::format_of_run;
use super::plot::{Data, Guide, Plot, Point, Scale, kernel};
use super::sizes::padding_bytes;
use crate::model::{RunOf, bytes, joules, plural};
use crate::why::BOUND;

/// The fastest run of each format on each matrix.
fn by_format<'a>(data: &Data<'a>) -> Vec<(String, RunOf<'a>)> {
    let best = best(&data.runs, &|run| Some((0, format_of_run(run.run).to_owned())));
    best.into_iter().map(|((.., (_, format)), run)| (format, run)).collect()
}

/// Position of smaller deviations, since a logarithmic axis has no zero.
const LEAST: f64 = 0.1;

pub(super) fn deviation<'a>(data: &Data<'a>) -> Plot<'a> {
    let log = data.state.log;
    let title = "average deviation of row lengths, % of the mean";
    let mut plot = Plot::plane(Scale::new(title, log), data.rate_axis(""));
    for (format, run) in by_format(data) {
        let (Some(matrix), Some(rate)) = (run.matrix(), run.rate()) else { continue };
        let x = matrix.statistics.row.percent_average_deviation;
        let x = if log { x.max(LEAST) } else { x };
        plot.add(0, &format, Some(run.bundle), Point::of(&run, x, rate));
    }
    if log {
        plot.note = format!("Deviations below {LEAST} % are drawn at {LEAST} %.");
    }
    plot
}

pub(super) fn hot_cold<'a>(data: &Data<'a>) -> Plot<'a> {
    let axis = |caches: &str| {
        let rate = data.rate_axis("");
        Scale { title: format!("{} with {caches} caches", rate.title).into(), ..rate }
    };
    let mut plot = Plot::plane(axis("warm"), axis("flushed"));
    let all = data.model.comparable(&data.state.filter);
    let fastest = |hot| {
        best(&all, &|run| {
            (run.ranks() && run.run.hot == hot).then_some(())?;
            // Two runs form a pair if all other settings are equal.
            let key = RunKey { hot: false, ..run.run.key(run.subject) };
            Some((0, format!("{}\n{}", kernel(run), key.digest())))
        })
    };
    let mut cold = fastest(false);
    let mut pairs: Vec<(String, RunOf<'a>, RunOf<'a>)> = Vec::new();
    let mut places = BTreeMap::new();
    for (place, warm) in fastest(true) {
        let Some(flushed) = cold.remove(&place) else { continue };
        let (_, matrix, bundle, _) = place;
        let (at, name) = (format!("{matrix} {bundle}"), kernel(&warm));
        let pair = *places.entry((at, name.clone())).or_insert(pairs.len());
        match pairs.get_mut(pair) {
            Some((_, best, its)) if warm.beats(best) => (*best, *its) = (warm, flushed),
            Some(_) => {}
            None => pairs.push((name, warm, flushed)),
        }
    }
    let mut ends: Option<[f64; 2]> = None;
    for (name, warm, flushed) in pairs {
        let (Some(x), Some(y)) = (warm.rate(), flushed.rate()) else { continue };
        let [low, high] = ends.unwrap_or([x, x]);
        ends = Some([low.min(x).min(y), high.max(x).max(y)]);
        plot.add(0, &name, Some(warm.bundle), Point::of(&warm, x, y));
    }
    if let Some([low, high]) = ends {
        plot.guides.push(Guide { ends: [[low, low], [high, high]], name: "equal".into() });
    }
    plot
}

/// The fastest run of each kernel on each subject, of those with an energy.
pub(super) fn energy<'a>(data: &Data<'a>) -> Plot<'a> {
    let log = data.state.log;
    let mut plot = Plot::plane(Scale::new("GFLOPS", log), Scale::new("GFLOPS/W", log));
    let class = |run: &RunOf<'a>| run.run.energy.as_ref().map(|_| (0, kernel(run)));
    for ((.., (_, name)), run) in best(&data.runs, &class) {
        let of = run.run;
        let (Some(figures), Some(energy)) = (run.figures(), &of.energy) else { continue };
        let Some(per_watt) = of.gflops_per_watt() else { continue };
        let [least, most] = energy.extremes().map(joules);
        let text = format!("{} per {}, {least} to {most}.", joules(energy.joules), run.word());
        let point = Point { text, ..Point::of(&run, figures.gflops, per_watt) };
        plot.add(0, &name, Some(run.bundle), point);
    }
    plot
}

/// The measured bandwidths of a run's device.
fn roofs_of_run(run: &RunOf<'_>) -> Vec<(&'static str, f64)> {
    let Some(environment) = run.bundle.bundle.environment(&run.run.environment) else {
        return Vec::new();
    };
    if run.run.is_on_cpu() {
        let most = environment.bandwidth.iter().max_by_key(|bandwidth| bandwidth.threads);
        return most.map_or_else(Vec::new, |b| vec![("copy", b.copy), ("triad", b.triad)]);
    }
    let gpu = environment.gpus.iter().find(|gpu| gpu.model == run.run.device);
    gpu.and_then(|gpu| gpu.copy).map(|copy| ("copy", copy)).into_iter().collect()
}

/// Bandwidths of a device that differ by less than this fraction are one: parts of a sweep measure
/// their machine again.
const ALIKE: f64 = 0.15;
/// A device with a smaller share of the points has no roof.
const SHARE: f64 = 0.05;

/// A bandwidth of a device.
struct Roof<'a> {
    device: &'a str,
    bundle: &'a str,
    name: &'static str,
    bandwidth: f64,
}

/// The roofs of the devices whose runs are shown, highest first, each with its name: with that of the device if
/// there are several. A roof right above another one of its device leaves that to it: long names cross marks.
fn roofs_of<'a>(runs: &[RunOf<'a>]) -> Vec<(String, f64)> {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for run in runs {
        *counts.entry(run.run.device.as_str()).or_default() += 1;
    }
    counts.retain(|_, count| *count as f64 >= SHARE * runs.len() as f64);
    let mut roofs: Vec<Roof<'a>> = Vec::new();
    for run in runs {
        let device = run.run.device.as_str();
        if !counts.contains_key(device) {
            continue;
        }
        for (name, bandwidth) in roofs_of_run(run) {
            let is_it = |roof: &&mut Roof<'_>| {
                let near = (roof.bandwidth / bandwidth - 1.0).abs() < ALIKE;
                (roof.device, roof.name, near) == (device, name, true)
            };
            match roofs.iter_mut().find(is_it) {
                Some(roof) => roof.bandwidth = roof.bandwidth.max(bandwidth),
                None => roofs.push(Roof { device, bundle: run.bundle.label(), name, bandwidth }),
            }
        }
    }
    sparsescope_core::order::sort_by(&mut roofs, |a, b| b.bandwidth.total_cmp(&a.bandwidth));
    let named = |(place, roof): (usize, &Roof<'_>)| {
        let Roof { device, bundle, name, bandwidth } = *roof;
        let own = format!("{name} {}/s", bytes(bandwidth as u64));
        let is_own = |next: &Roof<'_>| next.device == device && next.bundle == bundle;
        if roofs.get(place + 1).is_some_and(|next| is_own(next) && next.name != name) {
            return (own, bandwidth);
        }
        let same = |other: &&Roof<'_>| (other.device, other.name) == (device, name);
        let is_alone = roofs.iter().filter(same).count() == 1;
        let of = if is_alone { String::new() } else { format!(", {bundle}") };
        let device = match roofs.iter().all(|other| other.device == device) {
            true => String::new(),
            false => format!("{device}: "),
        };
        (format!("{device}{own}{of}"), bandwidth)
    };
    roofs.iter().enumerate().map(named).collect()
}

/// Left end of the roofline: fewer flops per byte occur only if almost everything is padding.
const LEAST_INTENSITY: f64 = 0.02;

/// Space right of the point with the most flops per byte, as a ratio.
const MARGIN: f64 = 1.1;

/// The value that one in twenty is below: a few of the runs do not set a scale.
fn low_end(mut values: Vec<f64>) -> Option<f64> {
    values.sort_unstable_by(f64::total_cmp);
    values.get(values.len() / 20).copied()
}

/// The runs of the roofline, each with the number of columns of X, or 0, and the name of its series: the fastest one of
/// each format on each matrix; of SpMM that of each kernel with each number of columns.
fn below_roofs<'a>(data: &Data<'a>) -> Vec<(usize, String, RunOf<'a>)> {
    let class = |run: &RunOf<'a>| match run.run.vectors() {
        Some(k) => Some((k as usize, kernel(run))),
        None => Some((0, format_of_run(run.run).to_owned())),
    };
    let named = |((.., (k, name)), run): (Place, RunOf<'a>)| match k {
        0 => (0, name, run),
        k => (k, format!("k = {k}"), run),
    };
    best(&data.runs, &class).into_iter().map(named).collect()
}

pub(super) fn roofline<'a>(data: &Data<'a>) -> Plot<'a> {
    let x = Scale::new("flops per byte (minimum traffic)", true);
    let mut plot = Plot::plane(x, Scale::new("GFLOPS", true));
    let (mut shown, mut most) = (Vec::new(), 0.0);
    let runs = below_roofs(data);
    plot.ordered = runs.iter().any(|(k, ..)| *k > 0);
    let is_bound = |run: &RunOf<'_>| run.launch_share().is_some_and(|share| share >= BOUND);
    let place = |run: &RunOf<'_>| (run.key(), run.bundle.series);
    let bound = runs.iter().map(|(.., run)| run).filter(|run| is_bound(run));
    let launch_bound: BTreeSet<(String, usize)> = bound.map(place).collect();
    // Flops per byte and rate on matrices that launching bounds, where slow kernels are slower still, and on the
    // others.
    let mut ends = [Vec::new(), Vec::new()];
    for (k, name, run) in runs {
        let (Some(matrix), Some(gflops)) = (run.matrix(), run.rate()) else { continue };
        let flops = 2.0 * matrix.statistics.nnz as f64 * k.max(1) as f64;
        let moved = run.run.costs.minimal_bytes;
        let padding = padding_bytes(&run).filter(|_| k == 0).unwrap_or(0).min(moved);
        let (useful, whole) = (flops / (moved - padding) as f64, flops / moved as f64);
        if !(useful.is_finite() && whole > 0.0) {
            continue;
        }
        let mut point = Point::of(&run, useful, gflops);
        if padding > 0 {
            point.range = Some([useful, whole]);
            point.text = format!("Includes {} of padding.", bytes(padding));
        }
        most = f64::max(most, useful);
        let [bound, others] = &mut ends;
        let of = if launch_bound.contains(&place(&run)) { bound } else { others };
        of.push((whole, gflops));
        shown.push(run);
        plot.add(k, &name, Some(run.bundle), point);
    }
    let [bound, others] = ends;
    if !bound.is_empty() && !others.is_empty() {
        let runs = plural(bound.len() as u64, "run");
        plot.note = format!("Launch-bound matrices ({runs}) do not set the scale.");
    }
    let ends = if others.is_empty() { bound } else { others };
    let (wholes, rates): (Vec<f64>, Vec<f64>) = ends.into_iter().unzip();
    let least = low_end(wholes).unwrap_or_default().max(LEAST_INTENSITY);
    (plot.x.least, plot.y.least) = (Some(least), low_end(rates));
    plot.x.most = Some(MARGIN * most.max(least));
    for (name, bandwidth) in roofs_of(&shown) {
        let ends = [least, most.max(least)].map(|x| [x, x * bandwidth / 1e9]);
        plot.guides.push(Guide { ends, name });
    }
    plot
}

#[cfg(test)]
mod tests {
    use sparsescope_core::record::{Energy, Environment, Work};

    use super::super::tests::{NNZ, bundle, model_of, state};
    use super::*;

    #[test]
    fn parts_of_one_machine_have_one_roof_and_another_machine_has_its_own() {
        let mut merged = bundle("a", 1.0);
        let with_copy = |merged: &sparsescope_core::bundle::Bundle, id: &str, copy: f64| {
            let mut other: Environment = merged.environments[0].clone();
            other.id = id.into();
            other.gpus[0].copy = Some(copy);
            other
        };
        for (id, copy) in [("b", 4.1e12), ("c", 2e12)] {
            let other = with_copy(&merged, id, copy);
            merged.environments.push(other);
        }
        let large = merged.matrices[2].record.id.clone();
        let middle = merged.matrices[1].record.id.clone();
        for run in merged.runs.iter_mut().filter(|run| run.backend == "cuda") {
            if run.matrix == middle {
                run.environment = "b".into();
            } else if run.matrix == large {
                run.environment = "c".into();
            }
        }
        let (model, state) = (model_of(merged), state("roofline;backend=cuda"));
        let plot = roofline(&Data::of(&model, &state));
        let names: Vec<&str> = plot.guides.iter().map(|roof| roof.name.as_str()).collect();
        assert_eq!(names, ["copy 4.10 TB/s, a", "copy 2 TB/s, a"]);
    }

    #[test]
    fn roofs_name_their_device_only_where_there_are_several() {
        let model = model_of(bundle("a", 1.0));
        let names = |link: &str| -> Vec<String> {
            let state = state(link);
            let guides = roofline(&Data::of(&model, &state)).guides;
            guides.into_iter().map(|roof| roof.name).collect()
        };
        assert_eq!(names("roofline;backend=cpu"), ["triad 60 GB/s", "copy 40 GB/s"]);
        let all = ["GPU: copy 4 TB/s", "triad 60 GB/s", "CPU: copy 40 GB/s"];
        assert_eq!(names("roofline"), all);
    }

    #[test]
    fn launch_bound_matrices_do_not_set_the_scale_of_the_roofline() {
        let mut bound = bundle("a", 1.0);
        let small = bound.matrices[0].record.id.clone();
        // Most of the time of the fastest kernel, and little of that of slow ones.
        let times = bound.runs.iter().filter(|run| run.matrix == small);
        let times = times.filter_map(|run| Some(run.figures.as_ref()?.median_s));
        let launch = 0.9 * times.fold(f64::INFINITY, f64::min);
        for run in bound.runs.iter_mut().filter(|run| run.matrix == small) {
            run.costs.launch_s = Some(launch);
        }
        let (model, state) = (model_of(bound), state("roofline"));
        let plot = roofline(&Data::of(&model, &state));
        let is_small = |point: &Point<'_>| point.run.unwrap().run.matrix == small;
        let points = || plot.points().map(|(.., point)| point);
        let others = points().filter(|point| !is_small(point)).map(|point| point.at[1]);
        assert_eq!(plot.y.least, Some(others.fold(f64::INFINITY, f64::min)));
        let bound = points().filter(|point| is_small(point)).count();
        assert_eq!(
            plot.note,
            format!("Launch-bound matrices ({bound} runs) do not set the scale.")
        );
        let most = points().map(|point| point.at[0]).fold(0.0, f64::max);
        assert_eq!(plot.x.most, Some(1.1 * most), "nothing is right of it");
    }

    #[test]
    fn the_efficiency_of_the_fastest_run_with_an_energy_is_its_operations_per_joule() {
        let mut measured = bundle("a", 1.0);
        let large = measured.matrices[2].record.id.clone();
        for run in measured.runs.iter_mut().filter(|run| run.matrix == large) {
            run.work = Some(Work { flops: 2 * NNZ[2], ..Work::default() });
            // 500 W while it runs.
            let joules = 500.0 * run.figures.as_ref().unwrap().median_s;
            let windows = vec![0.9 * joules, 1.1 * joules];
            let energy = Energy { joules, windows, ..Energy::default() };
            run.energy = (run.backend == "cuda").then_some(energy);
        }
        let (model, state) = (model_of(measured), state("energy"));
        let plot = energy(&Data::of(&model, &state));
        assert!(!plot.is_empty());
        for (name, _, point) in plot.points() {
            let run = point.run.unwrap().run;
            assert_eq!((name, run.backend.as_str(), &run.matrix), (&*run.kernel, "cuda", &large));
            let gflops = 2.0 * NNZ[2] as f64 / run.figures.as_ref().unwrap().median_s / 1e9;
            let near = |found: f64, expected: f64| (found / expected - 1.0).abs() < 1e-12;
            let [x, y] = point.at;
            assert!(near(x, gflops) && near(y, gflops / 500.0), "{:?}", point.at);
        }
    }

    #[test]
    fn one_in_twenty_is_below_the_low_end() {
        assert_eq!(low_end((1..=40).map(f64::from).collect()), Some(3.0));
        assert_eq!(low_end(vec![2.0, 1.0, 3.0]), Some(1.0), "of few values none");
        assert_eq!(low_end(Vec::new()), None);
    }
}
