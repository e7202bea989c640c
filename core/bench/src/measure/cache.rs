//! The CPU's caches as the system reports them, and their totals.

use sparsescope_matrix::order;
use sparsescope_record::{Cache, Cpu};

/// Caches as seen by cpu0, smallest level first; empty if the system does not report them.
pub(super) fn caches() -> Vec<Cache> {
    if !cfg!(target_os = "linux") {
        return Vec::new();
    }
    let folder = std::path::Path::new("/sys/devices/system/cpu/cpu0/cache");
    let index_folders = (0..).map(|index| folder.join(format!("index{index}")));
    let mut caches: Vec<Cache> = index_folders
        .take_while(|index| index.is_dir())
        .filter_map(|index| {
            let text = |file: &str| std::fs::read_to_string(index.join(file)).ok();
            let shared = text("shared_cpu_list").unwrap_or_default();
            parse_cache(&text("level")?, &text("type")?, &text("size")?, &shared)
        })
        .collect();
    order::sort_by(&mut caches, |a, b| (a.level, &a.kind).cmp(&(b.level, &b.kind)));
    caches
}

/// Parses one cache from the files `level`, `type`, `size` and `shared_cpu_list` of its folder.
fn parse_cache(level: &str, kind: &str, size: &str, shared_cpus: &str) -> Option<Cache> {
    Some(Cache {
        level: level.trim().parse().ok()?,
        kind: kind.trim().to_lowercase(),
        bytes: parse_size(size)?,
        shared_by: count_cpus(shared_cpus),
    })
}

/// Parses `48K`, `32M`, `1024`: binary units.
fn parse_size(text: &str) -> Option<u64> {
    let text = text.trim();
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let unit: u64 = match text.get(digits.len()..)? {
        "" => 1,
        "K" => 1 << 10,
        "M" => 1 << 20,
        "G" => 1 << 30,
        _ => return None,
    };
    digits.parse::<u64>().ok()?.checked_mul(unit)
}

/// Number of CPUs in a list such as `0-3,8,10-11`; none if it is empty or malformed.
fn count_cpus(list: &str) -> Option<u32> {
    parse_cpus(list).and_then(|cpus| u32::try_from(cpus.len()).ok())
}

/// CPUs in a list such as `0-3,8,10-11`; none if it is empty or malformed.
pub(super) fn parse_cpus(list: &str) -> Option<Vec<u32>> {
    const MOST: u32 = 1 << 16;
    let mut cpus = Vec::new();
    for range in list.trim().split(',') {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        let (first, last) = (first.parse::<u32>().ok()?, last.parse::<u32>().ok()?);
        if last < first || last - first > MOST {
            return None;
        }
        cpus.extend(first..=last);
    }
    Some(cpus)
}

/// Totals that determine the sizes of bandwidth arrays and cache flushes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CacheSizes {
    /// Total data caches of one core below the last level.
    pub private_bytes: u64,
    /// One last-level cache.
    pub last_level_bytes: u64,
    /// Number of last-level caches in the machine: one per socket, or one per group of cores.
    pub last_level_count: u32,
    /// Logical CPUs that this process may use.
    pub logical: u32,
}

impl CacheSizes {
    /// Sizes from the CPU's description. If it lists no caches, 2 MiB and 64 MiB are assumed, more than most
    /// CPUs have.
    pub fn of(cpu: &Cpu) -> Self {
        let logical = cpu.logical.max(1);
        let data = || cpu.caches.iter().filter(|cache| cache.kind != "instruction");
        let Some(last) = data().max_by_key(|cache| cache.level) else {
            return Self {
                private_bytes: 2 << 20,
                last_level_bytes: 64 << 20,
                last_level_count: 1,
                logical,
            };
        };
        let below = data().filter(|cache| cache.level < last.level);
        Self {
            private_bytes: below.map(|cache| cache.bytes).fold(0, u64::saturating_add),
            last_level_bytes: last.bytes,
            last_level_count: last.shared_by.map_or(1, |shared| logical.div_ceil(shared.max(1))),
            logical,
        }
    }

    /// Bytes of the last-level caches that `threads` threads can use concurrently, at best one cache each.
    pub fn last_level_within_reach(&self, threads: usize) -> u64 {
        let threads = u64::try_from(threads).unwrap_or(u64::MAX).max(1);
        self.last_level_bytes.saturating_mul(threads.min(u64::from(self.last_level_count)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cache(level: u32, kind: &str, bytes: u64, shared_by: u32) -> Cache {
        Cache { level, kind: kind.to_owned(), bytes, shared_by: Some(shared_by) }
    }

    fn cpu(logical: u32, caches: Vec<Cache>) -> Cpu {
        Cpu { logical, caches, ..Cpu::default() }
    }

    #[test]
    fn a_cache_is_read_from_the_texts_of_its_folder() {
        let expected = cache(3, "unified", 32 << 20, 16);
        assert_eq!(parse_cache("3\n", "Unified\n", "32768K\n", "0-7,64-71\n"), Some(expected));
        let alone = Cache { shared_by: None, ..cache(1, "data", 48 << 10, 0) };
        assert_eq!(parse_cache("1\n", "Data\n", "48K\n", "\n"), Some(alone));
        assert_eq!(parse_cache("x", "Data", "48K", "0"), None);
        assert_eq!(parse_cache("1", "Data", "48 parsecs", "0"), None);
    }

    #[test]
    fn sizes_are_binary_and_overflow_is_refused() {
        assert_eq!(parse_size("512\n"), Some(512));
        assert_eq!(parse_size("1024K"), Some(1 << 20));
        assert_eq!(parse_size("2M"), Some(2 << 20));
        assert_eq!(parse_size("1G"), Some(1 << 30));
        for wrong in ["", "K", "-1K", "1KB", "18446744073709551615K"] {
            assert_eq!(parse_size(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn processors_are_counted_over_ranges() {
        assert_eq!(count_cpus("0\n"), Some(1));
        assert_eq!(count_cpus("0-3,8,10-11"), Some(7));
        for wrong in ["", "a", "3-1", "0-4294967295", "1,,2"] {
            assert_eq!(count_cpus(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn totals_leave_instructions_out_and_count_the_last_level_caches() {
        let caches = vec![
            cache(1, "data", 32 << 10, 2),
            cache(1, "instruction", 32 << 10, 2),
            cache(2, "unified", 1 << 20, 2),
            cache(3, "unified", 32 << 20, 16),
        ];
        let sizes = CacheSizes::of(&cpu(192, caches));
        let expected = CacheSizes {
            private_bytes: (1 << 20) + (32 << 10),
            last_level_bytes: 32 << 20,
            last_level_count: 12,
            logical: 192,
        };
        assert_eq!(sizes, expected);
        assert_eq!(sizes.last_level_within_reach(1), 32 << 20);
        assert_eq!(sizes.last_level_within_reach(4), 128 << 20);
        assert_eq!(sizes.last_level_within_reach(384), 384 << 20);
    }

    #[test]
    fn a_machine_that_names_no_caches_gets_large_ones() {
        let sizes = CacheSizes::of(&cpu(8, Vec::new()));
        assert_eq!((sizes.last_level_bytes, sizes.last_level_count), (64 << 20, 1));
    }
}
