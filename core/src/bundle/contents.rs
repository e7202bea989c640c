//! A bundle in memory.

use std::collections::BTreeMap;

use crate::record::{Environment, MatrixRecord, Producer, Run, RunKey, Source};

/// Everything that one `.zip` holds. Reading and writing keep it as it is; the manifest's list of
/// entries, their checksums and `results.csv` are made anew when writing.
#[derive(Clone, Debug, PartialEq)]
pub struct Bundle {
    /// Program that measured.
    pub producer: Producer,
    /// When the bundle was made: RFC 3339 in UTC, e.g. `2026-01-31T12:00:00Z`.
    pub created: String,
    /// Name given by the user.
    pub label: Option<String>,
    /// False when the measurement was interrupted.
    pub complete: bool,
    /// What was to be run, as the runner describes it (`plan.json`); enough to continue.
    pub plan: Option<serde_json::Value>,
    /// The machines.
    pub environments: Vec<Environment>,
    /// The matrices, each a folder.
    pub matrices: Vec<MatrixFolder>,
    /// Every run, in the order of the plan.
    pub runs: Vec<Run>,
    /// Entries of other folders (`solvers/`, `skyline/`, …) and of newer minor versions, by full
    /// name, kept as they are.
    pub others: BTreeMap<String, Vec<u8>>,
}

/// One matrix of a bundle: its record and the files beside it.
#[derive(Clone, Debug, PartialEq)]
pub struct MatrixFolder {
    /// `matrix.json`.
    pub record: MatrixRecord,
    /// Other files of the folder (`matrix.mtx` of a small matrix, spy tiles, …) by name.
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
            plan: None,
            environments: Vec::new(),
            matrices: Vec::new(),
            runs: Vec::new(),
            others: BTreeMap::new(),
        }
    }

    /// The matrix of this id.
    pub fn matrix(&self, id: &str) -> Option<&MatrixFolder> {
        self.matrices.iter().find(|matrix| matrix.record.id == id)
    }

    /// The environment of this id.
    pub fn environment(&self, id: &str) -> Option<&Environment> {
        self.environments.iter().find(|environment| environment.id == id)
    }

    /// The key of one of this bundle's runs; `None` when the run's matrix is not here.
    pub fn key<'a>(&'a self, run: &'a Run) -> Option<RunKey<'a>> {
        self.matrix(&run.matrix).map(|matrix| run.key(&matrix.record))
    }

    /// Id under which a matrix of this identity and source is already here.
    pub fn id_of(&self, sha256: &str, source: Source) -> Option<&str> {
        self.matrices
            .iter()
            .map(|matrix| &matrix.record)
            .find(|record| record.sha256 == sha256 && record.source == source)
            .map(|record| record.id.as_str())
    }
}
