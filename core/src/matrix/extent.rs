//! How large a matrix is that is not there yet.

/// Rows, columns and entries of a matrix that has not been read or generated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extent {
    /// Rows m.
    pub rows: u64,
    /// Columns n.
    pub cols: u64,
    /// Entries, both triangles of a symmetric matrix. What a file has twice counts twice.
    pub entries: u64,
    /// Whether `entries` is an estimate only: the most that a file can hold, or what a generator
    /// makes on average.
    pub estimated: bool,
}
