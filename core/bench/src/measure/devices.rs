//! The devices of a machine that kernels can run on: the output of `sparsescope devices`.

use std::sync::atomic::AtomicBool;

use serde::Serialize;

use super::{BandwidthError, environment, measure_bandwidth};
use sparsescope_record::{Bandwidth, Cpu, Gpu, GpuAbsence};

/// The CPU with its measured bandwidth, and GPUs or the reason why there are none.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Devices {
    /// The CPU.
    pub cpu: Cpu,
    /// Maximum memory that this process may use.
    pub memory_bytes: u64,
    /// Operating system and kernel version.
    pub os: String,
    /// Memory bandwidth, one element per thread count.
    pub bandwidth: Vec<Bandwidth>,
    /// GPUs that kernels can run on.
    pub gpus: Vec<Gpu>,
    /// One sentence with the reason if `gpus` is empty.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gpus_absent: Option<String>,
}

impl Devices {
    /// Describes the CPU and measures its bandwidth with each of these thread counts. A backend that finds
    /// GPUs fills in `gpus`.
    pub fn measure(threads: &[u32], cancel: &AtomicBool) -> Result<Self, BandwidthError> {
        let machine = environment(measure_bandwidth(threads, cancel)?);
        Ok(Self {
            cpu: machine.cpu,
            memory_bytes: machine.memory_bytes,
            os: machine.os,
            bandwidth: machine.bandwidth,
            gpus: Vec::new(),
            gpus_absent: Some(GpuAbsence::NotCompiled.to_string()),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_a_gpu_backend_the_json_says_why_there_is_none() {
        let devices = Devices::measure(&[], &AtomicBool::new(false)).unwrap();
        let json = serde_json::to_value(&devices).unwrap();
        assert_eq!(json["gpus"], serde_json::json!([]));
        assert_eq!(json["gpus_absent"], GpuAbsence::NotCompiled.to_string());
        assert!(json["cpu"]["logical"].as_u64().unwrap() >= 1);
    }
}
