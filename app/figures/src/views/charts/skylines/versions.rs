//! The report's two versions for CPUs side by side, and weak scaling.

use std::collections::{BTreeMap, BTreeSet};

use sparsescope_core::kernel::{Version, kernel};

use super::sets::{Set, alike};
use super::times::against_bytes;
use crate::model::{RunOf, count, seconds, significant, subject_key, subject_name};
use crate::views::charts::best::Class;
use crate::views::charts::plot::{Data, Form, Guide, Plot, Point, Scale};
use crate::views::charts::settings::{against, threads};

const BY_BYTES: &str = "by input size, at the best thread count";

fn version(run: &RunOf<'_>) -> Option<(usize, String)> {
    let order = match kernel(&run.run.kernel)?.version? {
        Version::Older => 0,
        Version::Final => 1,
        Version::Way { .. } => return None,
    };
    Some((order, run.run.kernel_and_precision()))
}

/// All sets by size, then each set on which a version ran with several thread counts.
pub(super) fn about(data: &Data<'_>) -> Vec<String> {
    let mut counts: Vec<(String, BTreeSet<u32>)> = Vec::new();
    for run in data.model.runs(&data.state.filter) {
        if version(&run).is_none() || run.rate().is_none() {
            continue;
        }
        let name = run.name();
        match counts.iter_mut().find(|(of, _)| *of == name) {
            Some((_, threads)) => {
                threads.insert(run.run.threads);
            }
            None => counts.push((name, BTreeSet::from([run.run.threads]))),
        }
    }
    let several = counts.into_iter().filter(|(_, threads)| threads.len() > 1);
    std::iter::once(BY_BYTES.to_owned()).chain(several.map(|(name, _)| name)).collect()
}

pub(super) fn old_and_final<'a>(data: &Data<'a>) -> Plot<'a> {
    let chosen = data.chosen(&about(data));
    let mut plot = if chosen == BY_BYTES {
        against_bytes(data, &|run| version(run))
    } else {
        let class: Class<'_, 'a> = &|run| version(run).filter(|_| run.name() == chosen);
        let titles = ("threads", data.rate_axis(""));
        against(data, titles, threads, class, |run| run.rate())
    };
    let by_set = chosen == BY_BYTES;
    if let Some(told) = told(&gains(&plot), by_set) {
        let axis = if by_set { String::new() } else { format!(" ({})", plot.x.title) };
        plot.note =
            format!("{chosen}. Time of the older version relative to the final one: {told}{axis}.");
    }
    plot
}

/// A place where both versions have run: position on the axis, name of the set, and time of the
/// older relative to the final version.
struct Gain {
    at: f64,
    set: String,
    times: f64,
}

/// Compares runs of one bundle on one set at one position of the axis: other sets may have the same
/// number of bytes.
fn gains(plot: &Plot<'_>) -> Vec<Gain> {
    let of = |order: usize| {
        let own = plot.series.iter().filter(move |((of, ..), _)| *of == order);
        own.flat_map(|((.., bundle), series)| series.points.iter().map(move |of| (*bundle, of)))
    };
    let gain = |(bundle, old): (usize, &Point<'_>)| {
        let (subject, [at, old_s]) = (old.subject?, old.at);
        let is_same = |other: &Point<'_>| {
            other.at[0] == at && other.subject.map(subject_key) == Some(subject_key(subject))
        };
        let (_, last) = of(1).find(|(of, other)| *of == bundle && is_same(other))?;
        Some(Gain { at, set: subject_name(subject), times: old_s / last.at[1] })
    };
    let mut gains: Vec<Gain> = of(0).filter_map(gain).collect();
    sparsescope_core::order::sort_by(&mut gains, |a, b| a.at.total_cmp(&b.at));
    gains
}

/// Lists each gain if there are few, else the mean and the extremes; by set or by position.
fn told(gains: &[Gain], by_set: bool) -> Option<String> {
    const FEW: usize = 6;
    let words = |gain: &Gain| match by_set {
        true => format!("{} on {}", significant(gain.times), gain.set),
        false => format!("{} at {}", significant(gain.times), significant(gain.at)),
    };
    if gains.len() <= FEW {
        let all: Vec<String> = gains.iter().map(words).collect();
        return (!all.is_empty()).then(|| all.join(", "));
    }
    let least = gains.iter().min_by(|a, b| a.times.total_cmp(&b.times))?;
    let most = gains.iter().max_by(|a, b| a.times.total_cmp(&b.times))?;
    let mean = gains.iter().map(|gain| gain.times.ln()).sum::<f64>() / gains.len() as f64;
    let mean = significant(mean.exp());
    let (least, most) = (words(least), words(most));
    Some(format!(
        "geometric mean {mean} over {} {}, from {least} to {most}",
        gains.len(),
        if by_set { "sets" } else { "thread counts" }
    ))
}

/// Runs of a kernel in a bundle on sets of one kind and dimension: candidates for weak scaling.
type Group<'a> = BTreeMap<(u32, u64), RunOf<'a>>;

fn groups<'a>(data: &Data<'a>) -> BTreeMap<(String, String, u64, usize), Group<'a>> {
    let mut groups: BTreeMap<_, Group<'a>> = BTreeMap::new();
    for run in data.runs.iter().filter(|run| run.run.is_on_cpu()) {
        let Some(set) = Set::of(run.subject) else { continue };
        let place = (run.run.kernel_and_precision(), set.kind, set.dimensions, run.bundle.series);
        let found = groups.entry(place).or_default().entry((run.run.threads, set.points));
        let found = found.or_insert(*run);
        if run.beats(found) {
            *found = *run;
        }
    }
    groups
}

/// A run with one thread, and those with p threads on √p times as many points.
struct Line<'a> {
    base: RunOf<'a>,
    points: u64,
    others: Vec<RunOf<'a>>,
    /// Thread counts that were run only on other sets, and the number of points required.
    missing: Vec<(u32, f64)>,
}

fn line<'a>(group: &Group<'a>, points: u64, base: RunOf<'a>) -> Line<'a> {
    let counts =
        sparsescope_core::order::set(group.keys().map(|(threads, _)| *threads).filter(|p| *p > 1));
    let mut line = Line { base, points, others: Vec::new(), missing: Vec::new() };
    for threads in counts {
        let wanted = points as f64 * f64::from(threads).sqrt();
        let off = |points: u64| (points as f64 - wanted).abs();
        let fits = group.iter().filter(|((p, n), _)| *p == threads && alike(*n, wanted));
        match fits.min_by(|((_, a), _), ((_, b), _)| off(*a).total_cmp(&off(*b))) {
            Some((_, run)) => line.others.push(*run),
            None => line.missing.push((threads, wanted)),
        }
    }
    line
}

fn median(run: &RunOf<'_>) -> f64 {
    run.figures().map_or(f64::NAN, |figures| figures.median_s)
}

/// Comparisons per thread of a run.
fn work(run: &RunOf<'_>) -> Option<f64> {
    let comparisons = run.run.work?.comparisons;
    (comparisons > 0).then(|| comparisons as f64 / f64::from(run.run.threads))
}

fn wanted(missing: &[(u32, f64)]) -> String {
    let words = missing.iter().map(|(p, n)| format!("{} points with {p} threads", n.round()));
    words.collect::<Vec<_>>().join(", ")
}

/// For each group the single-thread run with the most matching runs, the smallest on a tie.
pub(super) fn weak<'a>(data: &Data<'a>) -> Plot<'a> {
    let y =
        Scale::new("weak efficiency: time of 1 thread on N₀ points / time of p on N₀·√p", false);
    let mut plot = Plot::plane(Scale::new("threads", true), y);
    plot.form = Form::Lines;
    let groups = groups(data);
    let mut lone = Vec::new();
    for ((kernel, kind, dimensions, _), group) in &groups {
        let bases = group.iter().filter(|((threads, _), _)| *threads == 1);
        let lines = bases.map(|((_, points), base)| line(group, *points, *base));
        let better = |best: Line<'a>, line: Line<'a>| {
            if line.others.len() > best.others.len() { line } else { best }
        };
        let Some(line) = lines.reduce(better) else { continue };
        let sets = format!("{kind}, D = {dimensions}");
        if line.others.is_empty() {
            if !line.missing.is_empty() {
                let wanted = wanted(&line.missing);
                lone.push(format!("{kernel} on {sets}, N₀ = {}: missing {wanted}. ", line.points));
            }
            continue;
        }
        let name = format!("{kernel} on {sets}, N₀ = {}", line.points);
        add(&mut plot, &name, &line);
        if !line.missing.is_empty() {
            plot.note += &format!("{name}: missing {}. ", wanted(&line.missing));
        }
    }
    if plot.is_empty() {
        // One message is enough to show what to run.
        plot.note = lone.into_iter().next().unwrap_or_default();
    } else {
        plot.guides.push(Guide { ends: [[1.0, 1.0], [1.0, 1.0]], name: "ideal".into() });
        let most = plot.points().map(|(_, _, point)| point.at[0]).fold(1.0, f64::max);
        for guide in &mut plot.guides {
            guide.ends[1][0] = most;
        }
    }
    plot.tick_x_at_points();
    plot
}

fn add<'a>(plot: &mut Plot<'a>, name: &str, line: &Line<'a>) {
    for run in std::iter::once(&line.base).chain(&line.others) {
        let efficiency = median(&line.base) / median(run);
        let mut point = Point::of(run, f64::from(run.run.threads), efficiency);
        point.text = format!(
            "{}, against {} with one thread.",
            seconds(median(run)),
            seconds(median(&line.base))
        );
        // Without early termination the work grows as N².
        if let Some((one, own)) = work(&line.base).zip(work(run)) {
            let times = significant(own / one);
            point.text += &format!(
                " Each thread made {times} times as many comparisons, {}.",
                count(own as u64)
            );
        }
        plot.add(0, name, Some(run.bundle), point);
    }
}
