//! Checks a rank's part of a result with regenerated rows: the elements they are multiplied with
//! are computed from their index, never taken from the received halo.

use std::cell::RefCell;
use std::ops::Range;

use sparsescope_core::distributed::Rows;
use sparsescope_core::gate::{Reference, RowErrors};
use sparsescope_core::measure::IntegerVector;

/// A thread's row, and the vector of the last seed it used.
type Kept = (Vec<(u64, f64)>, Option<(u64, IntegerVector)>);

thread_local! {
    static KEPT: RefCell<Kept> = const { RefCell::new((Vec::new(), None)) };
}

/// Errors of the rows of y from `first` on against A·x, where x are the integers of a seed.
pub(super) fn errors_of_product(source: &dyn Rows, seed: u64, first: u64, y: &[f64]) -> RowErrors {
    let terms = |i: usize, list: &mut Vec<(f64, f64)>| {
        KEPT.with_borrow_mut(|(row, x)| {
            if x.as_ref().is_none_or(|&(of, _)| of != seed) {
                *x = Some((seed, IntegerVector::new(seed)));
            }
            source.row(first + i as u64, row);
            if let Some((_, x)) = x {
                list.extend(row.iter().map(|&(column, value)| (value, x.at(column))));
            }
        });
    };
    Reference::of_terms(y.len(), first, terms).errors(y)
}

/// Sums of the rows: A·1.
pub(super) fn row_sums(source: &dyn Rows, rows: Range<u64>) -> Vec<f64> {
    over(source, rows, |_, value| value)
}

/// The sums of squares of b − A·x, with b = A·1, and of |A|·|x| over some rows. x is the whole
/// vector.
pub(super) fn squares_of_residual(source: &dyn Rows, rows: Range<u64>, x: &[f64]) -> [f64; 2] {
    let at = |column: u64| x.get(column as usize).copied().unwrap_or(f64::NAN);
    let squares = |of: Vec<f64>| of.into_iter().map(|value| value * value).sum();
    let off = over(source, rows.clone(), |column, value| value * (1.0 - at(column)));
    [squares(off), squares(over(source, rows, |column, value| (value * at(column)).abs()))]
}

/// The sum over the nonzeros of each row of `of(column, value)`.
fn over(source: &dyn Rows, rows: Range<u64>, of: impl Fn(u64, f64) -> f64 + Sync) -> Vec<f64> {
    let terms = |i: usize, list: &mut Vec<(f64, f64)>| {
        KEPT.with_borrow_mut(|(row, _)| {
            source.row(rows.start + i as u64, row);
            list.extend(row.iter().map(|&(column, value)| (of(column, value), 1.0)));
        });
    };
    let count = (rows.end - rows.start) as usize;
    Reference::of_terms(count, rows.start, terms).y().to_vec()
}

#[cfg(test)]
mod tests {
    use super::*;
    use sparsescope_core::matrix::Csr;
    use sparsescope_core::measure::integer_vector;
    use sparsescope_core::record::Verdict;

    fn a() -> Csr {
        let entries: Vec<_> = (0..90).map(|k| (k % 9, k / 9, 1.0 / (1.0 + k as f64))).collect();
        Csr::from_triplets(9, 10, &entries).unwrap()
    }

    #[test]
    fn a_part_of_a_result_is_held_against_rows_made_anew() {
        let (a, x) = (a(), integer_vector(10, 7));
        let reference = Reference::new(&a, &x);
        let errors = errors_of_product(&a, 7, 3, &reference.y()[3..6]);
        assert_eq!(errors.check().verdict, Verdict::Pass);
        let mut wrong = reference.y()[3..6].to_vec();
        wrong[1] += 1e-9;
        let check = errors_of_product(&a, 7, 3, &wrong).check();
        assert_eq!((check.verdict, check.row), (Verdict::Fail, Some(4)));
        assert_eq!(
            errors_of_product(&a, 8, 3, &reference.y()[3..6]).check().verdict,
            Verdict::Fail
        );
    }

    #[test]
    fn ones_have_no_residual_and_others_their_own() {
        let a = Csr::from_triplets(2, 2, &[(0, 0, 2.0), (0, 1, -1.0), (1, 1, 4.0)]).unwrap();
        assert_eq!(row_sums(&a, 0..2), [1.0, 4.0]);
        assert_eq!(squares_of_residual(&a, 0..2, &[1.0, 1.0]), [0.0, 9.0 + 16.0]);
        // b - A (1, 2) = (1, 4) - (0, 8).
        assert_eq!(squares_of_residual(&a, 1..2, &[1.0, 2.0]), [16.0, 64.0]);
    }
}
