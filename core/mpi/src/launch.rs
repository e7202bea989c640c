//! Distribution of a machine's cores over the threads of its ranks.

use std::sync::Arc;

use super::world::World;
use sparsescope_bench::measure::{ThreadsError, pool_after, processor_numbers};

/// The threads of a rank.
#[derive(Clone)]
pub(super) struct RankPool {
    pub(super) pool: Arc<rayon::ThreadPool>,
    /// Whether each thread has its own core, so that it may stay awake while it waits.
    pub(super) is_bound: bool,
}

/// A pool of `threads` threads for this rank. If the launcher has bound each rank to its own cores, as
/// `mpirun --map-by` does, the threads are bound to these; if ranks of a machine may run on the same cores,
/// each of them takes the next `threads`. If there are not enough cores for all, no thread is bound.
pub(super) fn rank_pool(world: &World, threads: u32) -> Result<RankPool, ThreadsError> {
    let mut own = processor_numbers();
    own.sort_unstable();
    let lists = world.all_lists(&own);
    // Ranks of this machine with the same cores.
    let is_alike = |rank: &usize| world.hosts()[*rank] == world.host() && lists[*rank] == own;
    let alike = (0..world.ranks()).filter(is_alike).count();
    let before = (0..world.rank()).filter(is_alike).count();
    let threads_each = threads as usize;
    let is_bound = alike * threads_each <= own.len();
    let others = if is_bound { before * threads_each } else { own.len() };
    Ok(RankPool { pool: Arc::new(pool_after(others, threads)?), is_bound })
}
