//! The gate that every result passes before its time counts: references, and checks against them.

mod spmv;

pub use spmv::{PAPER_EPSILON, Reference};
