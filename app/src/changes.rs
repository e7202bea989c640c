//! What changed between two opened bundles, as the core's comparison finds it.

use std::cell::RefCell;
use std::sync::Arc;

use sparsescope_core::bundle::{Bundle, Comparison, MatrixFolder};
use sparsescope_core::samples::Ratio;

use crate::model::{Model, OpenBundle, subject_key};
use crate::state::Filter;

/// Runs that both bundles timed, and what they come to.
#[derive(Clone, Debug)]
pub(crate) struct Changes {
    pub(crate) runs: Vec<Changed>,
    /// How many became faster and slower, and the mean change.
    pub(crate) summary: String,
    /// What makes the comparison less than fair, a sentence each.
    pub(crate) warnings: Vec<String>,
}

/// A run in both bundles.
#[derive(Clone, Debug)]
pub(crate) struct Changed {
    /// Kernel, matrix and settings.
    pub(crate) words: String,
    pub(crate) kernel: String,
    /// Key of the matrix.
    pub(crate) matrix: String,
    /// Median times, in seconds.
    pub(crate) times: [f64; 2],
    pub(crate) ratio: Ratio,
}

/// The last answers: resampling takes too long for every picture.
#[derive(Clone, Debug, Default)]
pub(crate) struct ChangesKept(RefCell<Vec<(Asked, Arc<Changes>)>>);

/// The revision of the bundles, two of them by their series, and the filter that runs pass.
type Asked = (u64, [usize; 2], Filter);

/// Answers kept.
const KEPT: usize = 4;

impl Model {
    /// What changed between two bundles, of the runs that pass.
    pub(crate) fn changes(
        &self,
        before: &OpenBundle,
        after: &OpenBundle,
        filter: &Filter,
    ) -> Arc<Changes> {
        let key = (self.revision(), [before, after].map(|open| open.series), filter.clone());
        let mut kept = self.changes.0.borrow_mut();
        if let Some((_, found)) = kept.iter().find(|(of, _)| *of == key) {
            return found.clone();
        }
        let [first, second] = [before, after].map(|open| self.passing(open, filter));
        let found = Arc::new(Changes::of(&Comparison::of(&first, &second)));
        kept.insert(0, (key, found.clone()));
        kept.truncate(KEPT);
        found
    }

    /// The bundle with the runs that pass and without files.
    fn passing(&self, open: &OpenBundle, filter: &Filter) -> Bundle {
        let all = &open.bundle;
        let mut bundle = Bundle::new(all.producer.clone(), all.created.clone());
        bundle.complete = all.complete;
        bundle.environments.clone_from(&all.environments);
        let folders = all.matrices.iter().map(|folder| folder.record.clone());
        bundle.matrices =
            folders.map(|record| MatrixFolder { record, files: Default::default() }).collect();
        bundle.subjects.clone_from(&all.subjects);
        let runs = self.runs(filter).into_iter();
        let own = runs.filter(|run| run.bundle.sha256 == open.sha256);
        bundle.runs = own.map(|run| run.run.clone()).collect();
        bundle
    }
}

impl Changes {
    fn of(comparison: &Comparison<'_>) -> Self {
        let runs = comparison.runs.iter().map(|run| Changed {
            words: run.key.words(run.subject.name()),
            kernel: run.key.kernel.to_owned(),
            matrix: subject_key(run.subject),
            times: [run.before, run.after]
                .map(|run| run.figures.as_ref().map_or(f64::NAN, |figures| figures.median_s)),
            ratio: run.ratio,
        });
        let wrong = comparison.wrong_now().map(|change| {
            format!("{} is no longer right", change.key.words(change.subject.name()))
        });
        Self {
            runs: runs.collect(),
            summary: comparison.summary().replace('\n', " "),
            warnings: comparison.warnings.iter().cloned().chain(wrong).collect(),
        }
    }
}
