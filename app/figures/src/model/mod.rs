//! The opened bundles and the queries of the views. Pure functions of (bundles, filter): nothing
//! here draws.

mod changes;
mod classes;
mod clouds;
mod index;
mod kept;
mod key;
pub(crate) mod made;
mod numbers;
mod open;
mod origin;
mod pairs;
mod predictions;
mod ranking;
mod setting;
#[cfg(test)]
pub(crate) mod skylines;
#[cfg(any(test, feature = "tests"))]
pub mod solved;
mod solves;
mod standing;
#[cfg(test)]
mod tests;
mod total;

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use sparsescope_core::bundle::{
    Bundle, BundleError, Comparison, Limits, MatrixFolder, is_known_by_name,
};
use sparsescope_core::experiment::ReadMatrix;
use sparsescope_core::io::{Progress, read_matrix};
use sparsescope_core::matrix::sha256;
use sparsescope_core::memory::MemoryLimit;
use sparsescope_core::record::{MatrixRecord, Operation, Producer, Run, Subject};
use sparsescope_core::symgs::Wavefronts;

use crate::cloud::CloudOrWhy;
use crate::lesson::Lessons;
use crate::picture::Picture;
use crate::set_up::{Asked, Soon};
use crate::state::{Filter, Ranking};
pub(crate) use changes::{Changed, Changes};
pub use index::Values;
#[cfg(any(test, feature = "tests"))]
pub use index::visits;
use index::{Index, Passing};
use kept::Kept;
pub use numbers::{
    balance, bytes, count, joules, plural, seconds, significant, slots, small, value,
};
pub use open::{
    Matrix, OpenBundle, RunOf, STAND_IN, STAND_IN_SUFFIX, batch_extent, display_name, extent,
    marked_stand_in, matrix_key, metric_title, subject_key, subject_name, subject_size,
    subject_title,
};
use open::{UNFINISHED, machine_and_inputs};
pub use origin::{origin_name, origin_source};
pub(crate) use pairs::{Both, Pair};
pub use standing::Standing;
use standing::{Ranked, rank};
pub use total::Total;

/// The opened bundles.
#[derive(Clone, Debug, Default)]
pub struct Model {
    bundles: Vec<OpenBundle>,
    revision: u64,
    /// The available lessons.
    pub lessons: Lessons,
    found: Found,
    /// Pictures of matrices that are in no bundle, or whose values are in none, by name or recipe.
    made: Kept<String, PictureOrWhy, 4>,
}

/// Results computed for one revision of the bundles.
#[derive(Clone, Debug, Default)]
struct Found {
    index: OnceCell<Index>,
    passing: Kept<Filter, Arc<Passing>, 4>,
    ranked: Kept<(Filter, Ranking), Arc<Vec<Ranked>>, 4>,
    /// Run numbers by key in links.
    keys: Kept<String, Option<usize>, 8>,
    /// By matrix key. A large picture takes 100 MB.
    pictures: Kept<String, PictureOrWhy, 3>,
    /// By key of the point set, or another name.
    clouds: Kept<String, CloudOrWhy, 3>,
    /// By matrix key, or another name.
    set_ups: Kept<(String, Asked), Arc<Soon>, 8>,
    /// By matrix key.
    depths: OnceCell<BTreeMap<String, Depth>>,
    /// By the series of two bundles. Resampling is too slow for every frame.
    changes: Kept<([usize; 2], Filter), Arc<Changes>, 4>,
    /// Whether a run that passes has an energy.
    with_energy: Kept<Filter, bool, 4>,
    /// Whether a run that passes has a prediction.
    with_prediction: Kept<Filter, bool, 4>,
    /// Keys of the matrices on which runs can be predicted.
    predictable: Kept<Filter, Arc<BTreeSet<String>>, 4>,
    /// By matrix key.
    predictions: Kept<String, Arc<BTreeMap<usize, f64>>, 4>,
}

/// Depth of the triangular sweeps of a matrix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Depth {
    /// Rows of the matrix.
    pub(crate) rows: u64,
    /// Levels of both sweeps: sequential steps.
    pub(crate) levels: u64,
    /// Number of colours of its rows.
    pub(crate) colors: u64,
}

/// A picture, or why there is none.
type PictureOrWhy = Result<Arc<Picture>, String>;

impl Model {
    /// The opened bundles, in the order of opening.
    pub fn bundles(&self) -> &[OpenBundle] {
        &self.bundles
    }

    /// A number that changes with the bundles and their names, to invalidate caches. No two states
    /// of any models share it, except empty ones.
    pub fn revision(&self) -> u64 {
        self.revision
    }

    /// Must be called after every change of the bundles.
    fn changed(&mut self) {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        self.revision = NEXT.fetch_add(1, Ordering::Relaxed);
        self.found = Found::default();
    }

    /// Reads a bundle, or results of Ginkgo's benchmark as one; does nothing if it is already open.
    pub fn open(&mut self, file: &str, bytes: &[u8]) -> Result<(), BundleError> {
        let sha256 = sha256(bytes);
        if self.is_open(&sha256) {
            return Ok(());
        }
        let bundle = Bundle::read_any(file, bytes, String::new(), &Limits::default())?;
        self.place(file, bundle, sha256, None);
        Ok(())
    }

    /// Adds a bundle that was read from a file of this hash; does nothing if it is already open.
    pub fn add_bundle(&mut self, file: &str, bundle: Bundle, sha256: String) {
        if !self.is_open(&sha256) {
            self.place(file, bundle, sha256, None);
        }
    }

    /// Adds a matrix without runs, and its picture; does nothing if it is already open.
    pub fn add_matrix(&mut self, file: &str, record: MatrixRecord, picture: Arc<Picture>) {
        let sha256 = record.sha256.clone();
        if self.is_open(&sha256) {
            return;
        }
        let producer = Producer {
            name: "sparsescope".into(),
            version: env!("CARGO_PKG_VERSION").into(),
            revision: None,
        };
        let mut bundle = Bundle::new(producer, String::new());
        bundle.matrices.push(MatrixFolder { record, files: BTreeMap::new() });
        bundle.complete = true;
        self.place(file, bundle, sha256, Some(picture));
    }

    fn is_open(&self, sha256: &str) -> bool {
        self.bundles.iter().any(|open| open.sha256 == sha256)
    }

    /// Shows the measurements so far of the bundle that will be opened as `file`, replacing the
    /// previous ones.
    pub fn show_unfinished(&mut self, file: &str, bundle: Bundle) {
        self.place(file, bundle, UNFINISHED.into(), None);
    }

    /// Removes an unfinished bundle that will not be completed.
    pub fn forget_unfinished(&mut self, file: &str) {
        self.bundles.retain(|open| !(open.is_unfinished() && open.file == file));
        self.changed();
    }

    /// Names the bundle that was opened last by its machine if its author did not name it; returns its hash.
    pub fn name_by_machine(&mut self) -> Option<String> {
        let index = self.bundles.len().checked_sub(1)?;
        let open = self.bundles.get_mut(index)?;
        let sha256 = open.sha256.clone();
        if open.bundle.label.is_none() {
            let name = open.machine.clone();
            Arc::make_mut(&mut open.bundle).label = Some(name);
            self.rename(index, "");
        }
        Some(sha256)
    }

    /// Closes the bundle at this index.
    pub fn close(&mut self, index: usize) {
        if index < self.bundles.len() {
            self.bundles.remove(index);
            self.changed();
        }
    }

    /// Replaces the unfinished version of a bundle, or appends the bundle.
    fn place(&mut self, file: &str, bundle: Bundle, sha256: String, picture: Option<Arc<Picture>>) {
        self.put(file, bundle, sha256, picture);
        self.recognise();
        self.changed();
    }

    /// Identifies imported matrices, of which only name and size are known, with matrices of other
    /// bundles of the same name and size, whichever was opened first.
    fn recognise(&mut self) {
        let by_name = |folder: &MatrixFolder| is_known_by_name(&folder.record);
        if !self.bundles.iter().any(|open| open.bundle.matrices.iter().any(by_name)) {
            return;
        }
        let all: Vec<Arc<Bundle>> = self.bundles.iter().map(|open| open.bundle.clone()).collect();
        let records = all.iter().flat_map(|bundle| &bundle.matrices).map(|folder| &folder.record);
        for open in &mut self.bundles {
            if open.bundle.matrices.iter().any(by_name) {
                Arc::make_mut(&mut open.bundle).recognise(records.clone());
            }
        }
    }

    fn put(&mut self, file: &str, bundle: Bundle, sha256: String, picture: Option<Arc<Picture>>) {
        let machine = machine_and_inputs(&bundle);
        let bundle = Arc::new(bundle);
        let itself = |open: &&mut OpenBundle| open.is_unfinished() && open.file == file;
        if let Some(open) = self.bundles.iter_mut().find(itself) {
            (open.bundle, open.on) = (bundle, OnceLock::new());
            (open.sha256, open.machine) = (sha256, machine);
            return;
        }
        let taken = sparsescope_core::order::set(self.bundles.iter().map(|open| open.series));
        let series = (0..).find(|index| !taken.contains(index)).unwrap_or_default();
        let label = self.free_label(bundle.label.as_deref().unwrap_or(file));
        let file = file.into();
        let on = OnceLock::new();
        self.bundles.push(OpenBundle { bundle, file, label, machine, sha256, series, picture, on });
    }

    /// The name, with a number appended if another bundle has it.
    fn free_label(&self, name: &str) -> String {
        let is_free = |label: &String| self.bundles.iter().all(|open| open.label != *label);
        let numbered = (2..).map(|number| format!("{name} ({number})"));
        std::iter::once(name.to_owned()).chain(numbered).find(is_free).unwrap_or(name.to_owned())
    }

    /// Renames the bundle at this index, here and in exports, until it is closed; an empty name
    /// restores the original.
    pub fn rename(&mut self, index: usize, name: &str) {
        let Some(open) = self.bundles.get_mut(index) else { return };
        open.label.clear(); // frees its own name
        let name = match name.trim() {
            "" => open.bundle.label.clone().unwrap_or_else(|| open.file.clone()),
            name => name.to_owned(),
        };
        let label = self.free_label(&name);
        if let Some(open) = self.bundles.get_mut(index) {
            open.label = label;
        }
        self.changed();
    }

    /// The picture of a matrix, from the matrix itself if available; otherwise from the bundle that
    /// holds the finest one. A few are cached.
    pub fn picture(&self, key: &str) -> PictureOrWhy {
        self.found.pictures.get(key.to_owned(), |key| self.make_picture(key))
    }

    /// The setup of a preconditioner of a matrix; starts it if it is not cached.
    pub(crate) fn set_up(&self, key: &str, asked: Asked) -> Arc<Soon> {
        self.found.set_ups.get((key.to_owned(), asked), |_| Arc::default())
    }

    /// The folders of the matrix with this key, each with its bundle.
    pub(crate) fn folders(&self, key: &str) -> Vec<(&OpenBundle, &MatrixFolder)> {
        self.index().folders(&self.bundles, key)
    }

    fn make_picture(&self, key: &str) -> PictureOrWhy {
        let folders = self.folders(key);
        let holding = || folders.iter().copied();
        if let Some(picture) = holding().find_map(|(open, _)| open.picture.as_ref()) {
            return Ok(picture.clone());
        }
        let whole = holding().find_map(|(_, folder)| folder.files.get("matrix.mtx"));
        if let Some(text) = whole
            && let Ok(file) = read_matrix(text, MemoryLimit::bytes(1 << 28), Progress::none())
        {
            return Ok(Arc::new(Picture::of(&ReadMatrix::new(file, 0.0).values)));
        }
        let mut best: PictureOrWhy = Err("no open bundle contains this matrix".into());
        for (_, folder) in holding() {
            let found = Picture::from_files(&folder.files).map(Arc::new);
            let shift = |picture: &Picture| picture.pyramid.levels().first().map(|l| l.shift());
            match (&best, &found) {
                (Ok(best), Ok(found)) if shift(best) <= shift(found) => {}
                (Ok(_), Err(_)) => {}
                _ => best = found,
            }
        }
        if let Ok(picture) = &best {
            holding().for_each(|(_, folder)| picture.take_waves(&folder.files));
        }
        best
    }

    /// Depth of the sweeps of a matrix, if a bundle records it.
    pub(crate) fn depth(&self, key: &str) -> Option<Depth> {
        let all = || {
            let folders = self.bundles.iter().flat_map(|open| &open.bundle.matrices);
            let depth = |folder: &MatrixFolder| {
                let [forward, backward, colors] = Wavefronts::counts(&folder.files)?;
                let (rows, levels) = (folder.record.statistics.rows, forward + backward);
                (levels > 0).then(|| (matrix_key(&folder.record), Depth { rows, levels, colors }))
            };
            sparsescope_core::order::map(folders.filter_map(depth))
        };
        self.found.depths.get_or_init(all).get(key).copied()
    }

    fn index(&self) -> &Index {
        self.found.index.get_or_init(|| Index::of(&self.bundles))
    }

    fn passing(&self, filter: &Filter) -> Arc<Passing> {
        let find = |filter: &Filter| Arc::new(self.index().passing(&self.bundles, filter));
        self.found.passing.get(filter.clone(), find)
    }

    /// The matrices that pass the filter, sorted by nonzeros.
    pub fn matrices(&self, filter: &Filter) -> Vec<Matrix<'_>> {
        let passing = self.passing(filter);
        let found = passing.matrices.iter().filter_map(|place| self.matrix_at(*place));
        found.collect()
    }

    /// The matrix with the most nonzeros that passes the filter.
    pub fn largest(&self, filter: &Filter) -> Option<&MatrixRecord> {
        let place = *self.passing(filter).matrices.last()?;
        Some(self.matrix_at(place)?.record)
    }

    fn matrix_at(&self, place: usize) -> Option<Matrix<'_>> {
        match self.index().subject(&self.bundles, place)? {
            (key, Subject::Matrix(record)) => Some(Matrix { key, record }),
            (_, Subject::Other(_)) => None,
        }
    }

    /// The subjects other than matrices with runs that pass the filter, each with its key, sorted
    /// by size.
    pub fn others(&self, filter: &Filter) -> Vec<(&str, Subject<'_>)> {
        let passing = self.passing(filter);
        let found = passing.others.iter();
        found.filter_map(|place| self.index().subject(&self.bundles, *place)).collect()
    }

    /// The subject with this key.
    pub fn subject(&self, key: &str) -> Option<Subject<'_>> {
        self.index().subject_of(&self.bundles, key)
    }

    /// The matrix with this key.
    pub fn matrix(&self, key: &str) -> Option<&MatrixRecord> {
        match self.subject(key)? {
            Subject::Matrix(record) => Some(record),
            Subject::Other(_) => None,
        }
    }

    /// The run with this number.
    pub fn run(&self, number: usize) -> Option<RunOf<'_>> {
        self.index().run(&self.bundles, number)
    }

    /// The number of runs that pass the filter.
    pub fn count(&self, filter: &Filter) -> usize {
        self.passing(filter).runs.len()
    }

    /// The runs that pass the filter, bundle by bundle, in order.
    pub fn runs(&self, filter: &Filter) -> Vec<RunOf<'_>> {
        self.passing(filter).runs.iter().filter_map(|number| self.run(*number)).collect()
    }

    /// The filter for runs that can be compared with each other: one that names no number of columns of
    /// X gets the one that most bundles have, of those the one of most of its runs, and of those the largest.
    pub fn of_one_product(&self, filter: &Filter) -> Filter {
        let vectors = filter.vectors.or_else(|| self.passing(filter).vectors);
        Filter { vectors, ..filter.clone() }
    }

    /// The runs that pass the filter and can be compared with each other.
    pub(crate) fn comparable(&self, filter: &Filter) -> Vec<RunOf<'_>> {
        self.runs(&self.of_one_product(filter))
    }

    /// A filter for each number of columns of X in the runs of an operation, ascending; if there are
    /// none, one for all runs.
    pub fn products(&self, operation: &str) -> Vec<Filter> {
        let all = Filter::all_of(operation);
        let vectors = self.values(operation).vectors.iter();
        let each = vectors.map(|k| Filter { vectors: Some(*k), ..all.clone() });
        let each: Vec<Filter> = each.collect();
        if each.is_empty() { vec![all] } else { each }
    }

    /// The best run of each subject, operation, number of columns of X, kernel, variant and bundle over
    /// threads, blocks and the other settings, in the order of [`runs`](Self::runs).
    pub fn best(&self, filter: &Filter) -> Vec<RunOf<'_>> {
        let mut best: Vec<RunOf<'_>> = Vec::new();
        let mut places = BTreeMap::new();
        for run in self.runs(filter).into_iter().filter(RunOf::ranks) {
            let Run { matrix, operation, kernel, .. } = run.run;
            let product = (operation, run.run.vectors());
            let of = (run.bundle.series, matrix, product, kernel, run.run.variant());
            let place = *places.entry(of).or_insert(best.len());
            match best.get_mut(place) {
                Some(other) if run.beats(other) => *other = run,
                Some(_) => {}
                None => best.push(run),
            }
        }
        best
    }

    /// Every subject with a competing run that passes the filter, sorted by size; a real matrix and
    /// its stand-in have separate rows. Runs compete if they rank, have warm caches, are of
    /// [one product](Self::of_one_product) and compute the plain operation in f64 (or with a kernel
    /// without f64); where none does, all others.
    pub fn standings(&self, filter: &Filter) -> Vec<Standing<'_>> {
        self.standings_by(filter, Ranking::default())
    }

    /// The same in another ranking.
    pub fn standings_by(&self, filter: &Filter, ranking: Ranking) -> Vec<Standing<'_>> {
        let ranked = self.ranked(filter, ranking);
        ranked.iter().filter_map(|ranked| self.standing(ranked, ranking)).collect()
    }

    /// The standing of the subject with this key.
    pub fn standing_of(&self, filter: &Filter, key: &str) -> Option<Standing<'_>> {
        let place = self.index().place_of(key)?;
        let ranking = Ranking::default();
        let ranked = self.ranked(filter, ranking);
        self.standing(ranked.iter().find(|ranked| ranked.subject == place)?, ranking)
    }

    fn standing(&self, ranked: &Ranked, ranking: Ranking) -> Option<Standing<'_>> {
        let (key, subject) = self.index().subject(&self.bundles, ranked.subject)?;
        let runs = ranked.runs.iter().filter_map(|number| self.run(*number)).collect();
        Some(Standing { key, subject, runs, ranking })
    }

    fn ranked(&self, filter: &Filter, ranking: Ranking) -> Arc<Vec<Ranked>> {
        self.found.ranked.get((filter.clone(), ranking), |(filter, ranking)| {
            let runs = self.comparable(filter).into_iter();
            Arc::new(rank(runs, *ranking, |number| self.index().first_of(number)))
        })
    }

    /// The fastest run on a matrix of each kernel with a prediction, in kernel order.
    pub fn predicted(&self, key: &str) -> Vec<RunOf<'_>> {
        self.index().predicted(key).iter().filter_map(|number| self.run(*number)).collect()
    }

    /// Returns whether a run that passes the filter has a prediction.
    pub(crate) fn has_predictions(&self, filter: &Filter) -> bool {
        self.found.with_prediction.get(filter.clone(), |filter| {
            self.runs(filter).iter().any(|run| run.predicted_bytes().is_some())
        })
    }

    /// Values of the runs of this operation in all bundles; of every operation for an empty word.
    pub fn values(&self, operation: &str) -> &Values {
        self.index().values(operation)
    }

    /// The operations of the runs, in the order of the program's list; unknown ones come last.
    pub fn operations(&self) -> Vec<&str> {
        let found = self.index().operations();
        let known = Operation::ALL.iter().map(|operation| operation.as_str());
        let known = known.filter(|word| found.contains(word));
        let others = found.iter().copied().filter(|word| Operation::of(word).is_none());
        known.chain(others).collect()
    }

    /// The operation with the most runs; on a tie the first of [`operations`](Self::operations).
    pub fn main_operation(&self) -> Option<&str> {
        let count = |word: &&str| self.index().runs_of(word);
        // On a tie `max_by_key` returns the last.
        self.operations().into_iter().rev().max_by_key(count)
    }

    /// Differences between two bundles, over the runs that pass the filter.
    pub(crate) fn changes(
        &self,
        before: &OpenBundle,
        after: &OpenBundle,
        filter: &Filter,
    ) -> Arc<Changes> {
        let asked = ([before.series, after.series], filter.clone());
        self.found.changes.get(asked, |_| {
            let [first, second] = [before, after].map(|open| self.passing_of(open, filter));
            Arc::new(Changes::of(&Comparison::of(&first, &second)))
        })
    }

    /// The bundle with only the runs that pass the filter, and without files.
    fn passing_of(&self, open: &OpenBundle, filter: &Filter) -> Bundle {
        let all = &open.bundle;
        let mut bundle = Bundle::new(all.producer.clone(), all.created.clone());
        bundle.complete = all.complete;
        bundle.environments.clone_from(&all.environments);
        let folders = all.matrices.iter().map(|folder| folder.record.clone());
        bundle.matrices =
            folders.map(|record| MatrixFolder { record, files: Default::default() }).collect();
        bundle.subjects.clone_from(&all.subjects);
        let runs = self.runs(filter).into_iter();
        let own = runs.filter(|run| run.bundle.series == open.series);
        bundle.runs = own.map(|run| run.run.clone()).collect();
        bundle
    }
}
