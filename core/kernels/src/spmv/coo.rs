//! y = A·x in COO.

use super::{Store, check_sizes};
use sparsescope_matrix::matrix::{Coo, Scalar};

/// One loop over the nonzeros that adds each product to its row.
///
/// x has n elements, y has m; panics otherwise.
pub fn serial<T: Scalar>(a: &Coo<T>, store: impl Store<T>, x: &[T], y: &mut [T]) {
    check_sizes(a.rows(), a.cols(), x, y);
    store.begin(y);
    add((a.row(), a.col(), a.val()), 0, store, x, y);
}

/// y[row[k] − first] += val[k]·x[col[k]] for each of the given coordinates, times alpha if there is one.
pub(super) fn add<T: Scalar>(
    (row, col, val): (&[u32], &[u32], &[T]),
    first: usize,
    store: impl Store<T>,
    x: &[T],
    y: &mut [T],
) {
    for ((&r, &c), &v) in row.iter().zip(col).zip(val) {
        y[r as usize - first] += store.term(v * x[c as usize]);
    }
}
