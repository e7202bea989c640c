//! Helpers for tests of several crates that do not build the whole program: what a test needs beyond Cargo,
//! and faults planted in backends.
//!
//! Most tests run on any machine. One that needs more than that says so with [`skip!`](crate::skip!):
//! it is skipped where the need is absent, and fails where `SPARSESCOPE_REQUIRE` names the need.

mod need;
pub mod planted;

pub use need::{Need, is_required, skip};
