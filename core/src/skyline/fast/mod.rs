//! All threads, and as few comparisons as will do.
//!
//! A few strong points of a sample drop what they dominate. What is left gets levels: each coordinate
//! becomes a byte, so that an instruction a coordinate compares 64 points with one. No point is
//! dominated by one of a smaller sum of levels, so batches of falling sums are compared with the points
//! kept so far, then among themselves. Those kept lie in trees by which most are passed over. What levels
//! do not decide, coordinates do.

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
use crate::matrix::PointsView;
use crate::memory::{MemoryError, MemoryLimit};

/// The skyline by a sample's strongest points, levels of one byte and trees of tiles, on the ambient
/// pool. That a sum orders points so that none is dominated by a later one is from SFS (Chomicki et al.
/// 2003); that few bits a point spare most comparisons, from Hybrid (Chester et al. 2015); that a corner
/// stands for a subtree, from BBS (Papadias et al. 2003). `None` when cancelled.
///
/// Comparisons are the same in every execution, on any number of threads, with any vectors: each point of
/// each tile that is looked at counts. Panics on more than 2³² points.
pub fn fast(
    points: PointsView<'_>,
    limit: MemoryLimit,
    cancelled: &Cancelled<'_>,
) -> Result<Option<Found>, MemoryError> {
    // Levels and tiles, one of which is made while another is there; indices, orders, corners.
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
