//! Solves many systems with all threads of the pool.

use std::sync::atomic::{AtomicBool, Ordering};

use rayon::prelude::*;

use super::interleaved::{Room, SolveFour};
use super::systems::{Solutions, Systems};
use super::vectors::{LANES, with_widest};

/// `cpu/dense/cholesky`. Each thread solves its own systems four at a time, one per vector lane. A system
/// with a pivot that is not positive and finite is flagged. Returns false once `cancelled` does. Panics
/// unless `found` has the size of these systems.
pub fn cholesky(
    systems: Systems<'_>,
    found: &mut Solutions,
    cancelled: &(dyn Fn() -> bool + Sync),
) -> bool {
    let n = systems.unknowns();
    by_chunks(
        systems,
        found,
        cancelled,
        || Room::new(n),
        |room, first, x, flagged| {
            let fours = x.chunks_mut(LANES * n).zip(flagged.chunks_mut(LANES)).enumerate();
            for (k, (x, flagged)) in fours {
                let first = first + k * LANES;
                // The last group may have fewer than four: its last system fills the other lanes.
                let numbers = std::array::from_fn(|lane| first + lane.min(flagged.len() - 1));
                let positive = with_widest(SolveFour { systems, numbers, room, x });
                flagged.iter_mut().zip(positive).for_each(|(flag, positive)| *flag = !positive);
            }
        },
    )
}

/// Operations between two checks for cancellation, after which another thread may take over work.
const CHUNK_FLOPS: usize = 400_000;

/// Systems solved between two checks of `cancelled`: a multiple of four.
fn chunk(n: usize) -> usize {
    (CHUNK_FLOPS / (n * n * (n + 6) / 3 + 1)).clamp(1, 1024).next_multiple_of(LANES)
}

/// Distributes chunks of systems to the threads of the pool: the index of the first, and the slices for their
/// solutions and flags. Each thread creates its work space once. Returns false once `cancelled` does.
pub(super) fn by_chunks<W>(
    systems: Systems<'_>,
    found: &mut Solutions,
    cancelled: &(dyn Fn() -> bool + Sync),
    room: impl Fn() -> W + Sync + Send,
    solve: impl Fn(&mut W, usize, &mut [f64], &mut [bool]) + Sync + Send,
) -> bool {
    let (n, together) = (systems.unknowns(), chunk(systems.unknowns()));
    let stopped = AtomicBool::new(false);
    let x = found.x.par_chunks_mut(together * n);
    let chunks = x.zip(found.flagged.par_chunks_mut(together)).enumerate();
    chunks.for_each_init(room, |room, (k, (x, flagged))| {
        match stopped.load(Ordering::Relaxed) || cancelled() {
            true => stopped.store(true, Ordering::Relaxed),
            false => solve(room, k * together, x, flagged),
        }
    });
    !stopped.into_inner()
}
