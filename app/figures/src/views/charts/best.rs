//! The best run of each class: what most charts draw.

use std::collections::BTreeMap;

use crate::model::{RunOf, subject_size};

/// Maps a run to the order and the name of its series.
pub(super) type Class<'c, 'a> = &'c dyn Fn(&RunOf<'a>) -> Option<(usize, String)>;

/// Size and key of a subject, bundle number, class; sorted in this order.
pub(super) type Place = (u64, String, usize, (usize, String));

/// The best run of each class on each subject in each bundle.
pub(super) fn best<'a>(runs: &[RunOf<'a>], class: Class<'_, 'a>) -> BTreeMap<Place, RunOf<'a>> {
    best_by(runs, class, RunOf::beats)
}

/// The run of each class on each subject in each bundle that `beats` all others.
pub(super) fn best_by<'a>(
    runs: &[RunOf<'a>],
    class: Class<'_, 'a>,
    beats: impl Fn(&RunOf<'a>, &RunOf<'a>) -> bool,
) -> BTreeMap<Place, RunOf<'a>> {
    let mut best: BTreeMap<Place, RunOf<'a>> = BTreeMap::new();
    for run in runs {
        let Some(class) = class(run) else { continue };
        let place = (subject_size(run.subject), run.key(), run.bundle.series, class);
        let found = best.entry(place).or_insert(*run);
        if beats(run, found) {
            *found = *run;
        }
    }
    best
}

/// The best runs of the first class in order, by subject and bundle: the baseline of the others.
pub(super) fn bases<'b, 'a>(
    best: &'b BTreeMap<Place, RunOf<'a>>,
) -> BTreeMap<(&'b str, usize), RunOf<'a>> {
    let mut bases = BTreeMap::new();
    for ((_, subject, bundle, (order, _)), run) in best {
        if *order == 0 {
            bases.entry((subject.as_str(), *bundle)).or_insert(*run);
        }
    }
    bases
}
