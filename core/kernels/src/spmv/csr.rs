//! y = A·x in CSR.

use std::ops::Range;

use super::partition::{MergePath, MergePoint, RowParts};
use super::{Checked, Store, each_own_part};
use sparsescope_matrix::matrix::{Csr, Offset, Scalar};
use sparsescope_matrix::with_offsets;

/// One loop over the rows: the reference for every check.
///
/// x has n elements, y has m; panics otherwise.
pub fn serial<T: Scalar>(a: &Csr<T>, store: impl Store<T>, x: &[T], y: &mut [T]) {
    let checked = Checked::<Csr<T>, T>::new(a, x, y);
    with_offsets!(a.row_ptr(), |row_ptr| rows_into(checked, row_ptr, 0..a.rows(), store, y));
}

/// Contiguous parts, one per worker: of equal rows for `cpu/csr/rows`, of about equal nonzeros for
/// `cpu/csr/nnz`.
///
/// x has n elements, y has m; panics otherwise.
pub fn parts<T: Scalar>(a: &Csr<T>, parts: &RowParts, store: impl Store<T>, x: &[T], y: &mut [T]) {
    let checked = Checked::<Csr<T>, T>::new(a, x, y);
    with_offsets!(a.row_ptr(), |row_ptr| {
        each_own_part(parts.split(y), |(rows, y)| rows_into(checked, row_ptr, rows, store, y));
    });
}

/// Equal pieces of the merge path, one per worker. A row shared by several pieces is finished by the last of
/// them; the others return their partial sums, which are added in order, so that the result does not depend
/// on timing.
///
/// x has n elements, y has m; panics otherwise.
pub fn merge<T: Scalar>(a: &Csr<T>, path: &MergePath, store: impl Store<T>, x: &[T], y: &mut [T]) {
    let checked = Checked::<Csr<T>, T>::new(a, x, y);
    let mut rest = &mut *y;
    let pieces: Vec<_> = path
        .iter()
        .map(|(from, to)| {
            let (part, tail) = std::mem::take(&mut rest).split_at_mut(to.row - from.row);
            rest = tail;
            (from, to, part)
        })
        .collect();
    let carries: Vec<(usize, T)> = with_offsets!(a.row_ptr(), |row_ptr| {
        each_own_part(pieces, |(from, to, y)| {
            (to.row, merge_piece(checked, row_ptr, (from, to), store, y))
        })
    });
    for (row, carry) in carries {
        if row < y.len() {
            y[row] += store.term(carry);
        }
    }
}

/// Finishes the rows of one piece and returns the partial sum of the row it stops in.
fn merge_piece<O: Offset, T: Scalar>(
    a: Checked<'_, Csr<T>, T>,
    row_ptr: &[O],
    (from, to): (MergePoint, MergePoint),
    store: impl Store<T>,
    y: &mut [T],
) -> T {
    let mut start = from.entry;
    for (end, y) in row_ptr[from.row + 1..=to.row].iter().zip(y) {
        store.put(y, a.entries(start..end.index()).in_order());
        start = end.index();
    }
    a.entries(start..to.entry).in_order()
}

/// Computes some rows: `y[k]` = row `rows.start + k` · x, each row's sum in four lanes. Used by a block in
/// one step of an iteration.
///
/// x has n elements, y has one per row of `rows`; panics otherwise.
pub fn some_rows<T: Scalar>(a: &Csr<T>, rows: Range<usize>, x: &[T], y: &mut [T]) {
    let checked = Checked::<Csr<T>, T>::some_rows(a, &rows, x, y);
    with_offsets!(a.row_ptr(), |row_ptr| {
        let mut start = row_ptr[rows.start].index();
        for (end, y) in row_ptr[rows.start + 1..=rows.end].iter().zip(y) {
            *y = checked.entries(start..end.index()).in_lanes();
            start = end.index();
        }
    });
}

/// Stores row `rows.start + k` · x in y[k].
#[inline]
fn rows_into<O: Offset, T: Scalar>(
    a: Checked<'_, Csr<T>, T>,
    row_ptr: &[O],
    rows: Range<usize>,
    store: impl Store<T>,
    y: &mut [T],
) {
    let mut start = row_ptr[rows.start].index();
    for (end, y) in row_ptr[rows.start + 1..=rows.end].iter().zip(y) {
        store.put(y, a.entries(start..end.index()).in_order());
        start = end.index();
    }
}
