//! y = A·x in HYB: the ELLPACK part row by row, then the tail added.

use std::ops::Range;

use super::partition::RowParts;
use super::{Checked, Store, Unscaled, coo, each_own_part, ellpack};
use sparsescope_matrix::matrix::{Hyb, Order, Scalar};

/// The ELLPACK part, then the tail.
///
/// x has n elements, y has m; panics otherwise, or when the slots are column-major.
pub fn serial<T: Scalar>(a: &Hyb<T>, store: impl Store<T>, x: &[T], y: &mut [T]) {
    rows_into(check(a, x, y), 0..a.ell().shape().rows, 0..a.tail().nnz(), store, y);
}

/// Equal contiguous parts of the rows with the tail nonzeros of those rows, one per worker.
#[derive(Clone, Debug)]
pub struct HybParts {
    rows: RowParts,
    /// The tail nonzeros of each part.
    tails: Vec<Range<usize>>,
}

impl HybParts {
    /// Divides the matrix into at most `parts` parts of equally many rows.
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

/// Computes each part's rows on one worker, tail included.
///
/// x has n elements, y has m; panics otherwise, or when the slots are column-major.
pub fn parts<T: Scalar>(a: &Hyb<T>, parts: &HybParts, store: impl Store<T>, x: &[T], y: &mut [T]) {
    let a = check(a, x, y);
    let work: Vec<_> = parts.rows.split(y).into_iter().zip(parts.tails.iter().cloned()).collect();
    each_own_part(work, |((rows, y), tail)| rows_into(a, rows, tail, store, y));
}

/// Computes some rows with their tail nonzeros: `y[k]` belongs to row `rows.start + k`. Used by a block in
/// one step of an iteration. [`tail_of`] finds the tail nonzeros.
///
/// x has n elements, y has one per row of `rows`; panics otherwise, or when the slots are column-major or a
/// tail nonzero lies in another row.
pub fn some_rows<T: Scalar>(
    a: &Hyb<T>,
    rows: Range<usize>,
    tail: Range<usize>,
    x: &[T],
    y: &mut [T],
) {
    let checked = Checked::<Hyb<T>, T>::some_rows(a, &rows, x, y);
    assert_eq!(a.ell().shape().order, Order::RowMajor, "this kernel reads row-major slots");
    rows_into(checked, rows, tail, Unscaled, y);
}

/// Returns the tail nonzeros of some rows.
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
    store: impl Store<T>,
    y: &mut [T],
) {
    ellpack::rows_into(a.ell(), rows.clone(), store, y);
    let t = a.a().tail();
    let tail = (&t.row()[tail.clone()], &t.col()[tail.clone()], &t.val()[tail]);
    coo::add(tail, rows.start, store, a.x(), y);
}
