//! Possible disturbances of a measurement: other load on the machine, and time stolen by a hypervisor.

use sparsescope_record::Noise;

/// State of the machine before the first run.
#[derive(Clone, Copy, Debug)]
pub struct NoiseWatch {
    load: Option<f64>,
    stolen_seconds: Option<f64>,
}

impl NoiseWatch {
    /// Records load and stolen time; call before the first run.
    pub fn start() -> Self {
        Self { load: load_average(), stolen_seconds: stolen_seconds() }
    }

    /// Returns the changes since [`start`](Self::start); call after the last run.
    pub fn finish(&self) -> Noise {
        let stolen = self.stolen_seconds.zip(stolen_seconds());
        Noise {
            load_before: self.load,
            load_after: load_average(),
            stolen_seconds: stolen.map(|(before, after)| (after - before).max(0.0)),
        }
    }
}

/// One-minute load average; Windows has none.
#[cfg(all(not(target_family = "wasm"), not(windows)))]
fn load_average() -> Option<f64> {
    sysinfo::System::load_average().ok().map(|load| load.one).filter(|load| load.is_finite())
}

#[cfg(any(target_family = "wasm", windows))]
fn load_average() -> Option<f64> {
    None
}

/// Seconds that a hypervisor stole from all CPUs since boot, if the kernel counts them.
fn stolen_seconds() -> Option<f64> {
    if !cfg!(target_os = "linux") {
        return None;
    }
    stolen_in_stat(&std::fs::read_to_string("/proc/stat").ok()?)
}

/// Ticks per second in `/proc/stat`. The unit is `USER_HZ`, part of the kernel's interface to programs and
/// 100 on every architecture of Rust's Linux targets, whatever the rate of the kernel's own timer.
const USER_HZ: f64 = 100.0;

/// The eighth number (`steal`) of the line that sums all CPUs, in seconds.
fn stolen_in_stat(stat: &str) -> Option<f64> {
    let total = stat.lines().find_map(|line| line.strip_prefix("cpu "))?;
    let ticks: u64 = total.split_whitespace().nth(7)?.parse().ok()?;
    Some(ticks as f64 / USER_HZ)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stolen_time_is_the_eighth_number_of_the_total_line() {
        let stat = "cpu  20230 95 6384 168773 443 0 55 1250 3 4\n\
                    cpu0 9308 5 2840 85746 54 0 14 8 0 0\nintr 12 3\n";
        assert_eq!(stolen_in_stat(stat), Some(12.5));
    }

    #[test]
    fn a_kernel_that_does_not_count_stolen_time_gives_none() {
        assert_eq!(stolen_in_stat("cpu  1 2 3 4\ncpu0 1 2 3 4 5 6 7 8\n"), None);
        assert_eq!(stolen_in_stat("cpu0 1 2 3 4 5 6 7 8\n"), None);
        assert_eq!(stolen_in_stat("cpu  1 2 3 4 5 6 7 x\n"), None);
        assert_eq!(stolen_in_stat(""), None);
    }

    #[test]
    fn time_between_start_and_finish_is_never_negative() {
        let noise = NoiseWatch { load: None, stolen_seconds: Some(f64::MAX) }.finish();
        assert!(noise.stolen_seconds.is_none_or(|seconds| seconds == 0.0));
        assert_eq!(noise.load_before, None);
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn linux_tells_its_load() {
        let noise = NoiseWatch::start().finish();
        assert!(noise.load_before.unwrap() >= 0.0 && noise.load_after.unwrap() >= 0.0);
    }
}
