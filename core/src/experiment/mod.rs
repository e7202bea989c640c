//! Experiments: the descriptors of all kernels, the backends that run them, the problems they are
//! run on, and the runner that checks and times them.

mod absence;
mod backend;
#[cfg(not(target_family = "wasm"))]
mod cpu;
mod descriptor;
mod grid;
mod loaded;
mod mapping;
mod plan;
mod predict;
mod problem;
mod runner;
#[cfg(not(target_family = "wasm"))]
mod source;

pub use absence::{GPU_SWITCH, GpuAbsence};
pub use backend::{
    Availability, Backend, KernelError, PrepareError, Prepared, Setting, Temperature,
};
#[cfg(not(target_family = "wasm"))]
pub use cpu::CpuBackend;
pub use descriptor::{
    DeviceKind, Format, FormatParams, KERNELS, KernelDescriptor, Operation, Origin, REFERENCE,
    kernel,
};
pub use grid::{Access, COO_SPAN, GridMapping, LANES, Pass, Run, Runs, Work};
pub(crate) use grid::{row_length, slot, span_entries};
pub use loaded::{LoadedMatrix, LoadedValues, ReadMatrix, matrix_name};
pub(crate) use mapping::rows_of;
pub use mapping::{Mapping, Share, row_at, row_steps};
pub use plan::{Configuration, SelectError, Settings, select_kernels};
pub use predict::predict;
pub use problem::{Converted, Output, Problem, SpmvProblem};
pub use runner::{Ending, Observer, Runner};
#[cfg(not(target_family = "wasm"))]
pub use source::{MatrixSource, SourceError, matrix_cache, matrix_folders};
