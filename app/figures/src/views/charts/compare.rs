//! Changes against the baseline bundle.

use std::sync::Arc;

use sparsescope_core::samples::Change;

use super::plot::{Data, Form, Guide, Plot, Point, Scale};
use crate::model::{Changed, Changes, OpenBundle, seconds};

/// The baseline bundle.
pub(super) fn baseline<'a>(data: &Data<'a>) -> Option<&'a OpenBundle> {
    let (all, wanted) = (data.model.bundles(), &data.state.charts.baseline);
    let chosen = all.iter().find(|open| !wanted.is_empty() && open.sha256.starts_with(wanted));
    chosen.or_else(|| all.iter().find(|open| !open.bundle.runs.is_empty()))
}

/// Every other bundle with runs, and its changes from the baseline.
fn others<'a>(data: &Data<'a>) -> Vec<(&'a OpenBundle, Arc<Changes>)> {
    let Some(before) = baseline(data) else { return Vec::new() };
    let all = data.model.bundles().iter();
    let others = all.filter(|open| open.series != before.series && !open.bundle.runs.is_empty());
    others.map(|open| (open, data.model.changes(before, open, &data.state.filter))).collect()
}

/// Describes the changes; empty if no run is in both.
pub(super) fn note(data: &Data<'_>) -> String {
    let mut note = String::new();
    let before = baseline(data).map_or("", OpenBundle::label);
    for (after, changes) in others(data) {
        if !changes.runs.is_empty() {
            note += &format!("{} after {before}: {} ", after.label(), changes.summary.trim());
        }
    }
    note
}

/// The changes, fastest first.
fn by_ratio(changes: &Changes) -> Vec<&Changed> {
    let mut runs: Vec<_> = changes.runs.iter().collect();
    sparsescope_core::order::sort_by(&mut runs, |a, b| a.ratio.value.total_cmp(&b.ratio.value));
    runs
}

pub(super) fn compare<'a>(data: &Data<'a>) -> Plot<'a> {
    let mut plot = Plot::rows(Scale::new("time after / time before", data.state.log));
    plot.form = Form::Intervals;
    let others = others(data);
    // Rows of clear changes come first.
    for wanted in [true, false] {
        for (_, changes) in &others {
            for run in by_ratio(changes) {
                if (run.ratio.change() != Change::Unclear) == wanted {
                    plot.row(|| run.words.clone(), &run.words);
                }
            }
        }
    }
    for (after, changes) in &others {
        for run in by_ratio(changes) {
            let row = plot.row(|| run.words.clone(), &run.words);
            let [first, second] = run.times.map(seconds);
            let point = Point {
                at: [run.ratio.value, row],
                range: run.ratio.interval.map(|(low, high)| [low, high]),
                subject: data.model.subject(&run.subject),
                text: format!("{}: {first} before, {second} after.", run.ratio.change().as_str()),
                ..Point::default()
            };
            plot.add(0, &run.kernel, Some(*after), point);
        }
        for warning in &changes.warnings {
            plot.note += &format!("{}: {warning}. ", after.label());
        }
    }
    plot.guides.push(Guide { ends: [[1.0, 0.0], [1.0, 0.0]], name: "equal".into() });
    plot
}
