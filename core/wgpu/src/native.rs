//! Everything that blocks, and is not part of the page: finding adapters, and waiting for the device.

use std::time::Duration;

use sparsescope_core::experiment::Ticket;
use sparsescope_core::record::{GPU_SWITCH, GpuAbsence};

use crate::names::is_software;

/// Maximum wait before control returns to the caller.
const REST: Duration = Duration::from_millis(100);

/// Waits until the device has completed what was submitted, or a short time has passed.
pub(crate) fn rest(device: &wgpu::Device) {
    // If the wait ended early or the device was lost, the caller notices.
    let _ = device.poll(wgpu::PollType::Wait { submission_index: None, timeout: Some(REST) });
}

/// Number of adapters.
pub fn count() -> Result<usize, GpuAbsence> {
    Ok(adapters()?.len())
}

/// The adapter of this number, from 0: those with dedicated memory first, software ones last.
pub(crate) fn adapter(ordinal: usize) -> Result<wgpu::Adapter, GpuAbsence> {
    let mut all = adapters()?;
    match ordinal < all.len() {
        true => Ok(all.swap_remove(ordinal)),
        false => Err(GpuAbsence::NoSuchAdapter { asked: ordinal, found: all.len() }),
    }
}

fn adapters() -> Result<Vec<wgpu::Adapter>, GpuAbsence> {
    if std::env::var(GPU_SWITCH).is_ok_and(|value| value.trim().eq_ignore_ascii_case("off")) {
        return Err(GpuAbsence::Disabled);
    }
    let backends = wgpu::Backends::VULKAN | wgpu::Backends::METAL | wgpu::Backends::DX12;
    let descriptor = wgpu::InstanceDescriptor {
        backends,
        // No validation layers: they are missing where this is measured, or distort the times.
        flags: wgpu::InstanceFlags::empty(),
        ..wgpu::InstanceDescriptor::new_without_display_handle()
    };
    let instance = wgpu::Instance::new(descriptor);
    let mut all = Ticket::later(instance.enumerate_adapters(backends)).wait();
    all.sort_by_key(|adapter| {
        let info = adapter.get_info();
        match (is_software(&info), info.device_type) {
            (true, _) => 4,
            (_, wgpu::DeviceType::DiscreteGpu) => 0,
            (_, wgpu::DeviceType::IntegratedGpu) => 1,
            (_, wgpu::DeviceType::VirtualGpu) => 2,
            _ => 3,
        }
    });
    if all.is_empty() { Err(GpuAbsence::NoAdapter) } else { Ok(all) }
}
