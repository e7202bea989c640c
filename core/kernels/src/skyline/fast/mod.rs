//! The skyline on all threads, with as few comparisons as possible.
//!
//! A few strong points of a sample remove the points that they dominate. The rest gets levels: each
//! coordinate becomes a byte, so that one instruction per coordinate compares 64 points with one. A point is
//! never dominated by one with a smaller level sum, so batches of descending sums are compared with the
//! skyline so far, then among themselves. The skyline points so far are stored in trees, by which most
//! comparisons are skipped. Where levels do not decide, coordinates do.

mod batches;
mod candidates;
mod lanes;
mod levels;
mod pivots;
mod rounds;
mod tree;

use self::batches::batches;
use self::candidates::Candidates;
use self::pivots::sift;
use self::rounds::Rounds;
use super::{Cancelled, Found, may_start};
use sparsescope_matrix::matrix::PointsView;
use sparsescope_matrix::memory::{MemoryError, MemoryLimit};

/// The skyline by a sample's strongest points, one-byte levels and trees of tiles, on the ambient pool.
/// Sorting by sums so that no point is dominated by a later one is from SFS (Chomicki et al. 2003); saving
/// most comparisons with a few bits per point, from Hybrid (Chester et al. 2015); representing a subtree by
/// its corner, from BBS (Papadias et al. 2003). `None` when cancelled.
///
/// The number of comparisons is the same in every execution, with any number of threads and any vectors: each
/// point of each visited tile counts. Panics on more than 2³² points.
pub fn fast(
    points: PointsView<'_>,
    limit: MemoryLimit,
    cancelled: &Cancelled<'_>,
) -> Result<Option<Found>, MemoryError> {
    // Levels and tiles, where one is built while the other is alive; indices, orders, corners.
    may_start(points, limit, 4 * points.dimensions() + 12 * size_of::<u32>())?;
    Ok(kept(points, cancelled))
}

fn kept(points: PointsView<'_>, cancelled: &Cancelled<'_>) -> Option<Found> {
    let (left, comparisons) = sift(points, cancelled)?;
    let candidates = Candidates::new(points, left, cancelled)?;
    let mut rounds = Rounds::new(&candidates, cancelled);
    for batch in batches(&candidates, cancelled)? {
        rounds.compare(&batch)?;
    }
    let mut found = rounds.found()?;
    found.comparisons += comparisons;
    Some(found)
}
