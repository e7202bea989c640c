//! Blocks of points that follow one another, and how long a kernel works on one before it looks
//! whether it is to stop.

use std::ops::Range;

use super::{Cancelled, Found, dominates};
use crate::matrix::PointsView;

/// Coordinates that a thread compares before it looks whether it is to stop: some 50 µs.
const PATIENCE: usize = 1 << 16;

/// The points from 0 to N in pieces of [`PATIENCE`].
pub(super) fn pieces(points: PointsView<'_>) -> impl Iterator<Item = Range<usize>> + use<> {
    let (n, step) = (points.len(), (PATIENCE / points.dimensions()).max(1));
    (0..n).step_by(step).map(move |start| start..n.min(start + step))
}

/// The t-th of `parts` parts of 0 to n, all of about the same length.
pub(super) fn part(n: usize, parts: usize, t: usize) -> Range<usize> {
    let at = |t: usize| (n as u128 * t as u128 / parts as u128) as usize;
    at(t)..at(t + 1)
}

/// Which points of a block no point dominates: each is compared with all points in their order, until
/// one dominates it. `None` when cancelled.
pub(super) fn decide(
    points: PointsView<'_>,
    block: Range<usize>,
    cancelled: &Cancelled<'_>,
) -> Option<Found> {
    let mut found = Found::default();
    for i in block {
        let q = points.point(i);
        let mut is_dominated = false;
        for piece in pieces(points) {
            if cancelled() {
                return None;
            }
            let piece_start = piece.start;
            let dominator = piece.clone().position(|j| dominates(points.point(j), q));
            is_dominated = dominator.is_some();
            // A point is in the way of its own loop, but not compared with itself.
            let seen = piece_start..dominator.map_or(piece.end, |at| piece_start + at + 1);
            found.comparisons += (seen.len() - usize::from(seen.contains(&i))) as u64;
            if is_dominated {
                break;
            }
        }
        if !is_dominated {
            found.indices.push(u32::try_from(i).expect("at most 2³² points")); // checked at the door
        }
    }
    Some(found)
}
