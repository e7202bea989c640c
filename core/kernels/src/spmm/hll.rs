//! Y = A·X in row-major HLL.

use std::ops::Range;

use super::check_sizes;
use super::tiles::{Block, Slots, Source, level_for, multiply};
use crate::spmv::simd::{Lanes, Level, Loop, Vectorised, run};
use crate::spmv::{Rows, SlotParts, each_own_part};
use sparsescope_matrix::matrix::{Hll, Order, Scalar};

/// Hacks with about equal slots per worker, then the separately stored rows, each row in vectors whose lanes are
/// columns of X. Padding is never multiplied. The result is bitwise identical for any number of workers.
///
/// k is at least 1, X has n·k elements, Y has m·k; panics otherwise, or if the slots are column-major.
pub fn hll<T: Vectorised>(
    a: &Hll<T>,
    level: Level,
    parts: &SlotParts,
    k: usize,
    x: &[T],
    y: &mut [T],
) {
    check_sizes((a.rows(), a.cols()), k, x, y);
    assert_eq!(a.shape().order(), Order::RowMajor, "this kernel reads row-major slots");
    let (level, y) = (level_for::<T>(level, k), Rows::all(y));
    each_own_part(parts.iter().collect(), |(hacks, apart)| {
        run(level, Part { a, k, x, hacks, apart, y });
    });
}

/// The work of one worker.
struct Part<'a, T> {
    a: &'a Hll<T>,
    k: usize,
    x: &'a [T],
    hacks: Range<usize>,
    /// Separately stored rows.
    apart: Range<usize>,
    /// The elements of Y.
    y: Rows<T>,
}

impl<T: Vectorised> Loop<T> for Part<'_, T> {
    type Output = ();

    #[inline(always)]
    unsafe fn run<L: Lanes<Value = T>>(self) {
        let Self { a, k, hacks, apart, y, .. } = self;
        let x = Block::new::<L>(self.x, k);
        // SAFETY: each position has a row of its own, which nobody else accesses. Hll holds only columns below cols, in
        // the separate rows, too, and X has k elements for each column. The caller guarantees the instructions.
        unsafe {
            for hack in hacks {
                multiply::<L, _>(&Hack { a, hack, k, y }, x);
            }
            multiply::<L, _>(&Apart { a, rows: apart, k, y }, x);
        }
    }
}

/// The rows of a hack, by position.
struct Hack<'a, T> {
    a: &'a Hll<T>,
    hack: usize,
    k: usize,
    y: Rows<T>,
}

impl<T: Scalar> Source<T> for Hack<'_, T> {
    #[inline(always)]
    fn rows(&self) -> Range<usize> {
        self.a.shape().hack_rows(self.hack)
    }

    #[inline(always)]
    fn slots(&self, position: usize) -> Slots<'_, T> {
        let (a, shape) = (self.a, self.a.shape());
        let before =
            (position - self.hack * shape.hack_size()) * shape.max_nzr()[self.hack] as usize;
        let first = shape.offsets()[self.hack] as usize + before;
        let slots = first..first + a.row_len()[position] as usize;
        let (col, val) = (&a.col()[slots.clone()], &a.val()[slots]);
        // SAFETY: the row is below the number of rows, so that Y has k elements from its first on.
        let y = unsafe { self.y.at(a.row_order().row_at(position) * self.k) };
        Slots { col, val, rows: 1, y }
    }
}

/// Separately stored rows.
struct Apart<'a, T> {
    a: &'a Hll<T>,
    rows: Range<usize>,
    k: usize,
    y: Rows<T>,
}

impl<T: Scalar> Source<T> for Apart<'_, T> {
    #[inline(always)]
    fn rows(&self) -> Range<usize> {
        self.rows.clone()
    }

    #[inline(always)]
    fn slots(&self, kept: usize) -> Slots<'_, T> {
        let (col, val) = self.a.tail().row(kept);
        let order = self.a.row_order();
        // SAFETY: as above.
        let y = unsafe { self.y.at(order.row_at(order.in_blocks() + kept) * self.k) };
        Slots { col, val, rows: 1, y }
    }
}
