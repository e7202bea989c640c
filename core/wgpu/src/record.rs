//! The device as a bundle records it.

use std::collections::BTreeMap;

use sparsescope_core::record::Gpu;

use crate::clock::Clock;
use crate::device::Device;
use crate::error::DeviceError;
use crate::names::{interface, kind, model, vendor};

/// The device with its clock and its bandwidth, or why that could not be measured.
pub(crate) fn gpu(
    device: &Device,
    clock: Result<&Clock, &DeviceError>,
    copy: &Result<(f64, u64), DeviceError>,
) -> Gpu {
    let info = &device.info;
    let mut details = BTreeMap::new();
    let mut tell = |name: &str, value: String| {
        if !value.is_empty() {
            details.insert(name.to_owned(), value);
        }
    };
    tell("interface", interface(info.backend).to_owned());
    tell("vendor", vendor(info.vendor));
    device.told.iter().for_each(|(name, value)| tell(name, value.clone()));
    tell("kind", kind(info).to_owned());
    tell("driver", info.driver.clone());
    tell("driver_info", info.driver_info.clone());
    tell("bus", info.device_pci_bus_id.clone());
    let (least, most) = (info.subgroup_min_size, info.subgroup_max_size);
    let features = device.features();
    if features.get("subgroups") == Some(&true) {
        tell("subgroup_sizes", format!("{least} to {most}"));
    }
    let used: Vec<&str> =
        features.iter().filter(|(_, is_used)| **is_used).map(|(name, _)| *name).collect();
    tell("features", used.join(", "));
    tell("largest_array_bytes", device.most_bytes().to_string());
    tell("clock", clock.map_or_else(ToString::to_string, Clock::name));
    match copy {
        Ok((_, bytes)) => tell("bandwidth_array_bytes", bytes.to_string()),
        Err(error) => tell("bandwidth", format!("not measured: {error}")),
    }
    let copy = copy.as_ref().ok().map(|(copy, _)| *copy);
    Gpu { model: model(info), details, copy }
}
