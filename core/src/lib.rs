//! Sparse matrix formats, CPU kernels, measuring, experiments and result bundles.
//!
//! The crate knows neither windows nor CUDA and builds for `wasm32-unknown-unknown`.

pub mod bundle;
pub mod experiment;
pub mod generate;
pub mod io;
pub mod layout;
pub mod matrix;
pub mod measure;
pub mod memory;
mod parallel;
pub mod spmv;
pub mod spy;
