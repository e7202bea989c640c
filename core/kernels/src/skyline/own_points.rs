//! Each thread decides its own block of points: the older version of the paper.

use rayon::prelude::*;

use super::block::{decide, part};
use super::{Cancelled, Found, may_start};
use sparsescope_matrix::matrix::PointsView;
use sparsescope_matrix::memory::{MemoryError, MemoryLimit};

/// Each thread of the ambient pool decides one contiguous block of points, all blocks having the same length:
/// it compares each of its points with all points until one dominates it, and writes nothing that another
/// thread reads (Fabri 2021, section 2.2). `None` when cancelled.
///
/// The number of comparisons is that of [`serial`](super::serial) for any number of threads. Panics on more
/// than 2³² points.
pub fn own_points(
    points: PointsView<'_>,
    limit: MemoryLimit,
    cancelled: &Cancelled<'_>,
) -> Result<Option<Found>, MemoryError> {
    may_start(points, limit, 2 * size_of::<u32>())?;
    let threads = rayon::current_num_threads();
    let blocks = (0..threads).into_par_iter().with_max_len(1);
    let parts: Option<Vec<Found>> =
        blocks.map(|t| decide(points, part(points.len(), threads, t), cancelled)).collect();
    Ok(parts.map(Found::joined))
}
