//! Where a device comes from: an adapter, which opens any number of devices natively; in the page a browser's,
//! which opens one, so that each device has an adapter of its own.

use crate::device::Device;
use crate::error::DeviceError;
use crate::options::Options;
#[cfg(target_family = "wasm")]
use crate::page;

/// What opens devices.
#[cfg(not(target_family = "wasm"))]
pub(crate) struct Source(pub(crate) wgpu::Adapter);

/// The same: what tells of a device that was just opened.
#[cfg(target_family = "wasm")]
pub(crate) struct Source(pub(crate) page::Teller);

impl Source {
    /// Opens a device.
    #[cfg(not(target_family = "wasm"))]
    pub(crate) async fn device(&self, options: Options) -> Result<Device, DeviceError> {
        Device::open(&self.0, options).await
    }

    /// Opens a device of a new adapter.
    #[cfg(target_family = "wasm")]
    pub(crate) async fn device(&self, options: Options) -> Result<Device, DeviceError> {
        let adapter = page::adapter().await?;
        let device = Device::open(&adapter, options).await?;
        Ok(page::described(device, (self.0)()))
    }
}
