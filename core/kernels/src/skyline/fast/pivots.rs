//! The first pass over the points: a few strong ones of a sample remove those that they dominate.

use std::cmp::Reverse;
use std::ops::Range;

use rayon::prelude::*;

use super::lanes::{Lanes, Work, with_widest};
use crate::skyline::Cancelled;
use sparsescope_matrix::matrix::PointsView;

/// Number of points sampled to find the strong ones.
const SAMPLE: usize = 1024;

/// Number of sample points with the largest ranks that may become pivots.
const CONTENDERS: usize = 32;

/// Number of coordinates used for ranking.
const RANKED: usize = 16;

/// A pivot must remove at least one in this many sample points beyond the pivots before it.
const WORTH: usize = 50;

/// Chooses points that dominate many others: of the sample's strongest points the one that removes most, then
/// the one that removes most of the rest, as long as it is worthwhile.
fn pivots(points: PointsView<'_>) -> Vec<u32> {
    let sample = spread(points.len(), SAMPLE);
    let worth = sample.len() / WORTH;
    let mut contenders = strongest(points, &sample);
    let (mut chosen, mut left) = (Vec::new(), sample);
    loop {
        let dropped = |&p: &u32| left.iter().filter(|&&q| is_over(points, p, q)).count();
        let drops = contenders.iter().map(dropped).enumerate();
        let most = drops.max_by_key(|&(_, drops)| drops).filter(|&(_, drops)| drops > worth);
        let Some((at, _)) = most else { return chosen };
        let pivot = contenders.swap_remove(at);
        left.retain(|&q| !is_over(points, pivot, q));
        chosen.push(pivot);
    }
}

/// The points of a sample with the largest sums of ranks in some of the coordinates.
fn strongest(points: PointsView<'_>, sample: &[u32]) -> Vec<u32> {
    let mut sums = vec![0; sample.len()];
    let mut ranked: Vec<usize> = (0..sample.len()).collect();
    for k in spread(points.dimensions(), RANKED) {
        let value = |at: usize| points.point(sample[at] as usize)[k as usize];
        ranked.sort_unstable_by(|&a, &b| value(a).total_cmp(&value(b)));
        ranked.iter().enumerate().for_each(|(rank, &at)| sums[at] += rank);
    }
    ranked.sort_unstable_by_key(|&at| (Reverse(sums[at]), at));
    ranked.into_iter().take(CONTENDERS).map(|at| sample[at]).collect()
}

/// `count` evenly spaced numbers below n; all if n is no larger.
pub(super) fn spread(n: usize, count: usize) -> Vec<u32> {
    let count = count.min(n);
    (0..count).map(|at| (at as u128 * n as u128 / count as u128) as u32).collect()
}

fn is_over(points: PointsView<'_>, p: u32, q: u32) -> bool {
    dominates(points.point(p as usize), points.point(q as usize))
}

/// [`dominates`](crate::skyline::dominates), four coordinates at a time.
#[inline(always)]
pub(super) fn dominates(p: &[f64], q: &[f64]) -> bool {
    is_nowhere_smaller(p, q) && p != q
}

/// Whether each coordinate of p is at least that of q.
#[inline(always)]
pub(super) fn is_nowhere_smaller(p: &[f64], q: &[f64]) -> bool {
    let (mut p, mut q) = (p.chunks_exact(4), q.chunks_exact(4));
    for (p, q) in (&mut p).zip(&mut q) {
        if !((p[0] >= q[0]) & (p[1] >= q[1]) & (p[2] >= q[2]) & (p[3] >= q[3])) {
            return false;
        }
    }
    p.remainder().iter().zip(q.remainder()).all(|(p, q)| p >= q)
}

/// Points that a thread sifts between two checks for cancellation.
const SIFTED: usize = 1 << 12;

/// Returns the points that no pivot dominates, ascending, and the number of comparisons. `None` when
/// cancelled.
pub(super) fn sift(points: PointsView<'_>, cancelled: &Cancelled<'_>) -> Option<(Vec<u32>, u64)> {
    let (n, pivots) = (points.len(), pivots(points));
    if pivots.is_empty() {
        return Some(((0..n).map(|i| i as u32).collect(), 0));
    }
    let parts = (0..n.div_ceil(SIFTED)).into_par_iter().map(|part| {
        let range = part * SIFTED..n.min((part + 1) * SIFTED);
        (!cancelled()).then(|| with_widest(Sift { points, pivots: &pivots, range }))
    });
    let (mut left, mut comparisons) = (Vec::new(), 0);
    for (part, made) in parts.collect::<Option<Vec<_>>>()? {
        left.extend(part);
        comparisons += made;
    }
    Some((left, comparisons))
}

/// Finds which of some points no pivot dominates, and counts the comparisons.
struct Sift<'s> {
    points: PointsView<'s>,
    pivots: &'s [u32],
    range: Range<usize>,
}

impl Work for Sift<'_> {
    type Output = (Vec<u32>, u64);

    #[inline(always)]
    unsafe fn run<L: Lanes>(self) -> Self::Output {
        let (mut left, mut comparisons) = (Vec::with_capacity(self.range.len() / 4), 0);
        for i in self.range {
            let q = self.points.point(i);
            let over = |&p: &u32| dominates(self.points.point(p as usize), q);
            match self.pivots.iter().position(over) {
                Some(at) => comparisons += at as u64 + 1,
                None => {
                    comparisons += self.pivots.len() as u64;
                    left.push(i as u32);
                }
            }
        }
        (left, comparisons)
    }
}
