//! Statistics of a matrix: row lengths, structure, symmetry and what each format would occupy.

use serde::{Deserialize, Serialize};

/// Row-length figures of an m-row matrix; all 0 without rows.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RowLengths {
    /// Shortest row.
    pub min: u64,
    /// First quartile.
    pub q1: u64,
    /// Median.
    pub median: u64,
    /// Third quartile.
    pub q3: u64,
    /// Longest row.
    pub max: u64,
    /// nnz / m.
    pub mean: f64,
    /// Standard deviation (population).
    pub stddev: f64,
    /// The Cranfield paper's average deviation, 1/m Σ|x_i − mean|.
    pub average_deviation: f64,
    /// The same in percent of the mean.
    pub percent_average_deviation: f64,
    /// Rows without entries.
    pub empty: u64,
    /// `histogram[b]` counts rows of length 0 (b = 0) or 2^(b−1) ..= 2^b − 1.
    pub histogram: Vec<u64>,
}

/// What one format would occupy.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FormatSize {
    /// `coo`, `csr`, `ell`, `hyb`, `hll`, …
    pub format: String,
    /// Bytes of its arrays.
    pub bytes: u64,
    /// Stored slots, padding included.
    pub slots: u64,
    /// slots / nnz; 1 without entries.
    pub padding: f64,
    /// Minimal bytes that one SpMV moves.
    pub minimal_bytes: u64,
}

/// Statistics of a matrix.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Statistics {
    /// Rows.
    pub rows: u64,
    /// Columns.
    pub cols: u64,
    /// Stored entries.
    pub nnz: u64,
    /// nnz / (rows · cols); 0 for an empty matrix.
    pub density: f64,
    /// The papers' size class of nnz, e.g. `100k-500k`.
    pub nnz_class: String,
    /// Row lengths.
    pub row: RowLengths,
    /// Largest i − j over the entries (below the diagonal); 0 when none.
    pub lower_bandwidth: u64,
    /// Largest j − i over the entries (above the diagonal); 0 when none.
    pub upper_bandwidth: u64,
    /// Σ over rows of the distance from the first entry to the diagonal (rows whose first entry
    /// lies right of it count 0).
    pub profile: u64,
    /// Stored entries on the diagonal.
    pub diagonal: u64,
    /// Share of off-diagonal entries (i, j) whose mirror (j, i) is stored too; 1 when there are
    /// none. Only for square matrices.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub structural_symmetry: Option<f64>,
    /// Share of off-diagonal entries whose mirror has the same value. Only for square matrices.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub numerical_symmetry: Option<f64>,
    /// Size of each format.
    pub formats: Vec<FormatSize>,
}
