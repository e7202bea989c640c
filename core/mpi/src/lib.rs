//! Ranks that communicate by MPI: one per process, with threads or a GPU inside. All ranks call the same
//! functions in the same order; only rank 0 has an observer and the record of a matrix.

#![cfg(all(feature = "mpi", not(target_family = "wasm")))]

mod agreed;
mod bandwidth;
mod cg;
mod exchange;
mod launch;
mod links;
mod matrix;
mod numbering;
mod on_device;
mod plan;
mod product;
mod reading;
mod reduction;
mod runner;
mod task;
mod told;
mod world;

pub use agreed::agreed;
pub use bandwidth::measure_bandwidth;
pub use matrix::{About, SharedMatrix, equal_entries};
pub use numbering::Numbering;
pub use reading::{Read, read};
pub use runner::{MpiRunner, Once};
pub use world::World;
