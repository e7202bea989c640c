//! Who wins: the best runs of each kernel on each subject, ranked.

use std::collections::BTreeMap;

use sparsescope_core::record::{Run, Subject};

use super::open::{RunOf, subject_size};
use crate::state::Ranking;

/// The kernels that compete on one subject over all bundles.
#[derive(Clone, Debug)]
pub struct Standing<'a> {
    /// Key of the subject.
    pub key: &'a str,
    /// The subject, as recorded by the first bundle that holds it.
    pub subject: Subject<'a>,
    /// The best run per kernel and bundle, and for solves per preconditioner; best first, at least
    /// one.
    pub runs: Vec<RunOf<'a>>,
    /// In which ranking they compete.
    pub ranking: Ranking,
}

/// The same as positions in the index and run numbers, for caching.
#[derive(Clone, Debug)]
pub(super) struct Ranked {
    pub(super) subject: usize,
    pub(super) runs: Vec<usize>,
}

/// Returns whether a run computes its operation as such, with f64 or on a device whose kernels have
/// no f64, or in any precision if its error is limited. Others compete only where there is none of
/// these.
fn is_usual(run: &RunOf<'_>, ranking: Ranking) -> bool {
    run.run.is_plain() && run.has_usual_precision(ranking)
}

/// Ranks these runs; `first` maps a run to the position of its subject in the index.
pub(super) fn rank<'a>(
    runs: impl Iterator<Item = RunOf<'a>>,
    ranking: Ranking,
    first: impl Fn(usize) -> Option<usize>,
) -> Vec<Ranked> {
    let by = ranking.by;
    let is_usual = |run: &RunOf<'_>| is_usual(run, ranking);
    // By subject, then by kernel, preconditioner, bundle and precision.
    let mut best: BTreeMap<usize, BTreeMap<_, RunOf<'_>>> = BTreeMap::new();
    for run in runs.filter(|run| run.competes(ranking)) {
        let Some(subject) = first(run.index) else { continue };
        let of = best.entry(subject).or_default();
        let method = run.solved().map(|_| run.method());
        let place = (&run.run.kernel, method, run.bundle.series, is_usual(&run));
        let kept = of.entry(place).or_insert(run);
        if run.gain_by(kept, by).is_some_and(|gain| gain > 1.0) {
            *kept = run;
        }
    }
    let mut ranked: Vec<(u64, Ranked)> = Vec::new();
    for (subject, runs) in best {
        let mut runs: Vec<RunOf<'_>> = runs.into_values().collect();
        if runs.iter().any(is_usual) {
            runs.retain(is_usual);
        }
        // Runs of an unknown operation may have rates in different units.
        if let Some(first) = runs.first().copied() {
            runs.retain(|run| run.gain_by(&first, by).is_some());
        }
        let goodness = |run: &RunOf<'_>| run.goodness_by(by).unwrap_or(f64::NEG_INFINITY);
        sparsescope_core::order::sort_by(&mut runs, |a, b| goodness(b).total_cmp(&goodness(a)));
        let size = runs.first().map_or(0, |run| subject_size(run.subject));
        let runs = runs.into_iter().map(|run| run.index).collect();
        ranked.push((size, Ranked { subject, runs }));
    }
    sparsescope_core::order::sort_by(&mut ranked, |a, b| a.0.cmp(&b.0));
    ranked.into_iter().map(|(_, ranked)| ranked).collect()
}

impl<'a> RunOf<'a> {
    /// Its kernel; of a kernel that picks another, the one that it picked, which is what was timed.
    pub fn timed_kernel(&self) -> &'a str {
        let run: &'a Run = self.run;
        run.costs.choice.as_ref().map_or(&run.kernel, |choice| &choice.kernel)
    }

    /// Whether it ranks, has warm caches, and has what the ranking asks for.
    pub(crate) fn competes(&self, ranking: Ranking) -> bool {
        self.run.hot && self.ranks() && self.excluded(ranking).is_none()
    }

    /// Whether it competes with runs in f64.
    pub(super) fn has_usual_precision(&self, ranking: Ranking) -> bool {
        let usual = self.run.precision == "f64" || self.run.backend == "wgpu";
        usual || ranking.max_error.is_some()
    }

    /// Whether it is another way to compute than the other run, or on another machine.
    fn rivals(&self, other: &Self) -> bool {
        let method = |run: &Self| run.solved().map(|_| run.method());
        let both_pick = self.run.costs.choice.is_some() && other.run.costs.choice.is_some();
        let same = both_pick || self.timed_kernel() == other.timed_kernel();
        !(same && method(self) == method(other) && self.is_on_machine_of(other))
    }

    /// Whether both ran on the same device of the same machine.
    pub(crate) fn is_on_machine_of(&self, other: &Self) -> bool {
        let environment = |run: &Self| run.bundle.bundle.environment(&run.run.environment);
        let same = match (environment(self), environment(other)) {
            (Some(own), Some(others)) => std::ptr::eq(own, others) || own.is_same_machine(others),
            _ => self.bundle.series == other.bundle.series,
        };
        same && self.run.device == other.run.device
    }
}

impl<'a> Standing<'a> {
    /// The best run.
    pub fn winner(&self) -> Option<&RunOf<'a>> {
        self.runs.first()
    }

    /// The best run of another kernel than the winner's: not of the kernel that the winner or it
    /// picked, nor of the same kernel measured on the same machine for another bundle.
    pub fn second(&self) -> Option<&RunOf<'a>> {
        let winner = self.winner()?;
        self.runs.iter().skip(1).find(|run| run.rivals(winner))
    }

    /// The ratio of the winner to the second kernel; `None` if there is no second.
    pub fn lead(&self) -> Option<f64> {
        self.gain(self.winner()?, self.second()?)
    }

    /// How good a run is relative to the winner: 1 for the winner, less for all others.
    pub fn share(&self, run: &RunOf<'a>) -> Option<f64> {
        self.gain(run, self.winner()?)
    }

    /// The ratio by which a run is better than another in this ranking.
    pub(crate) fn gain(&self, run: &RunOf<'a>, other: &RunOf<'a>) -> Option<f64> {
        run.gain_by(other, self.ranking.by)
    }
}
