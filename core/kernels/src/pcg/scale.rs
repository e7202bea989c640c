//! The power of two that scales a system before the solve, so that no sum of squares overflows or underflows,
//! whatever the unit of b.

use sparsescope_matrix::matrix::Csr;

/// A power of two that b and x are multiplied by; it changes no digit of any result.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Scale {
    exponent: i32,
}

/// The largest exponent; half of it is the exponent of a normal f64.
const MOST: i32 = 2000;

/// ‖v‖₂, stored as the largest element and a factor.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Magnitude {
    most: f64,
    times: f64,
}

impl Magnitude {
    /// The norm of all these elements.
    pub fn of(v: impl Iterator<Item = f64> + Clone) -> Self {
        let most = largest(v.clone());
        Self { most, times: squares(v, most).sqrt() }
    }

    /// The norm of a vector split into parts: its largest element and the sum of the [`squares`] of all
    /// parts.
    pub fn of_parts(most: f64, squares: f64) -> Self {
        Self { most, times: squares.sqrt() }
    }

    /// ‖v‖₂.
    pub fn norm(self) -> f64 {
        if self.most == 0.0 || !self.most.is_finite() { self.most } else { self.most * self.times }
    }

    /// About ⌊log₂ ‖v‖⌋, even if ‖v‖ itself overflows; none if it is 0 or an element is not finite.
    fn exponent(self) -> Option<i32> {
        Some(exponent(self.most)? + exponent(self.times)?)
    }
}

/// The largest |element|; NaN if any element is NaN.
pub fn largest(v: impl Iterator<Item = f64>) -> f64 {
    v.fold(0.0, |most: f64, x| if x.abs() <= most || most.is_nan() { most } else { x.abs() })
}

/// The sum of the squares of the elements, in units of the largest.
pub fn squares(v: impl Iterator<Item = f64>, most: f64) -> f64 {
    if most == 0.0 || !most.is_finite() {
        return 0.0;
    }
    v.map(|x| (x / most) * (x / most)).sum()
}

impl Scale {
    /// The scale that makes the larger of ‖b‖ and ‖|A|·|x₀|‖ about 1; one if both are 0 or not finite.
    pub fn of(b: Magnitude, a: &Csr, start: Option<&[f64]>) -> Self {
        let of_start = start.and_then(|x| {
            // In units of the largest element, as the products may overflow.
            let unit = Self { exponent: -exponent(largest(x.iter().copied()))? };
            let row = |i: usize| {
                let (col, val) = a.row(i);
                col.iter()
                    .zip(val)
                    .map(|(&c, v)| (v * unit.there(x[c as usize])).abs())
                    .sum::<f64>()
            };
            let sizes: Vec<f64> = (0..a.rows()).map(row).collect();
            Some(Magnitude::of(sizes.iter().copied()).exponent()? - unit.exponent)
        });
        Self::against(b.exponent().max(of_start))
    }

    /// The scale that makes ‖b‖ about 1, for a solve that starts from zero.
    pub fn of_right_side(b: Magnitude) -> Self {
        Self::against(b.exponent())
    }

    fn against(exponent: Option<i32>) -> Self {
        Self { exponent: -exponent.unwrap_or_default().clamp(-MOST, MOST) }
    }

    /// The product of two scales.
    pub fn and(self, other: Self) -> Self {
        Self { exponent: (self.exponent + other.exponent).clamp(-MOST, MOST) }
    }

    /// Whether this is a factor of one.
    pub fn is_one(self) -> bool {
        self.exponent == 0
    }

    /// Converts a number from the user's unit to the solver's.
    pub fn there(self, value: f64) -> f64 {
        times(value, self.exponent)
    }

    /// Converts a number from the solver's unit to the user's.
    pub fn back(self, value: f64) -> f64 {
        times(value, -self.exponent)
    }
}

/// value·2^exponent, rounded only once if the result is subnormal.
fn times(value: f64, exponent: i32) -> f64 {
    let half = exponent / 2;
    value * power(half) * power(exponent - half)
}

/// 2^exponent, for exponents of normal f64 numbers.
fn power(exponent: i32) -> f64 {
    f64::from_bits(((1023 + exponent.clamp(-1022, 1023)) as u64) << 52)
}

/// ⌊log₂ value⌋ of a positive, finite number.
fn exponent(value: f64) -> Option<i32> {
    let of_bits = |value: f64| (value.to_bits() >> 52) as i32 - 1023;
    match value > 0.0 && value.is_finite() {
        true if value < f64::MIN_POSITIVE => Some(of_bits(value * power(64)) - 64),
        true => Some(of_bits(value)),
        false => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(b: &[f64]) -> Magnitude {
        Magnitude::of(b.iter().copied())
    }

    #[test]
    fn norms_neither_overflow_nor_vanish_and_exponents_are_those_of_their_powers() {
        assert_eq!(of(&[3.0, -4.0]).norm(), 5.0);
        assert!(of(&[f64::NAN, 0.0]).norm().is_nan() && of(&[0.0, f64::NAN, 7.0]).norm().is_nan());
        for unit in [1e-170, 1e160, 5e-324 * 2f64.powi(14)] {
            let norm = of(&[3.0 * unit, 4.0 * unit]).norm();
            assert!((norm / (5.0 * unit) - 1.0).abs() < 1e-15, "{unit:e}");
        }
        for (value, expected) in [(1.0, 0), (0.99, -1), (4.0, 2), (5e-324, -1074), (1e308, 1023)] {
            assert_eq!(exponent(value), Some(expected), "{value:e}");
        }
        assert_eq!([0.0, f64::INFINITY, f64::NAN].map(exponent), [None; 3]);
        // 2·1e308 overflows, but its exponent does not.
        assert_eq!(Scale::of_right_side(of(&[1e308; 4])).exponent, -1024);
    }

    #[test]
    fn there_and_back_changes_no_bit_and_the_norm_is_about_one() {
        for unit in [5e-324, 1e-170, 0.1, 1.0, 1e160, 1e308] {
            let b = [unit, -unit / 1.5];
            let scale = Scale::of_right_side(of(&b));
            let there = b.map(|value| scale.there(value));
            assert!((0.5..4.0).contains(&of(&there).norm()), "{unit:e}");
            assert_eq!(there.map(|value| scale.back(value)), b);
        }
        let nothing = [&[][..], &[0.0; 3], &[f64::NAN; 2], &[f64::INFINITY]];
        assert!(nothing.into_iter().all(|b| Scale::of_right_side(of(b)).is_one()));
    }

    #[test]
    fn the_start_counts_where_its_product_is_larger_also_where_that_overflows() {
        let a = Csr::from_triplets(2, 2, &[(0, 0, 1e200), (1, 1, 1e200)]).unwrap();
        let scale = |start: Option<&[f64]>| Scale::of(of(&[1.0, 0.0]), &a, start).exponent;
        assert_eq!([scale(None), scale(Some(&[1e-201, 0.0]))], [0, 0]);
        // 1e200·1e200 = 1e400 is 2^1328.77.
        assert!([-1328, -1329].contains(&scale(Some(&[1e200, 0.0]))));
    }
}
