//! Finds a point that dominates another in a tree of boxes: the basis of skyline certificates. It shares
//! nothing with the kernels, which compare points with earlier ones in some order.

use std::cmp::Ordering;

use sparsescope_matrix::matrix::PointsView;
use sparsescope_matrix::parallel::*;

/// Points or boxes compared with a point in one step.
const LANES: usize = 8;

/// Number of points from which on both halves of a subtree are arranged in parallel.
const LARGE: usize = 1 << 13;

/// Points of a set, no two of them equal, in groups of eight; these in groups of eight again, each
/// represented by the largest value of every coordinate in it; and so on up to one group. No point of a group
/// dominates a point that exceeds the group's largest value in some coordinate.
pub(super) struct Dominators<'a> {
    points: PointsView<'a>,
    /// The points in group order.
    order: Vec<u32>,
    /// For each level, from the lowest, its groups one after another: D rows of eight values each; padded
    /// with NaN, which reaches nothing, if a group has fewer than eight members.
    levels: Vec<Vec<f64>>,
}

impl<'a> Dominators<'a> {
    /// Builds the tree of the points with these indices.
    pub(super) fn new(points: PointsView<'a>, chosen: &[u32]) -> Self {
        let point = |i: u32| points.point(i as usize);
        let mut order = chosen.to_vec();
        order.sort_unstable_by(|&a, &b| compared(point(a), point(b)));
        order.dedup_by(|a, b| point(*a) == point(*b));
        arrange(points, &mut order, 0);
        let d = points.dimensions();
        let mut members: Vec<f64> = order.iter().flat_map(|&i| point(i)).copied().collect();
        let mut levels = vec![grouped(&members, d)];
        while members.len() > LANES * d {
            let groups = levels.last().into_iter().flat_map(|level| level.chunks_exact(LANES));
            let largest = |line: &[f64]| line.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            members = groups.map(largest).collect();
            levels.push(grouped(&members, d));
        }
        Self { points, order, levels }
    }

    /// Returns a point that dominates q, if there is one.
    pub(super) fn of(&self, q: &[f64]) -> Option<u32> {
        match self.order.len() {
            0 => None,
            _ => self.search(self.levels.len() - 1, 0, q),
        }
    }

    fn search(&self, level: usize, group: usize, q: &[f64]) -> Option<u32> {
        let values = LANES * q.len();
        let mut lanes = reaching(&self.levels[level][group * values..][..values], q);
        while lanes != 0 {
            let member = group * LANES + lanes.trailing_zeros() as usize;
            lanes &= lanes - 1;
            let found = match level {
                // It is at least q in every coordinate: it dominates q unless it is equal.
                0 => {
                    let i = self.order[member];
                    Some(i).filter(|&i| self.points.point(i as usize) != q)
                }
                _ => self.search(level - 1, member, q),
            };
            if found.is_some() {
                return found;
            }
        }
        None
    }
}

/// Compares the first coordinates that differ; equal if none do, −0 equals 0.
fn compared(p: &[f64], q: &[f64]) -> Ordering {
    p.partial_cmp(q).unwrap_or(Ordering::Equal)
}

/// Splits the points by one coordinate after another, larger values first, as in a k-d tree, so that the
/// members of a group are close to each other. The first part is a power of two of whole groups.
fn arrange(points: PointsView<'_>, order: &mut [u32], depth: usize) {
    if order.len() <= LANES {
        return;
    }
    let first = LANES << (order.len().div_ceil(LANES) - 1).ilog2();
    let k = depth % points.dimensions();
    let value = |i: u32| points.point(i as usize)[k];
    order.select_nth_unstable_by(first, |&a, &b| compared(&[value(b)], &[value(a)]));
    let is_large = order.len() >= LARGE;
    let (front, back) = order.split_at_mut(first);
    let below = |part: &mut [u32]| arrange(points, part, depth + 1);
    if is_large {
        join(|| below(front), || below(back));
    } else {
        below(front);
        below(back);
    }
}

/// Arranges consecutive members of D values each in groups.
fn grouped(members: &[f64], d: usize) -> Vec<f64> {
    let count = members.len() / d;
    let mut groups = vec![f64::NAN; count.div_ceil(LANES) * LANES * d];
    for (i, member) in members.chunks_exact(d).enumerate() {
        let group = &mut groups[i / LANES * LANES * d..];
        for (line, &value) in group.chunks_exact_mut(LANES).zip(member) {
            line[i % LANES] = value;
        }
    }
    groups
}

/// Which members of a group are at least q in every coordinate, one bit each.
#[inline]
fn reaching(group: &[f64], q: &[f64]) -> u32 {
    let mut all = [u64::MAX; LANES];
    for (line, &x) in group.chunks_exact(LANES).zip(q) {
        for (reaches, &value) in all.iter_mut().zip(line) {
            *reaches &= if value >= x { u64::MAX } else { 0 };
        }
        if all.iter().fold(0, |any, reaches| any | reaches) == 0 {
            return 0;
        }
    }
    all.iter().rev().fold(0, |bits, reaches| bits << 1 | (reaches & 1) as u32)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use sparsescope_matrix::matrix::Points;

    fn dominates(p: &[f64], q: &[f64]) -> bool {
        p.iter().zip(q).all(|(x, y)| x >= y) && p.iter().zip(q).any(|(x, y)| x > y)
    }

    /// Checks that a dominating point of `chosen` is found exactly if there is one.
    fn agrees(points: &Points, chosen: &[u32]) -> Result<(), TestCaseError> {
        let points = points.view();
        let tree = Dominators::new(points, chosen);
        for i in 0..points.len() {
            let q = points.point(i);
            let of = |p: u32| dominates(points.point(p as usize), q);
            match tree.of(q) {
                Some(p) => prop_assert!(of(p) && chosen.contains(&p), "{} over {}", p, i),
                None => prop_assert!(!chosen.iter().any(|&p| of(p)), "none over {}", i),
            }
        }
        Ok(())
    }

    proptest! {
        #[test]
        fn a_dominator_is_found_exactly_where_there_is_one(
            d in 1usize..12,
            values in prop::collection::vec(
                prop_oneof![
                    6 => (-3i8..4).prop_map(f64::from),
                    2 => prop::sample::select(&[-0.0, 0.5, f64::INFINITY, f64::NEG_INFINITY, f64::MAX, 5e-324][..]),
                    2 => -1.0..1.0f64,
                ],
                0..1500,
            ),
            every in 1usize..4,
        ) {
            let whole = values.len() / d * d;
            let points = Points::new(d, values[..whole].to_vec()).unwrap();
            let chosen: Vec<u32> = (0..points.len() as u32).step_by(every).collect();
            agrees(&points, &chosen)?;
        }

        #[test]
        fn the_same_where_no_two_coordinates_are_equal(
            d in 1usize..9,
            values in prop::collection::vec(-1.0..1.0f64, 0..4000),
        ) {
            let whole = values.len() / d * d;
            let points = Points::new(d, values[..whole].to_vec()).unwrap();
            let all: Vec<u32> = (0..points.len() as u32).collect();
            agrees(&points, &all)?;
        }
    }

    #[test]
    fn of_equal_points_one_is_kept_in_the_tree() {
        let points = Points::new(2, [0.0, -0.0, -0.0, 0.0].repeat(5000)).unwrap();
        let all: Vec<u32> = (0..points.len() as u32).collect();
        let tree = Dominators::new(points.view(), &all);
        assert_eq!((tree.order.len(), tree.of(&[0.0, 0.0])), (1, None));
        assert!(tree.of(&[0.0, -1.0]).is_some() && tree.of(&[0.0, 1.0]).is_none());
    }

    #[test]
    fn every_size_has_its_levels() {
        for n in [0, 1, 7, 8, 9, 63, 64, 65, 511, 512, 513, 4097] {
            // A staircase: no point dominates another, and one step down every point is dominated.
            let steps = (0..n).flat_map(|i| [f64::from(i), f64::from(n - i)]);
            let points = Points::new(2, steps.collect()).unwrap();
            let all: Vec<u32> = (0..n as u32).collect();
            let tree = Dominators::new(points.view(), &all);
            for point in points.coordinates().chunks(2) {
                assert_eq!(tree.of(point), None, "{n}");
                assert!(tree.of(&[point[0], point[1] - 0.5]).is_some(), "{n}");
            }
            assert_eq!(tree.of(&[f64::NEG_INFINITY; 2]).is_some(), n > 0);
        }
    }
}
