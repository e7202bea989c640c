//! The gate that every result passes before its time counts: references, and checks against them.

mod spmv;
mod symgs;

pub use spmv::{PAPER_EPSILON, Reference};
pub use symgs::{SweepBounds, offenders, same_bits};
