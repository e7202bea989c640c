//! What is looked up in every frame, found once for each revision of the bundles.

use std::collections::{BTreeMap, BTreeSet};

use sparsescope_core::record::{MatrixRecord, Run};

use super::open::{OpenBundle, RunOf, matrix_key};
use crate::state::Filter;

/// Where runs and matrices are, and what they have.
#[derive(Clone, Debug, Default)]
pub(super) struct Index {
    /// By the number of the run; `None` where its bundle does not hold its matrix.
    runs: Vec<Option<RunPlace>>,
    matrices: Vec<MatrixPlace>,
    /// The first of the matrices with this key.
    keys: BTreeMap<String, usize>,
    /// By the first of the matrices with their key: the numbers of the fastest run of each kernel
    /// among those with a prediction, in the order in which the kernels come.
    predicted: BTreeMap<usize, Vec<usize>>,
    pub(super) values: Values,
}

#[derive(Clone, Copy, Debug)]
struct RunPlace {
    /// Among the matrices of the index.
    matrix: usize,
    /// Among the runs of the bundle.
    run: usize,
}

#[derive(Clone, Debug)]
struct MatrixPlace {
    bundle: usize,
    /// Among the matrices of the bundle.
    folder: usize,
    key: String,
    /// The first with this key.
    first: usize,
}

/// What the runs of all bundles have: what a filter can ask for, each once and sorted, and more.
#[derive(Clone, Debug, Default)]
pub struct Values {
    /// Size classes of nnz.
    pub classes: BTreeSet<String>,
    /// Kernel ids.
    pub kernels: BTreeSet<String>,
    /// `cpu`, `cuda`.
    pub backends: BTreeSet<String>,
    /// Where kernels come from.
    pub origins: BTreeSet<String>,
    /// Ids of the CPU kernels that ran with several threads.
    pub parallel: BTreeSet<String>,
    /// Some runs began with flushed caches.
    pub flushed: bool,
}

/// What passes a filter.
#[derive(Clone, Debug, Default)]
pub(super) struct Passing {
    /// Places in the index, one for each key, sorted by entries.
    pub(super) matrices: Vec<usize>,
    /// Numbers, ascending.
    pub(super) runs: Vec<usize>,
}

impl Index {
    pub(super) fn of(bundles: &[OpenBundle]) -> Self {
        let mut index = Self::default();
        // By matrix and kernel: the place among the numbers in `predicted`.
        let mut fastest = BTreeMap::new();
        for (bundle, open) in bundles.iter().enumerate() {
            let mut own = BTreeMap::new();
            for (folder, matrix) in open.bundle.matrices.iter().enumerate() {
                let (place, key) = (index.matrices.len(), matrix_key(&matrix.record));
                let first = *index.keys.entry(key.clone()).or_insert(place);
                own.entry(matrix.record.id.as_str()).or_insert((place, first));
                index.matrices.push(MatrixPlace { bundle, folder, key, first });
            }
            for (run, of) in open.bundle.runs.iter().enumerate() {
                let number = index.runs.len();
                let found = own.get(of.matrix.as_str()).copied();
                index.runs.push(found.map(|(matrix, _)| RunPlace { matrix, run }));
                if let (Some((_, first)), Some(run)) = (found, index.run(bundles, number)) {
                    index.values.add(&run);
                    index.add_predicted(bundles, first, &run, &mut fastest);
                }
            }
        }
        index
    }

    /// Takes up a run on the matrix that is the first with its key.
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
            Some(kept) if other.and_then(|other| other.gflops()) < run.gflops() => {
                *kept = run.index
            }
            Some(_) => {}
            None => runs.push(run.index),
        }
    }

    /// The matrix at this place with its key.
    pub(super) fn matrix<'a>(
        &'a self,
        bundles: &'a [OpenBundle],
        place: usize,
    ) -> Option<(&'a str, &'a MatrixRecord)> {
        let MatrixPlace { bundle, folder, key, .. } = self.matrices.get(place)?;
        Some((key, &bundles.get(*bundle)?.bundle.matrices.get(*folder)?.record))
    }

    /// The first matrix with this key.
    pub(super) fn matrix_of<'a>(
        &'a self,
        bundles: &'a [OpenBundle],
        key: &str,
    ) -> Option<&'a MatrixRecord> {
        self.matrix(bundles, *self.keys.get(key)?).map(|(_, record)| record)
    }

    /// The run of this number.
    pub(super) fn run<'a>(&self, bundles: &'a [OpenBundle], number: usize) -> Option<RunOf<'a>> {
        #[cfg(test)]
        visits::count();
        let RunPlace { matrix, run } = (*self.runs.get(number)?)?;
        let MatrixPlace { bundle, folder, .. } = self.matrices.get(matrix)?;
        let bundle = bundles.get(*bundle)?;
        let record = &bundle.bundle.matrices.get(*folder)?.record;
        Some(RunOf { index: number, bundle, record, run: bundle.bundle.runs.get(run)? })
    }

    /// Numbers of runs on the matrix with this key: of each kernel with a prediction the fastest.
    pub(super) fn predicted(&self, key: &str) -> &[usize] {
        let runs = self.keys.get(key).and_then(|first| self.predicted.get(first));
        runs.map_or(&[], Vec::as_slice)
    }

    pub(super) fn passing(&self, bundles: &[OpenBundle], filter: &Filter) -> Passing {
        let mut passing = Passing::default();
        let (mut passes, mut seen) = (Vec::new(), BTreeSet::new());
        let search = filter.search.trim().to_lowercase();
        for (place, of) in self.matrices.iter().enumerate() {
            let record = self.matrix(bundles, place).map(|(_, record)| record);
            let ok = record.is_some_and(|record| {
                record.name.to_lowercase().contains(&search)
                    && is(&filter.nnz_class, &record.statistics.nnz_class)
            });
            passes.push(ok);
            if ok && seen.insert(of.first) {
                passing.matrices.push(place);
            }
        }
        let entries =
            |place: &usize| self.matrix(bundles, *place).map(|(_, record)| record.statistics.nnz);
        crate::order::sort_by(&mut passing.matrices, |a, b| entries(a).cmp(&entries(b)));
        let on_passing = |number: &usize| {
            let place = self.runs.get(*number).copied().flatten();
            place.is_some_and(|place| passes.get(place.matrix) == Some(&true))
        };
        let passing_run = |number: &usize| {
            self.run(bundles, *number).is_some_and(|of| passes_run(filter, of.run))
        };
        passing.runs = (0..self.runs.len()).filter(on_passing).filter(passing_run).collect();
        passing
    }
}

impl Values {
    fn add(&mut self, of: &RunOf<'_>) {
        let run = of.run;
        put(&mut self.classes, &of.record.statistics.nnz_class);
        put(&mut self.kernels, &run.kernel);
        put(&mut self.backends, &run.backend);
        run.origin.iter().for_each(|origin| put(&mut self.origins, origin));
        if run.backend == "cpu" && run.threads > 1 {
            put(&mut self.parallel, &run.kernel);
        }
        self.flushed |= !run.hot;
    }
}

/// Copies a text only when it is new.
fn put(values: &mut BTreeSet<String>, value: &str) {
    if !values.contains(value) {
        values.insert(value.to_owned());
    }
}

fn passes_run(filter: &Filter, run: &Run) -> bool {
    is(&filter.kernel, &run.kernel)
        && is(&filter.backend, &run.backend)
        && (filter.origin.is_empty() || run.origin.contains(&filter.origin))
}

fn is(wanted: &str, found: &str) -> bool {
    wanted.is_empty() || wanted == found
}

/// How many runs were looked at, so that tests see what a frame costs.
#[cfg(test)]
pub(crate) mod visits {
    use std::cell::Cell;

    thread_local!(static COUNT: Cell<usize> = const { Cell::new(0) });

    pub(super) fn count() {
        COUNT.set(COUNT.get() + 1);
    }

    /// Since the last call, by this thread.
    pub(crate) fn take() -> usize {
        COUNT.take()
    }
}
