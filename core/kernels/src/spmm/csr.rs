//! Y = A·X in CSR.

use std::ops::Range;

use super::tiles::{Block, MOST_ROWS, Slots, Source, level_for, multiply};
use super::{ROWS, check_sizes};
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
/// the level whose lanes are columns of X, so that a nonzero is read once for up to eight vectors, and an element of X
/// once for adjacent rows with the same columns. The result is bitwise identical for any number of workers.
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

/// Rows with fewer nonzeros are not compared.
const SHORT: usize = 8;

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
        let Self { a, k, x, rows: part, y } = self;
        let (x, y) = (Block::new::<L>(x, k), y.as_mut_ptr());
        for start in part.clone().step_by(ROWS) {
            let block = Rows {
                a,
                start,
                end: part.end.min(start + ROWS),
                k,
                y: y.wrapping_add((start - part.start) * k),
            };
            // SAFETY: Csr holds only columns below cols, X has k elements for each column, and Y for each row of the
            // part. The CPU supports the instructions, as the caller guarantees.
            unsafe {
                if block.repeats() {
                    multiply::<L, _>(&Repeated(block), x)
                } else {
                    multiply::<L, _>(&block, x)
                }
            }
        }
    }
}

/// Some rows of a matrix, and of Y.
struct Rows<'a, T> {
    a: &'a Csr<T>,
    start: usize,
    end: usize,
    k: usize,
    y: *mut T,
}

impl<T: Scalar> Rows<'_, T> {
    /// Whether row i, which is not the first one, has the columns of the row before.
    #[inline(always)]
    fn repeats_at(&self, i: usize) -> bool {
        self.a.row(i).0 == self.a.row(i - 1).0
    }

    /// Whether one of the first rows of some length has the columns of the row before.
    #[inline(always)]
    fn repeats(&self) -> bool {
        let long = |i: usize| self.a.row_len(i) >= SHORT;
        (self.start + 1..self.end).take(MOST_ROWS).any(|i| long(i) && self.repeats_at(i))
    }
}

impl<T: Scalar> Source<T> for Rows<'_, T> {
    #[inline(always)]
    fn rows(&self) -> Range<usize> {
        self.start..self.end
    }

    #[inline(always)]
    fn slots(&self, i: usize) -> Slots<'_, T> {
        let (col, val) = self.a.row(i);
        Slots { col, val, rows: 1, y: self.y.wrapping_add((i - self.start) * self.k) }
    }
}

/// The same in groups with the same columns.
struct Repeated<'a, T>(Rows<'a, T>);

impl<T: Scalar> Source<T> for Repeated<'_, T> {
    #[inline(always)]
    fn rows(&self) -> Range<usize> {
        self.0.rows()
    }

    #[inline(always)]
    fn slots(&self, i: usize) -> Slots<'_, T> {
        let Rows { a, end, .. } = self.0;
        let mut rows = 1;
        while rows < MOST_ROWS && i + rows < end && self.0.repeats_at(i + rows) {
            rows += 1;
        }
        let first = self.0.slots(i);
        let val = &a.val()[a.row_range(i).start..][..rows * first.col.len()];
        Slots { val, rows, ..first }
    }
}
