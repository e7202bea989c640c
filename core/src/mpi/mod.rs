//! Ranks that talk by MPI: one a process, threads inside. All ranks call the same functions in the same order;
//! rank 0 alone has an observer and the record of a matrix.

mod bandwidth;
mod exchange;
mod launch;
mod links;
mod matrix;
mod product;
mod reading;
mod runner;
mod told;
mod world;

pub use bandwidth::measure_bandwidth;
pub use matrix::{About, SharedMatrix, agreed, equal_entries};
pub use reading::{Read, read};
pub use runner::MpiRunner;
pub use world::World;
