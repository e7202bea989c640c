//! A browser's adapter and device. The page provides what wgpu does not report about a device.

#![cfg_attr(
    not(target_family = "wasm"),
    allow(dead_code, reason = "only a page has such a device")
)]

use std::collections::BTreeMap;

use crate::device::Device;
#[cfg(target_family = "wasm")]
use crate::error::DeviceError;

/// What a page reports about the device opened last, by WebGPU; empty where the browser withholds it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PageDevice {
    /// `adapterInfo.vendor`.
    pub vendor: String,
    /// `adapterInfo.architecture`.
    pub architecture: String,
    /// `adapterInfo.description`.
    pub description: String,
    /// Whether it is emulated on a CPU: `adapterInfo.isFallbackAdapter`.
    pub is_fallback: bool,
    /// Whether the device itself has `subgroups`.
    pub has_subgroups: bool,
    /// The browser and its version.
    pub browser: String,
}

/// Returns the properties of the device opened last.
pub type Teller = Box<dyn Fn() -> PageDevice>;

impl PageDevice {
    /// Its name: its description, else its vendor and architecture.
    pub(crate) fn name(&self) -> String {
        let parts = [&self.vendor, &self.architecture].map(|part| part.trim());
        let parts: Vec<&str> = parts.into_iter().filter(|part| !part.is_empty()).collect();
        match (self.description.trim(), parts.is_empty()) {
            ("", true) => "unnamed GPU".to_owned(),
            ("", false) => parts.join(" "),
            (description, _) => description.to_owned(),
        }
    }

    /// Whether the GPU is emulated on a CPU.
    pub(crate) fn is_software(&self) -> bool {
        let architecture = self.architecture.to_lowercase();
        self.is_fallback || ["swiftshader", "llvmpipe"].contains(&architecture.as_str())
    }

    /// Properties to record.
    fn details(&self) -> BTreeMap<&'static str, String> {
        [
            ("vendor", &self.vendor),
            ("architecture", &self.architecture),
            ("description", &self.description),
            ("browser", &self.browser),
        ]
        .map(|(name, value)| (name, value.clone()))
        .into()
    }
}

/// Requests a new adapter from the browser.
#[cfg(target_family = "wasm")]
pub(crate) async fn adapter() -> Result<wgpu::Adapter, DeviceError> {
    let descriptor = wgpu::InstanceDescriptor {
        backends: wgpu::Backends::BROWSER_WEBGPU,
        ..wgpu::InstanceDescriptor::new_without_display_handle()
    };
    let options = wgpu::RequestAdapterOptions {
        power_preference: wgpu::PowerPreference::HighPerformance,
        ..Default::default()
    };
    let asked = wgpu::Instance::new(descriptor).request_adapter(&options).await;
    asked.map_err(|_| DeviceError::NoAdapter)
}

/// Adds the page's properties of the device to it.
pub(crate) fn described(mut device: Device, page: PageDevice) -> Device {
    device.info.name = page.name();
    if page.is_software() {
        device.info.device_type = wgpu::DeviceType::Cpu;
    }
    device.has_subgroups = page.has_subgroups;
    device.told = page.details();
    device
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_device_has_the_name_that_there_is_and_software_is_known() {
        let named = |vendor: &str, architecture: &str, description: &str| PageDevice {
            vendor: vendor.to_owned(),
            architecture: architecture.to_owned(),
            description: description.to_owned(),
            ..PageDevice::default()
        };
        assert_eq!(named("nvidia", "hopper", "").name(), "nvidia hopper");
        assert_eq!(named("apple", "", "Apple M2").name(), "Apple M2");
        assert_eq!(named("", "", " ").name(), "unnamed GPU");
        assert!(named("google", "swiftshader", "").is_software());
        assert!(!named("intel", "xe", "").is_software());
        assert!(PageDevice { is_fallback: true, ..named("intel", "xe", "") }.is_software());
    }
}
