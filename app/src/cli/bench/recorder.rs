//! Keeps what is measured: in memory for the bundle, in the journal against every accident.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::Context;
use sparsescope_core::bundle::{
    Bandwidth, Bundle, BundleError, Environment, Journal, MatrixFolder, Noise, Record, Run,
    journal_path,
};
use sparsescope_core::experiment::{LoadedMatrix, LoadedValues, Observer};
use sparsescope_core::io::{IoError, Progress, matrix_market};

use crate::cli::progress;

/// Matrices up to this many entries are kept whole in the bundle.
const WHOLE_MATRIX_ENTRIES: u64 = 20_000;

/// One matrix among all those of the experiment.
pub(super) struct Part {
    pub(super) first: usize,
    pub(super) of: usize,
    pub(super) name: String,
}

/// Collects the bundle and shows progress.
pub(super) struct Recorder {
    bundle: Bundle,
    journal: Journal,
    output: PathBuf,
    force: bool,
    shown: progress::Progress,
    part: Part,
    failure: Option<BundleError>,
}

impl Recorder {
    /// Begins the journal beside `output`.
    pub(super) fn new(
        output: &Path,
        bundle: Bundle,
        shown: progress::Progress,
        force: bool,
    ) -> Result<Self, BundleError> {
        let journal = Journal::create(output, &bundle, force)?;
        let part = Part { first: 0, of: 1, name: String::new() };
        let output = output.to_owned();
        Ok(Self { bundle, journal, output, force, shown, part, failure: None })
    }

    /// The machine; present from the start.
    pub(super) fn environment(&self) -> Environment {
        self.bundle.environments.first().cloned().unwrap_or_default()
    }

    /// The next matrix is being read.
    pub(super) fn begin(&mut self, part: Part) {
        let what = format!("{}: reading", part.name);
        self.part = part;
        self.show(0.0, &what);
    }

    /// Shows what is being done between matrices.
    pub(super) fn tell(&mut self, what: &str) {
        self.show(1.0, what);
    }

    /// Prints a line.
    pub(super) fn line(&self, text: &str) {
        self.shown.line(text);
    }

    /// Keeps the description of a matrix, and all of a small one. Returns the id that runs refer
    /// to it by; none when the same matrix has been run already.
    pub(super) fn add_matrix(&mut self, loaded: &LoadedMatrix) -> anyhow::Result<Option<String>> {
        let record = &loaded.record;
        if self.bundle.id_of(&record.sha256, record.source).is_some() {
            return Ok(None);
        }
        let mut files = BTreeMap::new();
        if record.statistics.nnz <= WHOLE_MATRIX_ENTRIES {
            files.insert("matrix.mtx".to_owned(), matrix_text(&loaded.values)?);
        }
        let folder = MatrixFolder { record: record.clone(), files };
        self.journal.append(Record::Matrix(&folder))?;
        let id = folder.record.id.clone();
        self.bundle.matrices.push(folder);
        Ok(Some(id))
    }

    /// An error that stopped the experiment while a run was being kept.
    pub(super) fn take_failure(&mut self) -> Result<(), BundleError> {
        self.failure.take().map_or(Ok(()), Err)
    }

    /// Bandwidths are measured before and after the runs and the better of both counts, as it
    /// does among the passes of one measurement; shares of it are computed anew.
    pub(super) fn better_bandwidth(&mut self, again: &[Bandwidth]) {
        let Some(machine) = self.bundle.environments.first_mut() else { return };
        for best in &mut machine.bandwidth {
            for other in again.iter().filter(|other| other.threads == best.threads) {
                best.copy = best.copy.max(other.copy);
                best.triad = best.triad.max(other.triad);
                best.read = best.read.max(other.read);
            }
        }
        for run in self.bundle.runs.iter_mut().filter(|run| run.backend == "cpu") {
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
        if let Some(machine) = self.bundle.environments.first_mut() {
            machine.noise = noise;
        }
        self.bundle.complete = complete;
        self.shown.finish();
        self.bundle.save(&self.output, self.force).with_context(|| {
            let journal = journal_path(&self.output);
            format!("cannot write the bundle; every run is kept in {}", journal.display())
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
        let Part { first, of, .. } = self.part;
        self.shown.set((first as f64 + share) / of as f64, what);
    }
}

impl Observer for Recorder {
    fn progress(&mut self, done: usize, total: usize, what: &str) {
        let text = format!("{}: {what}", self.part.name);
        self.show(done as f64 / total.max(1) as f64, &text);
    }

    fn finished(&mut self, run: Run) -> bool {
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

/// A matrix as Matrix Market text.
fn matrix_text(values: &LoadedValues) -> Result<Vec<u8>, IoError> {
    let mut text = Vec::new();
    match values {
        LoadedValues::Real(a) => matrix_market::write(a, &mut text, Progress::none())?,
        LoadedValues::Complex(a) => matrix_market::write(a, &mut text, Progress::none())?,
    }
    Ok(text)
}
