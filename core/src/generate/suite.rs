//! A suite of matrices, and what is known of each.

/// A set of matrices that are run together.
#[derive(Debug)]
pub struct Suite {
    /// Its name.
    pub name: &'static str,
    /// What it is for.
    pub what: &'static str,
    /// The matrices.
    pub entries: &'static [SuiteEntry],
}

/// One matrix of a suite.
#[derive(Debug)]
pub struct SuiteEntry {
    /// Its name.
    pub name: &'static str,
    /// Its generator.
    pub spec: &'static str,
    /// What it is like.
    pub what: &'static str,
    /// The real matrix that the generated one stands in for; absent where it stands for itself.
    pub wanted: Option<Wanted>,
}

/// Figures of a real matrix, as published.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Wanted {
    /// Rows.
    pub rows: u64,
    /// Columns.
    pub cols: u64,
    /// Entries, both triangles of a symmetric matrix.
    pub nnz: u64,
    /// Longest row.
    pub max: Option<u64>,
    /// Average deviation of the row lengths in percent of their mean.
    pub percent_average_deviation: Option<f64>,
    /// Largest |i − j|.
    pub bandwidth: Option<u64>,
}
