//! y = A·x in HYB: the ELLPACK part row by row, then the tail's products added.

use std::ops::Range;

use super::partition::RowParts;
use super::{Checked, coo, each_own_part, ellpack};
use crate::matrix::{Hyb, Order, Scalar};

/// The ELLPACK part, then the tail.
///
/// x has n elements, y has m; panics otherwise, or when the slots are column-major.
pub fn serial<T: Scalar>(a: &Hyb<T>, x: &[T], y: &mut [T]) {
    rows_into(check(a, x, y), 0..a.ell().shape().rows, 0..a.tail().nnz(), y);
}

/// Equal contiguous parts of the rows with the tail entries of those rows, one a worker.
#[derive(Clone, Debug)]
pub struct HybParts {
    rows: RowParts,
    /// The tail entries of each part.
    tails: Vec<Range<usize>>,
}

impl HybParts {
    /// At most `parts` parts of equally many rows.
    pub fn new<T: Scalar>(a: &Hyb<T>, parts: usize) -> Self {
        let rows = RowParts::equal_rows(a.ell().shape().rows, parts);
        let tails = rows.iter().map(|rows| tail_of(a, &rows)).collect();
        Self { rows, tails }
    }

    /// The rows of each part.
    pub fn rows(&self) -> &RowParts {
        &self.rows
    }
}

/// Each part's rows by one worker, tail included.
///
/// x has n elements, y has m; panics otherwise, or when the slots are column-major.
pub fn parts<T: Scalar>(a: &Hyb<T>, parts: &HybParts, x: &[T], y: &mut [T]) {
    let a = check(a, x, y);
    let work: Vec<_> = parts.rows.split(y).into_iter().zip(parts.tails.iter().cloned()).collect();
    each_own_part(work, |((rows, y), tail)| rows_into(a, rows, tail, y));
}

/// Some rows with their tail entries, `y[k]` being that of row `rows.start + k`; what a block of a step of an
/// iteration does. [`tail_of`] finds the entries.
///
/// x has n elements, y has one for each of the rows; panics otherwise, or when the slots are column-major
/// or a tail entry lies in another row.
pub fn some_rows<T: Scalar>(
    a: &Hyb<T>,
    rows: Range<usize>,
    tail: Range<usize>,
    x: &[T],
    y: &mut [T],
) {
    let checked = Checked::<Hyb<T>, T>::some_rows(a, &rows, x, y);
    assert_eq!(a.ell().shape().order, Order::RowMajor, "this kernel reads row-major slots");
    rows_into(checked, rows, tail, y);
}

/// The tail entries of some rows.
pub fn tail_of<T: Scalar>(a: &Hyb<T>, rows: &Range<usize>) -> Range<usize> {
    let first_entry = |row: usize| a.tail().row().partition_point(|&r| (r as usize) < row);
    first_entry(rows.start)..first_entry(rows.end)
}

fn check<'a, T: Scalar>(a: &'a Hyb<T>, x: &'a [T], y: &[T]) -> Checked<'a, Hyb<T>, T> {
    let checked = Checked::<Hyb<T>, T>::new(a, x, y);
    assert_eq!(a.ell().shape().order, Order::RowMajor, "this kernel reads row-major slots");
    checked
}

fn rows_into<T: Scalar>(
    a: Checked<'_, Hyb<T>, T>,
    rows: Range<usize>,
    tail: Range<usize>,
    y: &mut [T],
) {
    ellpack::rows_into(a.ell(), rows.clone(), y);
    let t = a.a().tail();
    let (row, col, val) = (&t.row()[tail.clone()], &t.col()[tail.clone()], &t.val()[tail]);
    coo::add(row, col, val, rows.start, a.x(), y);
}
