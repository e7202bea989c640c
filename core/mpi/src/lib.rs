//! Ranks that communicate by MPI: one per process, with threads or a GPU inside. All ranks call the same
//! functions in the same order; only rank 0 has an observer and the record of a matrix.

#![cfg(all(feature = "mpi", not(target_family = "wasm")))]

mod agreed;
mod backend;
mod bandwidth;
mod cg;
mod exchange;
mod launch;
mod links;
mod matrix;
mod numbering;
mod on_device;
mod plan;
mod prepared;
mod problem;
mod product;
mod reading;
mod reduction;
mod set_up;
mod task;
mod told;
mod world;

pub use agreed::agreed;
pub use backend::RankBackend;
pub use bandwidth::measure_bandwidth;
pub use matrix::{About, SharedMatrix, equal_entries};
pub use numbering::Numbering;
pub use problem::{SharedProduct, SharedSolve, shared_problem};
pub use reading::{Read, read};
pub use world::World;
