//! What runs were made on: a matrix, or something else in the folder of its operation.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::matrix::{MatrixRecord, Source};

/// `<folder>/<id>/subject.json`: a subject of runs that is not a matrix.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SubjectRecord {
    /// Folder name and reference of runs: letters, digits, `.`, `_` and `-`, unique in the bundle
    /// among all subjects, matrices included.
    pub id: String,
    /// Name shown to people.
    pub name: String,
    /// What it is: `points`, `batch`, …
    pub kind: String,
    /// Real, generated or stand-in.
    pub source: Source,
    /// Generator and its parameters, if it was generated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub generator: Option<String>,
    /// SHA-256 of its canonical form.
    pub sha256: String,
    /// Sizes by their names: `points` and `dimensions`, `systems` and `unknowns`, …
    #[serde(default)]
    pub sizes: BTreeMap<String, u64>,
    /// Seconds to read or generate it; absent if unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read_seconds: Option<f64>,
}

/// The subject of a run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Subject<'a> {
    /// A matrix.
    Matrix(&'a MatrixRecord),
    /// Anything else.
    Other(&'a SubjectRecord),
}

impl<'a> Subject<'a> {
    /// The id that runs refer to it by.
    pub fn id(self) -> &'a str {
        match self {
            Self::Matrix(record) => &record.id,
            Self::Other(record) => &record.id,
        }
    }

    /// The name shown to people.
    pub fn name(self) -> &'a str {
        match self {
            Self::Matrix(record) => &record.name,
            Self::Other(record) => &record.name,
        }
    }

    /// Real, generated or stand-in.
    pub fn source(self) -> Source {
        match self {
            Self::Matrix(record) => record.source,
            Self::Other(record) => record.source,
        }
    }

    /// Its identity.
    pub fn sha256(self) -> &'a str {
        match self {
            Self::Matrix(record) => &record.sha256,
            Self::Other(record) => &record.sha256,
        }
    }

    /// The matrix, if it is one.
    pub fn matrix(self) -> Option<&'a MatrixRecord> {
        match self {
            Self::Matrix(record) => Some(record),
            Self::Other(_) => None,
        }
    }
}

impl<'a> From<&'a MatrixRecord> for Subject<'a> {
    fn from(record: &'a MatrixRecord) -> Self {
        Self::Matrix(record)
    }
}

impl<'a> From<&'a SubjectRecord> for Subject<'a> {
    fn from(record: &'a SubjectRecord) -> Self {
        Self::Other(record)
    }
}
