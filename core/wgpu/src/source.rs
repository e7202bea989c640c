//! Sources of devices: an adapter, which opens any number of devices natively; in the page, a browser's
//! adapter opens only one, so that each device has its own adapter.

use crate::device::Device;
use crate::error::DeviceError;
use crate::options::Options;
#[cfg(target_family = "wasm")]
use crate::page;

/// Opens devices.
#[cfg(not(target_family = "wasm"))]
pub(crate) struct Source(pub(crate) wgpu::Adapter);

/// The same in the page: reports the properties of a device just opened.
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
