//! Experiments: the descriptors of all kernels, the backends that run them, and the problems
//! they are run on.

mod backend;
#[cfg(not(target_family = "wasm"))]
mod cpu;
mod descriptor;
mod mapping;
mod problem;

pub use backend::{
    Availability, Backend, KernelError, PrepareError, Prepared, Setting, Temperature,
};
#[cfg(not(target_family = "wasm"))]
pub use cpu::CpuBackend;
pub use descriptor::{
    DeviceKind, Format, FormatParams, KERNELS, KernelDescriptor, Operation, Origin, REFERENCE,
    kernel,
};
pub use mapping::{Mapping, Share, row_steps};
pub use problem::{Converted, Output, Problem, SpmvProblem};
