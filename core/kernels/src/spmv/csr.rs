//! y = A·x in CSR.

use std::ops::Range;

use super::partition::{MergePath, MergePoint, RowParts};
use super::{Checked, Scaling, each_own_part};
use sparsescope_matrix::matrix::{Csr, Offset, Scalar};
use sparsescope_matrix::with_offsets;

/// One loop over the rows: the reference for every check.
///
/// x has n elements, y has m; panics otherwise.
pub fn serial<T: Scalar>(a: &Csr<T>, x: &[T], y: &mut [T]) {
    let checked = Checked::<Csr<T>, T>::new(a, x, y);
    with_offsets!(a.row_ptr(), |row_ptr| rows_into(checked, row_ptr, 0..a.rows(), y, store));
}

/// The same loop for y = alpha·A·x + beta·y, in one pass.
///
/// x has n elements, y has m; panics otherwise.
pub fn serial_scaled<T: Scalar>(a: &Csr<T>, scaling: Scaling<T>, x: &[T], y: &mut [T]) {
    let checked = Checked::<Csr<T>, T>::new(a, x, y);
    let put = |y: &mut T, sum| scaling.put(y, sum);
    with_offsets!(a.row_ptr(), |row_ptr| rows_into(checked, row_ptr, 0..a.rows(), y, put));
}

/// Contiguous parts, one per worker: of equal rows for `cpu/csr/rows`, of about equal nonzeros for
/// `cpu/csr/nnz`.
///
/// x has n elements, y has m; panics otherwise.
pub fn parts<T: Scalar>(a: &Csr<T>, parts: &RowParts, x: &[T], y: &mut [T]) {
    let checked = Checked::<Csr<T>, T>::new(a, x, y);
    with_offsets!(a.row_ptr(), |row_ptr| {
        each_own_part(parts.split(y), |(rows, y)| rows_into(checked, row_ptr, rows, y, store));
    });
}

/// The same for y = alpha·A·x + beta·y, in one pass.
///
/// x has n elements, y has m; panics otherwise.
pub fn parts_scaled<T: Scalar>(
    a: &Csr<T>,
    parts: &RowParts,
    scaling: Scaling<T>,
    x: &[T],
    y: &mut [T],
) {
    let checked = Checked::<Csr<T>, T>::new(a, x, y);
    let put = |y: &mut T, sum| scaling.put(y, sum);
    with_offsets!(a.row_ptr(), |row_ptr| {
        each_own_part(parts.split(y), |(rows, y)| rows_into(checked, row_ptr, rows, y, put));
    });
}

/// Equal pieces of the merge path, one per worker. A row shared by several pieces is finished by the last of
/// them; the others return their partial sums, which are added in order, so that the result does not depend
/// on timing.
///
/// x has n elements, y has m; panics otherwise.
pub fn merge<T: Scalar>(a: &Csr<T>, path: &MergePath, x: &[T], y: &mut [T]) {
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
        each_own_part(pieces, |(from, to, y)| (to.row, merge_piece(checked, row_ptr, from, to, y)))
    });
    for (row, carry) in carries {
        if row < y.len() {
            y[row] += carry;
        }
    }
}

/// Finishes the rows of one piece and returns the partial sum of the row it stops in.
fn merge_piece<O: Offset, T: Scalar>(
    a: Checked<'_, Csr<T>, T>,
    row_ptr: &[O],
    from: MergePoint,
    to: MergePoint,
    y: &mut [T],
) -> T {
    let mut start = from.entry;
    for (end, y) in row_ptr[from.row + 1..=to.row].iter().zip(y) {
        *y = a.entries(start..end.index()).in_order();
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

/// Puts row `rows.start + k` · x into y[k].
#[inline]
fn rows_into<O: Offset, T: Scalar>(
    a: Checked<'_, Csr<T>, T>,
    row_ptr: &[O],
    rows: Range<usize>,
    y: &mut [T],
    put: impl Fn(&mut T, T),
) {
    let mut start = row_ptr[rows.start].index();
    for (end, y) in row_ptr[rows.start + 1..=rows.end].iter().zip(y) {
        put(y, a.entries(start..end.index()).in_order());
        start = end.index();
    }
}

#[inline(always)]
fn store<T>(y: &mut T, sum: T) {
    *y = sum;
}

#[cfg(test)]
mod tests {
    use super::*;
    use sparsescope_matrix::matrix::examples;

    #[test]
    fn scaled_products_add_to_the_previous_y_and_without_beta_do_not_read_it() {
        let (a, x) = (examples::five_by_five(), [1.0, 2.0, 3.0, 4.0, 5.0]);
        // A·x is 11, 13, 8, 18, 34.
        for (alpha, beta, before, expected) in [
            (1.0, 0.0, [f64::NAN; 5], [11.0, 13.0, 8.0, 18.0, 34.0]),
            (-2.0, 0.0, [f64::NAN; 5], [-22.0, -26.0, -16.0, -36.0, -68.0]),
            (2.0, 0.5, [2.0, 4.0, 6.0, 8.0, 10.0], [23.0, 28.0, 19.0, 40.0, 73.0]),
            (0.0, 1.0, [1.0, 2.0, 3.0, 4.0, 5.0], [1.0, 2.0, 3.0, 4.0, 5.0]),
        ] {
            let scaling = Scaling { alpha, beta };
            let mut y = before;
            serial_scaled(&a, scaling, &x, &mut y);
            assert_eq!(y, expected);
            for workers in [1, 2, 8] {
                let mut y = before;
                parts_scaled(&a, &RowParts::equal_rows(5, workers), scaling, &x, &mut y);
                assert_eq!(y, expected, "{workers} workers");
            }
        }
    }
}
