//! A matrix with an x of matching length, so that gathers need no bounds checks.

use std::ops::Range;

use super::dot::Slots;
use sparsescope_matrix::matrix::{Csr, Ellpack, Hll, Hyb, Scalar};

/// Panics unless x has n elements and y has m.
pub(super) fn check_sizes<T>(rows: usize, cols: usize, x: &[T], y: &[T]) {
    assert_eq!(x.len(), cols, "x has one element a column");
    assert_eq!(y.len(), rows, "y has one element a row");
}

/// A matrix with an x that has as many elements as the matrix has columns. Created only by the size checks.
#[derive(Debug)]
pub(super) struct Checked<'a, A, T> {
    a: &'a A,
    x: &'a [T],
}

impl<A, T> Clone for Checked<'_, A, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<A, T> Copy for Checked<'_, A, T> {}

impl<'a, A, T> Checked<'a, A, T> {
    /// The matrix.
    #[inline(always)]
    pub(super) fn a(self) -> &'a A {
        self.a
    }

    /// x, one element per column.
    #[inline(always)]
    pub(super) fn x(self) -> &'a [T] {
        self.x
    }
}

impl<'a, T: Scalar> Checked<'a, Csr<T>, T> {
    /// Panics unless x has one element per column and y one per row.
    pub(super) fn new(a: &'a Csr<T>, x: &'a [T], y: &[T]) -> Self {
        check_sizes(a.rows(), a.cols(), x, y);
        Self { a, x }
    }

    /// Panics unless x has one element per column and y one for each of these rows.
    pub(super) fn some_rows(a: &'a Csr<T>, rows: &Range<usize>, x: &'a [T], y: &[T]) -> Self {
        check_sizes(rows.len(), a.cols(), x, y);
        Self { a, x }
    }

    /// Returns a range of nonzeros.
    #[inline(always)]
    pub(super) fn entries(self, range: Range<usize>) -> Slots<'a, T> {
        let (col, val) = (&self.a.col()[range.clone()], &self.a.val()[range]);
        // SAFETY: Csr holds only columns below cols, and x has cols elements.
        unsafe { Slots::new(col, val, self.x) }
    }
}

impl<'a, T: Scalar> Checked<'a, Ellpack<T>, T> {
    /// Panics unless x has one element per column and y one per row.
    pub(super) fn new(a: &'a Ellpack<T>, x: &'a [T], y: &[T]) -> Self {
        check_sizes(a.shape().rows, a.cols(), x, y);
        Self { a, x }
    }

    /// Rows of a matrix with row-major slots and a width of at least 1.
    #[inline(always)]
    pub(super) fn rows(self, rows: Range<usize>) -> impl Iterator<Item = Slots<'a, T>> {
        let width = self.a.shape().width;
        let slots = rows.start * width..rows.end * width;
        let col = self.a.col()[slots.clone()].chunks_exact(width);
        let val = self.a.val()[slots].chunks_exact(width);
        // SAFETY: Ellpack holds only columns below cols, padding included, and x has cols elements.
        col.zip(val).map(move |(col, val)| unsafe { Slots::new(col, val, self.x) })
    }
}

impl<'a, T: Scalar> Checked<'a, Hyb<T>, T> {
    /// Panics unless x has one element per column and y one per row.
    pub(super) fn new(a: &'a Hyb<T>, x: &'a [T], y: &[T]) -> Self {
        check_sizes(a.ell().shape().rows, a.ell().cols(), x, y);
        Self { a, x }
    }

    /// Panics unless x has one element per column and y one for each of these rows.
    pub(super) fn some_rows(a: &'a Hyb<T>, rows: &Range<usize>, x: &'a [T], y: &[T]) -> Self {
        check_sizes(rows.len(), a.ell().cols(), x, y);
        Self { a, x }
    }

    /// Returns the ELLPACK part, which has all columns.
    #[inline(always)]
    pub(super) fn ell(self) -> Checked<'a, Ellpack<T>, T> {
        Checked { a: self.a.ell(), x: self.x }
    }
}

impl<'a, T: Scalar> Checked<'a, Hll<T>, T> {
    /// Panics unless x has one element per column and y one per row.
    pub(super) fn new(a: &'a Hll<T>, x: &'a [T], y: &[T]) -> Self {
        check_sizes(a.rows(), a.cols(), x, y);
        Self { a, x }
    }

    /// Panics unless x has one element per column and y one for each of these rows.
    pub(super) fn some_rows(a: &'a Hll<T>, rows: &Range<usize>, x: &'a [T], y: &[T]) -> Self {
        check_sizes(rows.len(), a.cols(), x, y);
        Self { a, x }
    }

    /// Returns a range of the slots of the hacks.
    #[inline(always)]
    pub(super) fn slots(self, range: Range<usize>) -> Slots<'a, T> {
        let (col, val) = (&self.a.col()[range.clone()], &self.a.val()[range]);
        // SAFETY: Hll holds only columns below cols, padding included, and x has cols elements.
        unsafe { Slots::new(col, val, self.x) }
    }

    /// Returns the k-th row that is stored separately.
    #[inline(always)]
    pub(super) fn tail(self, k: usize) -> Slots<'a, T> {
        let (col, val) = self.a.tail().row(k);
        // SAFETY: the separate rows have as many columns as the matrix, and x has cols elements.
        unsafe { Slots::new(col, val, self.x) }
    }
}
