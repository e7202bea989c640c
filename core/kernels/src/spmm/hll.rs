//! Y = A·X in row-major HLL.

use std::ops::Range;

use super::check_sizes;
use super::tiles::{Slots, level_for, row};
use crate::spmv::simd::{Lanes, Level, Loop, Vectorised, run};
use crate::spmv::{Rows, SlotParts, each_own_part};
use sparsescope_matrix::matrix::{Hll, Order};

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
        let (shape, order) = (self.a.shape(), self.a.row_order());
        for hack in self.hacks.clone() {
            let width = shape.max_nzr()[hack] as usize;
            let mut slot = shape.offsets()[hack] as usize;
            for position in shape.hack_rows(hack) {
                let slots = slot..slot + self.a.row_len()[position] as usize;
                let slots = Slots { col: &self.a.col()[slots.clone()], val: &self.a.val()[slots] };
                // SAFETY: each position has a row of its own, and the caller guarantees the instructions.
                unsafe { self.put::<L>(order.row_at(position), slots) };
                slot += width;
            }
        }
        for kept in self.apart.clone() {
            let (col, val) = self.a.tail().row(kept);
            // SAFETY: as above.
            unsafe { self.put::<L>(order.row_at(order.in_blocks() + kept), Slots { col, val }) };
        }
    }
}

impl<T: Vectorised> Part<'_, T> {
    /// Computes row i from its slots.
    ///
    /// # Safety
    /// The slots are those of the matrix, nobody else accesses the row, and the CPU supports the instructions.
    #[inline(always)]
    unsafe fn put<L: Lanes<Value = T>>(&self, i: usize, slots: Slots<'_, T>) {
        // SAFETY: i is below the number of rows, so that Y has k elements from i·k on, which nobody else accesses. Hll
        // holds only columns below cols, in the separate rows, too, and X has k elements for each column.
        unsafe {
            let y = std::slice::from_raw_parts_mut(self.y.at(i * self.k), self.k);
            row::<L>(slots, self.x.as_ptr(), y);
        }
    }
}
