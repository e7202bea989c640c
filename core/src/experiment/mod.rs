//! Experiments: the descriptors of all kernels, the backends that run them, and the problems
//! they are run on.

mod backend;
mod descriptor;
mod mapping;
mod problem;

pub use backend::{
    Availability, Backend, KernelError, PrepareError, Prepared, Setting, Temperature,
};
pub use descriptor::{
    DeviceKind, Format, FormatParams, KERNELS, KernelDescriptor, Operation, Origin, REFERENCE,
    kernel,
};
pub use mapping::{Mapping, Share, row_steps};
pub use problem::{Converted, Output, Problem, SpmvProblem};
