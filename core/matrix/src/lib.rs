//! Sparse matrix formats, files, generators, and the structure of a matrix at every zoom level; with what every
//! crate above uses: memory limits, output files, pauses in long work, parallel loops.
//!
//! Items hidden from the documentation are public for the other crates of the core only.

pub mod distributed;
#[cfg(not(target_family = "wasm"))]
pub mod files;
pub mod generate;
pub mod io;
pub mod matrix;
pub mod memory;
#[doc(hidden)]
pub mod order;
pub mod pace;
#[doc(hidden)]
pub mod packed;
#[doc(hidden)]
pub mod parallel;
pub mod samples;
pub mod spy;
pub mod vector;
