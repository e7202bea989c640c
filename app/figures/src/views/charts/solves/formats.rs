//! The fastest formats for applying A and G.

use std::collections::{BTreeMap, BTreeSet};

use crate::model::RunOf;
use crate::views::charts::best::best;
use crate::views::charts::plot::{Data, Plot, Point, Scale, kernel};

/// The formats of A and, with a factor, of G.
fn formats(run: &RunOf<'_>) -> Option<String> {
    let word = |name: &str| run.param(name).map(str::to_uppercase);
    let a = word("format_a")?;
    Some(word("format_g").map_or(format!("A in {a}"), |g| format!("A in {a}, G in {g}")))
}

/// A preconditioner with the kernel that applies it.
fn way(run: &RunOf<'_>) -> String {
    format!("{}, {}", run.method(), kernel(run))
}

/// Those that were run with several formats, most formats first.
pub(super) fn ways(data: &Data<'_>) -> Vec<String> {
    let mut found: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for run in data.model.runs(&data.state.filter) {
        if let Some(formats) = formats(&run).filter(|_| run.ranks()) {
            found.entry(way(&run)).or_default().insert(formats);
        }
    }
    let mut ways: Vec<(String, usize)> =
        found.into_iter().map(|(way, formats)| (way, formats.len())).collect();
    ways.retain(|(_, formats)| *formats > 1);
    sparsescope_core::order::sort_by(&mut ways, |a, b| b.1.cmp(&a.1));
    ways.into_iter().map(|(way, _)| way).collect()
}

pub(super) fn by_format<'a>(data: &Data<'a>) -> Plot<'a> {
    let chosen = data.chosen(&ways(data));
    let title = "microseconds per iteration (lower is better)";
    let mut plot = Plot::rows(Scale::new(title, data.state.log));
    let class = |run: &RunOf<'a>| Some((0, formats(run).filter(|_| way(run) == chosen)?));
    for ((_, subject, _, (_, name)), run) in best(&data.runs, &class) {
        let Some(iteration_s) = run.iteration_s() else { continue };
        let row = plot.row(|| run.name(), &subject);
        let mut point = Point::of(&run, iteration_s * 1e6, row);
        let iterations = run.solved().map_or(0, |solve| solve.iterations);
        point.text = format!("{iterations} iterations.");
        plot.add(0, &name, Some(run.bundle), point);
    }
    if !plot.is_empty() {
        plot.note = format!("{chosen}.");
    }
    plot
}
