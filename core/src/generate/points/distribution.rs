//! How the coordinates of a point are drawn. U is uniform in [0, 1).
//!
//! The first three are those of Börzsönyi, Kossmann and Stocker, *The Skyline Operator* (ICDE 2001),
//! which studies of the operator have used since.

use crate::generate::random::RowRandom;

/// Draws a point once; false when it has to be drawn anew, all of it.
pub(super) type Draw = fn(&mut RowRandom, &mut [f64]) -> bool;

/// U in every coordinate.
pub(super) fn independent(random: &mut RowRandom, point: &mut [f64]) -> bool {
    point.iter_mut().for_each(|x| *x = random.unit());
    true
}

/// Near the diagonal: a point that is good in one coordinate is good in the others. Its place there is
/// the mean of D U; what neighbouring coordinates are moved apart by is bell-shaped.
pub(super) fn correlated(random: &mut RowRandom, point: &mut [f64]) -> bool {
    let place = random.mean(point.len());
    spread(point, place, || 2.0 * random.mean(TERMS) - 1.0)
}

/// Near the plane of points whose coordinates have the sum D/2: what is good in one coordinate is bad in
/// another. What neighbouring coordinates are moved apart by is uniform.
pub(super) fn anticorrelated(random: &mut RowRandom, point: &mut [f64]) -> bool {
    let place = 0.25 + 0.5 * random.mean(TERMS);
    spread(point, place, || 2.0 * random.unit() - 1.0)
}

/// Uniform on the surface of the unit ball: D normal deviates over their length.
pub(super) fn sphere(random: &mut RowRandom, point: &mut [f64]) -> bool {
    for pair in point.chunks_mut(2) {
        pair.iter_mut().zip(random.normals()).for_each(|(x, normal)| *x = normal);
    }
    let length = point.iter().map(|x| x * x).sum::<f64>().sqrt();
    point.iter_mut().for_each(|x| *x /= length);
    length > 0.0
}

/// Terms of the sums that are taken for bell-shaped.
const TERMS: usize = 12;

/// A point of the diagonal whose neighbouring coordinates, the last and the first among them, are moved
/// apart by shares, each in (−1, 1), of the way to the nearer end; false when one leaves [0, 1].
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
