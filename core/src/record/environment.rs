//! `environment.json`: the machines that were measured on.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// `environment.json`: one entry a machine (several after a merge); runs name theirs by `id`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Environments {
    /// The machines.
    pub environments: Vec<Environment>,
}

/// A machine as it was while measuring.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Environment {
    /// Short name that runs refer to, unique in the bundle.
    pub id: String,
    /// The processor.
    pub cpu: Cpu,
    /// Installed memory, as far as the control group lets it be used.
    pub memory_bytes: u64,
    /// Operating system and kernel version.
    pub os: String,
    /// How the program was compiled.
    pub build: Build,
    /// Graphics processors used.
    #[serde(default)]
    pub gpus: Vec<Gpu>,
    /// Measured memory bandwidth, one entry a thread count.
    #[serde(default)]
    pub bandwidth: Vec<Bandwidth>,
    /// Each thread of a run was bound to a processor of its own, where there were enough.
    #[serde(default)]
    pub threads_bound: bool,
    /// What may have disturbed the measurement.
    #[serde(default)]
    pub noise: Noise,
    /// Versions of the libraries whose kernels ran on the processor, by name; those of a GPU are with it.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub libraries: BTreeMap<String, String>,
}

/// The processor as the operating system describes it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Cpu {
    /// Model name.
    pub model: String,
    /// `x86_64`, `aarch64`, …
    pub architecture: String,
    /// Logical processors that this process may use.
    pub logical: u32,
    /// Physical cores, when known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub physical: Option<u32>,
    /// SIMD extensions found at run time, e.g. `avx2`, `avx512f`.
    #[serde(default)]
    pub simd: Vec<String>,
    /// Caches, smallest level first.
    #[serde(default)]
    pub caches: Vec<Cache>,
    /// Frequency governor, when the system tells.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub governor: Option<String>,
}

/// One cache as a core sees it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cache {
    /// 1, 2, 3, …
    pub level: u32,
    /// `data`, `instruction` or `unified`.
    pub kind: String,
    /// Size.
    pub bytes: u64,
    /// Logical processors that share it, when known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shared_by: Option<u32>,
}

/// How the program was compiled.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Build {
    /// `rustc --version`.
    pub rustc: String,
    /// Target triple.
    pub target: String,
    /// `release` or `debug`.
    pub profile: String,
    /// `RUSTFLAGS` and target features that were set, empty when none.
    pub flags: String,
}

/// A graphics processor.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Gpu {
    /// Model name.
    pub model: String,
    /// Everything else that its backend reports (driver, clocks, library versions), by name.
    #[serde(default)]
    pub details: BTreeMap<String, String>,
    /// Measured copy bandwidth, bytes read plus bytes written per second.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub copy: Option<f64>,
}

/// Memory bandwidth measured with a number of threads (best of several passes; no write-allocate
/// traffic counted, as in STREAM).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Bandwidth {
    /// Threads that took part.
    pub threads: u32,
    /// Size of each array.
    pub array_bytes: u64,
    /// `c[i] = a[i]`: 16 bytes an element.
    pub copy: f64,
    /// `c[i] = a[i] + s·b[i]`: 24 bytes an element.
    pub triad: f64,
    /// `s += a[i]`: 8 bytes an element.
    pub read: f64,
}

/// What may have disturbed the measurement.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Noise {
    /// One-minute load average before the first run, when the system has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub load_before: Option<f64>,
    /// The same after the last run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub load_after: Option<f64>,
    /// Processor seconds that a hypervisor took away meanwhile, when the system counts them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stolen_seconds: Option<f64>,
}
