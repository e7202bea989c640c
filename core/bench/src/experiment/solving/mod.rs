//! Shared by the solvers of every backend: the parameters of a configuration, a factor set up on the CPU, and
//! the result of a solve as a run records it.

mod asked;
mod told;

pub use asked::{Asked, how_of, inverse_of};
pub use told::{ToldSetUp, share_done};
