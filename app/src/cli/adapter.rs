//! The device that wgpu reaches, or why there is none.

use sparsescope_core::experiment::Availability;
use sparsescope_core::kernel::KernelDescriptor;
use sparsescope_core::record::GpuAbsence;

use super::gpu::Gpu;

/// If this variable is `on`, WGSL kernels check every index, as browsers do, to measure what that costs.
#[cfg(feature = "wgpu")]
const CHECKS_SWITCH: &str = "SPARSESCOPE_WGPU_CHECKS";

/// Opens the device with this number, from 0: GPUs with memory of their own first, software last.
#[cfg(feature = "wgpu")]
pub(super) fn open(device: usize) -> Result<Gpu, GpuAbsence> {
    use sparsescope_wgpu::{Options, WgpuBackend};
    let checks = std::env::var(CHECKS_SWITCH).is_ok_and(|value| value.trim() == "on");
    Ok(Box::new(WgpuBackend::open(device, Options { checks, ..Options::default() })?))
}

/// Opens the device with this number, from 0.
#[cfg(not(feature = "wgpu"))]
pub(super) fn open(_: usize) -> Result<Gpu, GpuAbsence> {
    Err(GpuAbsence::NoWgpu)
}

/// The number of devices.
#[cfg(feature = "wgpu")]
pub(super) fn count() -> Result<usize, GpuAbsence> {
    sparsescope_wgpu::count()
}

/// The number of devices.
#[cfg(not(feature = "wgpu"))]
pub(super) fn count() -> Result<usize, GpuAbsence> {
    Err(GpuAbsence::NoWgpu)
}

/// Whether a WGSL kernel can run.
pub(super) fn availability(
    adapter: &Result<Gpu, GpuAbsence>,
    kernel: &KernelDescriptor,
) -> Availability {
    match adapter {
        Ok(adapter) => adapter.availability(kernel),
        Err(absence) => Availability::Missing(absence.to_string()),
    }
}
