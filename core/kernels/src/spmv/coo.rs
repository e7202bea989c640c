//! y = A·x in COO.

use super::check_sizes;
use sparsescope_matrix::matrix::{Coo, Scalar};

/// One loop over the nonzeros that adds each product to its row.
///
/// x has n elements, y has m; panics otherwise.
pub fn serial<T: Scalar>(a: &Coo<T>, x: &[T], y: &mut [T]) {
    check_sizes(a.rows(), a.cols(), x, y);
    y.fill(T::ZERO);
    add(a.row(), a.col(), a.val(), 0, x, y);
}

/// y[row[k] − first] += val[k]·x[col[k]] for each of the given coordinates.
pub(super) fn add<T: Scalar>(
    row: &[u32],
    col: &[u32],
    val: &[T],
    first: usize,
    x: &[T],
    y: &mut [T],
) {
    for ((&r, &c), &v) in row.iter().zip(col).zip(val) {
        y[r as usize - first] += v * x[c as usize];
    }
}
