//! y = A·x in row-major ELLPACK; padding is multiplied, as in the papers.

use std::ops::Range;

use super::partition::RowParts;
use super::{check_sizes, dot, each_part};
use crate::matrix::{Ellpack, Order};

/// One loop over the rows, `width` steps each.
///
/// x has n elements, y has m; panics otherwise, or when the slots are column-major.
pub fn serial(a: &Ellpack, x: &[f64], y: &mut [f64]) {
    check(a, x, y);
    rows_into(a, 0..a.shape().rows, x, y);
}

/// Equal contiguous parts of the rows, one a worker.
///
/// x has n elements, y has m; panics otherwise, or when the slots are column-major.
pub fn parts(a: &Ellpack, parts: &RowParts, x: &[f64], y: &mut [f64]) {
    check(a, x, y);
    each_part(parts.split(y), |(rows, y)| rows_into(a, rows, x, y));
}

fn check(a: &Ellpack, x: &[f64], y: &[f64]) {
    check_sizes(a.shape().rows, a.cols(), x, y);
    assert_eq!(a.shape().order, Order::RowMajor, "this kernel reads row-major slots");
}

/// y[k] = row `rows.start + k` · x.
pub(super) fn rows_into(a: &Ellpack, rows: Range<usize>, x: &[f64], y: &mut [f64]) {
    let width = a.shape().width;
    if width == 0 {
        return y.fill(0.0);
    }
    let slots = rows.start * width..rows.end * width;
    let col = a.col()[slots.clone()].chunks_exact(width);
    let val = a.val()[slots].chunks_exact(width);
    for ((col, val), y) in col.zip(val).zip(y) {
        // SAFETY: Ellpack holds only columns below cols, padding included, and check_sizes found
        // x that long.
        *y = unsafe { dot::in_order(col, val, x) };
    }
}
