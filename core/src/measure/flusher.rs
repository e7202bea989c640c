//! Flushing the processor's caches before cold samples.

use std::hint::black_box;

use super::CacheSizes;
use super::bandwidth::{part_of, sum};
use crate::memory::{MemoryError, MemoryLimit};

/// Pushes everything out of the caches before a cold sample.
///
/// Every thread of the ambient pool reads its own part of a buffer: at least twice the private
/// caches of a core, and together at least twice the last-level caches within their reach.
/// Reading, not writing: lines of the buffer that are left in the caches are clean, so that
/// the sample pays for its own traffic and not for writing the flusher's lines back.
pub struct CacheFlusher {
    sizes: CacheSizes,
    buffer: Vec<f64>,
}

impl CacheFlusher {
    /// Allocates the buffer for all processors of the machine. Its pages are written here:
    /// pages never written would all be the system's one page of zeros.
    pub fn new(sizes: CacheSizes, limit: MemoryLimit) -> Result<Self, MemoryError> {
        let threads = usize::try_from(sizes.logical).unwrap_or(usize::MAX);
        let bytes = bytes_to_walk(&sizes, threads);
        limit.check("the buffer that flushes the caches", u128::from(bytes))?;
        let elements = usize::try_from(bytes / 8).unwrap_or(usize::MAX);
        Ok(Self { sizes, buffer: vec![1.0; elements] })
    }

    /// Flushes the caches of the processors that the ambient pool's threads run on.
    pub fn flush(&self) {
        let bytes = bytes_to_walk(&self.sizes, rayon::current_num_threads());
        let elements = usize::try_from(bytes / 8).unwrap_or(usize::MAX);
        let walked = &self.buffer[..elements.min(self.buffer.len())];
        rayon::broadcast(|thread| {
            let part = part_of(walked.len(), thread.index(), thread.num_threads());
            black_box(sum(&walked[part]));
        });
    }
}

/// Bytes that `threads` threads walk together.
fn bytes_to_walk(sizes: &CacheSizes, threads: usize) -> u64 {
    let cores = u64::try_from(threads).unwrap_or(u64::MAX).min(u64::from(sizes.logical));
    let private = sizes.private_bytes.saturating_mul(cores.max(1));
    // Where the last level does not hold what the levels above it hold, twice the sum of both
    // must pass; where it does, that is only more than needed.
    sizes.last_level_within_reach(threads).saturating_add(private).saturating_mul(2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_together_walk_twice_the_caches_within_their_reach() {
        let sizes = CacheSizes {
            private_bytes: 2 << 20,
            last_level_bytes: 16 << 20,
            last_level_count: 2,
            logical: 8,
        };
        assert_eq!(bytes_to_walk(&sizes, 1), 2 * (18 << 20));
        assert_eq!(bytes_to_walk(&sizes, 2), 2 * (36 << 20));
        assert_eq!(bytes_to_walk(&sizes, 8), 2 * (48 << 20));
        // More threads than processors share their private caches.
        assert_eq!(bytes_to_walk(&sizes, 16), bytes_to_walk(&sizes, 8));
    }

    /// Seconds to follow `steps` links, each load waiting for the one before it.
    #[cfg(target_os = "linux")]
    fn chase(links: &[u32], steps: usize) -> f64 {
        let start = std::time::Instant::now();
        let end = (0..steps).fold(0_u32, |at, _| links[at as usize]);
        std::hint::black_box(end);
        start.elapsed().as_secs_f64()
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn after_a_flush_data_must_come_from_memory_again() {
        let described = crate::measure::cpu();
        if described.caches.is_empty() {
            let line = "skipped: the system does not tell its caches\n";
            std::io::Write::write_all(&mut std::io::stderr(), line.as_bytes()).unwrap();
            return;
        }
        // 256 KiB in lines of 64 bytes, visited in an order that no prefetcher follows (a full
        // period of a linear congruential generator modulo a power of two).
        let lines = 1_u32 << 12;
        let mut links = vec![0_u32; lines as usize * 16];
        let mut at = 0_u32;
        for _ in 0..lines {
            let next = (at.wrapping_mul(1_664_525).wrapping_add(1_013_904_223)) % lines;
            links[at as usize * 16] = next * 16;
            at = next;
        }
        let flusher =
            CacheFlusher::new(CacheSizes::of(&described), MemoryLimit::of_machine()).unwrap();
        // All on one thread, whose core's private caches hold the chain.
        let pool = crate::measure::pool(1).unwrap();
        let (mut hot, mut cold) = (Vec::new(), Vec::new());
        pool.install(|| {
            for _ in 0..15 {
                chase(&links, lines as usize);
                hot.push(chase(&links, lines as usize));
                flusher.flush();
                cold.push(chase(&links, lines as usize));
            }
        });
        let median = |times: &mut Vec<f64>| {
            times.sort_by(f64::total_cmp);
            times[times.len() / 2]
        };
        let (hot, cold) = (median(&mut hot), median(&mut cold));
        assert!(cold > 3.0 * hot, "cold {cold} s, hot {hot} s");
    }
}
