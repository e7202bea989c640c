//! Whether the threads of the ranks of a machine share its processors out among themselves.

use super::world::World;
use crate::measure::{ThreadsError, pool_after, processor_numbers};

/// A pool of `threads` threads of this rank. Where the launcher has bound each rank to processors of its own, as
/// `mpirun --map-by` does, they are bound to these; where all ranks of a machine may run on the same ones,
/// each rank takes the next `threads` of them, if there are enough.
pub(super) fn rank_pool(world: &World, threads: u32) -> Result<rayon::ThreadPool, ThreadsError> {
    let mut own = processor_numbers();
    own.sort_unstable();
    // Ranks of one machine with the same processors, this one's place among them.
    let lists = world.all_lists(&own);
    let mates = lists.iter().zip(world.hosts());
    let alike = |(list, host): &(&Vec<u64>, &u32)| **host == world.host() && **list == own;
    let before = mates.take(world.rank()).filter(alike).count();
    pool_after(before * threads as usize, threads)
}
