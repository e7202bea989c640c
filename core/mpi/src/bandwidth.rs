//! Memory bandwidth of all ranks at the same time.

use std::sync::atomic::AtomicBool;

use super::agreed::agreed;
use super::launch::rank_pool;
use super::world::World;
use sparsescope_bench::measure::{BandwidthMeter, CacheSizes, cpu};
use sparsescope_matrix::memory::available_bytes;
use sparsescope_record::Bandwidth;

/// Combined bandwidth of all ranks, for each of these thread counts per rank, measured simultaneously; the
/// record counts the threads of all ranks.
pub fn measure_bandwidth(
    world: &World,
    threads: &[u32],
    cancel: &AtomicBool,
) -> Result<Vec<Bandwidth>, String> {
    let free = available_bytes() / world.ranks_here() as u64;
    let meter = BandwidthMeter::new(CacheSizes::of(&cpu()), free);
    let mut all = Vec::new();
    for &count in threads {
        let pool = agreed(world, rank_pool(world, count))?;
        world.barrier();
        let own = agreed(world, pool.pool.install(|| meter.measure(cancel)))?;
        all.push(Bandwidth {
            threads: count * world.ranks() as u32,
            array_bytes: own.array_bytes,
            copy: world.total(own.copy),
            triad: world.total(own.triad),
            read: world.total(own.read),
        });
    }
    Ok(all)
}
