//! `matrices/<id>/matrix.json`: where a matrix comes from and what is known about it.

use serde::{Deserialize, Serialize};

use sparsescope_matrix::matrix::Statistics;

/// Where a matrix came from. Real matrices and stand-ins are never part of the same series.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Source {
    /// Read from a file.
    Real,
    /// Generated because the user asked for it.
    Generated,
    /// Generated in place of a named matrix whose file is missing.
    StandIn,
}

impl Source {
    /// The word used in tables and files.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Real => "real",
            Self::Generated => "generated",
            Self::StandIn => "stand-in",
        }
    }
}

/// `matrices/<id>/matrix.json`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MatrixRecord {
    /// Folder name and reference of runs: letters, digits, `.`, `_` and `-`, unique in the bundle.
    pub id: String,
    /// Name shown to people.
    pub name: String,
    /// Real, generated or stand-in.
    pub source: Source,
    /// Generator and its parameters, for generated matrices and stand-ins.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub generator: Option<String>,
    /// How rows and columns were reordered, if they were. Identity and statistics are those of the
    /// result.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reordered: Option<Reordered>,
    /// SHA-256 of the canonical CSR (`matrix::identity`).
    pub sha256: String,
    /// Field in the file: `real`, `integer`, `pattern`, `complex`.
    pub field: String,
    /// Symmetry in the file: `general`, `symmetric`, `skew-symmetric`, `hermitian`.
    pub symmetry: String,
    /// Seconds from opening the file to the finished CSR.
    pub read_seconds: f64,
    /// Rows, columns, nonzeros, row lengths, structure and the size of each format.
    pub statistics: Statistics,
}

/// How the rows and columns of a matrix were reordered, and its bandwidth and profile before.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reordered {
    /// `rcm`.
    pub by: String,
    /// Largest i − j before.
    pub lower_bandwidth: u64,
    /// Largest j − i before.
    pub upper_bandwidth: u64,
    /// Profile before.
    pub profile: u64,
}
