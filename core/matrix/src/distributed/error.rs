//! Errors of a matrix that is distributed among ranks.

use crate::matrix::FormatError;
use crate::memory::MemoryError;

/// Why a matrix cannot be distributed as requested.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum DistributedError {
    /// A partition file has too many or too few lines, or a line that is not a rank.
    #[error("invalid partition file: {0}")]
    PartitionFile(String),
    /// A permutation file has too many or too few lines, or a line that is not a row.
    #[error("invalid permutation: {0}")]
    PermutationFile(String),
    /// The rows and columns of a rank and its halo do not fit in `u32`.
    #[error("rank {rank} has {what}, more than the maximum of 4294967295: use more ranks")]
    #[expect(missing_docs, reason = "the message names the fields")]
    TooLarge { rank: usize, what: String },
    /// Another rank requests elements of x that this rank does not own.
    #[error("rank {peer} requests element {column} of x from rank {rank}, which does not own it")]
    #[expect(missing_docs, reason = "the message names the fields")]
    NotOwned { rank: usize, peer: usize, column: u64 },
    /// A row of a rank is invalid.
    #[error("invalid rows on rank {rank}: {reason}")]
    #[expect(missing_docs, reason = "the message names the fields")]
    Format { rank: usize, reason: FormatError },
    /// More memory than the limit allows.
    #[error(transparent)]
    Memory(#[from] MemoryError),
    /// The caller's flag was set.
    #[error("distributing the matrix was cancelled")]
    Cancelled,
}
