//! What a flush of the caches does to the time of loads.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::time::Instant;

use sparsescope_core::measure::{CacheFlusher, CacheSizes, cpu, pool};
use sparsescope_core::memory::MemoryLimit;
use sparsescope_test_support::{Need, is_required, skip};

/// Seconds to follow `steps` links, each load waiting for the one before it.
fn chase(links: &[u32], steps: usize) -> f64 {
    let start = Instant::now();
    let end = (0..steps).fold(0_u32, |at, _| links[at as usize]);
    std::hint::black_box(end);
    start.elapsed().as_secs_f64()
}

#[test]
fn after_a_flush_data_must_come_from_memory_again() {
    if !is_required(Need::Quiet) {
        skip!(Need::Quiet, "nobody says that this machine does nothing else");
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
    let flusher = CacheFlusher::new(CacheSizes::of(&cpu()), MemoryLimit::of_machine()).unwrap();
    // All on one thread, whose core's private caches hold the chain.
    let (mut hot, mut cold) = (Vec::new(), Vec::new());
    pool(1).unwrap().install(|| {
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
