//! Y = A·X in CSR.

use std::ops::Range;

use super::check_sizes;
use super::tiles::{Slots, level_for, row};
use crate::spmv::simd::{Lanes, Level, Loop, Vectorised, run};
use crate::spmv::{RowParts, each_own_part};
use sparsescope_matrix::matrix::{Csr, Scalar};

/// One loop over the rows: the reference. Each element of Y has the bits of the serial SpMV with its column of X.
///
/// k is at least 1, X has n·k elements, Y has m·k; panics otherwise.
pub fn serial<T: Scalar>(a: &Csr<T>, k: usize, x: &[T], y: &mut [T]) {
    check_sizes((a.rows(), a.cols()), k, x, y);
    rows_into(a, k, x, 0..a.rows(), y);
}

/// Contiguous parts, one per worker: of equal rows for `cpu/spmm/rows`, of about equal nonzeros for `cpu/spmm/nnz`.
///
/// k is at least 1, X has n·k elements, Y has m·k; panics otherwise.
pub fn parts<T: Scalar>(a: &Csr<T>, parts: &RowParts, k: usize, x: &[T], y: &mut [T]) {
    check_sizes((a.rows(), a.cols()), k, x, y);
    each_own_part(parts.split_wide(k, y), |(rows, y)| rows_into(a, k, x, rows, y));
}

/// Contiguous parts with about equal nonzeros, one per worker. The sums of a row are kept in registers, in vectors of
/// the level whose lanes are columns of X, so that a nonzero is read once for up to eight vectors. The result is
/// bitwise identical for any number of workers.
///
/// k is at least 1, X has n·k elements, Y has m·k; panics otherwise.
pub fn simd<T: Vectorised>(
    a: &Csr<T>,
    level: Level,
    parts: &RowParts,
    k: usize,
    x: &[T],
    y: &mut [T],
) {
    check_sizes((a.rows(), a.cols()), k, x, y);
    let level = level_for::<T>(level, k);
    each_own_part(parts.split_wide(k, y), |(rows, y)| run(level, Part { a, k, x, rows, y }));
}

/// Computes some rows, the elements of each in the order of its nonzeros.
fn rows_into<T: Scalar>(a: &Csr<T>, k: usize, x: &[T], rows: Range<usize>, y: &mut [T]) {
    for (y, i) in y.chunks_exact_mut(k).zip(rows) {
        let (col, val) = a.row(i);
        y.fill(T::ZERO);
        for (&c, &v) in col.iter().zip(val) {
            let x = &x[c as usize * k..][..k];
            for (y, &x) in y.iter_mut().zip(x) {
                *y += v * x;
            }
        }
    }
}

/// The work of one worker.
struct Part<'a, T> {
    a: &'a Csr<T>,
    k: usize,
    x: &'a [T],
    rows: Range<usize>,
    y: &'a mut [T],
}

impl<T: Vectorised> Loop<T> for Part<'_, T> {
    type Output = ();

    #[inline(always)]
    unsafe fn run<L: Lanes<Value = T>>(self) {
        let Self { a, k, x, rows, y } = self;
        for (y, i) in y.chunks_exact_mut(k).zip(rows) {
            let (col, val) = a.row(i);
            // SAFETY: Csr holds only columns below cols, and X has k elements for each column. The CPU supports the
            // instructions, as the caller guarantees.
            unsafe { row::<L>(Slots { col, val }, x.as_ptr(), y) };
        }
    }
}
