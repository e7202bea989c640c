//! A bundle in memory.

use std::collections::{BTreeMap, HashMap, HashSet};

use sparsescope_matrix::matrix::sha256;
use sparsescope_record::{
    Environment, KernelSource, MOST_SOURCE_BYTES, MatrixRecord, Operation, Producer, Run, RunKey,
    Shard, Source, Subject, SubjectRecord, Work,
};

/// Everything that one `.zip` holds. Reading and writing preserve it; the manifest's list of
/// entries, their checksums and `results.csv` are regenerated when writing.
#[derive(Clone, Debug, PartialEq)]
pub struct Bundle {
    /// The program that measured.
    pub producer: Producer,
    /// Creation time: RFC 3339 in UTC, e.g. `2026-01-31T12:00:00Z`.
    pub created: String,
    /// Name given by the user.
    pub label: Option<String>,
    /// False if the measurement was interrupted.
    pub complete: bool,
    /// Which part of the plan it holds, if the plan was split over several bundles.
    pub shard: Option<Shard>,
    /// The plan as the runner describes it (`plan.json`), sufficient to resume.
    pub plan: Option<serde_json::Value>,
    /// The machines.
    pub environments: Vec<Environment>,
    /// The matrices, one folder each.
    pub matrices: Vec<MatrixFolder>,
    /// The other subjects of runs, one folder each.
    pub subjects: Vec<SubjectFolder>,
    /// All runs, in the order of the plan.
    pub runs: Vec<Run>,
    /// Entries of other folders (`solvers/`, `skyline/`, …) and of newer minor versions, by full
    /// name, kept unchanged.
    pub others: BTreeMap<String, Vec<u8>>,
}

/// One matrix of a bundle: its record and the other files of its folder.
#[derive(Clone, Debug, PartialEq)]
pub struct MatrixFolder {
    /// `matrix.json`.
    pub record: MatrixRecord,
    /// Other files of the folder (`matrix.mtx` of a small matrix, spy tiles, …) by name.
    pub files: BTreeMap<String, Vec<u8>>,
}

/// A subject of a bundle other than a matrix: its record and the other files of its folder.
#[derive(Clone, Debug, PartialEq)]
pub struct SubjectFolder {
    /// The folder of its operation, such as `skyline`.
    pub folder: String,
    /// `subject.json`.
    pub record: SubjectRecord,
    /// Other files of the subject's folder by name, except its runs.
    pub files: BTreeMap<String, Vec<u8>>,
}

impl Bundle {
    /// An empty bundle, incomplete until [`complete`](Self::complete) is set.
    pub fn new(producer: Producer, created: String) -> Self {
        Self {
            producer,
            created,
            label: None,
            complete: false,
            shard: None,
            plan: None,
            environments: Vec::new(),
            matrices: Vec::new(),
            subjects: Vec::new(),
            runs: Vec::new(),
            others: BTreeMap::new(),
        }
    }

    /// The matrix with this id.
    pub fn matrix(&self, id: &str) -> Option<&MatrixFolder> {
        self.matrices.iter().find(|matrix| matrix.record.id == id)
    }

    /// The subject that runs refer to by this id: a matrix or another one.
    pub fn subject(&self, id: &str) -> Option<Subject<'_>> {
        let other = || self.subjects.iter().find(|subject| subject.record.id == id);
        match self.matrix(id) {
            Some(matrix) => Some(Subject::Matrix(&matrix.record)),
            None => other().map(|subject| Subject::Other(&subject.record)),
        }
    }

    /// All subjects: the matrices, then the others.
    pub fn all_subjects(&self) -> impl Iterator<Item = Subject<'_>> {
        let matrices = self.matrices.iter().map(|matrix| Subject::Matrix(&matrix.record));
        matrices.chain(self.subjects.iter().map(|subject| Subject::Other(&subject.record)))
    }

    /// All subjects by id, for looking up the subject of each run.
    pub fn subjects_by_id(&self) -> HashMap<&str, Subject<'_>> {
        self.all_subjects().map(|subject| (subject.id(), subject)).collect()
    }

    /// Adds to runs from before 1.3 the work and the rate that follow from their data.
    pub(super) fn rate_old_runs(&mut self) {
        let nnz: HashMap<&str, u64> =
            self.matrices.iter().map(|m| (m.record.id.as_str(), m.record.statistics.nnz)).collect();
        for run in self.runs.iter_mut().filter(|run| run.metric.is_none()) {
            let (Some(operation), Some(figures)) = (Operation::of(&run.operation), &run.figures)
            else {
                continue;
            };
            // The count is unknown (0) for an imported matrix that is known only by name.
            let nnz = nnz.get(run.matrix.as_str()).filter(|nnz| **nnz > 0);
            let Some(flops) = nnz.and_then(|nnz| operation.flops(*nnz)) else { continue };
            let work = Work { flops, ..Work::default() };
            let metric = operation.metric(&work, figures.median_s);
            if metric.value.is_finite() {
                (run.work, run.metric) = (Some(work), Some(metric));
            }
        }
    }

    /// Number of runs on matrices.
    pub(super) fn runs_on_matrices(&self) -> u64 {
        let others: HashSet<&str> = self.subjects.iter().map(|s| s.record.id.as_str()).collect();
        self.runs.iter().filter(|run| !others.contains(run.matrix.as_str())).count() as u64
    }

    /// The environment with this id.
    pub fn environment(&self, id: &str) -> Option<&Environment> {
        self.environments.iter().find(|environment| environment.id == id)
    }

    /// The source of a user kernel, for display only: it is built and run only if its author names
    /// the file. `None` if the bundle does not hold it, or holds a different source under its name.
    pub fn source_text(&self, source: &KernelSource) -> Option<&str> {
        let content = self.others.get(&source.entry())?;
        let content = Some(content).filter(|content| content.len() <= MOST_SOURCE_BYTES)?;
        let text = std::str::from_utf8(content).ok()?;
        (sha256(content) == source.sha256).then_some(text)
    }

    /// The key of one of this bundle's runs; `None` if the run's subject is not here.
    pub fn key<'a>(&'a self, run: &'a Run) -> Option<RunKey<'a>> {
        self.subject(&run.matrix).map(|subject| run.key(subject))
    }

    /// The id of the subject with this identity and source, if the bundle has it.
    pub fn id_of(&self, sha256: &str, source: Source) -> Option<&str> {
        self.all_subjects()
            .find(|subject| subject.sha256() == sha256 && subject.source() == source)
            .map(Subject::id)
    }
}
