//! Kernels of SpMV, SpMM and symmetric Gauss–Seidel, and solvers, in other people's shared libraries, behind a small C
//! interface (`docs/examples/sparsescope_kernel.h`).
//!
//! A library runs in a process of its own, which shares the arrays with the measuring one, so that a crash, a
//! hang or a leak ends only its run. This guards against accidents, not against fraud: a library that wants to
//! deceive can.

mod abi;
mod area;
mod backend;
mod computed;
mod gpu;
mod host;
mod library;
mod operands;
mod prepared;
mod process;

pub use backend::WithLibraries;
pub use gpu::{GpuTimes, LibraryGpu, OpenGpu, Work};
pub use host::{HOST, host};
pub use library::KernelLibrary;
