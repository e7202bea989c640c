//! Sparse matrix formats, CPU kernels, measurement, experiments and result bundles.
//!
//! The crates below `core/` hold the code; this one gives their modules one name. Nothing here has a window or
//! CUDA code, and all of it builds for `wasm32-unknown-unknown`.

pub use sparsescope_bench::{experiment, measure};
pub use sparsescope_bundle as bundle;
pub use sparsescope_kernels::{dense, fsai, gate, pcg, skyline, spmv, symgs};
pub use sparsescope_matrix::{distributed, generate, io, matrix, memory, pace, samples, spy};
pub use sparsescope_model::{kernel, layout};
pub use sparsescope_record as record;

#[doc(hidden)]
pub use sparsescope_matrix::{order, parallel};

#[cfg(not(target_family = "wasm"))]
pub use sparsescope_bench::libraries;
#[cfg(not(target_family = "wasm"))]
pub use sparsescope_matrix::files;
