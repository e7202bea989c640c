//! The gate of symmetric Gauss–Seidel: a result has the bits of the serial loop, for the sum of a row is
//! part of the operator's definition.

use crate::matrix::Real;
use crate::record::{Check, Verdict};

/// Checks that every element of `found` has the bits of the one of `expected`; any NaN is like any
/// other.
pub fn same_bits<T: Real>(expected: &[T], found: &[T]) -> Check {
    let rows = expected.len();
    if found.len() != rows {
        let reason = format!("the result has {} rows instead of {rows}", found.len());
        return Check { verdict: Verdict::Fail, reason: Some(reason), ..Check::default() };
    }
    // f64 holds every f32 with its sign, so that equal bits there are equal bits here.
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
            "row {row} is {z:e} instead of {y:e}, which the serial loop gives; {wrong} of {rows} rows differ"
        )),
        row: Some(row as u64),
        rel_err: error.is_finite().then_some(error),
        ..Check::default()
    }
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
}
