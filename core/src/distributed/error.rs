//! What can be wrong with a matrix that several ranks share.

use crate::matrix::FormatError;
use crate::memory::MemoryError;

/// Why a matrix cannot be shared out as it is asked for.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum DistributedError {
    /// A partition file has a line too many, too few or none that is a rank.
    #[error("the partition file: {0}")]
    PartitionFile(String),
    /// A file with a permutation of the rows has a line too many, too few or none that is a row.
    #[error("the permutation: {0}")]
    PermutationFile(String),
    /// Rows and columns of a rank and its halo are numbered with `u32`.
    #[error("rank {rank} has {what}: at most 4294967295 are supported; use more ranks")]
    #[expect(missing_docs, reason = "the message names the fields")]
    TooLarge { rank: usize, what: String },
    /// Another rank asks for elements of x that are not of this rank.
    #[error("rank {peer} asks rank {rank} for element {column} of x, which is not its own")]
    #[expect(missing_docs, reason = "the message names the fields")]
    NotOwned { rank: usize, peer: usize, column: u64 },
    /// A row of a rank is none.
    #[error("of the rows of rank {rank}: {reason}")]
    #[expect(missing_docs, reason = "the message names the fields")]
    Format { rank: usize, reason: FormatError },
    /// It would not fit.
    #[error(transparent)]
    Memory(#[from] MemoryError),
    /// The caller's flag was set.
    #[error("sharing the matrix out was cancelled")]
    Cancelled,
}
