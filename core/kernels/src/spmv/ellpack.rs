//! y = A·x in row-major ELLPACK; padding is multiplied, as in the papers.

use std::ops::Range;

use super::partition::RowParts;
use super::{Checked, Store, each_own_part};
use sparsescope_matrix::matrix::{Ellpack, Order, Scalar};

/// One loop over the rows, with `width` steps each.
///
/// x has n elements, y has m; panics otherwise, or when the slots are column-major.
pub fn serial<T: Scalar>(a: &Ellpack<T>, store: impl Store<T>, x: &[T], y: &mut [T]) {
    rows_into(check(a, x, y), 0..a.shape().rows, store, y);
}

/// Equal contiguous parts of the rows, one per worker.
///
/// x has n elements, y has m; panics otherwise, or when the slots are column-major.
pub fn parts<T: Scalar>(
    a: &Ellpack<T>,
    parts: &RowParts,
    store: impl Store<T>,
    x: &[T],
    y: &mut [T],
) {
    let a = check(a, x, y);
    each_own_part(parts.split(y), |(rows, y)| rows_into(a, rows, store, y));
}

fn check<'a, T: Scalar>(a: &'a Ellpack<T>, x: &'a [T], y: &[T]) -> Checked<'a, Ellpack<T>, T> {
    let checked = Checked::<Ellpack<T>, T>::new(a, x, y);
    assert_eq!(a.shape().order, Order::RowMajor, "this kernel reads row-major slots");
    checked
}

/// Stores row `rows.start + k` · x in y[k].
pub(super) fn rows_into<T: Scalar>(
    a: Checked<'_, Ellpack<T>, T>,
    rows: Range<usize>,
    store: impl Store<T>,
    y: &mut [T],
) {
    if a.a().shape().width == 0 {
        return store.begin(y);
    }
    for (slots, y) in a.rows(rows).zip(y) {
        store.put(y, slots.in_order());
    }
}
