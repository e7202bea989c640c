//! y = A·x in row-major ELLPACK; padding is multiplied, as in the papers.

use std::ops::Range;

use super::partition::RowParts;
use super::{Checked, each_part};
use crate::matrix::{Ellpack, Order};

/// One loop over the rows, `width` steps each.
///
/// x has n elements, y has m; panics otherwise, or when the slots are column-major.
pub fn serial(a: &Ellpack, x: &[f64], y: &mut [f64]) {
    rows_into(check(a, x, y), 0..a.shape().rows, y);
}

/// Equal contiguous parts of the rows, one a worker.
///
/// x has n elements, y has m; panics otherwise, or when the slots are column-major.
pub fn parts(a: &Ellpack, parts: &RowParts, x: &[f64], y: &mut [f64]) {
    let a = check(a, x, y);
    each_part(parts.split(y), |(rows, y)| rows_into(a, rows, y));
}

fn check<'a>(a: &'a Ellpack, x: &'a [f64], y: &[f64]) -> Checked<'a, Ellpack> {
    let checked = Checked::<Ellpack>::new(a, x, y);
    assert_eq!(a.shape().order, Order::RowMajor, "this kernel reads row-major slots");
    checked
}

/// y[k] = row `rows.start + k` · x.
pub(super) fn rows_into(a: Checked<'_, Ellpack>, rows: Range<usize>, y: &mut [f64]) {
    if a.a().shape().width == 0 {
        return y.fill(0.0);
    }
    for (slots, y) in a.rows(rows).zip(y) {
        *y = slots.in_order();
    }
}
