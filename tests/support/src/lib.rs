//! Helpers for tests of several crates that do not build the whole program: what a test needs beyond Cargo,
//! what is run on devices, and faults planted in backends.

pub mod devices;
pub mod planted;

pub use sparsescope_test_need::{Need, has_rbox, is_required, matrices, skip};
