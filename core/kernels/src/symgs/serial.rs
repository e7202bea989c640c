//! The serial loops, row by row: the reference for every other kernel.

use super::{Diagonal, Mode, ZeroStart};
use sparsescope_matrix::matrix::{Csr, Offset, Real};
use sparsescope_matrix::with_offsets;

/// Runs `sweeps` pairs of a sweep over the rows in ascending order and one in descending order, in place. `b`
/// is read only in [`Mode::Standard`].
///
/// b and x have n elements; panics otherwise, or if the diagonal belongs to another matrix.
pub fn symgs<T: Real>(
    a: &Csr<T>,
    diagonal: &Diagonal,
    mode: Mode,
    b: &[T],
    x: &mut [T],
    sweeps: usize,
) {
    check(a, diagonal, b, x);
    let n = a.rows();
    with_offsets!(a.row_ptr(), |row_ptr| {
        let rows = Rows { row_ptr, before: diagonal.before(), col: a.col(), val: a.val() };
        for _ in 0..sweeps {
            match mode {
                Mode::Smoother => {
                    (0..n).for_each(|i| rows.smooth(i, x));
                    (0..n).rev().for_each(|i| rows.smooth(i, x));
                }
                Mode::Standard => {
                    (0..n).for_each(|i| rows.solve(i, b, x));
                    (0..n).rev().for_each(|i| rows.solve(i, b, x));
                }
            }
        }
    });
}

/// A sweep over the rows in the given order and one in reverse, in place, with each row's terms in the order
/// of the matrix.
///
/// b and x have n elements, and `order` has every row once; panics otherwise, or if the diagonal belongs to
/// another matrix.
pub fn symgs_in_order<T: Real>(
    a: &Csr<T>,
    diagonal: &Diagonal,
    order: &[u32],
    mode: Mode,
    b: &[T],
    x: &mut [T],
) {
    check(a, diagonal, b, x);
    assert_eq!(order.len(), a.rows(), "the order has every row once");
    with_offsets!(a.row_ptr(), |row_ptr| {
        let rows = Rows { row_ptr, before: diagonal.before(), col: a.col(), val: a.val() };
        for &i in order.iter().chain(order.iter().rev()) {
            match mode {
                Mode::Smoother => rows.smooth(i as usize, x),
                Mode::Standard => rows.solve(i as usize, b, x),
            }
        }
    });
}

/// Computes z = M⁻¹·r in the given form; the previous content of z is not read.
///
/// r and z have n elements; panics otherwise, or if the diagonal belongs to another matrix.
pub fn zero_start<T: Real>(a: &Csr<T>, diagonal: &Diagonal, form: ZeroStart, r: &[T], z: &mut [T]) {
    check(a, diagonal, r, z);
    let n = a.rows();
    with_offsets!(a.row_ptr(), |row_ptr| {
        let rows = Rows { row_ptr, before: diagonal.before(), col: a.col(), val: a.val() };
        (0..n).for_each(|i| rows.solve_lower(i, r, z));
        match form {
            ZeroStart::Exact => (0..n).rev().for_each(|i| rows.solve(i, r, z)),
            ZeroStart::Half => (0..n).rev().for_each(|i| rows.solve_upper(i, z)),
        }
    });
}

/// The same for the matrix whose rows and columns are renumbered in this order, to which "before" and "after"
/// refer. The terms of either side are in the order of the original matrix.
///
/// r and z have n elements, and `order` has every row once; panics otherwise, or if the diagonal belongs to
/// another matrix.
pub fn zero_start_in_order<T: Real>(
    a: &Csr<T>,
    diagonal: &Diagonal,
    order: &[u32],
    form: ZeroStart,
    r: &[T],
    z: &mut [T],
) {
    check(a, diagonal, r, z);
    assert_eq!(order.len(), a.rows(), "the order has every row once");
    let mut place_of = vec![0; order.len()];
    for (place, &i) in order.iter().enumerate() {
        place_of[i as usize] = place;
    }
    with_offsets!(a.row_ptr(), |row_ptr| {
        let rows = Rows { row_ptr, before: diagonal.before(), col: a.col(), val: a.val() };
        let less_before =
            |i: usize, sum, z: &[T]| rows.minus_where(sum, i, z, |c| place_of[c] < place_of[i]);
        for &i in order {
            let i = i as usize;
            z[i] = less_before(i, r[i], z) / rows.diagonal(i);
        }
        for &i in order.iter().rev() {
            let i = i as usize;
            let sum = match form {
                ZeroStart::Exact => less_before(i, r[i], z),
                ZeroStart::Half => rows.diagonal(i) * z[i],
            };
            let sum = rows.minus_where(sum, i, z, |c| place_of[c] > place_of[i]);
            z[i] = sum / rows.diagonal(i);
        }
    });
}

/// Panics if a size does not match the matrix.
fn check<T: Real>(a: &Csr<T>, diagonal: &Diagonal, b: &[T], x: &[T]) {
    assert_eq!((a.rows(), a.cols()), (x.len(), x.len()), "x has one element a row");
    assert_eq!(b.len(), x.len(), "the right-hand side has one element a row");
    assert_eq!(diagonal.before().len(), x.len(), "the diagonal is that of the matrix");
}

/// CSR with the position of the diagonal in each row.
struct Rows<'a, O, T> {
    row_ptr: &'a [O],
    before: &'a [u32],
    col: &'a [u32],
    val: &'a [T],
}

impl<O: Offset, T: Real> Rows<'_, O, T> {
    /// Returns where row `i` begins, has its diagonal, and ends.
    #[inline(always)]
    fn bounds(&self, i: usize) -> (usize, usize, usize) {
        let start = self.row_ptr[i].index();
        (start, start + self.before[i] as usize, self.row_ptr[i + 1].index())
    }

    /// `sum` minus the products of some nonzeros, one after another.
    #[inline(always)]
    fn minus(&self, sum: T, entries: std::ops::Range<usize>, x: &[T]) -> T {
        let slots = self.col[entries.clone()].iter().zip(&self.val[entries]);
        slots.fold(sum, |sum, (&c, &v)| sum - v * x[c as usize])
    }

    /// The same for the nonzeros of row `i` in some columns.
    fn minus_where(&self, sum: T, i: usize, x: &[T], is_taken: impl Fn(usize) -> bool) -> T {
        let (start, _, end) = self.bounds(i);
        let slots = self.col[start..end].iter().zip(&self.val[start..end]);
        let taken = slots.filter(|&(&c, _)| is_taken(c as usize));
        taken.fold(sum, |sum, (&c, &v)| sum - v * x[c as usize])
    }

    fn diagonal(&self, i: usize) -> T {
        self.val[self.bounds(i).1]
    }

    #[inline(always)]
    fn smooth(&self, i: usize, x: &mut [T]) {
        let (start, diagonal, end) = self.bounds(i);
        let sum = self.minus(x[i], start..end, x);
        x[i] = (sum + self.val[diagonal] * x[i]) / self.val[diagonal];
    }

    #[inline(always)]
    fn solve(&self, i: usize, b: &[T], x: &mut [T]) {
        let (start, diagonal, end) = self.bounds(i);
        let sum = self.minus(b[i], start..diagonal, x);
        x[i] = self.minus(sum, diagonal + 1..end, x) / self.val[diagonal];
    }

    #[inline(always)]
    fn solve_lower(&self, i: usize, r: &[T], y: &mut [T]) {
        let (start, diagonal, _) = self.bounds(i);
        y[i] = self.minus(r[i], start..diagonal, y) / self.val[diagonal];
    }

    #[inline(always)]
    fn solve_upper(&self, i: usize, z: &mut [T]) {
        let (_, diagonal, end) = self.bounds(i);
        let sum = self.val[diagonal] * z[i];
        z[i] = self.minus(sum, diagonal + 1..end, z) / self.val[diagonal];
    }
}
