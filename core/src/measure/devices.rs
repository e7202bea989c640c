//! What a machine offers to run on: the answer of `sparsescope devices`.

use std::sync::atomic::AtomicBool;

use serde::Serialize;

use super::{BandwidthError, environment, measure_bandwidth};
use crate::record::{Bandwidth, Cpu, Gpu, GpuAbsence};

/// Processor with its measured bandwidth, and graphics processors or why there are none.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Devices {
    /// The processor.
    pub cpu: Cpu,
    /// Memory that this process may use at most.
    pub memory_bytes: u64,
    /// Operating system and kernel version.
    pub os: String,
    /// Memory bandwidth, one entry a thread count.
    pub bandwidth: Vec<Bandwidth>,
    /// Graphics processors that kernels can run on.
    pub gpus: Vec<Gpu>,
    /// One sentence when `gpus` is empty.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gpus_absent: Option<String>,
}

impl Devices {
    /// Describes the processor and measures its bandwidth with each of these thread counts. A
    /// backend that finds graphics processors fills `gpus` in.
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
