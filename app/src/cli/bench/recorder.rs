//! Keeps the measurements: in memory for the bundle, in the journal in case the program dies.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use sparsescope_core::bundle::{
    Bundle, BundleError, Journal, MatrixFolder, Record, SubjectFolder, journal_path,
};
use sparsescope_core::experiment::{
    Key, LoadedMatrix, LoadedSubject, LoadedValues, Observer, Problem, table_position,
};
use sparsescope_core::io::{Field, IoError, Progress, matrix_market};
use sparsescope_core::matrix::{Csr, Scalar};
use sparsescope_core::memory::MemoryLimit;
use sparsescope_core::order;
#[cfg(feature = "mpi")]
use sparsescope_core::record::MatrixRecord;
use sparsescope_core::record::{
    Bandwidth, Environment, MOST_REASON_BYTES, Noise, Operation, Run, Subject,
};
use sparsescope_core::spy::{self, Pyramid, RowProfile};

use crate::cli::bench_args::BenchArgs;
use crate::cli::progress;

/// Matrices with up to this many nonzeros are stored whole in the bundle.
const WHOLE_MATRIX_ENTRIES: u64 = 20_000;

/// A matrix's position among all those of the experiment.
pub(super) struct Place {
    pub(super) first: usize,
    pub(super) of: usize,
    pub(super) name: String,
}

/// Interval at which reading progress is polled.
const BETWEEN_LOOKS: Duration = Duration::from_millis(100);

/// Minimum interval between progress updates of a long execution.
const BETWEEN_SHARES: Duration = Duration::from_millis(500);

/// Collects the bundle and shows progress.
pub(super) struct Recorder {
    bundle: Bundle,
    journal: Journal,
    output: PathBuf,
    force: bool,
    shown: progress::Progress,
    /// What was shown last, and when the progress of a long execution was shown last.
    what: String,
    told: Option<Instant>,
    place: Place,
    /// Ids of the matrices added so far, and their positions.
    seen: BTreeMap<String, usize>,
    /// Maximum size in bytes of a matrix's picture.
    spy_bytes: u64,
    operation: Operation,
    failure: Option<BundleError>,
}

impl Recorder {
    /// Begins the journal beside `output` with what `bundle` holds already and `machine`, on which the rest
    /// is measured.
    pub(super) fn new(
        output: &Path,
        mut bundle: Bundle,
        mut machine: Environment,
        shown: progress::Progress,
        (operation, args): (Operation, &BenchArgs),
        force: bool,
    ) -> Result<Self, BundleError> {
        // Measurements from another time have another environment, even on the same machine.
        let taken = |id: &str| bundle.environment(id).is_some();
        let names = (2..).map(|k| format!("{}-{k}", machine.id));
        if let Some(free) = std::iter::once(machine.id.clone()).chain(names).find(|id| !taken(id)) {
            machine.id = free;
        }
        bundle.environments.push(machine);
        bundle.complete = false;
        let journal = Journal::create(output, &bundle, force)?;
        let place = Place { first: 0, of: 1, name: String::new() };
        let output = output.to_owned();
        Ok(Self {
            bundle,
            journal,
            output,
            force,
            shown,
            what: String::new(),
            told: None,
            place,
            seen: BTreeMap::new(),
            spy_bytes: args.spy_bytes,
            operation,
            failure: None,
        })
    }

    /// The environment of the machine being measured.
    pub(super) fn environment(&self) -> Environment {
        self.bundle.environments.last().cloned().unwrap_or_default()
    }

    /// Runs on this matrix so far.
    pub(super) fn runs_of(&self, matrix: &str) -> Vec<Run> {
        self.bundle.runs.iter().filter(|run| run.matrix == matrix).cloned().collect()
    }

    /// Whether there are no runs so far.
    pub(super) fn has_no_runs(&self) -> bool {
        self.bundle.runs.is_empty()
    }

    /// Announces the next matrix, which is about to be read.
    pub(super) fn begin(&mut self, place: Place) {
        let what = format!("{}: reading", place.name);
        self.place = place;
        self.show(0.0, &what);
    }

    /// Runs `read`, which reads or generates the next matrix, and shows how many of its bytes are done.
    pub(super) fn while_reading<R>(
        &mut self,
        total: Option<u64>,
        read: impl FnOnce(Progress<'_>) -> R,
    ) -> R {
        let done = AtomicU64::new(0);
        let (finished, wait) = mpsc::channel::<()>();
        std::thread::scope(|scope| {
            let done = &done;
            let tell = move || {
                while wait.recv_timeout(BETWEEN_LOOKS) == Err(RecvTimeoutError::Timeout) {
                    let what = reading(&self.place.name, done.load(Ordering::Relaxed), total);
                    self.show(0.0, &what);
                }
            };
            // If the system refuses a thread, no progress is shown.
            let _ = std::thread::Builder::new().spawn_scoped(scope, tell);
            // Dropped at the end, also on a panic.
            let _finished = finished;
            read(Progress::none().counting(done))
        })
    }

    /// Shows the work done between matrices.
    pub(super) fn tell(&mut self, what: &str) {
        self.show(1.0, what);
    }

    /// Prints a line.
    pub(super) fn line(&self, text: &str) {
        self.shown.line(text);
    }

    /// Stores the description of a subject, and the whole of a small matrix, unless an earlier part of the
    /// measurement has. Returns the id by which runs refer to it, or none if the same subject was named
    /// before.
    pub(super) fn add(&mut self, loaded: &LoadedSubject) -> anyhow::Result<Option<String>> {
        let record = loaded.record();
        if let Some(id) = self.known(record)? {
            return Ok(self.see(&id).then_some(id));
        }
        let id = record.id().to_owned();
        let shown = loaded.files_of(self.operation, self.spy_bytes, MemoryLimit::of_machine());
        match loaded {
            LoadedSubject::Matrix(loaded) => {
                let mut files = matrix_files(loaded, self.spy_bytes)?;
                files.extend(shown);
                let folder = MatrixFolder { record: loaded.record.clone(), files };
                self.journal.append(Record::Matrix(&folder))?;
                self.bundle.matrices.push(folder);
            }
            LoadedSubject::Other(other) => {
                let folder = SubjectFolder {
                    folder: other.folder.to_owned(),
                    record: other.record.clone(),
                    files: BTreeMap::new(),
                };
                self.journal.append(Record::Subject(&folder))?;
                self.bundle.subjects.push(folder);
            }
        }
        self.see(&id);
        Ok(Some(id))
    }

    /// Stores the description of a matrix that no process holds whole, as [`add`](Self::add) does.
    #[cfg(feature = "mpi")]
    pub(super) fn add_record(&mut self, record: &MatrixRecord) -> anyhow::Result<Option<String>> {
        if let Some(id) = self.known(Subject::Matrix(record))? {
            return Ok(self.see(&id).then_some(id));
        }
        let folder = MatrixFolder { record: record.clone(), files: BTreeMap::new() };
        self.journal.append(Record::Matrix(&folder))?;
        self.bundle.matrices.push(folder);
        self.see(&record.id);
        Ok(Some(record.id.clone()))
    }

    /// The id of a subject that the bundle has. Fails if it has a different one of the same name from an
    /// earlier part of the measurement.
    fn known(&self, record: Subject<'_>) -> anyhow::Result<Option<String>> {
        if let Some(id) = self.bundle.id_of(record.sha256(), record.source()) {
            return Ok(Some(id.to_owned()));
        }
        let is_other = |known: &Subject<'_>| {
            known.name() == record.name()
                && known.source() == record.source()
                && !self.seen.contains_key(known.id())
        };
        if let Some(other) = self.bundle.all_subjects().find(is_other) {
            let name = record.name();
            let (begun, here) = (shortened(other.sha256()), shortened(record.sha256()));
            bail!(
                "{name} differs from the one in the bundle (SHA-256: expected {begun}…, found {here}…)"
            );
        }
        Ok(None)
    }

    /// Gives a subject the next position; returns false if it has one.
    fn see(&mut self, id: &str) -> bool {
        let next = self.seen.len();
        let is_new = !self.seen.contains_key(id);
        self.seen.entry(id.to_owned()).or_insert(next);
        is_new
    }

    /// Stores the files that show the results on the subject `id`, unless it is a matrix or has some already.
    pub(super) fn show_results(
        &mut self,
        id: &str,
        problem: &dyn Problem,
    ) -> Result<(), BundleError> {
        let mut subjects = self.bundle.subjects.iter_mut();
        let Some(folder) = subjects.find(|s| s.record.id == id && s.files.is_empty()) else {
            return Ok(());
        };
        folder.files = problem.files(self.spy_bytes);
        match folder.files.is_empty() {
            true => Ok(()),
            false => self.journal.append(Record::Subject(folder)),
        }
    }

    /// The error that stopped the experiment while a run was being stored.
    pub(super) fn take_failure(&mut self) -> Result<(), BundleError> {
        self.failure.take().map_or(Ok(()), Err)
    }

    /// Bandwidths are measured before and after the runs and the better of both counts, as among the passes
    /// of one measurement; percentages of it are recomputed.
    pub(super) fn better_bandwidth(&mut self, again: &[Bandwidth]) {
        let Some(machine) = self.bundle.environments.last_mut() else { return };
        for best in &mut machine.bandwidth {
            for other in again.iter().filter(|other| other.threads == best.threads) {
                best.copy = best.copy.max(other.copy);
                best.triad = best.triad.max(other.triad);
                best.read = best.read.max(other.read);
            }
        }
        let measured_here = |run: &&mut Run| run.is_on_cpu() && run.environment == machine.id;
        for run in self.bundle.runs.iter_mut().filter(measured_here) {
            let same_threads = |b: &&Bandwidth| b.threads == run.threads;
            if let (Some(figures), Some(bandwidth)) =
                (run.figures.as_mut(), machine.bandwidth.iter().find(same_threads))
            {
                figures.set_copy(bandwidth.copy);
            }
        }
    }

    /// Writes the bundle and removes the journal.
    pub(super) fn finish(mut self, noise: Noise, complete: bool) -> anyhow::Result<Bundle> {
        if let Some(machine) = self.bundle.environments.last_mut() {
            machine.noise = noise;
        }
        self.bundle.complete = complete;
        // In the order in which subjects were added now, including those from an earlier part of the
        // measurement.
        let place = |id: &str| self.seen.get(id).copied().unwrap_or(usize::MAX);
        order::sort_by(&mut self.bundle.matrices, |a, b| {
            place(&a.record.id).cmp(&place(&b.record.id))
        });
        order::sort_by(&mut self.bundle.subjects, |a, b| {
            place(&a.record.id).cmp(&place(&b.record.id))
        });
        sort_runs(&mut self.bundle);
        self.shown.finish();
        self.bundle.save(&self.output, self.force).with_context(|| {
            let journal = journal_path(&self.output);
            format!("cannot write the bundle; all runs are kept in {}", journal.display())
        })?;
        self.journal.finish()?;
        Ok(self.bundle)
    }

    /// Removes the journal of an experiment that measured nothing.
    pub(super) fn discard(self) -> Result<(), BundleError> {
        self.shown.finish();
        self.journal.finish()
    }

    fn show(&mut self, share: f64, what: &str) {
        let Place { first, of, .. } = self.place;
        self.shown.set((first as f64 + share) / of as f64, what);
    }
}

impl Observer for Recorder {
    fn progress(&mut self, done: usize, total: usize, what: &str) {
        let text = format!("{}: {what}", self.place.name);
        self.show(done as f64 / total.max(1) as f64, &text);
        self.what = text;
    }

    fn executing(&mut self, done: usize, total: usize, share: f64) {
        // Rarely: a solver reports after every iteration, while it is timed.
        if self.told.is_some_and(|told| told.elapsed() < BETWEEN_SHARES) {
            return;
        }
        self.told = Some(Instant::now());
        let percent = share.clamp(0.0, 1.0) * 100.0;
        let text = format!("{}, {percent:.0} % of one execution", self.what);
        self.show(done as f64 / total.max(1) as f64, &text);
    }

    fn finished(&mut self, mut run: Run) -> bool {
        // Compiler output may be longer than a bundle allows.
        if let Some(reason) = &mut run.check.reason {
            reason.truncate(reason.floor_char_boundary(MOST_REASON_BYTES));
        }
        match self.journal.append(Record::Run(&run)) {
            Ok(()) => {
                self.bundle.runs.push(run);
                true
            }
            Err(error) => {
                self.failure = Some(error);
                false
            }
        }
    }
}

/// Sorts runs by matrix and kernel, also if they were measured in several parts.
pub(in crate::cli) fn sort_runs(bundle: &mut Bundle) {
    let subjects = bundle.all_subjects().enumerate();
    let places: HashMap<String, usize> =
        subjects.map(|(k, subject)| (subject.id().to_owned(), k)).collect();
    let place = |run: &Run| places.get(&run.matrix).copied();
    bundle.runs.sort_by_cached_key(|run| (place(run), table_position(&run.kernel), Key::of(run)));
}

/// The first digits of a digest, enough to identify it in a sentence.
fn shortened(sha256: &str) -> String {
    sha256.chars().take(8).collect()
}

/// The picture of a matrix's structure, and the whole of a small matrix.
fn matrix_files(
    loaded: &LoadedMatrix,
    spy_bytes: u64,
) -> Result<BTreeMap<String, Vec<u8>>, IoError> {
    let mut files = BTreeMap::new();
    if loaded.record.statistics.nnz <= WHOLE_MATRIX_ENTRIES {
        files.insert("matrix.mtx".to_owned(), matrix_text(loaded)?);
    }
    files.extend(match &loaded.values {
        LoadedValues::Real(a) => picture(a, spy_bytes),
        LoadedValues::Complex(a) => picture(a, spy_bytes),
    });
    Ok(files)
}

/// `cant: reading, 120 of 310 MB`.
fn reading(name: &str, done: u64, total: Option<u64>) -> String {
    match total {
        Some(total) if done > 0 => {
            let megabytes = |bytes: u64| bytes as f64 / 1e6;
            format!("{name}: reading, {:.0} of {:.0} MB", megabytes(done), megabytes(total))
        }
        _ => format!("{name}: reading"),
    }
}

/// The pyramid of nonzero counts and the profile of row lengths, as files.
fn picture<T: Scalar>(a: &Csr<T>, budget: u64) -> BTreeMap<String, Vec<u8>> {
    if budget == 0 {
        return BTreeMap::new();
    }
    spy::to_files(&Pyramid::of(a), &RowProfile::of(a), budget)
}

/// A matrix as Matrix Market text, with the field of its file.
fn matrix_text(loaded: &LoadedMatrix) -> Result<Vec<u8>, IoError> {
    let mut text = Vec::new();
    match &loaded.values {
        LoadedValues::Real(a) => {
            let fields = [Field::Integer, Field::Pattern];
            let field = fields.into_iter().find(|field| field.as_str() == loaded.record.field);
            let field = field.unwrap_or(Field::Real);
            match matrix_market::write_field(a, field, &mut text, Progress::none()) {
                // Sums of duplicates are not a pattern, and some integer files hold other numbers.
                Err(IoError::NotOfField { .. }) => {
                    matrix_market::write(a, &mut text, Progress::none())?;
                }
                written => written?,
            }
        }
        LoadedValues::Complex(a) => matrix_market::write(a, &mut text, Progress::none())?,
    }
    Ok(text)
}
