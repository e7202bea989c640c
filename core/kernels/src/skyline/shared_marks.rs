//! Each thread marks the points that its own points dominate, visible to all threads: the final version of
//! the paper.

use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};

use rayon::prelude::*;

use super::block::{part, pieces};
use super::{Cancelled, Found, dominates, may_start};
use sparsescope_matrix::matrix::PointsView;
use sparsescope_matrix::memory::{MemoryError, MemoryLimit};

/// Each thread of the ambient pool takes a contiguous block of points and marks the points that they dominate
/// in an array shared by all threads; points marked by any thread are skipped in all comparisons. When all
/// threads are done, each collects the unmarked points of its block (Fabri 2021, section 2.1). `None` when
/// cancelled.
///
/// The number of comparisons depends on which thread marks a point first: it is reproducible on one thread
/// only. Panics on more than 2³² points.
pub fn shared_marks(
    points: PointsView<'_>,
    limit: MemoryLimit,
    cancelled: &Cancelled<'_>,
) -> Result<Option<Found>, MemoryError> {
    may_start(points, limit, size_of::<AtomicBool>() + 2 * size_of::<u32>())?;
    let (n, threads) = (points.len(), rayon::current_num_threads());
    let is_dominated: Vec<AtomicBool> =
        (0..n).into_par_iter().map(|_| AtomicBool::new(false)).collect();
    let blocks = || (0..threads).into_par_iter().with_max_len(1).map(|t| part(n, threads, t));
    let comparisons: Option<Vec<u64>> =
        blocks().map(|block| mark(points, block, &is_dominated, cancelled)).collect();
    let Some(comparisons) = comparisons else { return Ok(None) };
    let unmarked = |i: &u32| !is_dominated[*i as usize].load(Ordering::Relaxed);
    let collect = |block: Range<usize>| (block.start as u32..block.end as u32).filter(unmarked);
    let indices: Vec<Vec<u32>> = blocks().map(|block| collect(block).collect()).collect();
    Ok(Some(Found { indices: indices.concat(), comparisons: comparisons.iter().sum() }))
}

/// Marks the points that those of a block dominate and returns the number of comparisons. A skyline point is
/// never marked and so is compared with all points still unmarked: every dominated point is marked in the
/// end, in whatever order the marks become visible.
fn mark(
    points: PointsView<'_>,
    block: Range<usize>,
    is_dominated: &[AtomicBool],
    cancelled: &Cancelled<'_>,
) -> Option<u64> {
    let mut comparisons = 0;
    for i in block {
        if is_dominated[i].load(Ordering::Relaxed) {
            continue;
        }
        let p = points.point(i);
        for piece in pieces(points) {
            if cancelled() {
                return None;
            }
            for j in piece {
                if j != i && !is_dominated[j].load(Ordering::Relaxed) {
                    comparisons += 1;
                    if dominates(p, points.point(j)) {
                        is_dominated[j].store(true, Ordering::Relaxed);
                    }
                }
            }
        }
    }
    Some(comparisons)
}
