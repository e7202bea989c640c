//! Measuring: the machine and its bandwidth, samples, and the gate that results pass.

mod gate;
mod vector;

pub use gate::{PAPER_EPSILON, Reference};
pub use vector::{DEFAULT_SEED, integer_vector};
