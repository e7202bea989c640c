//! Several GPUs on one matrix, through NCCL, all in one process or one per process: each has a
//! thread, contiguous rows and its part of the vectors. The halo of x is exchanged while rows that
//! do not need it are multiplied.

mod backend;
mod bandwidth;
mod by_index;
mod by_rows;
mod exchange;
mod held;
mod of_rank;
mod pace;
mod peers;
mod prepared_product;
mod prepared_solver;
mod product;
mod rank;
mod shared_out;
mod solver;
mod team;

pub use backend::{NcclBackend, nccl_kernels};
pub use by_rows::{ByRowsError, ProductOfRows, SolveOfRows};
pub use of_rank::{FoundGpu, GpuOfRank};
