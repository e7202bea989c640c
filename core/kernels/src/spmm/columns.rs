//! Y = A·X in CSR, where X and Y are stored by columns.

use std::array::from_fn;
use std::ops::Range;

use super::check_sizes;
use crate::spmv::{RowParts, Rows, each_own_part};
use sparsescope_matrix::matrix::{Csr, Scalar};

/// Rows that are computed for all columns before the next ones, so that their nonzeros stay in a cache.
const ROWS: usize = 64;

/// Contiguous parts with about equal nonzeros, one per worker. The sums of a row are kept in registers, so that a
/// nonzero is read once for four columns, and for two or one of the last columns. Each column of Y has the bits of the
/// serial SpMV with its column of X.
///
/// k is at least 1, X has n·k elements, Y has m·k, both stored by columns; panics otherwise.
pub fn columns<T: Scalar>(a: &Csr<T>, parts: &RowParts, k: usize, x: &[T], y: &mut [T]) {
    check_sizes((a.rows(), a.cols()), k, x, y);
    let y = Rows::all(y);
    each_own_part(parts.iter().collect(), |part| {
        for start in part.clone().step_by(ROWS) {
            let rows = start..part.end.min(start + ROWS);
            let mut first = 0;
            // SAFETY: the parts are disjoint, and the columns lie within the k ones of X and Y.
            unsafe {
                while first + 4 <= k {
                    some_columns::<T, 4>(a, x, y, rows.clone(), first);
                    first += 4;
                }
                if first + 2 <= k {
                    some_columns::<T, 2>(a, x, y, rows.clone(), first);
                    first += 2;
                }
                if first < k {
                    some_columns::<T, 1>(a, x, y, rows, first);
                }
            }
        }
    });
}

/// Computes W columns, from `first` on, of some rows, the elements of each in the order of its nonzeros.
///
/// # Safety
/// Y has m elements for each of these columns, and nobody else accesses them in these rows.
unsafe fn some_columns<T: Scalar, const W: usize>(
    a: &Csr<T>,
    x: &[T],
    y: Rows<T>,
    rows: Range<usize>,
    first: usize,
) {
    let (m, n) = (a.rows(), a.cols());
    let x: [&[T]; W] = from_fn(|j| &x[(first + j) * n..][..n]);
    for i in rows {
        let (col, val) = a.row(i);
        let mut sums = [T::ZERO; W];
        for (&c, &v) in col.iter().zip(val) {
            for (sum, x) in sums.iter_mut().zip(&x) {
                // SAFETY: Csr holds only columns below cols, and a column of X has as many elements.
                *sum += v * unsafe { *x.get_unchecked(c as usize) };
            }
        }
        for (j, sum) in sums.into_iter().enumerate() {
            // SAFETY: i is below the number of rows; the caller guarantees the rest.
            unsafe { *y.at((first + j) * m + i) = sum };
        }
    }
}
