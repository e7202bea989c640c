//! A matrix whose rows are distributed among ranks (processes or GPUs): which rank owns which rows,
//! what each rank holds of the matrix and of x, and what it sends to other ranks before an SpMV.
//! Nothing here communicates; the caller transfers the messages of the [`ExchangePlan`].

mod counts;
mod error;
mod halo;
mod local;
mod partition;
mod partition_file;
mod plan;
mod rows;

pub use counts::BlockCounts;
pub use error::DistributedError;
pub use halo::Halo;
pub use local::LocalMatrix;
pub use partition::Partition;
pub use partition_file::{permutation_of_rows, ranks_of_rows, sorted_by_rank};
pub use plan::{ExchangePlan, Receive, Send};
pub use rows::{Renumbered, RowBlock, Rows};

#[cfg(test)]
mod tests;
