//! Differences between two opened bundles, as computed by the core's comparison.

use sparsescope_core::bundle::Comparison;
use sparsescope_core::samples::Ratio;

use super::open::subject_key;

/// Runs that both bundles timed, and a summary.
#[derive(Clone, Debug)]
pub(crate) struct Changes {
    pub(crate) runs: Vec<Changed>,
    /// How many became faster and slower, and the mean change.
    pub(crate) summary: String,
    /// What makes the comparison less fair, one sentence each.
    pub(crate) warnings: Vec<String>,
}

/// A run in both bundles.
#[derive(Clone, Debug)]
pub(crate) struct Changed {
    /// Kernel, subject and settings.
    pub(crate) words: String,
    pub(crate) kernel: String,
    /// Key of the subject.
    pub(crate) subject: String,
    /// Median times, in seconds.
    pub(crate) times: [f64; 2],
    pub(crate) ratio: Ratio,
}

impl Changes {
    pub(super) fn of(comparison: &Comparison<'_>) -> Self {
        let runs = comparison.runs.iter().map(|run| Changed {
            words: run.key.words(run.subject.name()),
            kernel: run.key.kernel.to_owned(),
            subject: subject_key(run.subject),
            times: [run.before, run.after]
                .map(|run| run.figures.as_ref().map_or(f64::NAN, |figures| figures.median_s)),
            ratio: run.ratio,
        });
        let worse = comparison.wrong_now().map(|change| {
            let words = change.key.words(change.subject.name());
            let [before, after] = change.verdicts();
            format!("{words} has a worse check result: {before} before, {after} after")
        });
        Self {
            runs: runs.collect(),
            summary: comparison.summary().replace('\n', " "),
            warnings: comparison.warnings.iter().cloned().chain(worse).collect(),
        }
    }
}
