//! What a check found, for people, scripts and comments.

use sparsescope_core::bundle::{
    Bundle, JudgedRun, Rules, Timeline, VerdictChange, judge, wrong_now,
};
use sparsescope_core::order;
use sparsescope_core::samples::{Basis, Change, Shift};
use sparsescope_figures::model::subject_name;

use super::history::{changes, divided, time};
use crate::cli::table::{counted, three_digits};
use crate::cli::track_args::TrackCheckArgs;

/// What a check found.
pub(super) struct Found<'t, 'a> {
    pub(super) args: &'t TrackCheckArgs,
    /// The runs of the new bundle that were compared.
    pub(super) runs: Vec<JudgedRun<'t, 'a>>,
    /// The runs whose check result is worse than before.
    pub(super) worse: Vec<VerdictChange<'a>>,
    /// Bundles in the history.
    pub(super) bundles: usize,
    /// Timed runs of the new bundle, except those of the anchor kernel, that were not compared.
    pub(super) not_compared: usize,
    is_complete: bool,
    has_anchor: bool,
}

impl<'t, 'a> Found<'t, 'a> {
    /// Judges the runs of bundle number `newest`; `timelines` are those of `bundles`.
    pub(super) fn of(
        args: &'t TrackCheckArgs,
        bundles: &'a [Bundle],
        newest: usize,
        timelines: &'t [Timeline<'a>],
    ) -> Self {
        let anchor = args.anchor.anchor.as_deref();
        let rules = Rules { min_effect: args.min_effect, false_alarms: args.false_alarms };
        let runs = judge(timelines, newest, anchor, rules);
        let of_newest = || timelines.iter().filter(|of| of.newest() == Some(newest));
        let timed = of_newest().filter(|of| anchor != Some(of.key.kernel)).count();
        let split = bundles.split_last();
        Self {
            args,
            not_compared: timed - runs.len(),
            runs,
            worse: split.map(|(new, earlier)| wrong_now(earlier, new)).unwrap_or_default(),
            bundles: newest,
            is_complete: split.is_none_or(|(new, _)| new.complete),
            has_anchor: anchor.is_none() || of_newest().any(|of| of.is_relative),
        }
    }

    /// Number of runs that changed in this way.
    pub(super) fn count(&self, change: Change) -> usize {
        self.runs.iter().filter(|run| run.change == change).count()
    }

    /// The slowdown of a run that four of five checks find.
    pub(super) fn detectable(&self, shift: &Shift) -> f64 {
        let rate = self.args.false_alarms / self.runs.len().max(1) as f64;
        shift.detectable(rate).max(1.0 + self.args.min_effect)
    }

    /// How many runs were compared, what changed, and what would have been found.
    pub(super) fn summary(&self) -> String {
        let mut text = format!(
            "{} compared with {}: {} slower, {} faster, {} unclear.\n",
            counted(self.runs.len(), "run", "runs"),
            counted(self.bundles, "bundle", "bundles"),
            self.count(Change::Slower),
            self.count(Change::Faster),
            self.count(Change::Unclear),
        );
        let anchor = self.args.anchor.anchor.as_deref().filter(|_| self.has_anchor);
        if anchor.is_some() {
            text += &format!("{}\n", divided(anchor));
        }
        let mut all: Vec<f64> = self.runs.iter().map(|run| self.detectable(&run.shift)).collect();
        order::sort_by(&mut all, f64::total_cmp);
        if let Some(&median) = all.get(all.len() / 2) {
            let slowdown = match median > 2.0 {
                true => format!("{} times as long", three_digits(median)),
                false => format!("{:.1} % longer", (median - 1.0) * 100.0),
            };
            text += &format!(
                "At most {} % of checks fail although nothing became slower. A run that takes {slowdown} is found \
                 by 80 % of checks (median over the runs).\n",
                (self.args.false_alarms * 1e6).round() / 1e4,
            );
        }
        text
    }

    /// What makes the check less than certain, one sentence each.
    pub(super) fn warnings(&self) -> Vec<String> {
        let mut warnings = Vec::new();
        if !self.is_complete {
            warnings.push("the bundle is incomplete".to_owned());
        }
        if !self.has_anchor {
            let sentence = "the bundle has no run of the anchor kernel beside another run: times are not divided";
            warnings.push(sentence.to_owned());
        }
        let by_samples = self.runs.iter().filter(|run| run.shift.basis == Basis::Samples).count();
        if by_samples > 0 {
            let runs = counted(by_samples, "run has", "runs have");
            warnings.push(format!(
                "{runs} fewer than 4 earlier measurements: noise between bundles is unknown and may look like a \
                 change"
            ));
        }
        if self.runs.is_empty() {
            warnings.push(
                "no run of the bundle has an earlier measurement: nothing was compared".into(),
            );
        }
        warnings
    }
}

/// The headings of [`cells`].
pub(super) const HEADER: [&str; 7] =
    ["matrix", "kernel", "setting", "before", "now", "change", "95 % interval"];

/// A run as cells of a table.
pub(super) fn cells(run: &JudgedRun<'_, '_>) -> [String; 7] {
    let JudgedRun { timeline, shift, .. } = run;
    let now = newest_value(run);
    let [change, low, high] = changed(shift);
    [
        subject_name(timeline.subject),
        timeline.key.kernel.to_owned(),
        timeline.key.setting(),
        time(now / shift.ratio, timeline.is_relative),
        time(now, timeline.is_relative),
        change,
        format!("{low} to {high}"),
    ]
}

/// How much a run changed, and the ends of the confidence interval.
pub(super) fn changed(shift: &Shift) -> [String; 3] {
    let (low, high) = shift.interval();
    changes([shift.ratio, low, high])
}

/// The time in the new bundle, or its ratio to the time of the anchor kernel.
pub(super) fn newest_value(run: &JudgedRun<'_, '_>) -> f64 {
    run.timeline.points.last().map_or(f64::NAN, |point| point.location.value())
}
