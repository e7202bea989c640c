//! The size of a matrix that has not been read or generated.

/// Rows, columns and nonzeros of a matrix that has not been read or generated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extent {
    /// Rows m.
    pub rows: u64,
    /// Columns n.
    pub cols: u64,
    /// Nonzeros, both triangles of a symmetric matrix. Duplicates in a file count twice.
    pub entries: u64,
    /// Whether `entries` is only an estimate: the maximum that a file can hold, or the average of a
    /// generator.
    pub estimated: bool,
}
