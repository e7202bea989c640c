//! The skyline operator on processors: of N points in D dimensions those that no other dominates, larger
//! coordinates being better. One kernel a file; all keep the same points, and those with several threads
//! run on the ambient rayon pool.

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

use crate::matrix::PointsView;
use crate::memory::{MemoryError, MemoryLimit};

/// What a kernel asks at least every 0.1 s, from any thread: whether it is to stop.
pub type Cancelled<'c> = dyn Fn() -> bool + Sync + 'c;

/// Fails when a kernel that takes this many bytes a point takes too many. Panics on more points than
/// indices of 32 bits tell apart.
fn may_start(
    points: PointsView<'_>,
    limit: MemoryLimit,
    bytes_a_point: usize,
) -> Result<(), MemoryError> {
    let (n, d) = (points.len(), points.dimensions());
    assert!(n as u64 <= 1 << 32, "indices of points have 32 bits");
    let what = || format!("the skyline of {n} points of {d} dimensions");
    limit.check(what(), n as u128 * bytes_a_point as u128)
}

#[cfg(test)]
mod picture_tests;
#[cfg(test)]
mod tests;
