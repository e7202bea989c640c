//! Errors of the factorised inverse.

use sparsescope_matrix::matrix::FormatError;
use sparsescope_matrix::memory::MemoryError;

/// Why a factorised inverse cannot be set up.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum FsaiError {
    /// The numbers of rows and columns differ.
    #[error("FSAI needs a square matrix, but this one is {rows} x {cols}")]
    #[expect(missing_docs, reason = "the message names the fields")]
    NotSquare { rows: usize, cols: usize },
    /// A dense system of a row is not positive definite.
    #[error(
        "the matrix is not positive definite on the pattern of row {row} (0-based, {size} \
        columns); try a larger shift"
    )]
    #[expect(missing_docs, reason = "the message names the fields")]
    NotPositiveDefinite { row: usize, size: usize },
    /// A dense system exceeds the batch limit.
    #[error(
        "the pattern of row {row} (0-based) has {size} columns; systems of a batch have at most \
        {most} unknowns"
    )]
    #[expect(missing_docs, reason = "the message names the fields")]
    TooLarge { row: usize, size: usize, most: usize },
    /// A parameter is out of range.
    #[error("FSAI: {name} is {value}, expected {expected}")]
    #[expect(missing_docs, reason = "the message names the fields")]
    Parameter { name: &'static str, value: String, expected: &'static str },
    /// A given pattern differs in size from the matrix.
    #[error("the pattern is {found_rows} x {found_cols}, but the matrix is {rows} x {rows}")]
    #[expect(missing_docs, reason = "the message names the fields")]
    PatternSize { found_rows: usize, found_cols: usize, rows: usize },
    /// A matrix whose values are to be refreshed differs in size.
    #[error("the factor has {expected} rows, but the matrix has {found}")]
    #[expect(missing_docs, reason = "the message names the fields")]
    OtherSize { expected: usize, found: usize },
    /// A given factor is not lower triangular with a positive diagonal.
    #[error("row {row} (0-based) of the factor does not end with a positive diagonal")]
    #[expect(missing_docs, reason = "the message names the fields")]
    NotAFactor { row: usize },
    /// The inverse does not fit into memory.
    #[error(transparent)]
    Memory(#[from] MemoryError),
    /// The result is not a valid matrix.
    #[error(transparent)]
    Format(#[from] FormatError),
}

/// Why the work ended early.
#[derive(Clone, Debug)]
pub(super) enum Stop {
    Cancelled,
    Failed(FsaiError),
}

impl From<FsaiError> for Stop {
    fn from(error: FsaiError) -> Self {
        Self::Failed(error)
    }
}

impl From<MemoryError> for Stop {
    fn from(error: MemoryError) -> Self {
        Self::Failed(error.into())
    }
}

impl From<FormatError> for Stop {
    fn from(error: FormatError) -> Self {
        Self::Failed(error.into())
    }
}

/// `None` if the work was cancelled.
pub(super) fn unless_cancelled<T>(result: Result<T, Stop>) -> Result<Option<T>, FsaiError> {
    match result {
        Ok(done) => Ok(Some(done)),
        Err(Stop::Cancelled) => Ok(None),
        Err(Stop::Failed(error)) => Err(error),
    }
}
