//! Sparse matrix formats, CPU kernels, measurement, experiments and result bundles.
//!
//! The crate has no window or CUDA code and builds for `wasm32-unknown-unknown`.

pub mod bundle;
pub mod dense;
pub mod distributed;
pub mod experiment;
#[cfg(not(target_family = "wasm"))]
pub mod files;
pub mod fsai;
pub mod gate;
pub mod generate;
pub mod io;
pub mod kernel;
pub mod layout;
pub mod matrix;
pub mod measure;
pub mod memory;
#[cfg(not(target_family = "wasm"))]
mod mkl;
#[cfg(all(feature = "mpi", not(target_family = "wasm")))]
pub mod mpi;
pub mod pace;
mod packed;
mod parallel;
pub mod pcg;
pub mod record;
pub mod samples;
pub mod skyline;
pub mod spmv;
pub mod spy;
pub mod symgs;
