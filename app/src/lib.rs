//! Sparsescope: see a sparse matrix, run its kernels, share the result as one file.

#[cfg(not(target_family = "wasm"))]
pub mod cli;
