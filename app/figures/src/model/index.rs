//! Data needed in every frame, computed once per revision of the bundles.

use std::collections::{BTreeMap, BTreeSet};

use sparsescope_core::bundle::MatrixFolder;
use sparsescope_core::record::{MatrixRecord, Run, Subject};

use super::classes::{band_class, variance_class};
use super::open::{OpenBundle, RunOf, subject_key, subject_size};
use crate::state::Filter;

/// Index of runs and subjects, and their values.
#[derive(Clone, Debug, Default)]
pub(super) struct Index {
    /// By run number; `None` if its bundle does not contain its subject.
    runs: Vec<Option<RunPlace>>,
    subjects: Vec<SubjectPlace>,
    /// The first subject with this key.
    keys: BTreeMap<String, usize>,
    /// For the first subject with a key: all subjects with it.
    same: BTreeMap<usize, Vec<usize>>,
    /// For the first subject with a key: the numbers of the best run of each kernel with a
    /// prediction, in kernel order.
    predicted: BTreeMap<usize, Vec<usize>>,
    /// Values of all runs.
    values: Values,
    /// Values by operation.
    of_operation: BTreeMap<String, Values>,
}

#[derive(Clone, Copy, Debug)]
struct RunPlace {
    /// Index among the subjects.
    subject: usize,
    /// Index among the runs of the bundle.
    run: usize,
}

#[derive(Clone, Debug)]
struct SubjectPlace {
    bundle: usize,
    folder: Folder,
    key: String,
    /// The first subject with this key.
    first: usize,
}

/// Position of a subject in a bundle.
#[derive(Clone, Copy, Debug)]
enum Folder {
    /// Among its matrices.
    Matrix(usize),
    /// Among its other subjects.
    Other(usize),
}

/// Values that occur in runs: those that filters offer, unique and sorted, and others.
#[derive(Clone, Debug, Default)]
pub struct Values {
    /// Size classes of nnz.
    pub classes: BTreeSet<String>,
    /// Classes of the variation of row lengths.
    pub variances: BTreeSet<String>,
    /// Classes of the bandwidth.
    pub bands: BTreeSet<String>,
    /// Kernel ids.
    pub kernels: BTreeSet<String>,
    /// `cpu`, `cuda`.
    pub backends: BTreeSet<String>,
    /// Origins of kernels.
    pub origins: BTreeSet<String>,
    /// Numbers of columns of X of products with several vectors.
    pub vectors: BTreeSet<u32>,
    /// Ids of the CPU kernels that ran with several threads.
    pub parallel: BTreeSet<String>,
    /// Ids of the kernels that run in thread blocks.
    pub blocked: BTreeSet<String>,
    /// Some runs started with flushed caches.
    pub flushed: bool,
    /// Number of runs.
    pub runs: usize,
}

/// What passes a filter.
#[derive(Clone, Debug, Default)]
pub(super) struct Passing {
    /// Positions in the index, one per key, sorted by nonzeros.
    pub(super) matrices: Vec<usize>,
    /// The same for subjects other than matrices that have matching runs, sorted by size.
    pub(super) others: Vec<usize>,
    /// Run numbers, ascending.
    pub(super) runs: Vec<usize>,
    /// The number of columns of X that most bundles have, of those the one that most of the runs that rank
    /// have, and of those the largest.
    pub(super) vectors: Option<u32>,
}

impl Index {
    pub(super) fn of(bundles: &[OpenBundle]) -> Self {
        let mut index = Self::default();
        // By matrix and kernel: the position in `predicted`.
        let mut fastest = BTreeMap::new();
        for (bundle, open) in bundles.iter().enumerate() {
            let matrices = (0..open.bundle.matrices.len()).map(Folder::Matrix);
            let others = (0..open.bundle.subjects.len()).map(Folder::Other);
            let mut own = BTreeMap::new();
            for folder in matrices.chain(others) {
                let Some(subject) = folder.find(open) else { continue };
                let (place, key) = (index.subjects.len(), subject_key(subject));
                let first = *index.keys.entry(key.clone()).or_insert(place);
                index.same.entry(first).or_default().push(place);
                own.entry(subject.id()).or_insert((place, first));
                index.subjects.push(SubjectPlace { bundle, folder, key, first });
            }
            for (run, of) in open.bundle.runs.iter().enumerate() {
                let number = index.runs.len();
                let found = own.get(of.matrix.as_str()).copied();
                index.runs.push(found.map(|(subject, _)| RunPlace { subject, run }));
                if let (Some((_, first)), Some(run)) = (found, index.run(bundles, number)) {
                    index.values.add(&run);
                    // Copy the word only if it is new.
                    match index.of_operation.get_mut(&run.run.operation) {
                        Some(values) => values.add(&run),
                        None => {
                            let mut values = Values::default();
                            values.add(&run);
                            index.of_operation.insert(run.run.operation.clone(), values);
                        }
                    }
                    index.add_predicted(bundles, first, &run, &mut fastest);
                }
            }
        }
        index
    }

    /// Values of the runs of this operation; of all runs for an empty word.
    pub(super) fn values(&self, operation: &str) -> &Values {
        static NONE: Values = Values::NONE;
        match operation {
            "" => &self.values,
            word => self.of_operation.get(word).unwrap_or(&NONE),
        }
    }

    /// The operations of the runs.
    pub(super) fn operations(&self) -> Vec<&str> {
        self.of_operation.keys().map(String::as_str).collect()
    }

    pub(super) fn runs_of(&self, operation: &str) -> usize {
        self.values(operation).runs
    }

    /// Adds a run on the subject that is the first with its key.
    fn add_predicted<'a>(
        &mut self,
        bundles: &[OpenBundle],
        first: usize,
        run: &RunOf<'a>,
        fastest: &mut BTreeMap<(usize, &'a str), usize>,
    ) {
        if run.predicted_bytes().is_none() {
            return;
        }
        let so_far = self.predicted.get(&first).map_or(0, Vec::len);
        let place = *fastest.entry((first, &run.run.kernel)).or_insert(so_far);
        let other = self.predicted.get(&first).and_then(|runs| runs.get(place)).copied();
        let other = other.and_then(|number| self.run(bundles, number));
        let runs = self.predicted.entry(first).or_default();
        match runs.get_mut(place) {
            Some(kept) if other.is_some_and(|other| run.beats(&other)) => *kept = run.index,
            Some(_) => {}
            None => runs.push(run.index),
        }
    }

    /// The subject at this position, with its key.
    pub(super) fn subject<'a>(
        &'a self,
        bundles: &'a [OpenBundle],
        place: usize,
    ) -> Option<(&'a str, Subject<'a>)> {
        let SubjectPlace { bundle, folder, key, .. } = self.subjects.get(place)?;
        Some((key, folder.find(bundles.get(*bundle)?)?))
    }

    /// The first subject with this key.
    pub(super) fn subject_of<'a>(
        &'a self,
        bundles: &'a [OpenBundle],
        key: &str,
    ) -> Option<Subject<'a>> {
        self.subject(bundles, self.place_of(key)?).map(|(_, subject)| subject)
    }

    /// The folders of matrices with this key, each with its bundle.
    pub(super) fn folders<'a>(
        &self,
        bundles: &'a [OpenBundle],
        key: &str,
    ) -> Vec<(&'a OpenBundle, &'a MatrixFolder)> {
        let same = self.place_of(key).and_then(|first| self.same.get(&first));
        let folder = |place: &usize| {
            let SubjectPlace { bundle, folder, .. } = self.subjects.get(*place)?;
            let open = bundles.get(*bundle)?;
            match folder {
                Folder::Matrix(place) => Some((open, open.bundle.matrices.get(*place)?)),
                Folder::Other(_) => None,
            }
        };
        same.into_iter().flatten().filter_map(folder).collect()
    }

    /// Position of the first subject with this key.
    pub(super) fn place_of(&self, key: &str) -> Option<usize> {
        self.keys.get(key).copied()
    }

    /// Position of the first subject with the key of this run's subject.
    pub(super) fn first_of(&self, number: usize) -> Option<usize> {
        let place = (*self.runs.get(number)?)?;
        self.subjects.get(place.subject).map(|subject| subject.first)
    }

    /// The run of this number.
    pub(super) fn run<'a>(&self, bundles: &'a [OpenBundle], number: usize) -> Option<RunOf<'a>> {
        #[cfg(any(test, feature = "tests"))]
        visits::count();
        let RunPlace { subject, run } = (*self.runs.get(number)?)?;
        let SubjectPlace { bundle, folder, .. } = self.subjects.get(subject)?;
        let bundle = bundles.get(*bundle)?;
        let subject = folder.find(bundle)?;
        Some(RunOf { index: number, bundle, subject, run: bundle.bundle.runs.get(run)? })
    }

    /// Numbers of the fastest run of each kernel with a prediction on the matrix with this key.
    pub(super) fn predicted(&self, key: &str) -> &[usize] {
        let runs = self.keys.get(key).and_then(|first| self.predicted.get(first));
        runs.map_or(&[], Vec::as_slice)
    }

    pub(super) fn passing(&self, bundles: &[OpenBundle], filter: &Filter) -> Passing {
        let search = filter.search.trim().to_lowercase();
        let passes = |subject: Subject<'_>| {
            let [class, variance, band] = match subject {
                Subject::Matrix(MatrixRecord { statistics, .. }) => [
                    statistics.nnz_class.as_str(),
                    variance_class(statistics),
                    band_class(statistics),
                ],
                Subject::Other(_) => [""; 3],
            };
            subject.name().to_lowercase().contains(&search)
                && is(&filter.nnz_class, class)
                && is(&filter.variance, variance)
                && is(&filter.band, band)
        };
        let find = |place: usize| self.subject(bundles, place).map(|(_, subject)| subject);
        let all = 0..self.subjects.len();
        let passes: Vec<bool> = all.map(|place| find(place).is_some_and(passes)).collect();
        let on_passing = |number: &usize| {
            let place = self.runs.get(*number).copied().flatten();
            place.is_some_and(|place| passes.get(place.subject) == Some(&true))
        };
        let mut vectors = BTreeMap::<u32, (BTreeSet<usize>, usize)>::new();
        let passing_run = |number: &usize| {
            let Some(of) = self.run(bundles, *number) else { return false };
            let passes = passes_run(filter, of.run);
            if let Some(k) = of.run.vectors().filter(|_| passes && of.ranks()) {
                let (series, runs) = vectors.entry(k).or_default();
                series.insert(of.bundle.series);
                *runs += 1;
            }
            passes
        };
        let runs: Vec<usize> =
            (0..self.runs.len()).filter(on_passing).filter(passing_run).collect();
        // On a tie `max_by_key` returns the last.
        let most = vectors.iter().max_by_key(|(_, (series, runs))| (series.len(), *runs));
        let vectors = most.map(|(k, _)| *k);
        let places = runs.iter().filter_map(|number| self.runs.get(*number).copied().flatten());
        let with_runs = sparsescope_core::order::set(places.map(|place| place.subject));
        let mut passing = Passing { runs, vectors, ..Passing::default() };
        let mut seen = BTreeSet::new();
        for (place, of) in self.subjects.iter().enumerate() {
            let list = match of.folder {
                Folder::Matrix(_) => &mut passing.matrices,
                Folder::Other(_) if with_runs.contains(&place) => &mut passing.others,
                Folder::Other(_) => continue,
            };
            if passes.get(place) == Some(&true) && seen.insert(of.first) {
                list.push(place);
            }
        }
        let size = |place: &usize| find(*place).map(subject_size);
        for list in [&mut passing.matrices, &mut passing.others] {
            sparsescope_core::order::sort_by(list, |a, b| size(a).cmp(&size(b)));
        }
        passing
    }
}

impl Folder {
    fn find(self, open: &OpenBundle) -> Option<Subject<'_>> {
        Some(match self {
            Self::Matrix(place) => Subject::Matrix(&open.bundle.matrices.get(place)?.record),
            Self::Other(place) => Subject::Other(&open.bundle.subjects.get(place)?.record),
        })
    }
}

impl Values {
    const NONE: Self = Self {
        classes: BTreeSet::new(),
        variances: BTreeSet::new(),
        bands: BTreeSet::new(),
        kernels: BTreeSet::new(),
        backends: BTreeSet::new(),
        origins: BTreeSet::new(),
        vectors: BTreeSet::new(),
        parallel: BTreeSet::new(),
        blocked: BTreeSet::new(),
        flushed: false,
        runs: 0,
    };

    fn add(&mut self, of: &RunOf<'_>) {
        let run = of.run;
        self.runs += 1;
        if let Some(matrix) = of.matrix() {
            put(&mut self.classes, &matrix.statistics.nnz_class);
            let known = |class: &&str| !class.is_empty();
            let classes = [variance_class(&matrix.statistics), band_class(&matrix.statistics)];
            let [variance, band] = classes.map(|class| Some(class).filter(known));
            variance.into_iter().for_each(|class| put(&mut self.variances, class));
            band.into_iter().for_each(|class| put(&mut self.bands, class));
        }
        put(&mut self.kernels, &run.kernel);
        put(&mut self.backends, &run.backend);
        run.origin.iter().for_each(|origin| put(&mut self.origins, origin));
        self.vectors.extend(run.vectors());
        if run.is_on_cpu() && run.threads > 1 {
            put(&mut self.parallel, &run.kernel);
        }
        if run.block.is_some() {
            put(&mut self.blocked, &run.kernel);
        }
        self.flushed |= !run.hot;
    }
}

/// Copies a text only if it is new.
fn put(values: &mut BTreeSet<String>, value: &str) {
    if !values.contains(value) {
        values.insert(value.to_owned());
    }
}

fn passes_run(filter: &Filter, run: &Run) -> bool {
    is(&filter.operation, &run.operation)
        && is(&filter.kernel, &run.kernel)
        && is(&filter.backend, &run.backend)
        && (filter.origin.is_empty() || run.origin.contains(&filter.origin))
        && (filter.vectors.is_none() || run.vectors().is_none_or(|k| filter.vectors == Some(k)))
}

fn is(wanted: &str, found: &str) -> bool {
    wanted.is_empty() || wanted == found
}

/// Counts the runs visited, so that tests can check the cost of a frame.
#[cfg(any(test, feature = "tests"))]
pub mod visits {
    use std::cell::Cell;

    thread_local!(static COUNT: Cell<usize> = const { Cell::new(0) });

    pub(super) fn count() {
        COUNT.set(COUNT.get() + 1);
    }

    /// The count since the last call on this thread.
    pub fn take() -> usize {
        COUNT.take()
    }
}
