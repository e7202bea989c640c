//! `environment.json`: the machines that were used.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// `environment.json`: one element per machine (several after a merge); runs refer to theirs by `id`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Environments {
    /// The machines.
    pub environments: Vec<Environment>,
}

/// A machine at the time of measurement.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Environment {
    /// Short name that runs refer to, unique in the bundle.
    pub id: String,
    /// The CPU.
    pub cpu: Cpu,
    /// Installed memory, within the limit of the control group.
    pub memory_bytes: u64,
    /// Operating system and kernel version.
    pub os: String,
    /// How the program was compiled.
    pub build: Build,
    /// GPUs used.
    #[serde(default)]
    pub gpus: Vec<Gpu>,
    /// Measured memory bandwidth, one element per thread count.
    #[serde(default)]
    pub bandwidth: Vec<Bandwidth>,
    /// Whether each thread of a run was bound to a core of its own, if there were enough.
    #[serde(default)]
    pub threads_bound: bool,
    /// What may have disturbed the measurement.
    #[serde(default)]
    pub noise: Noise,
    /// Versions of the libraries whose kernels ran on the CPU, by name; those of a GPU are listed with it.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub libraries: BTreeMap<String, String>,
}

impl Environment {
    /// Whether both describe the same machine, as in parts of one sweep: what was measured, the
    /// libraries and the GPUs used may differ. Machines without a CPU model are different.
    pub fn is_same_machine(&self, other: &Self) -> bool {
        let fixed = |machine: &Self| {
            let cpu = &machine.cpu;
            (cpu.architecture.clone(), cpu.logical, cpu.physical, machine.memory_bytes)
        };
        let gpus = |machine: &Self| -> Vec<String> {
            machine.gpus.iter().map(|gpu| gpu.model.clone()).collect()
        };
        let [own, others] = [self, other].map(gpus);
        !self.cpu.model.is_empty()
            && (&self.cpu.model, &self.os) == (&other.cpu.model, &other.os)
            && fixed(self) == fixed(other)
            && (own.is_empty() || others.is_empty() || own == others)
    }

    /// Whether times of this device on both belong to one history: the same CPU and number of cores, about as much
    /// memory and, for a GPU, the same major version of its driver. The operating system and its kernel may differ:
    /// they change when a machine is updated, or when a rented one is replaced by another of its kind. Machines
    /// without a CPU model are different.
    pub fn is_same_kind(&self, other: &Self, device: &str) -> bool {
        let cores = |machine: &Self| (machine.cpu.logical, machine.cpu.physical);
        let (own, others) = (self.memory_bytes, other.memory_bytes);
        !self.cpu.model.is_empty()
            && (&self.cpu.model, &self.cpu.architecture)
                == (&other.cpu.model, &other.cpu.architecture)
            && cores(self) == cores(other)
            // What a system reserves for itself depends on its version.
            && own.abs_diff(others) <= own.max(others) / 10
            && self.driver(device) == other.driver(device)
    }

    /// The major version of the driver of the GPU with this model name.
    fn driver(&self, model: &str) -> Option<&str> {
        let gpu = self.gpus.iter().find(|gpu| gpu.model == model)?;
        gpu.details.get("driver")?.split('.').next()
    }

    /// The number of different machines.
    pub fn machines(environments: &[Self]) -> usize {
        let mut found: Vec<&Self> = Vec::new();
        for environment in environments {
            if !found.iter().any(|machine| machine.is_same_machine(environment)) {
                found.push(environment);
            }
        }
        found.len()
    }
}

/// The CPU as the operating system describes it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Cpu {
    /// Model name.
    pub model: String,
    /// `x86_64`, `aarch64`, …
    pub architecture: String,
    /// Logical CPUs that this process may use.
    pub logical: u32,
    /// Physical cores, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub physical: Option<u32>,
    /// SIMD extensions found at run time, e.g. `avx2`, `avx512f`.
    #[serde(default)]
    pub simd: Vec<String>,
    /// Caches, smallest level first.
    #[serde(default)]
    pub caches: Vec<Cache>,
    /// Frequency governor, if the system reports it.
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
    /// Logical CPUs that share it, if known.
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
    /// `RUSTFLAGS` and target features that were set; empty if none.
    pub flags: String,
}

/// A GPU.
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

/// Memory bandwidth measured with a number of threads (best of several passes; write-allocate traffic is not
/// counted, as in STREAM).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Bandwidth {
    /// Threads that took part.
    pub threads: u32,
    /// Size of each array.
    pub array_bytes: u64,
    /// `c[i] = a[i]`: 16 bytes per element.
    pub copy: f64,
    /// `c[i] = a[i] + s·b[i]`: 24 bytes per element.
    pub triad: f64,
    /// `s += a[i]`: 8 bytes per element.
    pub read: f64,
}

/// What may have disturbed the measurement.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Noise {
    /// One-minute load average before the first run, if the system has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub load_before: Option<f64>,
    /// One-minute load average after the last run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub load_after: Option<f64>,
    /// CPU seconds that a hypervisor stole during the measurement, if the system counts them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stolen_seconds: Option<f64>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_a_sweep_are_measured_on_one_machine() {
        let gpu = |copy| Gpu { model: "GPU".into(), copy: Some(copy), ..Gpu::default() };
        let part = |id: &str, load, gpus| Environment {
            id: id.into(),
            cpu: Cpu { model: "CPU".into(), logical: 8, ..Cpu::default() },
            gpus,
            noise: Noise { load_before: Some(load), ..Noise::default() },
            ..Environment::default()
        };
        let mut all = vec![
            part("a", 0.1, vec![gpu(1e12)]),
            part("b", 2.0, vec![gpu(1.1e12)]),
            part("c", 0.5, vec![]),
        ];
        assert_eq!(Environment::machines(&all), 1);
        all.push(Environment { memory_bytes: 1, ..all[0].clone() });
        let other = Gpu { model: "another".into(), ..Gpu::default() };
        all.push(part("d", 0.1, vec![other]));
        // The GPU of `d` differs from that of `a`.
        assert!(!all[0].is_same_machine(&all[4]));
        assert_eq!(Environment::machines(&all), 3);
        // Nothing is known of these.
        assert_eq!(Environment::machines(&[Environment::default(), Environment::default()]), 2);
    }

    #[test]
    fn a_history_outlasts_an_update_of_the_system_and_no_other_hardware() {
        let gpu = |driver: &str| Gpu {
            model: "GPU".into(),
            details: BTreeMap::from([("driver".into(), driver.into())]),
            ..Gpu::default()
        };
        let before = Environment {
            cpu: Cpu { model: "CPU".into(), logical: 4, physical: Some(2), ..Cpu::default() },
            memory_bytes: 16_374_000_000,
            os: "Linux (Ubuntu 24.04), kernel 6.8.0-1020".into(),
            gpus: vec![gpu("550.54.15")],
            ..Environment::default()
        };
        let is_same = |change: fn(&mut Environment), device: &str| {
            let mut after = before.clone();
            change(&mut after);
            before.is_same_kind(&after, device)
        };
        let updated = |machine: &mut Environment| {
            machine.os = "Linux (Ubuntu 24.04), kernel 6.11.0-1018".into();
            machine.memory_bytes = 16_766_000_000;
        };
        assert!(is_same(updated, "CPU") && is_same(updated, "GPU"));
        assert!(!is_same(|machine| machine.cpu.model = "another".into(), "CPU"));
        assert!(!is_same(|machine| machine.cpu.logical = 8, "CPU"));
        assert!(!is_same(|machine| machine.memory_bytes *= 2, "CPU"));
        assert!(!is_same(|machine| machine.cpu.model.clear(), "CPU"));
        // The driver of a GPU does not matter to the CPU.
        let gpu_of = |driver: &str| Environment { gpus: vec![gpu(driver)], ..before.clone() };
        let [patched, newer] = ["550.90.07", "560.35.03"].map(gpu_of);
        assert!(before.is_same_kind(&patched, "GPU") && before.is_same_kind(&newer, "CPU"));
        assert!(!before.is_same_kind(&newer, "GPU"));
        assert!(!Environment::default().is_same_kind(&Environment::default(), ""));
    }
}
