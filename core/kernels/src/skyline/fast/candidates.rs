//! The points that the first pass left, with their levels.

use rayon::prelude::*;

use super::lanes::{LANES, with_widest};
use super::levels::{Levels, Quantise};
use crate::skyline::Cancelled;
use sparsescope_matrix::matrix::PointsView;
use sparsescope_matrix::memory::zeroed;

/// Points that may dominate one another, numbered from 0.
pub(super) struct Candidates<'p> {
    points: PointsView<'p>,
    /// Indices of the points, ascending.
    indices: Vec<u32>,
    levels: Vec<u8>,
    /// Level sums: a dominating point has a sum at least as large.
    pub(super) sums: Vec<u32>,
}

/// Candidates processed between two checks for cancellation.
pub(super) const LONG: usize = 1 << 20;

/// Points whose levels are computed together.
const AT_ONCE: usize = 1 << 12;

impl<'p> Candidates<'p> {
    /// Builds the candidates from these indices. `None` when cancelled.
    pub(super) fn new(
        points: PointsView<'p>,
        indices: Vec<u32>,
        cancelled: &Cancelled<'_>,
    ) -> Option<Self> {
        let d = points.dimensions();
        let mut levels = zeroed(0, indices.len() * d);
        let mut sums = vec![0; indices.len()];
        let bounds = Levels::of(points, &indices, cancelled)?;
        let parts = indices.par_chunks(AT_ONCE).zip(levels.par_chunks_mut(AT_ONCE * d));
        let parts = parts.zip(sums.par_chunks_mut(AT_ONCE)).map(|((indices, to), sums)| {
            let work = Quantise { points, levels: &bounds, indices, to, sums };
            (!cancelled()).then(|| with_widest(work))
        });
        parts.collect::<Option<()>>()?;
        Some(Self { points, indices, levels, sums })
    }

    /// Number of candidates.
    pub(super) fn len(&self) -> usize {
        self.indices.len()
    }

    pub(super) fn dimensions(&self) -> usize {
        self.points.dimensions()
    }

    /// The point indices of the kept candidates, ascending. `None` when cancelled.
    pub(super) fn indices(&self, is_kept: &[bool], cancelled: &Cancelled<'_>) -> Option<Vec<u32>> {
        let mut kept = Vec::new();
        for (indices, is_kept) in self.indices.chunks(LONG).zip(is_kept.chunks(LONG)) {
            if cancelled() {
                return None;
            }
            let pairs = indices.iter().zip(is_kept);
            kept.extend(pairs.filter(|&(_, &is_kept)| is_kept).map(|(&index, _)| index));
        }
        Some(kept)
    }

    /// The coordinates of a candidate.
    #[inline(always)]
    pub(super) fn point(&self, candidate: u32) -> &'p [f64] {
        self.points.point(self.indices[candidate as usize] as usize)
    }

    /// The levels of a candidate.
    #[inline(always)]
    pub(super) fn levels(&self, candidate: u32) -> &[u8] {
        let d = self.dimensions();
        &self.levels[candidate as usize * d..][..d]
    }

    /// Orders some candidates so that neighbours are similar and whole tiles can be skipped: splits them in
    /// halves by the coordinate whose levels differ most, recursively down to a tile. Larger ones come first,
    /// as they dominate more. `None` when cancelled.
    pub(super) fn cluster(&self, some: Vec<u32>, cancelled: &Cancelled<'_>) -> Option<Vec<u32>> {
        let mut keyed: Vec<u64> = some.into_iter().map(u64::from).collect();
        self.split(&mut keyed, cancelled)?;
        Some(keyed.into_iter().map(|keyed| keyed as u32).collect())
    }

    /// Orders candidates given by the low halves of these numbers. `None` when cancelled.
    fn split(&self, part: &mut [u64], cancelled: &Cancelled<'_>) -> Option<()> {
        if part.len() <= LANES {
            return Some(());
        }
        let (k, width) = self.widest(part);
        if width <= NARROW {
            self.sort_by_coordinates(part, k);
            return Some(());
        }
        // The left half consists of whole tiles, and of whole tiles of tiles.
        let middle = part.len().next_power_of_two() / 2;
        if part.len() <= SELECTED {
            self.select(part, middle, k);
        }
        let (left, right) = part.split_at_mut(middle);
        if left.len() <= SPLIT_ALONE {
            self.split(left, cancelled)?;
            return self.split(right, cancelled);
        }
        if cancelled() {
            return None;
        }
        let both = rayon::join(|| self.split(left, cancelled), || self.split(right, cancelled));
        both.0.and(both.1)
    }

    /// Moves the largest levels of coordinate k before `middle`.
    fn select(&self, part: &mut [u64], middle: usize, k: usize) {
        for keyed in &mut *part {
            let candidate = *keyed as u32;
            let level = self.levels(candidate)[k];
            *keyed = u64::from(u8::MAX - level) << 32 | u64::from(candidate);
        }
        part.select_nth_unstable(middle);
    }

    /// Orders candidates whose levels barely differ, by coordinate k first.
    fn sort_by_coordinates(&self, part: &mut [u64], k: usize) {
        let from_k = |keyed: &u64| {
            let (before, after) = self.point(*keyed as u32).split_at(k);
            after.iter().chain(before)
        };
        part.sort_unstable_by(|a, b| {
            let pairs = from_k(a).zip(from_k(b));
            let mut orders = pairs.map(|(p, q)| q.partial_cmp(p).expect("no NaN")); // Points contain no NaN
            orders.find(|order| order.is_ne()).unwrap_or(a.cmp(b))
        });
    }

    /// The coordinate whose levels differ most, and by how much, estimated from a few candidates.
    fn widest(&self, part: &[u64]) -> (usize, u8) {
        let d = self.dimensions();
        let (mut least, mut most) = (vec![u8::MAX; d], vec![0; d]);
        for keyed in part.iter().step_by(part.len().div_ceil(LOOKED_AT)) {
            let levels = self.levels(*keyed as u32);
            for ((least, most), &level) in least.iter_mut().zip(&mut most).zip(levels) {
                *least = level.min(*least);
                *most = level.max(*most);
            }
        }
        let widths = most.iter().zip(&least).map(|(most, least)| most - least);
        widths.enumerate().max_by_key(|&(_, width)| width).expect("a dimension at least") // D ≥ 1
    }
}

/// Maximum number of candidates split by levels: more would delay the check for cancellation.
const SELECTED: usize = 1 << 22;

/// Number of candidates below which one thread continues alone.
const SPLIT_ALONE: usize = 1 << 12;

/// Candidates are ordered by coordinates if their levels differ by at most this much in every coordinate.
const NARROW: u8 = 1;

/// Number of candidates sampled to choose the coordinate to split by.
const LOOKED_AT: usize = 256;
