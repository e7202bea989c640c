//! The skyline operator on CPUs: of N points in D dimensions it returns the skyline (Pareto front), the
//! points that no other point dominates; larger coordinates are better. There is one kernel per file; all
//! return the same points, and the multithreaded ones run on the ambient rayon pool.

mod block;
mod dominance;
mod fast;
mod found;
mod own_points;
mod picture;
mod picture_files;
mod serial;
mod shared_marks;

pub use dominance::dominates;
pub use fast::fast;
pub use found::Found;
pub use own_points::own_points;
pub use picture::{Axis, Density, PointsPicture};
pub use picture_files::PointsPictureError;
pub use serial::serial;
pub use shared_marks::shared_marks;

use sparsescope_matrix::matrix::PointsView;
use sparsescope_matrix::memory::{MemoryError, MemoryLimit};

/// Cancellation check that a kernel calls at least every 0.1 s, from any thread: whether to stop.
pub type Cancelled<'c> = dyn Fn() -> bool + Sync + 'c;

/// Fails if a kernel that needs this many bytes per point exceeds the limit. Panics on more points than
/// 32-bit indices can number.
fn may_start(
    points: PointsView<'_>,
    limit: MemoryLimit,
    bytes_a_point: usize,
) -> Result<(), MemoryError> {
    let (n, d) = (points.len(), points.dimensions());
    assert!(n as u64 <= 1 << 32, "indices of points have 32 bits");
    let what = || format!("the skyline of {n} points in {d} dimensions");
    limit.check(what(), n as u128 * bytes_a_point as u128)
}

#[cfg(test)]
mod picture_tests;
#[cfg(test)]
mod tests;
