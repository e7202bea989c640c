//! The error of an SpMV in fewer bits than f64 against the result in f64, and how large it can be.

use super::row_errors::how_far_off;
use sparsescope_matrix::matrix::{Csr, Precision, Real};
use sparsescope_matrix::parallel::*;
use sparsescope_record::{Check, Rounding, Verdict};

/// Rows that are summed up one after the other, so that the result does not depend on the number of threads.
const BLOCK: usize = 1 << 14;

/// The errors of some rows.
#[derive(Clone, Copy, Default)]
struct Errors {
    largest: f64,
    difference: f64,
    bound: f64,
    squared_difference: f64,
    squared_norm: f64,
    /// The first row beyond its bound: row, found, expected, allowed.
    beyond: Option<(usize, f64, f64, f64)>,
}

impl Errors {
    fn add(mut self, row: usize, found: f64, expected: f64, bound: f64) -> Self {
        let difference = (found - expected).abs();
        // Whether infinities and NaN are right is checked in the precision itself.
        if !difference.is_finite() {
            return self;
        }
        self.largest = self.largest.max(expected.abs());
        self.difference = self.difference.max(difference);
        self.bound = self.bound.max(bound);
        self.squared_difference += difference * difference;
        self.squared_norm += expected * expected;
        if difference > bound {
            self.beyond = self.beyond.or(Some((row, found, expected, bound)));
        }
        self
    }

    fn join(self, next: Self) -> Self {
        Self {
            largest: self.largest.max(next.largest),
            difference: self.difference.max(next.difference),
            bound: self.bound.max(next.bound),
            squared_difference: self.squared_difference + next.squared_difference,
            squared_norm: self.squared_norm + next.squared_norm,
            beyond: self.beyond.or(next.beyond),
        }
    }

    /// Relative to y; `None` if y is zero, or the squares overflow.
    fn rounding(&self) -> Option<Rounding> {
        let max = self.difference / self.largest;
        let norm = (self.squared_difference / self.squared_norm).sqrt();
        let bound = self.bound / self.largest;
        let are_finite = [max, norm, bound, self.squared_norm].iter().all(|of| of.is_finite());
        are_finite.then_some(Rounding { max, norm, bound })
    }
}

/// How far row i of a result may deviate from the row in f64: a value a of the matrix is rounded by at most δa and an
/// element x by at most δx, so that their product deviates by δa·(|x| + δx) + |a|·δx, and the sum of the rounded
/// products by 2·len·u times their size, as in [`Reference`](super::Reference).
fn bound(a: &Csr, x: &[f64], i: usize, precision: Precision) -> f64 {
    let (values, vectors) = (precision.values(), precision.vectors());
    let (col, val) = a.row(i);
    let mut rounded = 0.0;
    let mut size = 0.0;
    for (&c, value) in col.iter().zip(val) {
        let (value, x) = (value.abs(), x[c as usize].abs());
        let of_value = values.rounding_error(value);
        let of_x = if precision.in_f64() { 0.0 } else { vectors.rounding_error(x) };
        rounded += of_value * (x + of_x) + value * of_x;
        size += (value + of_value) * (x + of_x);
    }
    let len = col.len() as f64;
    rounded + 2.0 * len * vectors.unit_roundoff() * size + len * vectors.smallest()
}

/// Adds the error of z, a result in a precision that has passed its check, against y = A·x in f64. It fails if rounding
/// A and x as the precision does cannot explain the error of a row. Panics unless x has n elements, y and z have m.
pub fn against_f64<T: Real>(
    check: Check,
    precision: Precision,
    (a, x): (&Csr, &[f64]),
    y: &[f64],
    z: &[T],
) -> Check {
    if check.verdict != Verdict::Pass {
        return check;
    }
    let rows = a.rows();
    assert_eq!((x.len(), y.len(), z.len()), (a.cols(), rows, rows), "x has n elements, y has m");
    let blocks: Vec<Errors> = (0..rows.div_ceil(BLOCK))
        .into_par_iter()
        .map(|b| {
            let block = b * BLOCK..rows.min((b + 1) * BLOCK);
            block.fold(Errors::default(), |errors, i| {
                errors.add(i, z[i].into(), y[i], bound(a, x, i, precision))
            })
        })
        .collect();
    let errors = blocks.into_iter().fold(Errors::default(), Errors::join);
    match errors.beyond {
        None => Check { rounding: errors.rounding(), ..check },
        Some((row, found, expected, allowed)) => {
            let off = how_far_off(found, expected, allowed);
            let reason =
                format!("row {row} is {off}, which rounding to {} allows", precision.as_str());
            Check { verdict: Verdict::Fail, reason: Some(reason), row: Some(row as u64), ..check }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn passed() -> Check {
        Check { verdict: Verdict::Pass, ..Check::default() }
    }

    #[test]
    fn the_bound_is_the_rounding_of_the_values_and_that_of_the_sum() {
        // |a| = 3, |x| = 2, two terms.
        let a = Csr::from_triplets(1, 2, &[(0, 0, 3.0), (0, 1, -3.0)]).unwrap();
        let of = |precision| bound(&a, &[2.0, 2.0], 0, precision);
        let terms = 12.0;
        // The matrix alone is rounded to f32, by 2⁻²⁴; sums of f64 add nearly nothing.
        let mixed = of(Precision::F32F64) / (2f64.powi(-24) * terms);
        assert!((1.0..1.0 + 1e-7).contains(&mixed), "{mixed}");
        // Values, x and 2·len·u.
        let single = of(Precision::F32) / (2f64.powi(-24) * terms * (1.0 + 1.0 + 4.0));
        assert!((1.0..1.0 + 1e-6).contains(&single), "{single}");
        // 2⁻⁸ and 2⁻¹¹ of the values, and five units of f32.
        for (precision, unit) in
            [(Precision::Bf16F32, 2f64.powi(-8)), (Precision::F16F32, 2f64.powi(-11))]
        {
            let share = of(precision) / (terms * (unit + 5.0 * 2f64.powi(-24)));
            assert!((1.0..1.0 + 1e-4).contains(&share), "{precision:?} {share}");
        }
        // Far below the smallest normal number, halves of the smallest subnormal one are what is lost.
        let tiny = Csr::from_triplets(1, 1, &[(0, 0, 2f64.powi(-30))]).unwrap();
        let lost = bound(&tiny, &[1.0], 0, Precision::F16F32);
        assert!(lost >= 2f64.powi(-25) && lost < 1.01 * 2f64.powi(-25), "{lost:e}");
    }

    #[test]
    fn the_error_of_rounded_values_is_measured_and_within_its_bound() {
        let entries: Vec<_> =
            (0..900).map(|k| (k % 90, k / 90 * 7 % 70, 0.1 + (k as f64).sin())).collect();
        let a = Csr::from_triplets(90, 70, &entries).unwrap();
        let x: Vec<f64> = (0..70).map(|j| 1.0 + f64::from(j % 5)).collect();
        let product = |a: &Csr| {
            let mut y = vec![0.0; 90];
            crate::spmv::csr::serial(a, &x, &mut y);
            y
        };
        let y = product(&a);
        for precision in Precision::ALL {
            let z = product(&a.map(|value| precision.values().rounded(value)));
            let check = against_f64(passed(), precision, (&a, &x), &y, &z);
            let Rounding { max, norm, bound } = check.rounding.unwrap();
            let most = y.iter().fold(0.0f64, |most, y| most.max(y.abs()));
            let off = y.iter().zip(&z).fold(0.0f64, |off, (y, z)| off.max((y - z).abs()));
            assert_eq!((check.verdict, max), (Verdict::Pass, off / most));
            let unit = precision.values().unit_roundoff();
            assert!(max <= bound && bound < 120.0 * unit, "{precision:?} {max:e} {bound:e}");
            assert!(precision == Precision::F64 || norm > unit / 50.0, "{precision:?} {norm:e}");
        }
    }

    #[test]
    fn an_error_that_rounding_does_not_explain_fails_and_names_its_row() {
        let a = Csr::from_triplets(2, 1, &[(0, 0, 1.0), (1, 0, 1.0 + 2f64.powi(-7))]).unwrap();
        let y = [1.0, 1.0 + 2f64.powi(-7)];
        let check = |z: [f64; 2]| against_f64(passed(), Precision::Bf16F32, (&a, &[1.0]), &y, &z);
        assert_eq!(check(y).rounding.map(|rounding| rounding.max), Some(0.0));
        // Two units in the last of eight digits.
        let off = check([1.0, 1.0 - 2f64.powi(-7)]);
        assert_eq!((off.verdict, off.row, off.rounding), (Verdict::Fail, Some(1), None));
        assert!(off.reason.unwrap().ends_with("which rounding to bf16:f32 allows"));
        let failed = Check { verdict: Verdict::Fail, ..Check::default() };
        let kept = against_f64(failed.clone(), Precision::F32, (&a, &[1.0]), &y, &y);
        assert_eq!(kept, failed);
        // Relative to nothing there is no error.
        let zero = Csr::from_triplets(1, 1, &[]).unwrap();
        let none = against_f64(passed(), Precision::F32, (&zero, &[1.0]), &[0.0], &[0.0f32]);
        assert_eq!((none.verdict, none.rounding), (Verdict::Pass, None));
    }
}
