//! Flushes the CPU's caches before cold samples.

use std::hint::black_box;

use super::CacheSizes;
use super::bandwidth::{part_of, sum};
use sparsescope_matrix::memory::{MemoryError, MemoryLimit};

/// Evicts everything from the caches before a cold sample.
///
/// Every thread of the ambient pool reads its own part of a buffer: at least twice the private caches of a
/// core, and together at least twice the last-level caches within reach. It reads and does not write: buffer
/// lines left in the caches are clean, so that the sample pays for its own traffic and not for writing back
/// the flusher's lines.
pub struct CacheFlusher {
    sizes: CacheSizes,
    buffer: Vec<f64>,
}

impl CacheFlusher {
    /// Allocates the buffer for all CPUs of the machine. Its pages are written here: pages never written
    /// would all map to the system's zero page.
    pub fn new(sizes: CacheSizes, limit: MemoryLimit) -> Result<Self, MemoryError> {
        let threads = usize::try_from(sizes.logical).unwrap_or(usize::MAX);
        let bytes = bytes_to_walk(&sizes, threads);
        limit.check("the cache flush buffer", u128::from(bytes))?;
        let elements = usize::try_from(bytes / 8).unwrap_or(usize::MAX);
        Ok(Self { sizes, buffer: vec![1.0; elements] })
    }

    /// Flushes the caches of the CPUs that run the ambient pool's threads.
    pub fn flush(&self) {
        black_box(self.walk());
    }

    /// Reads the buffer; returns for each thread of the ambient pool the sum of its elements, which are all
    /// 1.
    fn walk(&self) -> Vec<f64> {
        let bytes = bytes_to_walk(&self.sizes, rayon::current_num_threads());
        let elements = usize::try_from(bytes / 8).unwrap_or(usize::MAX);
        let walked = &self.buffer[..elements.min(self.buffer.len())];
        rayon::broadcast(|thread| {
            let part = part_of(walked.len(), thread.index(), thread.num_threads());
            black_box(sum(&walked[part]))
        })
    }
}

/// Bytes that `threads` threads read together.
fn bytes_to_walk(sizes: &CacheSizes, threads: usize) -> u64 {
    let cores = u64::try_from(threads).unwrap_or(u64::MAX).min(u64::from(sizes.logical));
    let private = sizes.private_bytes.saturating_mul(cores.max(1));
    // If the last level does not include the levels above it, twice the sum of both must be read; if it does,
    // that is merely more than needed.
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
        // Additional threads share the private caches of the same CPUs.
        assert_eq!(bytes_to_walk(&sizes, 16), bytes_to_walk(&sizes, 8));
    }

    #[test]
    fn a_flush_reads_twice_the_caches_within_reach_each_thread_twice_its_own() {
        let sizes = CacheSizes {
            private_bytes: 48 << 10,
            last_level_bytes: 1 << 20,
            last_level_count: 2,
            logical: 4,
        };
        let flusher = CacheFlusher::new(sizes, MemoryLimit::unlimited()).unwrap();
        for (threads, last_levels) in [(1, 1), (2, 2), (3, 2), (4, 2)] {
            let read = crate::measure::pool(threads).unwrap().install(|| flusher.walk());
            let bytes: Vec<u64> = read.iter().map(|&elements| 8 * elements as u64).collect();
            let reach =
                last_levels * sizes.last_level_bytes + u64::from(threads) * sizes.private_bytes;
            assert_eq!((bytes.len(), bytes.iter().sum()), (threads as usize, 2 * reach));
            assert!(bytes.iter().all(|&own| own >= 2 * sizes.private_bytes), "{bytes:?}");
        }
    }
}
