//! Errors in a format's arrays.

/// Arrays that do not describe a matrix, or a size that does not fit.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum FormatError {
    /// An array has the wrong number of elements.
    #[error("{array} has {found} elements, expected {expected}")]
    #[expect(missing_docs, reason = "the message names the fields")]
    Length { array: &'static str, expected: u64, found: u64 },
    /// Rows or columns do not fit in `u32`.
    #[error(
        "a {rows} x {cols} matrix is too large: at most 4294967295 rows and columns are supported"
    )]
    #[expect(missing_docs, reason = "the message names the fields")]
    DimensionTooLarge { rows: u64, cols: u64 },
    /// An offset array does not run from 0 to the number of stored slots.
    #[error("{array} must start at 0 and end at {end}")]
    #[expect(missing_docs, reason = "the message names the fields")]
    OffsetEnds { array: &'static str, end: u64 },
    /// An offset is smaller than the one before it.
    #[error("{array} decreases at index {at}")]
    #[expect(missing_docs, reason = "the message names the fields")]
    OffsetsDescend { array: &'static str, at: usize },
    /// A row index is not below the number of rows.
    #[error("row index {row} is out of range for {rows} rows (0-based)")]
    #[expect(missing_docs, reason = "the message names the fields")]
    RowOutOfRange { row: u64, rows: usize },
    /// A column index is not below the number of columns.
    #[error("column index {col} in row {row} is out of range for {cols} columns (0-based)")]
    #[expect(missing_docs, reason = "the message names the fields")]
    ColumnOutOfRange { row: usize, col: u64, cols: usize },
    /// Columns of a row are unsorted or repeat.
    #[error("the columns of row {row} are not strictly increasing (0-based)")]
    #[expect(missing_docs, reason = "the message names the fields")]
    ColumnsNotAscending { row: usize },
    /// A coordinate of a point is NaN.
    #[error("coordinate {coordinate} of point {point} is NaN (0-based)")]
    #[expect(missing_docs, reason = "the message names the fields")]
    NotANumber { point: u64, coordinate: u64 },
    /// Any other requirement of a format on its arrays.
    #[error("{0}")]
    Invariant(String),
    /// The format would not fit the memory limit.
    #[error(transparent)]
    Memory(#[from] crate::memory::MemoryError),
}
