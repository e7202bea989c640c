//! Distributions of the coordinates of a point. U is uniform in [0, 1).
//!
//! The first three are from Börzsönyi, Kossmann and Stocker, *The Skyline Operator* (ICDE 2001), and
//! have been used in studies of the operator since.

use crate::generate::random::RowRandom;

/// Draws a point; returns false when the whole point must be drawn again.
pub(super) type Draw = fn(&mut RowRandom, &mut [f64]) -> bool;

/// U in every coordinate.
pub(super) fn independent(random: &mut RowRandom, point: &mut [f64]) -> bool {
    point.iter_mut().for_each(|x| *x = random.unit());
    true
}

/// Near the diagonal: a point that is good in one coordinate is good in the others. Its position on the
/// diagonal is the mean of D U; the offsets between adjacent coordinates are bell-shaped.
pub(super) fn correlated(random: &mut RowRandom, point: &mut [f64]) -> bool {
    let place = random.mean(point.len());
    spread(point, place, || 2.0 * random.mean(TERMS) - 1.0)
}

/// Near the plane of points whose coordinates sum to D/2: a point that is good in one coordinate is bad
/// in another. The offsets between adjacent coordinates are uniform.
pub(super) fn anticorrelated(random: &mut RowRandom, point: &mut [f64]) -> bool {
    let place = 0.25 + 0.5 * random.mean(TERMS);
    spread(point, place, || 2.0 * random.unit() - 1.0)
}

/// Uniform on the surface of the unit ball: D normal deviates divided by their length.
pub(super) fn sphere(random: &mut RowRandom, point: &mut [f64]) -> bool {
    for pair in point.chunks_mut(2) {
        pair.iter_mut().zip(random.normals()).for_each(|(x, normal)| *x = normal);
    }
    let length = point.iter().map(|x| x * x).sum::<f64>().sqrt();
    point.iter_mut().for_each(|x| *x /= length);
    length > 0.0
}

/// Number of terms of the sums used as bell-shaped deviates.
const TERMS: usize = 12;

/// A point of the diagonal whose adjacent coordinates, including the last and the first, are moved apart
/// by fractions, each in (−1, 1), of the way to the nearer end; returns false when one leaves [0, 1].
fn spread(point: &mut [f64], place: f64, mut share: impl FnMut() -> f64) -> bool {
    let room = place.min(1.0 - place);
    point.fill(place);
    let d = point.len();
    for k in 0..d {
        let by = room * share();
        let mut add = |k: usize, by: f64| point.get_mut(k).into_iter().for_each(|x| *x += by);
        add(k, by);
        add((k + 1) % d, -by);
    }
    point.iter().all(|x| (0.0..=1.0).contains(x))
}
