//! Several GPUs of this machine on one matrix, through NCCL: each has a thread, contiguous rows and its part
//! of the vectors. What others need of x travels while rows that need nothing of others are multiplied.

mod backend;
mod bandwidth;
mod by_index;
mod by_rows;
mod exchange;
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
