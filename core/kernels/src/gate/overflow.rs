//! Rows of an SpMV whose partial sums may overflow: they are compared with sums in smaller units.

use super::row_errors::{Doubt, Judged};
use sparsescope_matrix::matrix::Real;

/// 2⁻⁵⁵⁰, the scale of both factors of a term: 2⁶⁴ terms of any finite factors then have a finite sum, and
/// underflow is far below the bound of a row that reaches the largest value.
const SCALE: f64 = f64::from_bits((1023 - 550) << 52);

/// The sum of a row in units of 2¹¹⁰⁰.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct ScaledRow {
    /// The sum of the finite terms; infinite or NaN if a factor makes it so.
    y: f64,
    /// How far a result may deviate from `y`.
    bound: f64,
    /// The largest finite value in the result's precision.
    largest: f64,
    /// Whether the positive terms, and whether the negative ones, may exceed `largest`.
    reaches: [bool; 2],
}

impl ScaledRow {
    /// Sums up the terms given by their factors. `bound` returns the error bound of a sum with terms of this
    /// total size.
    pub(super) fn of<T: Real>(
        factors: impl Iterator<Item = (f64, f64)>,
        bound: impl Fn(f64) -> f64,
    ) -> Self {
        let [mut y, mut special, mut up, mut down] = [0.0f64; 4];
        for (a, x) in factors {
            if !(a.is_finite() && x.is_finite()) {
                special += a * x;
                continue;
            }
            let term = (a * SCALE) * (x * SCALE);
            y += term;
            if term > 0.0 { up += term } else { down -= term }
        }
        let y = if special == 0.0 { y } else { special };
        let largest = scaled(T::PRECISION.vectors().largest());
        // Partial sums before the first overflow are no larger than `largest`, and neither is the size in
        // their bound.
        let reaches = [up, down].map(|sum| sum + bound(largest) > largest);
        Self { y, bound: bound(up + down), largest, reaches }
    }

    /// The same for a sum that may overflow before it is multiplied by a smaller alpha: infinity and NaN are then
    /// undecided where this is finite.
    pub(super) fn overflowing(self) -> Self {
        let reaches = if self.y.is_finite() { [true; 2] } else { self.reaches };
        Self { reaches, ..self }
    }

    /// The sum in the usual units; infinite if too large for f64.
    pub(super) fn y(&self) -> f64 {
        self.y / SCALE / SCALE
    }

    /// The bound in the usual units; infinite if too large for f64.
    pub(super) fn bound(&self) -> f64 {
        self.bound / SCALE / SCALE
    }

    /// The difference of a finite result in units of the bound.
    pub(super) fn share(&self, z: f64) -> f64 {
        (scaled(z) - self.y).abs() / self.bound
    }

    /// Judges a result. A finite result has never overflowed and is wrong unless within the bound. Infinity
    /// and NaN are right if every order of summation gives them, wrong if none can, and undecided if it
    /// depends on the order.
    pub(super) fn judge(&self, z: f64) -> Judged {
        let Self { y, bound, largest, reaches: [up, down] } = *self;
        let is = |right: bool| if right { Judged::Right } else { Judged::Wrong };
        if y.is_nan() {
            return is(z.is_nan());
        }
        if y.is_infinite() {
            let other_way = if y > 0.0 { down } else { up };
            return match z.is_nan() && other_way {
                true => Judged::Undecided(Doubt::Overflow),
                false => is(z == y),
            };
        }
        if z.is_finite() {
            return is((scaled(z) - y).abs() <= bound);
        }
        let (can, must) = match z.is_nan() {
            true => (up && down, false),
            false if z > 0.0 => (up, y - bound > largest),
            false => (down, -y - bound > largest),
        };
        match (can, must) {
            (false, _) => Judged::Wrong,
            (true, true) => Judged::Right,
            (true, false) => Judged::Undecided(Doubt::Overflow),
        }
    }
}

fn scaled(value: f64) -> f64 {
    value * SCALE * SCALE
}

#[cfg(test)]
mod tests {
    use super::*;

    const UNDECIDED: Judged = Judged::Undecided(Doubt::Overflow);
    const CLASSES: [f64; 3] = [f64::INFINITY, f64::NEG_INFINITY, f64::NAN];

    fn row(factors: &[(f64, f64)]) -> ScaledRow {
        let unit = 2.0 * factors.len() as f64 * f64::EPSILON;
        ScaledRow::of::<f64>(factors.iter().copied(), |size| unit * size)
    }

    #[test]
    fn a_finite_sum_of_terms_that_overflow_is_known_and_only_what_overflow_gives_is_undecided() {
        let all_up = row(&[(1e308, 1.0), (1e308, 1.0), (-1e308, 1.0)]);
        assert!((all_up.y() / 1e308 - 1.0).abs() < 1e-15 && all_up.bound().is_finite());
        assert_eq!(all_up.judge(1e308), Judged::Right);
        assert_eq!([all_up.judge(0.0), all_up.judge(1.00001e308)], [Judged::Wrong; 2]);
        // No order of these terms goes below −1e308.
        assert_eq!(CLASSES.map(|z| all_up.judge(z)), [UNDECIDED, Judged::Wrong, Judged::Wrong]);
        let both = row(&[(1e308, 1.0), (1e308, 1.0), (-1e308, 1.0), (-1e308, 1.0)]);
        assert_eq!(both.judge(0.0), Judged::Right);
        assert_eq!(CLASSES.map(|z| both.judge(z)), [UNDECIDED; 3]);
    }

    #[test]
    fn terms_too_large_for_f64_cancel_or_make_the_sum_infinite() {
        let cancel = row(&[(1e200, 1e200), (-1e200, 1e200), (1.0, 1.0)]);
        assert_eq!((cancel.judge(0.0), cancel.judge(f64::NAN)), (Judged::Right, UNDECIDED));
        let one = row(&[(1e200, -1e200)]);
        assert_eq!(one.y(), f64::NEG_INFINITY);
        assert_eq!(CLASSES.map(|z| one.judge(z)), [Judged::Wrong, Judged::Right, Judged::Wrong]);
        assert_eq!(one.judge(-f64::MAX), Judged::Wrong);
    }

    #[test]
    fn factors_that_are_not_finite_give_their_class_in_every_order() {
        let (inf, nan) = (f64::INFINITY, f64::NAN);
        for (factors, y) in [
            (&[(inf, 1.0), (2.0, 3.0)][..], inf),
            (&[(-1.0, inf), (1e308, 1e308)], f64::NEG_INFINITY),
            (&[(inf, 0.0)], nan),
            (&[(inf, 1.0), (1.0, -inf)], nan),
            (&[(nan, 0.0), (inf, 1.0)], nan),
        ] {
            let row = row(factors);
            assert!(row.y() == y || (row.y().is_nan() && y.is_nan()), "{factors:?}");
            for z in [inf, -inf, nan, 0.0, f64::MAX] {
                let same = z == y || (z.is_nan() && y.is_nan());
                let unknown = z.is_nan() && y == f64::NEG_INFINITY;
                let expected = match (same, unknown) {
                    (true, _) => Judged::Right,
                    // +∞ from the finite terms and −∞ add up to NaN.
                    (false, true) => UNDECIDED,
                    (false, false) => Judged::Wrong,
                };
                assert_eq!(row.judge(z), expected, "{factors:?} {z}");
            }
        }
    }
}
