//! Times against the size of a set, and comparisons made.

use std::collections::{BTreeMap, BTreeSet};

use sparsescope_core::kernel::{self, Mapping, Version};

use super::sets::{Set, Varies, chosen};
use crate::model::{RunOf, count, significant};
use crate::views::charts::best::{Class, best};
use crate::views::charts::plot::{Data, Form, Plot, Point, Scale, Series};

/// Id and precision.
fn kernel_of(run: &RunOf<'_>) -> String {
    run.run.kernel_and_precision()
}

/// The fastest run of each class on each set against a number of the set, in ascending order.
fn against<'a>(
    data: &Data<'a>,
    title: &'static str,
    class: Class<'_, 'a>,
    number: impl Fn(&Set) -> f64,
) -> Plot<'a> {
    let x = Scale::new(title, data.state.log);
    let mut plot = Plot::plane(x, data.rate_axis(""));
    plot.form = Form::Lines;
    let mut found = Vec::new();
    for ((.., (order, name)), run) in best(&data.runs, class) {
        let (Some(set), Some(rate)) = (Set::of(run.subject), run.rate()) else { continue };
        found.push((number(&set), order, name, run, rate));
    }
    sparsescope_core::order::sort_by(&mut found, |a, b| a.0.total_cmp(&b.0));
    for (x, order, name, run, rate) in found {
        plot.add(order, &name, Some(run.bundle), Point::of(&run, x, rate));
    }
    plot
}

fn of_family<'a>(data: &Data<'a>, varies: Varies, title: &'static str) -> Plot<'a> {
    let family = chosen(data, varies);
    let class = |run: &RunOf<'a>| {
        family.as_ref().filter(|family| family.holds(run)).map(|_| (0, kernel_of(run)))
    };
    let mut plot = against(data, title, &class, |set| varies.number(set) as f64);
    plot.note = family.map(|family| format!("{}.", family.name)).unwrap_or_default();
    if let Some(words) = lone_words(lone(&plot).iter().map(|(name, _)| name.as_str()), title) {
        plot.note += &format!(" {words}");
    }
    plot
}

/// Name and bundle of the series with points at a single x: they have no line.
pub(super) fn lone(plot: &Plot<'_>) -> BTreeSet<(String, usize)> {
    let places = |series: &Series<'_>| {
        let mut at: Vec<f64> = series.points.iter().map(|point| point.at[0]).collect();
        at.dedup();
        at.len()
    };
    let all = plot.series.iter().filter(|(_, series)| places(series) == 1);
    sparsescope_core::order::set(all.map(|((_, name, bundle), _)| (name.clone(), *bundle)))
}

/// A sentence that says that these have no line.
pub(super) fn lone_words<'n>(names: impl Iterator<Item = &'n str>, title: &str) -> Option<String> {
    let names = sparsescope_core::order::set(names);
    let names: Vec<&str> = names.into_iter().collect();
    let words =
        format!("Measured at a single number of {title}, so no line: {}.", names.join(", "));
    (!names.is_empty()).then_some(words)
}

pub(super) fn by_points<'a>(data: &Data<'a>) -> Plot<'a> {
    of_family(data, Varies::Points, "points")
}

pub(super) fn by_dimensions<'a>(data: &Data<'a>) -> Plot<'a> {
    of_family(data, Varies::Dimensions, "dimensions")
}

const BYTES: &str = "megabytes of input";

pub(super) fn by_bytes<'a>(data: &Data<'a>) -> Plot<'a> {
    against_bytes(data, &|run| Some((0, kernel_of(run))))
}

/// Times against the megabytes of a set. Sets of one size may be quite different: no line joins
/// them.
pub(super) fn against_bytes<'a>(data: &Data<'a>, class: Class<'_, 'a>) -> Plot<'a> {
    let plot = against(data, BYTES, class, |set| set.bytes() / 1e6);
    Plot { form: Form::Marks, ..plot }
}

/// Returns whether the number of comparisons may vary between executions of this run's kernel.
fn varies(run: &RunOf<'_>) -> bool {
    kernel::kernel(&run.run.kernel).is_some_and(|kernel| {
        // The marks of several threads arrive in any order.
        !kernel.deterministic || kernel.mapping == Mapping::Marks && run.run.threads > 1
    })
}

/// The fraction of all comparisons that each kernel's fastest run made.
pub(super) fn comparisons<'a>(data: &Data<'a>) -> Plot<'a> {
    let title = "comparisons made / all N·(N − 1)";
    let mut plot = Plot::rows(Scale::new(title, data.state.log));
    let (mut different, mut known) = (Vec::new(), BTreeSet::new());
    let mut all_runs: BTreeMap<_, Vec<RunOf<'a>>> = BTreeMap::new();
    for run in &data.runs {
        let of = (run.key(), run.bundle.series, kernel_of(run));
        all_runs.entry(of).or_default().push(*run);
    }
    for ((_, subject, bundle, (_, name)), run) in best(&data.runs, &|run| Some((0, kernel_of(run))))
    {
        let made = |run: &RunOf<'_>| run.run.work.map(|work| work.comparisons);
        let Some(set) = Set::of(run.subject).filter(|set| set.points > 1) else { continue };
        let Some(own) = made(&run).filter(|own| *own > 0) else { continue };
        let its = all_runs.get(&(subject.clone(), bundle, name.clone()));
        let its = its.map_or(&[][..], Vec::as_slice);
        let all: Vec<u64> = its.iter().filter_map(made).collect();
        let ends = all.iter().fold([own, own], |[low, high], one| [low.min(*one), high.max(*one)]);
        let mut point =
            Point::of(&run, own as f64 / set.pairs(), plot.row(|| run.name(), &subject));
        point.text = format!("{} comparisons.", count(own));
        if let [low, high] = ends
            && low < high
        {
            point.text += &format!(" Its runs made {} to {}.", count(low), count(high));
            point.range = Some(
                [own, if own == low { high } else { low }].map(|end| end as f64 / set.pairs()),
            );
        }
        if its.iter().any(varies) && known.insert(name.clone()) {
            different.push(name.clone());
        }
        plot.add(0, &name, Some(run.bundle), point);
    }
    if !different.is_empty() {
        plot.note = format!("Varies between executions: {}.", different.join(", "));
    }
    plot
}

/// The geometric mean of ratios.
pub(super) fn geometric_mean(ratios: &[f64]) -> Option<String> {
    let sum: f64 = ratios.iter().map(|ratio| ratio.ln()).sum();
    (!ratios.is_empty()).then(|| significant((sum / ratios.len() as f64).exp()))
}

/// The layout of points in memory, and where a thread keeps its own.
pub(super) fn ways<'a>(data: &Data<'a>) -> Plot<'a> {
    let mut plot = Plot::rows(data.rate_axis(""));
    let place = |run: &RunOf<'a>| match kernel::kernel(&run.run.kernel)?.version? {
        Version::Way { place, .. } => Some(usize::from(place)),
        Version::Older | Version::Final => None,
    };
    let mut times: BTreeMap<(String, usize), [Option<f64>; 5]> = BTreeMap::new();
    let class = |run: &RunOf<'a>| Some((place(run)?, kernel_of(run)));
    for ((_, subject, bundle, (order, name)), run) in best(&data.runs, &class) {
        let Some(rate) = run.rate() else { continue };
        let row = plot.row(|| run.name(), &subject);
        plot.add(order, &name, Some(run.bundle), Point::of(&run, rate, row));
        if let Some(time) = times.entry((subject, bundle)).or_default().get_mut(order) {
            *time = Some(rate);
        }
    }
    let ratios = |slow: usize, fast: usize| -> Vec<f64> {
        let pair = |of: &[Option<f64>; 5]| Some(of.get(slow).copied()?? / of.get(fast).copied()??);
        times.values().filter_map(pair).collect()
    };
    for (slow, fast, what) in [
        (0, 2, "Row-major reading takes {} times as long as coalesced reading."),
        (1, 0, "With the own point in local memory, row-major reading takes {} times as long."),
        (3, 2, "With the own point in local memory, coalesced reading takes {} times as long."),
    ] {
        if let Some(mean) = geometric_mean(&ratios(slow, fast)) {
            plot.note += &format!("{} ", what.replace("{}", &mean));
        }
    }
    if !plot.note.is_empty() {
        plot.note += "Geometric means over the sets that both ran on.";
    }
    plot
}
