//! Experiments: the machine and its bandwidth, the problems that kernels are measured on, the backends that run
//! kernels, and the runner that checks and times them.

pub mod experiment;
pub mod measure;
#[cfg(not(target_family = "wasm"))]
mod mkl;
