//! y = A·x in COO.

use super::check_sizes;
use crate::matrix::Coo;

/// One loop over the entries that adds each product to its row.
///
/// x has n elements, y has m; panics otherwise.
pub fn serial(a: &Coo, x: &[f64], y: &mut [f64]) {
    check_sizes(a.rows(), a.cols(), x, y);
    y.fill(0.0);
    add(a.row(), a.col(), a.val(), 0, x, y);
}

/// y[row[k] − first] += val[k]·x[col[k]] for each of the coordinates given.
pub(super) fn add(row: &[u32], col: &[u32], val: &[f64], first: usize, x: &[f64], y: &mut [f64]) {
    for ((&r, &c), &v) in row.iter().zip(col).zip(val) {
        y[r as usize - first] += v * x[c as usize];
    }
}
