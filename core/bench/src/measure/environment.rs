//! The machine as recorded in a bundle: never its name, its user or a path.

use super::{build, cache};
use sparsescope_record::{Bandwidth, Cpu, Environment, Noise};

/// Describes this machine with the given bandwidth. `noise` stays empty until a
/// [`NoiseWatch`](super::NoiseWatch) has finished; `gpus` until a backend fills it in.
pub fn environment(bandwidth: Vec<Bandwidth>) -> Environment {
    let cpu = cpu();
    Environment {
        id: short_name(&cpu.model, cpu.logical),
        memory_bytes: system::memory_bytes(),
        os: system::operating_system(),
        build: build(),
        gpus: Vec::new(),
        bandwidth,
        threads_bound: system::binds_threads(),
        noise: Noise::default(),
        libraries: Default::default(),
        cpu,
    }
}

/// The CPU of this machine.
pub fn cpu() -> Cpu {
    let model = system::cpu_model().unwrap_or_default();
    let model = model.split_whitespace().collect::<Vec<_>>().join(" ");
    let architecture = std::env::consts::ARCH;
    let logical = std::thread::available_parallelism().map_or(1, |count| count.get());
    Cpu {
        model: if model.is_empty() { format!("unknown {architecture}") } else { model },
        architecture: architecture.to_owned(),
        logical: u32::try_from(logical).unwrap_or(u32::MAX),
        physical: system::physical_cores(),
        simd: simd(),
        caches: cache::caches(),
        governor: governor(),
    }
}

/// SIMD extensions that both CPU and system support, weakest first.
fn simd() -> Vec<String> {
    #[cfg(target_arch = "x86_64")]
    macro_rules! found {
        ($($name:tt)*) => { [$(($name, std::arch::is_x86_feature_detected!($name))),*] };
    }
    #[cfg(target_arch = "aarch64")]
    macro_rules! found {
        ($($name:tt)*) => { [$(($name, std::arch::is_aarch64_feature_detected!($name))),*] };
    }
    #[cfg(target_arch = "x86_64")]
    let found =
        found!("sse4.2" "avx" "avx2" "fma" "avx512f" "avx512cd" "avx512dq" "avx512bw" "avx512vl");
    #[cfg(target_arch = "aarch64")]
    let found = found!("neon" "fp16" "sve" "sve2");
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    let found = [("simd128", cfg!(target_feature = "simd128"))];
    found.iter().filter(|(_, present)| *present).map(|(name, _)| (*name).to_owned()).collect()
}

/// Frequency governor of the first CPU; virtual machines often have none.
fn governor() -> Option<String> {
    if !cfg!(target_os = "linux") {
        return None;
    }
    let file = "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor";
    let text = std::fs::read_to_string(file).ok()?;
    Some(text.trim().to_owned()).filter(|governor| !governor.is_empty())
}

/// Words of a model name that carry no information.
const FILLERS: [&str; 5] = ["r", "tm", "cpu", "processor", "core"];

/// `amd-epyc-9654-192t` from `AMD EPYC 9654 96-Core Processor` and 192 logical CPUs: lower-case letters,
/// digits and hyphens, at most 51 characters. The clock rate (`@ 2.00GHz`) and anything after `with` are left
/// out.
fn short_name(model: &str, logical: u32) -> String {
    let model = model.to_lowercase();
    let model = model.split(['@', ',']).next().unwrap_or_default();
    let model = model.split(" with ").next().unwrap_or_default();
    let mut name = String::new();
    for word in model.split_whitespace() {
        if word.ends_with("-core") {
            continue;
        }
        for piece in word.split(|c: char| !c.is_ascii_alphanumeric()) {
            let fits = name.len() + piece.len() < 40;
            if !piece.is_empty() && fits && !FILLERS.contains(&piece) {
                name.push_str(piece);
                name.push('-');
            }
        }
    }
    if name.is_empty() {
        name.push_str("cpu-");
    }
    format!("{name}{logical}t")
}

/// Information from sysinfo.
#[cfg(not(target_family = "wasm"))]
mod system {
    use sysinfo::{CpuRefreshKind, System};

    use sparsescope_matrix::memory::control_group;

    /// Model name of the first CPU.
    pub(super) fn cpu_model() -> Option<String> {
        let mut system = System::new().ok()?;
        system.refresh_cpu_list(CpuRefreshKind::nothing());
        system.cpus().first().map(|cpu| cpu.brand().to_owned())
    }

    /// Physical cores of the machine.
    pub(super) fn physical_cores() -> Option<u32> {
        let count = System::physical_core_count().ok().filter(|&count| count > 0)?;
        u32::try_from(count).ok()
    }

    /// Whether pools bind their threads on this system. To macOS a binding is a hint, which it ignores on ARM.
    pub(super) fn binds_threads() -> bool {
        cfg!(not(target_os = "macos")) && crate::measure::threads::binds_threads(1)
    }

    /// Installed memory, or the limit of this process's control group if smaller.
    pub(super) fn memory_bytes() -> u64 {
        let Ok(mut system) = System::new() else { return 0 };
        system.refresh_memory();
        let limit = control_group(&mut system).map_or(u64::MAX, |group| group.total_memory);
        system.total_memory().min(limit)
    }

    /// `Linux (Debian GNU/Linux 12), kernel 6.1.0`.
    pub(super) fn operating_system() -> String {
        let name = System::long_os_version().unwrap_or_else(|_| std::env::consts::OS.to_owned());
        match System::kernel_version() {
            Ok(kernel) => format!("{}, kernel {}", name.trim(), kernel.trim()),
            Err(_) => name.trim().to_owned(),
        }
    }
}

/// A web page learns almost nothing about its machine.
#[cfg(target_family = "wasm")]
mod system {
    pub(super) fn cpu_model() -> Option<String> {
        None
    }

    pub(super) fn physical_cores() -> Option<u32> {
        None
    }

    pub(super) fn binds_threads() -> bool {
        false
    }

    pub(super) fn memory_bytes() -> u64 {
        sparsescope_matrix::memory::available_bytes()
    }

    pub(super) fn operating_system() -> String {
        "browser".to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_names_keep_maker_and_model_and_drop_clock_and_fillers() {
        for (model, expected) in [
            ("AMD EPYC", "amd-epyc-8t"),
            ("AMD EPYC 9654 96-Core Processor", "amd-epyc-9654-8t"),
            ("Intel(R) Xeon(R) Platinum 8480+", "intel-xeon-platinum-8480-8t"),
            ("Intel(R) Core(TM) i7-8550U CPU @ 1.80GHz", "intel-i7-8550u-8t"),
            ("AMD Ryzen 7 5800H with Radeon Graphics", "amd-ryzen-7-5800h-8t"),
            ("Apple M2 Pro", "apple-m2-pro-8t"),
            ("Neoverse-N1", "neoverse-n1-8t"),
            ("unknown wasm32", "unknown-wasm32-8t"),
            ("", "cpu-8t"),
        ] {
            assert_eq!(short_name(model, 8), expected);
        }
    }

    proptest::proptest! {
        #[test]
        fn any_model_gives_a_safe_id(model in ".{0,200}", logical: u32) {
            let id = short_name(&model, logical);
            assert!(id.len() <= 51);
            assert!(id.starts_with(|c: char| c.is_ascii_lowercase() || c.is_ascii_digit()));
            let safe = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
            assert!(id.chars().all(safe), "{id}");
        }
    }

    #[test]
    fn this_machine_has_processors_memory_and_a_system() {
        let machine = environment(Vec::new());
        assert!(machine.cpu.logical >= 1);
        assert_eq!(machine.cpu.architecture, std::env::consts::ARCH);
        assert!(machine.memory_bytes > 1 << 20);
        assert!(!machine.os.is_empty() && !machine.cpu.model.is_empty());
        assert!(machine.cpu.physical != Some(0));
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn simd_extensions_are_those_of_proc_cpuinfo() {
        let cpuinfo = std::fs::read_to_string("/proc/cpuinfo").unwrap();
        let Some(flags) = cpuinfo.lines().find(|line| line.starts_with("flags")) else { return };
        for name in ["sse4_2", "avx2", "fma", "avx512f", "avx512vl"] {
            let expected = flags.split_whitespace().any(|flag| flag == name);
            let found = simd().contains(&name.replace('_', "."));
            assert_eq!(found, expected, "{name}");
        }
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn the_serialized_environment_holds_neither_host_nor_user_nor_path() {
        let json = serde_json::to_string(&environment(Vec::new())).unwrap().to_lowercase();
        let host = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
        let home = std::env::var("HOME").unwrap_or_default();
        for private in [host.trim(), &home, env!("CARGO_MANIFEST_DIR")] {
            if private.len() > 3 {
                assert!(!json.contains(&private.to_lowercase()), "{private} is in {json}");
            }
        }
    }
}
