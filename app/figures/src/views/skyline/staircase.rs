//! The staircase: the boundary of the region that the skyline points dominate in two dimensions.

use emath::{Pos2, pos2};
use sparsescope_core::skyline::PointsPicture;

use super::look::{Look, Looks};
use super::plot::{Plot, point};
use crate::figure::clipped;

/// Corners closer than this to the last one are skipped, in points.
const LEAST: f32 = 0.4;

/// The skyline points that no other skyline point dominates in these two dimensions, from right to
/// left; one of each group of duplicates.
pub(super) fn corners(picture: &PointsPicture, looks: &Looks, axes: [usize; 2]) -> Vec<[f32; 2]> {
    let kept = looks.of.iter().enumerate().filter(|(_, look)| **look == Look::Kept);
    let mut all: Vec<[f32; 2]> =
        kept.filter_map(|(place, _)| point(picture, axes, place)).collect();
    sparsescope_core::order::sort_by(&mut all, |[x, y], [u, v]| {
        u.total_cmp(x).then(v.total_cmp(y))
    });
    let mut highest = f32::NEG_INFINITY;
    all.retain(|[_, y]| {
        let is_higher = *y > highest;
        highest = highest.max(*y);
        is_higher
    });
    all
}

/// The staircase through these corners, clipped to the view.
pub(super) fn lines(corners: &[[f32; 2]], plot: &Plot) -> Vec<Vec<Pos2>> {
    let within = plot.area();
    let mut found: Vec<Vec<Pos2>> = Vec::new();
    let mut add = |from: Pos2, to: Pos2| {
        let Some([from, to]) = clipped(from, to, within) else { return };
        match found.last_mut() {
            Some(line) if line.last() == Some(&from) => line.push(to),
            _ => found.push(vec![from, to]),
        }
    };
    let Some(mut last) = corners.first().map(|corner| plot.at(*corner)) else { return found };
    add(pos2(last.x, within.max.y.max(last.y)), last);
    for corner in corners.iter().skip(1) {
        let next = plot.at(*corner);
        if (last - next).abs().max_elem() < LEAST {
            continue;
        }
        let turn = pos2(next.x, last.y);
        add(last, turn);
        add(turn, next);
        last = next;
    }
    add(last, pos2(within.min.x.min(last.x), last.y));
    found
}
