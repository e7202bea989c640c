//! The check that every SpMV result must pass before its timing counts: each row against the f64 sum of the
//! same values, within the rounding error of any summation order in the precision of the result.

use super::overflow::ScaledRow;
use super::row_errors::{BLOCK, Compared, Doubt, Judged, ROWS, RowErrors};
use sparsescope_matrix::parallel::*;

use sparsescope_matrix::matrix::{Csr, Real};
use sparsescope_matrix::memory::zeroed;
use sparsescope_record::{Check, Verdict};

/// Smaller differences do not count in the Tor Vergata paper's s.
pub const PAPER_EPSILON: f64 = 1e-10;

/// y = A·x in f64, summed in the order of `cpu/csr/serial`, and how far each row of a result may deviate from
/// it.
#[derive(Clone, Debug)]
pub struct Reference {
    /// The row number that errors use for its first row.
    first: u64,
    y: Vec<f64>,
    /// For row i 2·len_i·u·Σ_j |a_ij·x_j|, where u is 2⁻⁵³ for f64 and 2⁻²⁴ for f32, plus len_i times the
    /// smallest positive value, the possible error of products that underflow.
    bound: Vec<f64>,
    /// Rows whose partial sums may overflow or are not finite, ascending: y and bound in smaller units.
    scaled: Vec<(usize, ScaledRow)>,
    /// Rows with enough terms that the bound reaches Σ_j |a_ij·x_j|, ascending.
    long: Vec<usize>,
}

/// Rows that a thread takes at a time.
pub(super) const CHUNK: usize = 1 << 10;

impl Reference {
    /// Computes the reference of results in the precision of `a` and x. Panics unless x has n elements.
    pub fn new<T: Real>(a: &Csr<T>, x: &[T]) -> Self {
        assert_eq!(x.len(), a.cols(), "x has one element a column");
        Self::of_rows(a.rows(), 0, |i, _| {
            let (col, val) = a.row(i);
            let factors = |(&c, &v): (&u32, &T)| -> (f64, f64) { (v.into(), x[c as usize].into()) };
            Row::of::<T>(col.iter().zip(val).map(factors))
        })
    }

    /// The same in f64 for rows that are not stored: `terms(i, list)` appends the factors a_ij and x_j of row
    /// i to an empty list, in column order. Errors call row 0 `first`.
    pub fn of_terms(
        rows: usize,
        first: u64,
        terms: impl Fn(usize, &mut Vec<(f64, f64)>) + Sync,
    ) -> Self {
        Self::of_rows(rows, first, |i, list| {
            terms(i, list);
            Row::of::<f64>(list.iter().copied())
        })
    }

    /// The reference of y = alpha·A·x + beta·y, given alpha and beta, and y before. Panics unless x has n elements and
    /// y has m.
    pub fn scaled<T: Real>(a: &Csr<T>, x: &[T], (alpha, beta): (T, T), before: &[T]) -> Self {
        assert_eq!((x.len(), before.len()), (a.cols(), a.rows()), "x has n elements, y has m");
        let [alpha, beta]: [f64; 2] = [alpha.into(), beta.into()];
        Self::of_rows(a.rows(), 0, |i, _| {
            let (col, val) = a.row(i);
            let factors = |(&c, &v): (&u32, &T)| -> (f64, f64) { (v.into(), x[c as usize].into()) };
            Row::scaled::<T>(col.iter().zip(val).map(factors), alpha, (beta, before[i].into()))
        })
    }

    /// Builds the reference of rows that `of_row` returns by number, given an empty list as work space.
    fn of_rows(
        rows: usize,
        first: u64,
        of_row: impl Fn(usize, &mut Vec<(f64, f64)>) -> Row + Sync,
    ) -> Self {
        Self::of_elements((rows, 1), first, |i, list, found| found.push(of_row(i, list)))
    }

    /// The same for rows of several elements, one after the other: `of_row` appends those of a row to an empty list.
    pub(super) fn of_elements(
        (rows, width): (usize, usize),
        first: u64,
        of_row: impl Fn(usize, &mut Vec<(f64, f64)>, &mut Vec<Row>) + Sync,
    ) -> Self {
        let (mut y, mut bound) = (zeroed(0.0, rows * width), zeroed(0.0, rows * width));
        let chunk = CHUNK * width;
        let chunks = y.par_chunks_mut(chunk).zip(bound.par_chunks_mut(chunk)).enumerate();
        let odd: Vec<(Vec<_>, Vec<_>)> = chunks
            .map(|(chunk, (y, bound))| {
                let (mut scaled, mut long) = (Vec::new(), Vec::new());
                let (mut list, mut found) = (Vec::new(), Vec::new());
                let rows = y.chunks_mut(width).zip(bound.chunks_mut(width));
                for (i, (y, bound)) in (chunk * CHUNK..).zip(rows) {
                    list.clear();
                    of_row(i, &mut list, &mut found);
                    let elements = found.drain(..).zip(y.iter_mut().zip(bound));
                    for (at, (row, (y, bound))) in (i * width..).zip(elements) {
                        (*y, *bound) = (row.y, row.bound);
                        scaled.extend(row.scaled.map(|row| (at, row)));
                        long.extend(row.is_long.then_some(at));
                    }
                }
                (scaled, long)
            })
            .collect();
        let mut reference = Self { first, y, bound, scaled: Vec::new(), long: Vec::new() };
        for (scaled, long) in odd {
            reference.scaled.extend(scaled);
            reference.long.extend(long);
        }
        reference
    }

    /// The reference result, one element per row.
    pub fn y(&self) -> &[f64] {
        &self.y
    }

    /// Checks `z` row by row: both NaN, equal infinities, or both finite with |z − y| within the bound. If
    /// partial sums may overflow, or the bound is as large as the sum of the terms, a row may be undecided.
    /// The error measures cover only rows where both are finite.
    pub fn check<T: Real>(&self, z: &[T]) -> Check {
        if z.len() != self.y.len() {
            let reason = format!("the result has {} rows, expected {}", z.len(), self.y.len());
            return Check { verdict: Verdict::Fail, reason: Some(reason), ..Check::default() };
        }
        self.errors(z).check()
    }

    /// The errors of these rows, which may be a part of all; panics unless `z` is as long as the reference.
    pub fn errors<T: Real>(&self, z: &[T]) -> RowErrors {
        let rows = self.y.len();
        assert_eq!(z.len(), rows, "one element a row");
        let blocks: Vec<RowErrors> = (0..rows.div_ceil(BLOCK))
            .into_par_iter()
            .map(|b| {
                let (mut errors, mut found) = (RowErrors::default(), Vec::<f64>::new());
                let block = &z[b * BLOCK..rows.min((b + 1) * BLOCK)];
                for (start, z) in (b * BLOCK..).step_by(ROWS).zip(block.chunks(ROWS)) {
                    found.clear();
                    found.extend(z.iter().map(|&z| -> f64 { z.into() }));
                    let row = self.first + start as u64;
                    errors = self.add_errors(errors, row, (start, 1), &found);
                }
                errors
            })
            .collect();
        blocks.into_iter().fold(RowErrors::default(), RowErrors::join)
    }

    /// Adds the errors of elements of adjacent rows, the first of which is `row`. They are compared with the element
    /// `at` of the reference and with those that follow at a distance of `step`.
    pub(super) fn add_errors(
        &self,
        mut errors: RowErrors,
        row: u64,
        (at, step): (usize, usize),
        found: &[f64],
    ) -> RowErrors {
        for (n, &z) in found.iter().enumerate() {
            let compared = self.compared(at + n * step, z);
            errors = errors.add(row + n as u64, compared, PAPER_EPSILON);
        }
        errors
    }

    /// How far row i of a result may deviate from the reference.
    #[cfg(test)]
    pub(super) fn bound(&self, i: usize) -> f64 {
        self.bound[i]
    }

    /// Compares row i of a result with its reference.
    pub(super) fn compared(&self, i: usize, z: f64) -> Compared {
        let mut compared = Compared::within(z, self.y[i], self.bound[i]);
        if let Ok(k) = self.scaled.binary_search_by_key(&i, |&(row, _)| row) {
            let row = &self.scaled[k].1;
            (compared.share, compared.judged) = (row.share(z), row.judge(z));
        }
        let is_long = || self.long.binary_search(&i).is_ok();
        if compared.judged == Judged::Right && z.is_finite() && is_long() {
            compared.judged = Judged::Undecided(Doubt::Length);
        }
        compared
    }
}

/// The reference of a row.
pub(super) struct Row {
    y: f64,
    bound: f64,
    scaled: Option<ScaledRow>,
    is_long: bool,
}

impl Row {
    /// Computes it from the factors of the terms, in order, for results in one precision.
    fn of<T: Real>(factors: impl Iterator<Item = (f64, f64)> + Clone) -> Self {
        Self::of_sums::<T>(Self::sums(factors.clone()), factors)
    }

    /// The same, where the number of terms, their sum and the sum of their sizes are known.
    pub(super) fn of_sums<T: Real>(
        [len, y, size]: [f64; 3],
        factors: impl Iterator<Item = (f64, f64)>,
    ) -> Self {
        let number = T::PRECISION.vectors();
        let (unit, smallest) = (number.unit_roundoff(), number.smallest());
        let share = 2.0 * len * unit;
        let (bound, is_long) = (share * size + len * smallest, share >= 1.0);
        if size + bound <= number.largest() {
            return Self { y, bound, scaled: None, is_long };
        }
        let scaled = ScaledRow::of::<T>(factors, |size| share * size);
        Self { y: scaled.y(), bound: scaled.bound(), scaled: Some(scaled), is_long }
    }

    /// The same for alpha times the sum plus beta times the previous element, which does not count if beta is 0.
    /// Whether a kernel multiplies the sum or each part of it by alpha, a term is rounded at most len + 2 times, so that
    /// with S = |alpha|·Σ|a·x| + |beta·y| its error and that of the f64 sum are at most (len + 2)·u·S each. What
    /// underflows in the sum is multiplied by alpha.
    fn scaled<T: Real>(
        factors: impl Iterator<Item = (f64, f64)> + Clone,
        alpha: f64,
        (beta, before): (f64, f64),
    ) -> Self {
        let [len, sum, size] = Self::sums(factors.clone());
        let more = if beta == 0.0 { 0.0 } else { beta * before };
        let number = T::PRECISION.vectors();
        let (unit, smallest) = (number.unit_roundoff(), number.smallest());
        let share = 2.0 * (len + 2.0) * unit;
        let all = alpha.abs() * size + more.abs();
        let bound = share * all + (len * alpha.abs().max(1.0) + 2.0) * smallest;
        let is_long = share >= 1.0;
        if size.max(all) + bound <= number.largest() {
            return Self { y: alpha * sum + more, bound, scaled: None, is_long };
        }
        let before = (beta != 0.0).then_some((beta, before));
        // Of two finite factors, alpha goes to the one that stays finite.
        let times_alpha = |(a, x): (f64, f64)| match x.is_finite() && !(alpha * x).is_finite() {
            true => (alpha * a, x),
            false => (a, alpha * x),
        };
        let terms = factors.map(times_alpha).chain(before);
        let scaled = ScaledRow::of::<T>(terms, |size| share * size);
        // With a larger alpha, these terms overflow wherever those of the sum do.
        let sum_overflows = alpha.abs() < 1.0 && size + share * size > number.largest();
        let scaled = if sum_overflows { scaled.overflowing() } else { scaled };
        Self { y: scaled.y(), bound: scaled.bound(), scaled: Some(scaled), is_long }
    }

    /// The number of terms, their sum in order, and the sum of their sizes.
    fn sums(factors: impl Iterator<Item = (f64, f64)>) -> [f64; 3] {
        factors.fold([0.0; 3], |[len, sum, size], (a, x)| {
            [len + 1.0, sum + a * x, size + (a * x).abs()]
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sparsescope_matrix::matrix::examples;

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
            terms.extend(col.iter().zip(val).map(|(&c, &v)| (v, x[c as usize])));
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
        crate::spmv::csr::serial(&a, crate::spmv::Unscaled, &x, &mut y);
        assert_eq!(Reference::new(&a, &x).y(), y);
    }

    #[test]
    fn a_scaled_row_has_the_bound_of_its_terms_and_of_the_previous_element() {
        let (a, x) = (examples::five_by_five(), [1.0, 2.0, 3.0, 4.0, 5.0]);
        let r = Reference::scaled(&a, &x, (2.0, -0.5), &[4.0; 5]);
        assert_eq!(r.y(), [20.0, 24.0, 14.0, 34.0, 66.0]);
        // Row 4: two terms; S = 2·34 + 0.5·4.
        assert_eq!(r.bound[4], 2.0 * 4.0 * 2f64.powi(-53) * 70.0 + 6.0 * f64::from_bits(1));
        let mut y = [4.0; 5];
        let scaling = crate::spmv::Scaling { alpha: 2.0, beta: -0.5 };
        crate::spmv::csr::serial(&a, scaling, &x, &mut y);
        assert_eq!(r.check(&y).verdict, Verdict::Pass);
        y[2] += 3.0 * r.bound[2];
        assert_eq!(r.check(&y).row, Some(2));
        // Without beta, y before does not count, whatever it is.
        let r = Reference::scaled(&a, &x, (1.0, 0.0), &[f64::NAN; 5]);
        assert_eq!(r.y(), [11.0, 13.0, 8.0, 18.0, 34.0]);
    }

    #[test]
    fn a_scaled_row_is_right_although_alpha_times_x_overflows_and_undecided_if_only_the_sum_does() {
        let a = examples::dense(&[[1.0, -1.0]]);
        let r = Reference::scaled(&a, &[5.0, 5.0], (1e308, 0.0), &[0.0]);
        assert_eq!(r.y(), [0.0]);
        assert_eq!(r.check(&[0.0]).verdict, Verdict::Pass);
        assert_eq!(r.check(&[1e300]).verdict, Verdict::Fail);
        let a = examples::dense(&[[1e308, 1e308]]);
        let r = Reference::scaled(&a, &[1.0, 1.0], (0.1, 0.0), &[0.0]);
        assert_eq!(r.check(&[2e307]).verdict, Verdict::Pass);
        assert_eq!(r.check(&[1e307]).verdict, Verdict::Fail);
        let undecided = r.check(&[f64::INFINITY]);
        assert_eq!((undecided.verdict, undecided.undecided), (Verdict::Refused, true));
        // Infinity of a factor is not the overflow of a sum.
        let r = Reference::scaled(&a, &[f64::INFINITY, 1.0], (0.1, 0.0), &[0.0]);
        assert_eq!(r.check(&[f64::INFINITY]).verdict, Verdict::Pass);
        assert_eq!(r.check(&[f64::NAN]).verdict, Verdict::Fail);
    }

    #[test]
    fn rounding_of_scaled_rows_in_single_precision_is_within_the_bound() {
        let entries: Vec<_> =
            (0..900).map(|k| (k % 9, k / 9, 1.0 / (1.0 + (k * 7 % 89) as f32) - 0.3)).collect();
        let a = Csr::from_triplets(9, 100, &entries).unwrap();
        let x: Vec<f32> = (0..100).map(|k| 0.1 + (k * 37 % 61) as f32).collect();
        let before = [0.7f32; 9];
        for (alpha, beta) in [(1.3f32, 0.0f32), (0.37, -2.9), (-1e-3, 1.0)] {
            let mut y = before;
            let scaling = crate::spmv::Scaling { alpha, beta };
            crate::spmv::csr::serial(&a, scaling, &x, &mut y);
            let check = Reference::scaled(&a, &x, (alpha, beta), &before).check(&y);
            assert_eq!(check.verdict, Verdict::Pass, "{alpha} {beta}: {:?}", check.reason);
            assert!(check.worst.unwrap() > 0.0);
        }
    }

    #[test]
    fn in_single_precision_a_row_is_right_within_units_of_2_to_minus_24_and_no_further() {
        let a = examples::five_by_five().map(|v| v as f32);
        let r = Reference::new(&a, &[0.1f32, 0.2, 0.3, 0.4, 0.5]);
        // Row 4: the values 1 and 6, whose products with the rounded x are exact in f64.
        let (x3, x4) = (f64::from(0.4f32), f64::from(0.5f32));
        assert_eq!(r.y()[4], x3 + 6.0 * x4);
        let bound = 2.0 * 2.0 * 2f64.powi(-24) * (x3 + 6.0 * x4) + 2.0 * 2f64.powi(-149);
        assert_eq!(r.bound[4], bound);
        let nearest: Vec<f32> = r.y().iter().map(|&y| y as f32).collect();
        assert_eq!(r.check(&nearest).verdict, Verdict::Pass);
        // 3.4 lies between 2 and 4, where neighbours are 2⁻²² apart: an error of 3 ulps is within the bound
        // of 3.4·2⁻²², one of 5 is not.
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
            reason.starts_with("row 3 is 1.80000179") && reason.contains("expected 1.8e1"),
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
    fn terms_that_overflow_only_together_let_no_infinity_pass() {
        let a = examples::dense(&[[1e308, -1e308]]);
        let r = Reference::new(&a, &[1.5, 1.5]);
        assert_eq!(r.y()[0], 0.0);
        assert!(r.bound[0].is_finite());
        for wrong in [f64::INFINITY, f64::NEG_INFINITY, f64::NAN, 1e300] {
            assert_eq!(r.check(&[wrong]).verdict, Verdict::Fail, "{wrong}");
        }
        assert_eq!(r.check(&[0.0]).verdict, Verdict::Pass);
    }

    #[test]
    fn a_finite_sum_whose_partial_sums_overflow_passes_and_infinity_is_undecided() {
        let a = examples::dense(&[[1e308, 1e308, -1e308], [1.0, 2.0, 3.0]]);
        let r = Reference::new(&a, &[1.0; 3]);
        assert!((r.y()[0] / 1e308 - 1.0).abs() < 1e-15);
        let check = |z: f64| r.check(&[z, 6.0]);
        assert_eq!(check(1e308).verdict, Verdict::Pass);
        let undecided = check(f64::INFINITY);
        assert_eq!((undecided.verdict, undecided.undecided), (Verdict::Refused, true));
        assert_eq!(undecided.row, Some(0));
        assert_eq!(check(f64::NEG_INFINITY).verdict, Verdict::Fail);
        assert_eq!(check(0.0).verdict, Verdict::Fail);
        // A wrong row decides, whatever the other one is.
        assert_eq!(r.check(&[f64::INFINITY, 6.1]).verdict, Verdict::Fail);
    }

    #[test]
    fn a_row_in_f32_with_as_many_terms_as_rounding_can_hide_is_undecided() {
        let long = |len: usize| {
            let ones = vec![(1.0, 1.0); len];
            Row::of::<f32>(ones.iter().copied()).is_long
        };
        // 2·len·2⁻²⁴ is 1 for 2²³ terms.
        assert_eq!([long((1 << 23) - 1), long(1 << 23)], [false, true]);
        let a = examples::dense(&[[1.0, 2.0]]).map(|v| v as f32);
        let mut r = Reference::new(&a, &[1.0f32; 2]);
        r.long = vec![0];
        let check = r.check(&[3.0f32]);
        assert_eq!((check.verdict, check.undecided), (Verdict::Refused, true));
        assert!(check.reason.unwrap().starts_with("row 0 has too many nonzeros"));
        assert_eq!(r.check(&[4.0f32]).verdict, Verdict::Fail);
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
        // One ulp of 1e9, 2⁻²³, in one row of two.
        let check = r.check(&[1e9 + 2f64.powi(-23), 1e9]);
        assert_eq!(check.verdict, Verdict::Pass);
        assert_eq!(check.s_paper, Some(2f64.powi(-24)));
    }
}
