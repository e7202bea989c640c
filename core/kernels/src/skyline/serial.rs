//! One thread compares every point with all others: the reference for every other kernel.

use super::block::decide;
use super::{Cancelled, Found, may_start};
use sparsescope_matrix::matrix::PointsView;
use sparsescope_matrix::memory::{MemoryError, MemoryLimit};

/// One thread compares each point with all others in order until one dominates it, O(N²·D). `None` when
/// cancelled.
///
/// The number of comparisons is the same in every execution. Panics on more than 2³² points.
pub fn serial(
    points: PointsView<'_>,
    limit: MemoryLimit,
    cancelled: &Cancelled<'_>,
) -> Result<Option<Found>, MemoryError> {
    may_start(points, limit, size_of::<u32>())?;
    Ok(decide(points, 0..points.len(), cancelled))
}
