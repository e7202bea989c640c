//! The GPU, or why there is none.

use sparsescope_core::experiment::{Availability, Backend};
use sparsescope_core::kernel::KernelDescriptor;
use sparsescope_core::libraries::LibraryGpu;
use sparsescope_core::record::GpuAbsence;

/// A GPU's backend.
pub(super) type Gpu = Box<dyn Backend>;

/// Opens the GPU with this number, from 0.
#[cfg(feature = "cuda")]
pub(super) fn open(device: usize) -> Result<Gpu, GpuAbsence> {
    Ok(Box::new(sparsescope_cuda::CudaBackend::open(device)?))
}

/// Opens the GPU with this number, from 0.
#[cfg(not(feature = "cuda"))]
pub(super) fn open(_: usize) -> Result<Gpu, GpuAbsence> {
    Err(GpuAbsence::NotCompiled)
}

/// Connects the GPUs of this machine.
#[cfg(feature = "cuda")]
pub(super) fn several() -> Result<Gpu, GpuAbsence> {
    Ok(Box::new(sparsescope_cuda::NcclBackend::open()?))
}

/// Connects the GPUs of this machine.
#[cfg(not(feature = "cuda"))]
pub(super) fn several() -> Result<Gpu, GpuAbsence> {
    Err(GpuAbsence::NotCompiled)
}

/// Opens the GPU with this number, from 0, for the kernel library of this process.
#[cfg(feature = "cuda")]
pub(super) fn for_library(device: usize) -> Result<Box<dyn LibraryGpu>, String> {
    Ok(Box::new(sparsescope_cuda::HostedGpu::open(device)?))
}

/// Opens the GPU with this number, from 0, for the kernel library of this process.
#[cfg(not(feature = "cuda"))]
pub(super) fn for_library(_: usize) -> Result<Box<dyn LibraryGpu>, String> {
    Err(GpuAbsence::NotCompiled.to_string())
}

/// The number of GPUs.
#[cfg(feature = "cuda")]
pub(crate) fn count() -> Result<usize, GpuAbsence> {
    sparsescope_cuda::probe().map(|found| found.devices)
}

/// The number of GPUs.
#[cfg(not(feature = "cuda"))]
pub(crate) fn count() -> Result<usize, GpuAbsence> {
    Err(GpuAbsence::NotCompiled)
}

/// Builds a user's kernel without a GPU, if there is a compiler; fails with the compiler's message.
#[cfg(feature = "cuda")]
pub(super) fn check_user_kernel(kernel: &KernelDescriptor) -> anyhow::Result<()> {
    use sparsescope_cuda::{KernelCache, Nvrtc};
    let Ok(nvrtc) = Nvrtc::find(None) else { return Ok(()) };
    Ok(sparsescope_cuda::check_user_kernel(kernel, &nvrtc, &KernelCache::of_user())?)
}

/// There is no compiler.
#[cfg(not(feature = "cuda"))]
pub(super) fn check_user_kernel(_: &KernelDescriptor) -> anyhow::Result<()> {
    Ok(())
}

/// Whether a GPU kernel can run.
pub(super) fn availability(
    gpu: &Result<Gpu, GpuAbsence>,
    kernel: &KernelDescriptor,
) -> Availability {
    match gpu {
        Ok(gpu) => gpu.availability(kernel),
        Err(absence) => Availability::Missing(absence.to_string()),
    }
}
