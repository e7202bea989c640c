//! The device as a bundle records it.

use std::collections::BTreeMap;

use sparsescope_core::record::Gpu;

use crate::device::{Device, DeviceError};
use crate::memory::{DeviceBandwidth, Memory};
use crate::nvml::{Moment, Nvml};
use crate::probe::version_name;

/// The device with its measured bandwidth, its clocks under that load and the versions of its
/// software. `cusparse` is the library's version, if there is one, and `bandwidth` measures the
/// bandwidth.
pub(crate) fn gpu(
    device: &Device,
    bandwidth: impl FnOnce() -> Result<DeviceBandwidth, DeviceError>,
    cusparse: Option<&str>,
    memory: Result<&Memory, &DeviceError>,
    nvml: Option<&Nvml>,
) -> Gpu {
    let properties = device.properties();
    let (major, minor) = properties.capability;
    let mut details = BTreeMap::new();
    let mut tell = |name: &str, value: String| details.insert(name.to_owned(), value);
    tell("compute_capability", format!("{major}.{minor}"));
    tell("multiprocessors", properties.multiprocessors.to_string());
    tell("l2_bytes", properties.l2_bytes.to_string());
    tell("memory_bytes", properties.memory_bytes.to_string());
    tell("cuda_driver", version_name(device.driver_version()));
    tell("nvrtc", device.nvrtc().version_name());
    if let Some(version) = cusparse {
        tell("cusparse", version.to_owned());
    }
    let before = nvml.map(Nvml::moment).unwrap_or_default();
    let measured = bandwidth();
    let after = nvml.map(Nvml::moment).unwrap_or_default();
    match &measured {
        Ok(measured) => {
            tell("triad_bytes_per_second", format!("{:.0}", measured.triad));
            tell("bandwidth_array_bytes", measured.array_bytes.to_string());
        }
        Err(error) => {
            tell("bandwidth", format!("not measured: {error}"));
        }
    }
    if let Ok(Ok(seconds)) = memory.map(|memory| memory.launch_seconds(device)) {
        tell("launch_seconds", format!("{seconds:e}"));
    }
    match nvml {
        Some(nvml) => {
            if let Some(driver) = nvml.driver() {
                tell("driver", driver);
            }
            for (name, value) in told(&before, &after) {
                tell(name, value);
            }
        }
        None => {
            tell(
                "nvml",
                "not found: clocks, throttling and other processes are unknown".to_owned(),
            );
        }
    }
    Gpu { model: properties.name.clone(), details, copy: measured.ok().map(|m| m.copy) }
}

/// Clocks right after the load, and throttling before or after it.
fn told(before: &Moment, after: &Moment) -> Vec<(&'static str, String)> {
    let numbers = [
        ("sm_mhz", after.sm_mhz),
        ("memory_mhz", after.memory_mhz),
        ("max_sm_mhz", after.max_sm_mhz),
        ("max_memory_mhz", after.max_memory_mhz),
        ("celsius", after.celsius),
        ("watts", after.milliwatts.map(|milliwatts| milliwatts / 1000)),
        // Excludes this process.
        ("other_processes", after.processes.map(|count| count.saturating_sub(1))),
    ];
    let known = numbers.into_iter().filter_map(|(name, value)| Some((name, value?.to_string())));
    let mut all: Vec<_> = known.collect();
    if let (Some(before), Some(after)) = (before.reasons, after.reasons) {
        let mut reasons: Vec<&str> = before.names().chain(after.names()).collect();
        reasons.sort_unstable();
        reasons.dedup();
        let text = if reasons.is_empty() { "none".to_owned() } else { reasons.join(", ") };
        all.push(("throttled", text));
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::throttle::Reasons;

    #[test]
    fn what_the_library_does_not_tell_is_left_out_and_reasons_of_both_moments_count() {
        assert_eq!(told(&Moment::default(), &Moment::default()), []);
        let before = Moment { reasons: Some(Reasons(0x01 | 0x04)), ..Moment::default() };
        let after = Moment {
            reasons: Some(Reasons(0x08 | 0x04)),
            milliwatts: Some(350_900),
            processes: Some(3),
            ..Moment::default()
        };
        let told = told(&before, &after);
        assert!(told.contains(&("throttled", "hardware slowdown, software power cap".to_owned())));
        assert!(told.contains(&("watts", "350".to_owned())));
        assert!(told.contains(&("other_processes", "2".to_owned())));
    }
}
