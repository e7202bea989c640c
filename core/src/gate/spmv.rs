//! The gate that every result passes before a timing counts: each row against the product in f64
//! of the same values, within the rounding that any order of summation may have in the precision
//! of the result.

use super::row_errors::RowErrors;
use crate::parallel::*;

use crate::matrix::{Csr, Real};
use crate::record::{Check, Verdict};

/// Differences below this do not enter the Tor Vergata paper's s.
pub const PAPER_EPSILON: f64 = 1e-10;

/// y = A·x in f64, added in the order of `cpu/csr/serial`, and how far each row of a result may lie
/// from it.
#[derive(Clone, Debug)]
pub struct Reference {
    /// What errors call its first row.
    first: u64,
    y: Vec<f64>,
    /// For row i 2·len_i·u·Σ_j |a_ij·x_j|, where u is 2⁻⁵³ for f64 and 2⁻²⁴ for f32, and len_i times
    /// the smallest positive value, which the products that underflow may be off by.
    bound: Vec<f64>,
}

impl Reference {
    /// Computes the reference of results in the precision of `a` and x. x has n elements; panics
    /// otherwise.
    pub fn new<T: Real>(a: &Csr<T>, x: &[T]) -> Self {
        assert_eq!(x.len(), a.cols(), "x has one element a column");
        let terms = |i: usize| {
            let (col, val) = a.row(i);
            col.iter().zip(val).map(|(&c, &v)| v.into() * x[c as usize].into())
        };
        let y = (0..a.rows()).into_par_iter().map(|i| terms(i).fold(0.0, |sum, term| sum + term));
        let bound = (0..a.rows())
            .into_par_iter()
            .map(|i| bound::<T>(a.row_len(i), terms(i).map(f64::abs).sum::<f64>()));
        Self { first: 0, y: y.collect(), bound: bound.collect() }
    }

    /// The same in f64 of rows that nobody holds: `terms(i, list)` puts the products a_ij·x_j of row i into an
    /// empty list, in the order of the columns. `first` is what errors call row 0.
    pub fn of_terms(rows: usize, first: u64, terms: impl Fn(usize, &mut Vec<f64>) + Sync) -> Self {
        const CHUNK: usize = 1 << 12;
        let chunk = |k: usize| {
            let mut list = Vec::new();
            let mut row = |i: usize| {
                list.clear();
                terms(i, &mut list);
                let y = list.iter().fold(0.0, |sum, term| sum + term);
                (y, bound::<f64>(list.len(), list.iter().map(|term| term.abs()).sum()))
            };
            (k * CHUNK..rows.min((k + 1) * CHUNK)).map(&mut row).collect::<Vec<(f64, f64)>>()
        };
        let chunks: Vec<Vec<(f64, f64)>> =
            (0..rows.div_ceil(CHUNK)).into_par_iter().map(chunk).collect();
        let (y, bound) = chunks.into_iter().flatten().unzip();
        Self { first, y, bound }
    }

    /// The reference result, one element a row.
    pub fn y(&self) -> &[f64] {
        &self.y
    }

    /// Checks `z` row by row: both NaN, equal infinities, or both finite with |z − y| within the
    /// bound. The error measures beside the verdict count only rows where both are finite.
    pub fn check<T: Real>(&self, z: &[T]) -> Check {
        if z.len() != self.y.len() {
            let reason = format!("the result has {} rows instead of {}", z.len(), self.y.len());
            return Check { verdict: Verdict::Fail, reason: Some(reason), ..Check::default() };
        }
        self.errors(z).check()
    }

    /// The same of rows of which others have more: `z` has as many as the reference, panics otherwise.
    pub fn errors<T: Real>(&self, z: &[T]) -> RowErrors {
        let rows = self.y.len();
        assert_eq!(z.len(), rows, "one element a row");
        // Sums over fixed blocks of rows, so that they do not depend on the number of threads.
        const BLOCK: usize = 1 << 14;
        let blocks: Vec<RowErrors> = (0..rows.div_ceil(BLOCK))
            .into_par_iter()
            .map(|b| {
                let block = b * BLOCK..rows.min((b + 1) * BLOCK);
                block.fold(RowErrors::default(), |errors, i| {
                    let numbers = [z[i].into(), self.y[i], self.bound[i]];
                    errors.add(self.first + i as u64, numbers, PAPER_EPSILON)
                })
            })
            .collect();
        blocks.into_iter().fold(RowErrors::default(), RowErrors::join)
    }
}

/// How far a row of so many entries, whose terms add up to so much in size, may lie from the reference.
fn bound<T: Real>(len: usize, sum: f64) -> f64 {
    let (len, unit) = (len as f64, T::PRECISION.unit_roundoff());
    2.0 * len * unit * sum + len * T::PRECISION.smallest()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matrix::examples;

    fn reference() -> Reference {
        Reference::new(&examples::five_by_five(), &[1.0, 2.0, 3.0, 4.0, 5.0])
    }

    #[test]
    fn the_papers_example_has_the_product_worked_out_by_hand() {
        assert_eq!(reference().y(), [11.0, 13.0, 8.0, 18.0, 34.0]);
        // Row 4: two terms, |1·4| + |6·5| = 34.
        assert_eq!(reference().bound[4], 2.0 * 2.0 * 2f64.powi(-53) * 34.0);
    }

    #[test]
    fn terms_of_rows_that_nobody_holds_give_the_reference_of_the_matrix() {
        let entries: Vec<_> = (0..90).map(|k| (k % 9, k / 9, 1.0 / (1.0 + k as f64))).collect();
        let a = Csr::from_triplets(9, 10, &entries).unwrap();
        let x: Vec<f64> = (0..10).map(|k| 0.1 + f64::from(k)).collect();
        let made = Reference::of_terms(9, 100, |i, terms| {
            let (col, val) = a.row(i);
            terms.extend(col.iter().zip(val).map(|(&c, &v)| v * x[c as usize]));
        });
        let whole = Reference::new(&a, &x);
        assert_eq!((made.y(), &made.bound), (whole.y(), &whole.bound));
        let mut z = whole.y().to_vec();
        z[4] += 1.0;
        assert_eq!(made.check(&z).row, Some(104));
    }

    #[test]
    fn the_reference_has_the_bits_of_the_serial_product() {
        let entries: Vec<_> = (0..90).map(|k| (k % 9, k / 9, 1.0 / (1.0 + k as f64))).collect();
        let a = Csr::from_triplets(9, 10, &entries).unwrap();
        let x: Vec<f64> = (0..10).map(|k| 0.1 + f64::from(k)).collect();
        let mut y = vec![0.0; 9];
        crate::spmv::csr::serial(&a, &x, &mut y);
        assert_eq!(Reference::new(&a, &x).y(), y);
    }

    #[test]
    fn in_single_precision_a_row_is_right_within_units_of_2_to_minus_24_and_no_further() {
        let a = examples::five_by_five().map(|v| v as f32);
        let r = Reference::new(&a, &[0.1f32, 0.2, 0.3, 0.4, 0.5]);
        // Row 4: one entry 1 and one 6, whose products with the rounded x are exact in f64.
        let (x3, x4) = (f64::from(0.4f32), f64::from(0.5f32));
        assert_eq!(r.y()[4], x3 + 6.0 * x4);
        let bound = 2.0 * 2.0 * 2f64.powi(-24) * (x3 + 6.0 * x4) + 2.0 * 2f64.powi(-149);
        assert_eq!(r.bound[4], bound);
        let nearest: Vec<f32> = r.y().iter().map(|&y| y as f32).collect();
        assert_eq!(r.check(&nearest).verdict, Verdict::Pass);
        // 3.4 lies between 2 and 4, where neighbours are 2⁻²² apart: 3 of them are within the bound
        // of 3.4·2⁻²², and 5 are not.
        let off = |ulps: u32| {
            let mut z = nearest.clone();
            z[4] = f32::from_bits(z[4].to_bits() + ulps);
            r.check(&z)
        };
        assert_eq!(off(3).verdict, Verdict::Pass);
        let wrong = off(5);
        assert_eq!((wrong.verdict, wrong.row), (Verdict::Fail, Some(4)));
    }

    #[test]
    fn products_that_underflow_in_single_precision_are_no_error() {
        let a = Csr::from_triplets(1, 2, &[(0, 0, 1e-30f32), (0, 1, 2e-30)]).unwrap();
        let r = Reference::new(&a, &[1e-30f32; 2]);
        assert!(r.y()[0] > 0.0);
        assert_eq!(r.check(&[0.0f32]).verdict, Verdict::Pass);
        assert_eq!(r.check(&[1e-44f32]).verdict, Verdict::Fail);
    }

    #[test]
    fn a_row_off_by_one_millionth_fails_and_is_named() {
        let r = reference();
        let mut z = r.y().to_vec();
        assert_eq!(r.check(&z).verdict, Verdict::Pass);
        z[3] *= 1.0 + 1e-6;
        let check = r.check(&z);
        assert_eq!((check.verdict, check.row), (Verdict::Fail, Some(3)));
        assert!(check.worst.unwrap() > 1e6);
        let reason = check.reason.unwrap();
        assert!(
            reason.starts_with("row 3 is 1.80000179") && reason.contains("instead of 1.8e1"),
            "{reason}"
        );
    }

    #[test]
    fn one_nan_or_infinity_fails_where_the_reference_is_finite() {
        let r = reference();
        for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            let mut z = r.y().to_vec();
            z[0] = bad;
            let check = r.check(&z);
            assert_eq!((check.verdict, check.row), (Verdict::Fail, Some(0)), "{bad}");
            assert!(
                [check.worst, check.s_paper, check.rel_err].iter().flatten().all(|v| v.is_finite())
            );
        }
    }

    #[test]
    fn non_finite_rows_pass_only_when_of_the_same_class() {
        let a = examples::dense(&[[1.0, 0.0], [0.0, 1.0]]);
        let r = Reference::new(&a, &[f64::INFINITY, f64::NAN]);
        let verdict = |z: [f64; 2]| r.check(&z).verdict;
        assert_eq!(verdict([f64::INFINITY, f64::NAN]), Verdict::Pass);
        assert_eq!(verdict([f64::NEG_INFINITY, f64::NAN]), Verdict::Fail);
        assert_eq!(verdict([f64::NAN, f64::NAN]), Verdict::Fail);
        assert_eq!(verdict([f64::INFINITY, f64::INFINITY]), Verdict::Fail);
        assert_eq!(verdict([f64::MAX, f64::NAN]), Verdict::Fail);
    }

    #[test]
    fn a_bound_that_overflows_lets_no_infinity_pass() {
        let a = examples::dense(&[[1e308, -1e308]]);
        let r = Reference::new(&a, &[1.5, 1.5]);
        assert_eq!((r.y()[0], r.bound[0]), (0.0, f64::INFINITY));
        assert_eq!(r.check(&[f64::INFINITY]).verdict, Verdict::Fail);
    }

    #[test]
    fn an_empty_row_must_be_exactly_zero() {
        let a = Csr::from_triplets(2, 2, &[(0, 0, 1.0)]).unwrap();
        let r = Reference::new(&a, &[1.0, 1.0]);
        assert_eq!(r.check(&[1.0, -0.0]).verdict, Verdict::Pass);
        assert_eq!(r.check(&[1.0, f64::MIN_POSITIVE]).verdict, Verdict::Fail);
    }

    #[test]
    fn the_papers_s_averages_differences_from_epsilon_up() {
        let a = examples::dense(&[[1e9, 0.0], [0.0, 1e9]]);
        let r = Reference::new(&a, &[1.0, 1.0]);
        // One unit in the last place of 1e9, 2⁻²³, in one row of two.
        let check = r.check(&[1e9 + 2f64.powi(-23), 1e9]);
        assert_eq!(check.verdict, Verdict::Pass);
        assert_eq!(check.s_paper, Some(2f64.powi(-24)));
    }
}
