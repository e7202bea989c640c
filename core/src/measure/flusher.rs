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
        black_box(self.walk());
    }

    /// Reads; what each thread of the ambient pool gives is the sum of its elements, which are 1.
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
