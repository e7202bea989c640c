//! The check of symmetric Gauss–Seidel: a result has the bits of the serial loop, as the summation order of a
//! row is part of the operator's definition; kernels with another order must be within rounding.

use super::row_errors::{how_far_off, undecided};
use crate::symgs::{Diagonal, Mode};
use sparsescope_matrix::matrix::{Csr, Real};
use sparsescope_record::{Check, Verdict};

/// Differences that the student report accepts.
const PAPER_TOLERANCE: f64 = 1e-3;

/// Checks that every element of `found` has the bits of the one in `expected`; all NaNs count as equal.
pub fn same_bits<T: Real>(expected: &[T], found: &[T]) -> Check {
    let rows = expected.len();
    if found.len() != rows {
        let reason = format!("the result has {} rows, expected {rows}", found.len());
        return Check { verdict: Verdict::Fail, reason: Some(reason), ..Check::default() };
    }
    // f64 represents every f32 with its sign, so equal bits in f64 mean equal bits here.
    let pairs =
        || expected.iter().zip(found).map(|(&y, &z)| -> (f64, f64) { (y.into(), z.into()) });
    let differs = |&(y, z): &(f64, f64)| y.to_bits() != z.to_bits() && !(y.is_nan() && z.is_nan());
    let wrong = pairs().filter(differs).count();
    let Some(row) = pairs().position(|pair| differs(&pair)) else {
        let (worst, rel_err) = (Some(0.0), Some(0.0));
        return Check { verdict: Verdict::Pass, worst, rel_err, ..Check::default() };
    };
    let (y, z): (f64, f64) = (expected[row].into(), found[row].into());
    let squares = pairs()
        .fold([0.0, 0.0], |[above, below], (y, z)| [above + (y - z) * (y - z), below + y * y]);
    let error = (squares[0] / squares[1]).sqrt();
    Check {
        verdict: Verdict::Fail,
        reason: Some(format!(
            "row {row} is {z:e}, expected {y:e} as in the serial loop; {wrong} of {rows} rows \
            differ"
        )),
        row: Some(row as u64),
        rel_err: error.is_finite().then_some(error),
        ..Check::default()
    }
}

/// How far each row of an iteration may deviate from the serial loop if its terms are added in another order:
/// a bound on the rounding of both, carried from row to row.
///
/// The error of a row's sum of k products is at most γ·(|b_i| + Σ|a_ij·x_j|) with γ = (k + 4)·u, plus the
/// errors of the elements that it reads; the sum is divided by the diagonal, which rounds again.
#[derive(Clone, Debug)]
pub struct SweepBounds {
    /// The error bound of each row.
    off: Vec<f64>,
    /// The largest sum of each row's own terms, in absolute values, over its diagonal. It covers all visits
    /// and not only the last: a row that decreases from sweep to sweep keeps the rounding error of the first
    /// one, as does a sum whose terms cancel.
    scale: Vec<f64>,
    /// Values below this may be nothing but underflow.
    least: f64,
}

impl SweepBounds {
    /// Computes the bounds of `sweeps` iterations with b, starting from x. Panics unless both have one
    /// element per row and the diagonal belongs to `a`.
    pub fn new<T: Real>(
        a: &Csr<T>,
        diagonal: &Diagonal,
        mode: Mode,
        (b, start): (&[T], &[T]),
        sweeps: u32,
    ) -> Self {
        let n = a.rows();
        assert_eq!((b.len(), start.len()), (n, n), "the vectors have an element a row");
        let number = T::PRECISION.vectors();
        let (unit, smallest) = (number.unit_roundoff(), number.smallest());
        let mut x: Vec<f64> = start.iter().map(|&v| v.into()).collect();
        let (mut off, mut scale) = (vec![0.0f64; n], vec![0.0f64; n]);
        let least = smallest / unit;
        let mut row = |i: usize| {
            let (col, val) = a.row(i);
            let d: f64 = val[diagonal.before()[i] as usize].into();
            let (mut sum, mut size, mut carried) = match mode {
                Mode::Standard => (b[i].into(), b[i].into().abs(), 0.0),
                // The diagonal's term is subtracted and added again, and so rounded twice.
                Mode::Smoother => (x[i], x[i].abs() + 2.0 * (d * x[i]).abs(), 0.0),
            };
            for (&c, &v) in col.iter().zip(val).filter(|&(&c, _)| c as usize != i) {
                let (c, v): (usize, f64) = (c as usize, v.into());
                sum -= v * x[c];
                size += (v * x[c]).abs();
                carried += v.abs() * off[c];
            }
            scale[i] = scale[i].max(size.max(least) / d.abs());
            if mode == Mode::Smoother {
                // The error of x_i cancels where its product is added again; rounding does not.
                carried += off[i];
                size += 2.0 * d.abs() * off[i];
            }
            size += carried;
            let terms = col.len() as f64 + 4.0;
            let of_sum = 2.0 * terms * (unit * size + smallest) + carried;
            x[i] = sum / d;
            off[i] = of_sum / d.abs() + 4.0 * unit * x[i].abs() + smallest;
        };
        for _ in 0..sweeps {
            (0..n).for_each(&mut row);
            (0..n).rev().for_each(&mut row);
        }
        Self { off, scale, least }
    }

    /// How far row i may deviate from the serial loop.
    pub fn of_row(&self, i: usize) -> f64 {
        self.off[i]
    }

    /// Checks `found` row by row: both NaN, equal infinities, or within the bound. A row whose bound is not
    /// finite, or as large as any sum of its terms, is undecided: rounding alone may explain any value.
    pub fn check<T: Real>(&self, expected: &[T], found: &[T]) -> Check {
        let rows = expected.len();
        if found.len() != rows || self.off.len() != rows {
            let reason = format!("the result has {} rows, expected {rows}", found.len());
            return Check { verdict: Verdict::Fail, reason: Some(reason), ..Check::default() };
        }
        let row =
            |i: usize| -> (f64, f64, f64) { (expected[i].into(), found[i].into(), self.off[i]) };
        let differs = |&i: &usize| {
            let (y, z, bound) = row(i);
            let same = (y.is_nan() && z.is_nan()) || y == z || !bound.is_finite();
            !(same || (y - z).abs() <= bound)
        };
        let wrong = (0..rows).filter(differs).count();
        let tells = |i: usize| self.off[i] < self.scale[i].max(self.least);
        if let (0, Some(i)) = (wrong, (0..rows).find(|&i| !tells(i))) {
            let reason = format!(
                "row {i} cannot be checked: rounding errors carried over from earlier rows could \
                explain any result"
            );
            return undecided(i as u64, reason);
        }
        let [mut worst, mut difference, mut norm] = [0.0f64; 3];
        for (y, z, bound) in (0..rows).map(row).filter(|(y, z, _)| y.is_finite() && z.is_finite()) {
            if y != z {
                worst = worst.max((y - z).abs() / bound);
            }
            difference += (y - z) * (y - z);
            norm += y * y;
        }
        let finite = |value: f64| value.is_finite().then_some(value);
        let rel_err =
            if difference == 0.0 { Some(0.0) } else { finite((difference / norm).sqrt()) };
        let first = (0..rows).find(differs);
        Check {
            verdict: if wrong == 0 { Verdict::Pass } else { Verdict::Fail },
            reason: first.map(|i| {
                let (y, z, bound) = row(i);
                let off = how_far_off(z, y, bound);
                format!("row {i} is {off}; {wrong} of {rows} rows are wrong")
            }),
            row: first.map(|i| i as u64),
            worst: finite(worst),
            rel_err,
            ..Check::default()
        }
    }
}

/// The student report's check: how many rows differ from the serial loop by more than 1e-3.
pub fn offenders<T: Real>(expected: &[T], found: &[T]) -> usize {
    let pairs = expected.iter().zip(found).map(|(&y, &z)| -> (f64, f64) { (y.into(), z.into()) });
    let is_off = |(y, z): &(f64, f64)| {
        let same = y == z || (y.is_nan() && z.is_nan());
        !same && ((y - z).abs() > PAPER_TOLERANCE || (y - z).is_nan())
    };
    pairs.filter(is_off).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_bit_fails_and_is_named() {
        let y = [1.0, -0.0, f64::NAN, f64::INFINITY];
        assert_eq!(same_bits(&y, &[1.0, -0.0, -f64::NAN, f64::INFINITY]).verdict, Verdict::Pass);
        for (row, wrong) in [(0, 1f64.next_up()), (1, 0.0), (2, 0.0), (3, f64::MAX)] {
            let mut z = y;
            z[row] = wrong;
            let check = same_bits(&y, &z);
            assert_eq!((check.verdict, check.row), (Verdict::Fail, Some(row as u64)), "{wrong}");
            assert!(check.reason.unwrap().contains("1 of 4 rows"));
        }
        assert_eq!(same_bits(&[0f32], &[-0f32]).verdict, Verdict::Fail);
        assert_eq!(same_bits(&y, &y[..3]).verdict, Verdict::Fail);
    }

    #[test]
    fn another_order_of_summation_passes_and_more_than_rounding_does_not() {
        // Row 1 adds three terms of which two nearly cancel; 1e16 + 1 − 1e16 is 0 or 1, depending on the
        // order.
        let triplets = [(0, 0, 1.0), (1, 0, 1e16), (1, 1, 1.0), (1, 2, -1e16), (2, 2, 1.0)];
        let a = Csr::from_triplets(3, 3, &triplets).unwrap();
        let diagonal =
            Diagonal::of(&a, sparsescope_matrix::memory::MemoryLimit::unlimited()).unwrap();
        let ones = [1.0; 3];
        let bounds = SweepBounds::new(&a, &diagonal, Mode::Standard, (&ones, &ones), 1);
        let check = |z: f64| bounds.check(&[1.0, 1.0, 1.0], &[1.0, z, 1.0]).verdict;
        assert_eq!(
            [check(0.0), check(2.0), check(1e3)],
            [Verdict::Pass, Verdict::Pass, Verdict::Fail]
        );
        assert_eq!(check(f64::NAN), Verdict::Fail);
        let last = bounds.check(&[1.0, 1.0, 1.0], &[1.0, 1.0, 1.0 + 1e-12]);
        assert_eq!((last.verdict, last.row), (Verdict::Fail, Some(2)));
    }

    #[test]
    fn an_error_is_carried_to_the_rows_that_read_it() {
        // x_1 = −1e8·x_0: the error of x_1 may be 1e8 times that of x_0.
        let triplets = [(0, 0, 3.0), (1, 0, 1e8), (1, 1, 1.0)];
        let a = Csr::from_triplets(2, 2, &triplets).unwrap();
        let diagonal =
            Diagonal::of(&a, sparsescope_matrix::memory::MemoryLimit::unlimited()).unwrap();
        for mode in Mode::ALL {
            let bounds = SweepBounds::new(&a, &diagonal, mode, (&[1.0, 0.0], &[1.0, 1.0]), 1);
            let (first, second) = (bounds.off[0], bounds.off[1]);
            assert!(second >= 1e8 * first && first > 0.0 && second < 1e-5, "{first:e} {second:e}");
        }
    }

    #[test]
    fn rows_whose_bound_lets_anything_pass_are_undecided() {
        // Each row multiplies the error of the one before by 1e8: 2⁻⁵³·1e8³ is more than 1e8.
        let below = (1..5).map(|i| (i, i - 1, 1e8));
        let triplets: Vec<_> = (0..5).map(|i| (i, i, 1.0)).chain(below).collect();
        let a = Csr::from_triplets(5, 5, &triplets).unwrap();
        let diagonal =
            Diagonal::of(&a, sparsescope_matrix::memory::MemoryLimit::unlimited()).unwrap();
        let b = [1.0, 1e8, 0.0, 0.0, 0.0];
        let bounds = SweepBounds::new(&a, &diagonal, Mode::Standard, (&b, &[0.0; 5]), 1);
        let right = [1.0, 0.0, 0.0, 0.0, 0.0];
        let check = bounds.check(&right, &right);
        assert_eq!((check.verdict, check.undecided), (Verdict::Refused, true));
        // A row outside a usable bound is still wrong.
        let wrong = bounds.check(&right, &[2.0, 0.0, 0.0, 0.0, 0.0]);
        assert_eq!((wrong.verdict, wrong.row), (Verdict::Fail, Some(0)));
        let zeros = SweepBounds::new(&a, &diagonal, Mode::Standard, (&[0.0; 5], &[0.0; 5]), 1);
        assert!(zeros.off[0] > 0.0);
    }

    #[test]
    fn a_large_row_does_not_speak_for_those_whose_bound_lets_anything_pass() {
        // The chain of the test above, and an independent row that is larger than all its bounds.
        let below = (1..5).map(|i| (i, i - 1, 1e8));
        let triplets: Vec<_> = (0..6).map(|i| (i, i, 1.0)).chain(below).collect();
        let a = Csr::from_triplets(6, 6, &triplets).unwrap();
        let diagonal =
            Diagonal::of(&a, sparsescope_matrix::memory::MemoryLimit::unlimited()).unwrap();
        let b = [1.0, 1e8, 0.0, 0.0, 0.0, 1e30];
        let bounds = SweepBounds::new(&a, &diagonal, Mode::Standard, (&b, &[0.0; 6]), 1);
        assert!(bounds.off.iter().all(|&off| off < 1e30));
        let right = [1.0, 0.0, 0.0, 0.0, 0.0, 1e30];
        let check = bounds.check(&right, &right);
        assert_eq!((check.verdict, check.undecided), (Verdict::Refused, true));
        assert!(check.row.is_some_and(|row| row < 5), "{check:?}");
    }

    #[test]
    fn a_row_that_falls_from_visit_to_visit_is_decided() {
        // 1 − 1e20 + 1e20 is 0 or 1, depending on the order, and the result is divided by 1e20 again.
        let a = Csr::from_triplets(1, 1, &[(0, 0, 1e20)]).unwrap().map(f32::rounded);
        let diagonal =
            Diagonal::of(&a, sparsescope_matrix::memory::MemoryLimit::unlimited()).unwrap();
        let bounds = SweepBounds::new(&a, &diagonal, Mode::Smoother, (&[0.0], &[1.0]), 1);
        let check = |x: f32| bounds.check(&[0.0], &[x]).verdict;
        assert_eq!([check(1e-20), check(1.0)], [Verdict::Pass, Verdict::Fail]);
    }

    #[test]
    fn offenders_are_those_beyond_a_thousandth() {
        let y = [1.0, 2.0, f64::NAN, f64::INFINITY, 0.0];
        assert_eq!(offenders(&y, &y), 0);
        assert_eq!(offenders(&y, &[1.0009, 2.0011, f64::NAN, 1.0, f64::NAN]), 3);
    }
}
