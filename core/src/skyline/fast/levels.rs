//! Coordinates as levels of one byte: the larger a coordinate, the higher its level, or the same.

use rayon::prelude::*;

use super::lanes::{Lanes, Work};
use super::pivots::spread;
use crate::matrix::PointsView;
use crate::skyline::Cancelled;

/// Points whose coordinates say where the levels begin.
const SAMPLE: usize = 2048;

/// Bounds between levels of one coordinate: level 0 is no point's.
const BOUNDS: usize = 254;

/// Bounds that are looked through at once.
const STEP: usize = 16;

/// Where the levels of a coordinate begin: ascending, then NaN, which is at most nothing. A level is 1
/// and the number of bounds that are at most the coordinate, so that −0 and +0 have the same.
struct Bounds {
    all: [f64; STEP * STEP],
    /// Every 16th of them.
    coarse: [f64; STEP],
}

impl Bounds {
    /// Of sampled coordinates, about as many to each level.
    fn of(mut sample: Vec<f64>) -> Self {
        sample.sort_unstable_by(f64::total_cmp);
        let mut distinct = sample.clone();
        distinct.dedup();
        if distinct.len() > BOUNDS {
            let bound = |b: usize| sample[(b + 1) * sample.len() / (BOUNDS + 1)];
            distinct = (0..BOUNDS).map(bound).collect();
            distinct.dedup();
        }
        let mut bounds = Self { all: [f64::NAN; STEP * STEP], coarse: [f64::NAN; STEP] };
        bounds.all[..distinct.len()].copy_from_slice(&distinct);
        for (coarse, fine) in bounds.coarse.iter_mut().zip(bounds.all.chunks_exact(STEP)) {
            *coarse = fine[STEP - 1];
        }
        bounds
    }

    #[inline(always)]
    fn level(&self, value: f64) -> u8 {
        let below = |bounds: &[f64]| bounds.iter().map(|&b| u8::from(b <= value)).sum::<u8>();
        let coarse = below(&self.coarse);
        let start = STEP * usize::from(coarse);
        1 + STEP as u8 * coarse + below(&self.all[start..start + STEP])
    }
}

/// The bounds of all coordinates.
pub(super) struct Levels(Vec<Bounds>);

impl Levels {
    /// Bounds that suit the points of these indices. `None` when cancelled.
    pub(super) fn of(
        points: PointsView<'_>,
        indices: &[u32],
        cancelled: &Cancelled<'_>,
    ) -> Option<Self> {
        let sample = spread(indices.len(), SAMPLE);
        let coordinate = |k: usize| {
            let value = |at: &u32| points.point(indices[*at as usize] as usize)[k];
            (!cancelled()).then(|| Bounds::of(sample.iter().map(value).collect()))
        };
        let all: Option<Vec<_>> =
            (0..points.dimensions()).into_par_iter().map(coordinate).collect();
        all.map(Self)
    }
}

/// Levels of the points of some indices, a point after the other, and their sums.
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
            for ((to, &value), bounds) in to.iter_mut().zip(point).zip(&self.levels.0) {
                *to = bounds.level(value);
                *sum += u32::from(*to);
            }
        }
    }
}
