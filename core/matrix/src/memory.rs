//! How much memory may be used, checked before anything large is allocated, and large arrays on huge pages.

mod huge_pages;

#[doc(hidden)]
pub use huge_pages::{room_for, zeroed};

/// A request that does not fit, detected before allocating.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{what} needs {needed} bytes ({}), more than the memory limit of {limit} bytes ({})",
    gigabytes(*.needed), gigabytes(*.limit)
)]
pub struct MemoryError {
    /// What would have been allocated.
    pub what: String,
    /// Bytes it needs, saturating at `u64::MAX`.
    pub needed: u64,
    /// Bytes allowed.
    pub limit: u64,
}

/// Bytes that one allocation may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemoryLimit(u64);

impl MemoryLimit {
    /// At most `bytes`.
    pub fn bytes(bytes: u64) -> Self {
        Self(bytes)
    }

    /// No limit except the address space; for tests and for sizes known to be small.
    pub fn unlimited() -> Self {
        Self(usize::MAX as u64)
    }

    /// Three quarters of the memory that is free now, within the control group's limit.
    pub fn of_machine() -> Self {
        Self(available_bytes() / 4 * 3)
    }

    /// The limit in bytes.
    pub fn get(self) -> u64 {
        self.0
    }

    /// Fails when `needed` bytes exceed the limit. Sizes are computed in `u128` by callers, so
    /// that a product of dimensions cannot wrap.
    pub fn check(self, what: impl Into<String>, needed: u128) -> Result<(), MemoryError> {
        if needed <= u128::from(self.0) {
            return Ok(());
        }
        let needed = u64::try_from(needed).unwrap_or(u64::MAX);
        Err(MemoryError { what: what.into(), needed, limit: self.0 })
    }
}

/// Assumed where the system reports nothing, and in the browser, whose address space has 4 GiB. Fuzz targets decompress
/// up to three quarters of it for the sizes of a matrix.
const ASSUMED_AVAILABLE: u64 = if cfg!(fuzzing) { 64 << 20 } else { 2 << 30 };

/// Bytes that can be allocated now without swapping: the system's figure, or what the control group of this
/// process or the limit of its address space (`ulimit -v`) still allows when that is less.
#[cfg(not(any(target_family = "wasm", fuzzing)))]
pub fn available_bytes() -> u64 {
    let free = || {
        let mut system = sysinfo::System::new().ok()?;
        system.refresh_memory();
        let free = system.available_memory();
        Some(control_group(&mut system).map_or(free, |group| free.min(group.free_memory)))
    };
    let free = free().unwrap_or(ASSUMED_AVAILABLE);
    address_space_left().map_or(free, |left| free.min(left))
}

/// Bytes that can still be mapped, if the address space of this process is limited.
#[cfg(all(target_os = "linux", not(fuzzing)))]
fn address_space_left() -> Option<u64> {
    let mut limit = libc::rlimit64 { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: the call writes only the struct passed to it.
    let failed = unsafe { libc::getrlimit64(libc::RLIMIT_AS, &mut limit) } != 0;
    if failed || limit.rlim_cur == u64::MAX {
        return None;
    }
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    Some(limit.rlim_cur.saturating_sub(mapped_in_status(&status).unwrap_or(0)))
}

#[cfg(not(any(target_os = "linux", target_family = "wasm", fuzzing)))]
fn address_space_left() -> Option<u64> {
    None
}

/// Bytes of address space in use according to `/proc/self/status`.
#[cfg(all(target_os = "linux", not(fuzzing)))]
fn mapped_in_status(status: &str) -> Option<u64> {
    let size = status.lines().find_map(|line| line.strip_prefix("VmSize:"))?;
    size.split_whitespace().next()?.parse::<u64>().ok()?.checked_mul(1024)
}

/// Limits of the control group that this process runs in, as batch systems and containers set
/// them.
#[cfg(not(target_family = "wasm"))]
#[doc(hidden)]
pub fn control_group(system: &mut sysinfo::System) -> Option<sysinfo::CGroupLimits> {
    use sysinfo::{ProcessRefreshKind, ProcessesToUpdate, get_current_pid};
    let id = get_current_pid().ok()?;
    let only = ProcessesToUpdate::Some(&[id]);
    system.refresh_processes_specifics(only, false, ProcessRefreshKind::nothing());
    system.process(id)?.cgroup_limits()
}

/// Bytes that the browser page may hold, or a fuzz target, where the system's figure takes longer than most inputs.
#[cfg(any(target_family = "wasm", fuzzing))]
pub fn available_bytes() -> u64 {
    ASSUMED_AVAILABLE
}

/// Formats bytes as decimal gigabytes: `160.1 GB`.
pub fn gigabytes(bytes: u64) -> String {
    let gb = bytes as f64 / 1e9;
    if gb >= 0.95 {
        format!("{gb:.1} GB")
    } else if gb >= 0.00095 {
        format!("{:.1} MB", gb * 1e3)
    } else {
        format!("{:.1} kB", gb * 1e6)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_over_the_limit_names_bytes_and_gigabytes() {
        let error =
            MemoryLimit::bytes(8_000_000_000).check("ELLPACK", 160_123_000_000).unwrap_err();
        assert_eq!(
            error.to_string(),
            "ELLPACK needs 160123000000 bytes (160.1 GB), more than the memory limit of 8000000000 bytes (8.0 GB)"
        );
        assert!(MemoryLimit::bytes(5).check("x", 5).is_ok());
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn what_is_mapped_stands_in_the_status_in_kilobytes() {
        let status = "Name:\tsparsescope\nVmPeak:\t  9000 kB\nVmSize:\t  8192 kB\nVmLck:\t 0 kB\n";
        assert_eq!(mapped_in_status(status), Some(8 << 20));
        assert_eq!(mapped_in_status("VmSize: many kB\n"), None);
        let here = std::fs::read_to_string("/proc/self/status").unwrap();
        assert!(mapped_in_status(&here).unwrap() > 1 << 20);
    }

    #[test]
    fn this_machine_has_some_memory_to_offer() {
        assert!(MemoryLimit::of_machine().get() > 1 << 20);
    }
}
