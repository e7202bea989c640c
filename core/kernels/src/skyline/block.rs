//! Contiguous blocks of points, and how much work a kernel does between two checks for cancellation.

use std::ops::Range;

use super::{Cancelled, Found, dominates};
use sparsescope_matrix::matrix::PointsView;

/// Coordinates that a thread compares between two checks for cancellation: some 50 µs.
const PATIENCE: usize = 1 << 16;

/// The points from 0 to N in pieces of about [`PATIENCE`] coordinates.
pub(super) fn pieces(points: PointsView<'_>) -> impl Iterator<Item = Range<usize>> + use<> {
    let (n, step) = (points.len(), (PATIENCE / points.dimensions()).max(1));
    (0..n).step_by(step).map(move |start| start..n.min(start + step))
}

/// Part t of `parts` parts of 0..n, all of about the same length.
pub(super) fn part(n: usize, parts: usize, t: usize) -> Range<usize> {
    let at = |t: usize| (n as u128 * t as u128 / parts as u128) as usize;
    at(t)..at(t + 1)
}

/// Returns the points of a block that no point dominates: each is compared with all points in order until one
/// dominates it. `None` when cancelled.
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
            // The loop over the points also visits the point itself, but does not compare it.
            let seen = piece_start..dominator.map_or(piece.end, |at| piece_start + at + 1);
            found.comparisons += (seen.len() - usize::from(seen.contains(&i))) as u64;
            if is_dominated {
                break;
            }
        }
        if !is_dominated {
            found.indices.push(u32::try_from(i).expect("at most 2³² points")); // checked on entry
        }
    }
    Some(found)
}
