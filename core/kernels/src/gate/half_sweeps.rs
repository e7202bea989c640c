//! The check of a symmetric Gauss–Seidel sweep row by row, for kernels that add the terms of a row in
//! another order and keep x between the two halves.

use super::undecided;
use crate::symgs::{Diagonal, Mode};
use sparsescope_matrix::matrix::{Csr, Real};
use sparsescope_record::{Check, Verdict};

/// Half the distance from 1 to the next f64: the check computes in f64.
const UNIT_OF_CHECK: f64 = f64::EPSILON / 2.0;

/// Checks that x after each half of a symmetric sweep satisfies its rows. Row i of the ascending half, from
/// `start` to `between`, must leave a residual of
///
/// |b_i − Σ_{j<i} a_ij·new_j − Σ_{j>i} a_ij·old_j − d_i·new_i| ≤ (k + 4)·(u + u₆₄)·(|b_i| + Σ|a_ij·x_j|),
///
/// where k is the row's number of nonzeros, u the rounding error of the vectors' format and u₆₄ that of f64, in
/// which the residual is computed; underflow is allowed for beside it. The descending half is from `between`
/// to `found`. In smoother mode the old x_i replaces b_i, and the bound has d_i·old_i twice, which is subtracted and
/// added again.
///
/// No error is carried from row to row: each row is checked with the elements that the kernel itself
/// found. So unlike [`SweepBounds`](super::SweepBounds), the check decides about every sweep unless the sum of a
/// row's terms overflows.
///
/// `expected` is the result of the serial loop, for the error measures only. Panics unless all vectors have
/// one element per row.
pub fn half_sweeps<T: Real>(
    (a, diagonal): (&Csr<T>, &Diagonal),
    mode: Mode,
    b: &[T],
    [start, between, found]: [&[T]; 3],
    expected: &[T],
) -> Check {
    let n = a.rows();
    for vector in [b, start, between, found, expected] {
        assert_eq!(vector.len(), n, "the vectors have an element a row");
    }
    let number = T::PRECISION.vectors();
    let (unit, smallest) = (number.unit_roundoff() + UNIT_OF_CHECK, number.smallest());
    // The residual that a row leaves, and the largest allowed.
    let row = |i: usize, ascending: bool, old: &[T], new: &[T]| -> [f64; 2] {
        let (col, val) = a.row(i);
        let d: f64 = val[diagonal.before()[i] as usize].into();
        let (was, is): (f64, f64) = (old[i].into(), new[i].into());
        let (right, mut size) = match mode {
            Mode::Standard => (b[i].into(), f64::abs(b[i].into())),
            Mode::Smoother => (was, was.abs() + 2.0 * (d * was).abs()),
        };
        let mut left = right - d * is;
        size += (d * is).abs();
        for (&c, &v) in col.iter().zip(val).filter(|&(&c, _)| c as usize != i) {
            let c = c as usize;
            let x: f64 = if (c < i) == ascending { new[c] } else { old[c] }.into();
            let product = v.into() * x;
            left -= product;
            size += product.abs();
        }
        let terms = col.len() as f64 + 4.0;
        [left, terms * (unit * size + smallest) + d.abs() * smallest]
    };
    let finite = |value: T| -> bool { value.into().is_finite() };
    let (mut wrong, mut first, mut overflow, mut worst) = (0usize, None, None, 0.0f64);
    for (ascending, old, new) in [(true, start, between), (false, between, found)] {
        for i in 0..n {
            let [left, allowed] = row(i, ascending, old, new);
            let share = left.abs() / allowed;
            if share.is_finite() {
                worst = worst.max(share);
            }
            if allowed.is_finite() && left.abs() <= allowed {
                continue;
            }
            let is_read = |c: usize| finite(old[c]) && finite(new[c]);
            if !allowed.is_finite() && is_read(i) && a.row(i).0.iter().all(|&c| is_read(c as usize))
            {
                overflow = overflow.or(Some(i));
                continue;
            }
            wrong += 1;
            if first.is_none() {
                first = Some((i, ascending, left, allowed));
            }
        }
    }
    if let (0, Some(i)) = (wrong, overflow) {
        let reason = format!("row {i} cannot be checked: the sum of its terms overflows");
        return undecided(i as u64, reason);
    }
    let [mut difference, mut norm] = [0.0f64; 2];
    for (&y, &z) in expected.iter().zip(found) {
        let (y, z): (f64, f64) = (y.into(), z.into());
        difference += (y - z) * (y - z);
        norm += y * y;
    }
    let rel_err = if difference == 0.0 { 0.0 } else { (difference / norm).sqrt() };
    Check {
        verdict: if wrong == 0 { Verdict::Pass } else { Verdict::Fail },
        reason: first.map(|(i, ascending, left, allowed)| {
            let half = if ascending { "ascending" } else { "descending" };
            format!(
                "row {i} of the {half} half leaves a residual of {left:e}, bound {allowed:e}; \
                {wrong} of {} rows of both halves are wrong",
                2 * n
            )
        }),
        row: first.map(|(i, ..)| i as u64),
        worst: Some(worst),
        rel_err: rel_err.is_finite().then_some(rel_err),
        ..Check::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sparsescope_matrix::memory::MemoryLimit;

    /// A half sweep is about x_i = 1.5·x_{i−1} − 0.9·x_{i−2} plus small terms, which stays bounded, while a
    /// bound on carried errors, which adds absolute values, grows as 1.96^n.
    fn system<T: Real>(n: usize) -> (Csr<T>, Diagonal, [Vec<T>; 2]) {
        let value = |i: usize, j: usize| match i.abs_diff(j) {
            0 => 1.0,
            1 => -1.5,
            2 => 0.9,
            _ if (i * 7 + j * 5) % n < 4 => 1e-4 * (1 + (i + j) % 9) as f64,
            _ => 0.0,
        };
        let all = (0..n).flat_map(|i| (0..n).map(move |j| (i, j, value(i, j))));
        let entries: Vec<_> = all.filter(|&(.., v)| v != 0.0).collect();
        let a = Csr::from_triplets(n, n, &entries).unwrap().map(T::rounded);
        let diagonal = Diagonal::of(&a, MemoryLimit::unlimited()).unwrap();
        let vector =
            |step: usize| (0..n).map(move |i| T::rounded(0.1 + (i * step % 11) as f64 / 7.0));
        (a, diagonal, [vector(3).collect(), vector(5).collect()])
    }

    /// One half whose sums begin at the end of each row.
    fn half<T: Real>(a: &Csr<T>, mode: Mode, b: &[T], x: &[T], ascending: bool) -> Vec<T> {
        let mut new = x.to_vec();
        let mut row = |i: usize| {
            let (col, val) = a.row(i);
            let (mut sum, mut d) = (T::ZERO, T::ZERO);
            for (&c, &v) in col.iter().zip(val).rev() {
                match c as usize == i {
                    true => d = v,
                    false => sum += v * new[c as usize],
                }
            }
            let right = if mode == Mode::Standard { b[i] } else { new[i] };
            new[i] = (right - sum) / d;
        };
        match ascending {
            true => (0..b.len()).for_each(&mut row),
            false => (0..b.len()).rev().for_each(&mut row),
        }
        new
    }

    fn sums_in_another_order_pass_and_one_element_off_fails<T: Real>() {
        let n = 60;
        let (a, diagonal, [b, start]) = system::<T>(n);
        for mode in Mode::ALL {
            let between = half(&a, mode, &b, &start, true);
            let found = half(&a, mode, &b, &between, false);
            let check = |between: &[T], found: &[T]| {
                half_sweeps((&a, &diagonal), mode, &b, [&start, between, found], found)
            };
            let right = check(&between, &found);
            assert_eq!(right.verdict, Verdict::Pass, "{mode:?}: {:?}", right.reason);
            assert!(right.worst.is_some_and(|worst| worst > 0.0 && worst < 1.0));
            // More than rounding explains in rows of at most 9 terms, whose absolute values are together
            // less than 8 times the largest element.
            let off = |x: &[T], i: usize| {
                let size = |&v: &T| f64::abs(v.into());
                let largest = start.iter().chain(&between).chain(&found).map(size);
                let largest = largest.fold(0.0, f64::max);
                let mut x = x.to_vec();
                let value: f64 = x[i].into();
                let unit = T::PRECISION.vectors().unit_roundoff();
                x[i] = T::rounded(value + 1000.0 * unit * largest);
                x
            };
            for i in [0, 17, n - 1] {
                let first = check(&off(&between, i), &found);
                assert_eq!(first.verdict, Verdict::Fail, "{mode:?}: {i}");
                assert!(first.worst.is_some_and(|worst| worst > 1.0));
                assert!(first.reason.unwrap().contains("of the ascending half"));
                let second = check(&between, &off(&found, i));
                assert_eq!(second.verdict, Verdict::Fail, "{mode:?}: {i}");
                assert!(second.reason.unwrap().contains("of the descending half"));
            }
            for value in [f64::NAN, f64::INFINITY] {
                let nothing = vec![T::rounded(value); n];
                assert_eq!(check(&between, &nothing).verdict, Verdict::Fail, "{value}");
                assert_eq!(check(&nothing, &nothing).verdict, Verdict::Fail, "{value}");
            }
        }
    }

    #[test]
    fn in_f64_sums_in_another_order_pass_and_one_element_off_fails() {
        sums_in_another_order_pass_and_one_element_off_fails::<f64>();
    }

    #[test]
    fn in_f32_sums_in_another_order_pass_and_one_element_off_fails() {
        sums_in_another_order_pass_and_one_element_off_fails::<f32>();
    }

    #[test]
    fn it_decides_where_carried_bounds_do_not() {
        let (a, diagonal, [b, start]) = system::<f64>(400);
        let bounds = super::super::SweepBounds::new(&a, &diagonal, Mode::Standard, (&b, &start), 1);
        let between = half(&a, Mode::Standard, &b, &start, true);
        let found = half(&a, Mode::Standard, &b, &between, false);
        assert!(bounds.check(&found, &found).undecided);
        let vectors = [&start[..], &between, &found];
        let check = half_sweeps((&a, &diagonal), Mode::Standard, &b, vectors, &found);
        assert_eq!(check.verdict, Verdict::Pass);
    }

    #[test]
    fn infinities_fail_where_no_term_has_another_sign_and_terms_that_overflow_are_undecided() {
        let check = |values: [f64; 2], b: [f64; 2], x: [[f64; 2]; 2]| {
            let entries = [(0, 0, values[0]), (1, 0, values[1]), (1, 1, 1.0)];
            let a = Csr::from_triplets(2, 2, &entries).unwrap();
            let diagonal = Diagonal::of(&a, MemoryLimit::unlimited()).unwrap();
            let vectors = [&[0.0; 2][..], &x[0], &x[1]];
            half_sweeps((&a, &diagonal), Mode::Standard, &b, vectors, &x[1])
        };
        let inf = [f64::INFINITY; 2];
        assert_eq!(check([1.0, 0.0], [1.0; 2], [inf; 2]).verdict, Verdict::Fail);
        let large = [1e300, -f64::MAX];
        assert!(check([1.0, 1e10], [1e300, 0.0], [large; 2]).undecided);
    }
}
