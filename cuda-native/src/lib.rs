//! Sparsescope's CUDA backend: the kernels of `kernels/*.cu`, built by NVRTC for the current
//! device, their launchers, and the vendor's kernels.
//!
//! No CUDA library is linked: all are loaded at run time, and a missing one is a value
//! ([`GpuAbsence`]), never a panic.
//!
//! [`GpuAbsence`]: sparsescope_core::record::GpuAbsence

#![cfg(not(target_family = "wasm"))]
#![deny(clippy::indexing_slicing, clippy::string_slice)]

mod arguments;
mod arrays;
mod backend;
mod buffer;
mod cache;
mod clock;
mod convert;
mod cublas;
mod cusolver;
mod cusparse;
mod dense;
mod device;
mod energy;
mod environment;
mod fsai;
mod guarded;
mod hosted;
mod kernels;
mod launch;
mod library;
mod machine;
mod memory;
mod meter;
mod nccl;
mod nvml;
mod nvrtc;
mod one_gpu;
mod order;
mod pcg;
mod prepared;
mod probe;
mod product;
mod refusal;
mod sampling;
mod setup;
mod several;
mod skyline;
mod solves;
mod spmm;
mod spmv;
mod symgs;
mod throttle;
mod transpose;
mod upload;
mod user_source;
mod value;

pub use backend::CudaBackend;
pub use cache::{KERNEL_CACHE, KernelCache};
pub use device::{Device, DeviceError, Properties};
pub use fsai::{DeviceFsai, FsaiSetUpError, GatheredBy};
pub use hosted::HostedGpu;
pub use kernels::{Family, Variant};
pub use library::LIBRARY_FOLDERS;
pub use nvrtc::{CompileError, Nvrtc};
pub use probe::{DRIVER_SYMBOLS, OLDEST_DRIVER, Probe, probe};
pub use product::CudaProduct;
pub use several::{
    ByRowsError, FoundGpu, GpuOfRank, NcclBackend, ProductOfRows, SolveOfRows, nccl_kernels,
};
pub use symgs::SymgsPreconditioner;
pub use user_source::check_user_kernel;
