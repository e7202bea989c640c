//! Experiments: the machine and its bandwidth, the problems that kernels are measured on, the backends that run
//! kernels, the runner that checks and times them, and kernels in other people's libraries.

pub mod experiment;
#[cfg(not(target_family = "wasm"))]
pub mod libraries;
pub mod measure;
#[cfg(not(target_family = "wasm"))]
mod mkl;
