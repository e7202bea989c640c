//! Coordinates quantised to one-byte levels: a larger coordinate has the same or a higher level.

use std::array::from_fn;

use rayon::prelude::*;

use super::lanes::{BOUNDS as STEP, Bounds, Lanes, Work};
use super::pivots::spread;
use crate::skyline::Cancelled;
use sparsescope_matrix::matrix::PointsView;

/// Number of points sampled to place the levels.
const SAMPLE: usize = 2048;

/// Maximum number of bounds between levels of a coordinate; level 0 stays unused.
const MOST: usize = 254;

/// The lower bounds of a coordinate's levels, ascending, padded with NaN, which is at most nothing. A level
/// is 1 plus the number of bounds that are at most the coordinate, so −0 and +0 share a level.
struct Scale {
    fine: [Bounds; STEP],
    /// The last bound of each group.
    coarse: Bounds,
}

impl Scale {
    /// Places the bounds so that each level has about the same number of sampled coordinates.
    fn of(mut sample: Vec<f64>) -> Self {
        sample.sort_unstable_by(f64::total_cmp);
        let mut bounds = sample.clone();
        bounds.dedup();
        if bounds.len() > MOST {
            bounds = (1..=MOST).map(|b| sample[b * sample.len() / (MOST + 1)]).collect();
            bounds.dedup();
        }
        let at = |at: usize| bounds.get(at).copied().unwrap_or(f64::NAN);
        Self {
            fine: from_fn(|step| Bounds(from_fn(|b| at(step * STEP + b)))),
            coarse: Bounds(from_fn(|step| at(step * STEP + STEP - 1))),
        }
    }

    /// # Safety
    /// The CPU supports the vectors L.
    #[inline(always)]
    unsafe fn level<L: Lanes>(&self, value: f64) -> u8 {
        // SAFETY: the caller's promise.
        let step = unsafe { L::at_most(&self.coarse, value) };
        // The last bound is NaN, and so is the last coarse one: a step is below 16.
        // SAFETY: the caller's promise.
        let rest = unsafe { L::at_most(&self.fine[step as usize], value) };
        (1 + STEP as u32 * step + rest) as u8
    }
}

/// The bounds of all coordinates.
pub(super) struct Levels(Vec<Scale>);

impl Levels {
    /// Chooses bounds that suit the points with these indices. `None` when cancelled.
    pub(super) fn of(
        points: PointsView<'_>,
        indices: &[u32],
        cancelled: &Cancelled<'_>,
    ) -> Option<Self> {
        let sample = spread(indices.len(), SAMPLE);
        let coordinate = |k: usize| {
            let value = |at: &u32| points.point(indices[*at as usize] as usize)[k];
            (!cancelled()).then(|| Scale::of(sample.iter().map(value).collect()))
        };
        let all: Option<Vec<_>> =
            (0..points.dimensions()).into_par_iter().map(coordinate).collect();
        all.map(Self)
    }
}

/// Computes the levels of points given by index, point by point, and their sums.
pub(super) struct Quantise<'q> {
    pub(super) points: PointsView<'q>,
    pub(super) levels: &'q Levels,
    pub(super) indices: &'q [u32],
    pub(super) to: &'q mut [u8],
    pub(super) sums: &'q mut [u32],
}

impl Work for Quantise<'_> {
    type Output = ();

    #[inline(always)]
    unsafe fn run<L: Lanes>(self) {
        let to = self.to.chunks_exact_mut(self.points.dimensions());
        for ((&index, to), sum) in self.indices.iter().zip(to).zip(self.sums) {
            let point = self.points.point(index as usize);
            for ((to, &value), scale) in to.iter_mut().zip(point).zip(&self.levels.0) {
                // SAFETY: the caller's promise.
                *to = unsafe { scale.level::<L>(value) };
                *sum += u32::from(*to);
            }
        }
    }
}
