//! Experiments: the backends that run kernels, the problems they are run on, and the runner that
//! checks and times them.

mod backend;
#[cfg(not(target_family = "wasm"))]
mod cpu;
mod loaded;
mod plan;
mod predict;
mod problem;
mod runner;
#[cfg(not(target_family = "wasm"))]
mod source;

pub use backend::{
    Availability, Backend, KernelError, PrepareError, Prepared, Setting, Temperature,
};
#[cfg(not(target_family = "wasm"))]
pub use cpu::CpuBackend;
pub use loaded::{LoadedMatrix, LoadedValues, ReadMatrix};
pub use plan::{Configuration, SelectError, Settings, select_kernels};
pub use predict::predict;
pub use problem::{Converted, Output, Problem, SpmvProblem};
pub use runner::{Ending, Observer, Runner};
#[cfg(not(target_family = "wasm"))]
pub use source::{MatrixSource, SourceError, matrix_cache, matrix_folders};
