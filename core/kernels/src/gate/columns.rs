//! The check of Y = A·X: each column is checked as the result of an SpMV.

use super::row_errors::{BLOCK, RowErrors};
use super::spmv::Reference;
use sparsescope_matrix::matrix::Real;
use sparsescope_matrix::parallel::*;
use sparsescope_record::{Check, Verdict};

/// Checks Y, stored by rows, whose j-th column should be the j-th reference. The error measures are those of all its
/// elements; a wrong or undecided element is named with its column.
pub fn check_columns<T: Real>(references: &[Reference], y: &[T]) -> Check {
    let k = references.len();
    let rows = references.first().map_or(0, |first| first.y().len());
    if y.len() != rows * k {
        let reason = format!("the result has {} elements, expected {rows} x {k}", y.len());
        return Check { verdict: Verdict::Fail, reason: Some(reason), ..Check::default() };
    }
    // Of each column in each block of rows: Y is read once, while a block of it is in the caches.
    let blocks: Vec<Vec<RowErrors>> = (0..rows.div_ceil(BLOCK))
        .into_par_iter()
        .map(|b| {
            let block = b * BLOCK..rows.min((b + 1) * BLOCK);
            let of_column = |(j, reference): (usize, &Reference)| {
                reference.errors_in(block.clone(), |i| y[i * k + j].into())
            };
            references.iter().enumerate().map(of_column).collect::<Vec<_>>()
        })
        .collect();
    let mut errors = vec![RowErrors::default(); k];
    for of_block in blocks {
        for (all, own) in errors.iter_mut().zip(of_block) {
            *all = all.join(own);
        }
    }
    let all = errors.iter().fold(RowErrors::default(), |all, &column| all.join(column)).check();
    let of_columns = || errors.iter().map(RowErrors::check).enumerate();
    match of_columns().find(|(_, own)| own.verdict == all.verdict) {
        Some((j, own)) if all.verdict != Verdict::Pass => {
            let reason = own.reason.map(|reason| format!("column {j}: {reason}"));
            Check { reason, row: own.row, ..all }
        }
        _ => all,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sparsescope_matrix::matrix::{Csr, examples};

    /// Y of the 5 × 5 example for the columns 1…5 and ones, worked out by hand, and its references.
    fn example() -> (Vec<Reference>, Vec<f64>) {
        let a = examples::five_by_five();
        let columns = [[1.0, 2.0, 3.0, 4.0, 5.0], [1.0; 5]];
        let references = columns.iter().map(|x| Reference::new(&a, x)).collect();
        (references, vec![11.0, 7.0, 13.0, 6.0, 8.0, 3.0, 18.0, 5.0, 34.0, 7.0])
    }

    #[test]
    fn a_right_result_passes_and_its_measures_are_those_of_all_columns() {
        let (references, mut y) = example();
        let check = check_columns(&references, &y);
        assert_eq!(
            (check.verdict, check.worst, check.rel_err),
            (Verdict::Pass, Some(0.0), Some(0.0))
        );
        // Row 4 of the first column: the bound is 2·2·2⁻⁵³·34, and neighbours of 34 are 2⁻⁴⁷ apart.
        y[8] = 34f64.next_up();
        let check = check_columns(&references, &y);
        assert_eq!((check.verdict, check.worst), (Verdict::Pass, Some(64.0 / 136.0)));
        let norm: f64 = example().1.iter().map(|y| y * y).sum();
        assert_eq!(check.rel_err, Some((2f64.powi(-94) / norm).sqrt()));
    }

    #[test]
    fn a_wrong_element_is_named_with_its_column() {
        let (references, mut y) = example();
        y[5] = 3.000001;
        y[9] = f64::NAN;
        let check = check_columns(&references, &y);
        assert_eq!((check.verdict, check.row), (Verdict::Fail, Some(2)));
        let reason = check.reason.unwrap();
        assert!(reason.starts_with("column 1: row 2 is 3.000001e0"), "{reason}");
        assert!(reason.ends_with("2 of 5 rows are wrong"), "{reason}");
    }

    #[test]
    fn every_column_of_every_block_of_rows_is_checked() {
        let a = Csr::from_triplets(1, 1, &[(0, 0, 2.0)]).unwrap();
        let references: Vec<_> = (0..19).map(|j| Reference::new(&a, &[f64::from(j)])).collect();
        let mut y: Vec<f64> = (0..19).map(|j| 2.0 * f64::from(j)).collect();
        assert_eq!(check_columns(&references, &y).verdict, Verdict::Pass);
        y[18] = 0.0;
        let reason = check_columns(&references, &y).reason.unwrap();
        assert!(reason.starts_with("column 18: row 0 is 0e0, expected 3.6e1"), "{reason}");
        let last = 2 * BLOCK;
        let a = Csr::from_triplets(last + 1, 1, &[(last, 0, 1.0)]).unwrap();
        let references = [2.0, 3.0].map(|x| Reference::new(&a, &[x]));
        let mut y = vec![0.0; 2 * last];
        y.extend([2.0, 3.0]);
        assert_eq!(check_columns(&references, &y).verdict, Verdict::Pass);
        y[2 * last + 1] = 2.0;
        let wrong = check_columns(&references, &y);
        assert_eq!((wrong.verdict, wrong.row), (Verdict::Fail, Some(last as u64)));
        assert!(wrong.reason.unwrap().starts_with("column 1: "));
    }

    #[test]
    fn an_undecided_column_makes_the_result_undecided_unless_another_is_wrong() {
        let a = examples::dense(&[[1e308, 1e308, -1e308]; 3]);
        let references = [[1.0; 3], [0.0; 3]].map(|x| Reference::new(&a, &x));
        let infinite = f64::INFINITY;
        let undecided = check_columns(&references, &[infinite, 0.0, 1e308, 0.0, 1e308, 0.0]);
        assert_eq!((undecided.verdict, undecided.undecided), (Verdict::Refused, true));
        assert!(undecided.reason.unwrap().starts_with("column 0: row 0 is inf"));
        let wrong = check_columns(&references, &[infinite, 0.0, 1e308, 0.0, 1e308, 1.0]);
        assert_eq!((wrong.verdict, wrong.row), (Verdict::Fail, Some(2)));
        assert!(wrong.reason.unwrap().starts_with("column 1: row 2 is 1e0"));
    }

    #[test]
    fn a_result_of_another_size_fails() {
        let check = check_columns(&example().0, &[0.0; 5]);
        let reason = "the result has 5 elements, expected 5 x 2";
        assert_eq!((check.verdict, check.reason.as_deref()), (Verdict::Fail, Some(reason)));
    }
}
