//! y = A·x in BSR; zeros inside blocks are multiplied.

use std::ops::Range;

use super::partition::RowParts;
use super::simd::{Lanes, Level, Loop, Vectorised, run};
use super::{check_sizes, each_own_part};
use sparsescope_matrix::matrix::{Bsr, prefetch};

/// Prefetch distance for blocks, in values.
const AHEAD: usize = 256;

/// Equal contiguous parts of the block rows, one per worker. b sums are accumulated at a time, each a vector
/// of the level to which a line of a block times its part of x is added. The result is bitwise identical for
/// any number of workers.
///
/// x has n elements, y has m, and `parts` start at block rows; panics otherwise.
pub fn parts<T: Vectorised>(a: &Bsr<T>, level: Level, parts: &RowParts, x: &[T], y: &mut [T]) {
    check_sizes(a.rows(), a.cols(), x, y);
    let level = self::level(a, level);
    each_own_part(parts.split(y), |(rows, y)| match a.block() {
        2 => run(level, Part::<2, T> { a, x, rows, y }),
        3 => run(level, Part::<3, T> { a, x, rows, y }),
        4 => run(level, Part::<4, T> { a, x, rows, y }),
        5 => run(level, Part::<5, T> { a, x, rows, y }),
        6 => run(level, Part::<6, T> { a, x, rows, y }),
        7 => run(level, Part::<7, T> { a, x, rows, y }),
        _ => run(level, Part::<8, T> { a, x, rows, y }),
    });
}

/// The level used to compute y = A·x: `level`, or the next one below if the lines of blocks would leave half
/// of each vector empty.
pub fn level<T: Vectorised>(a: &Bsr<T>, level: Level) -> Level {
    level.of_at_most::<T>(2 * a.block() - 1)
}

/// The work of one worker: `y[k]` = row `rows.start + k` · x, with blocks of B × B.
struct Part<'a, const B: usize, T> {
    a: &'a Bsr<T>,
    x: &'a [T],
    rows: Range<usize>,
    y: &'a mut [T],
}

impl<const B: usize, T: Vectorised> Loop<T> for Part<'_, B, T> {
    type Output = ();

    #[inline(always)]
    unsafe fn run<L: Lanes<Value = T>>(self) {
        let Self { a, x, rows, y } = self;
        assert!(a.block() == B && rows.start.is_multiple_of(B), "parts begin at rows of blocks");
        let row_ptr = a.row_ptr();
        let (blocks, _) = a.val().as_chunks::<B>();
        for (y, h) in y.chunks_mut(B).zip(rows.start / B..) {
            // SAFETY: guaranteed by the caller.
            unsafe {
                let mut sums = [L::zero(); B];
                for k in row_ptr.range(h) {
                    let first = a.col()[k] as usize * B;
                    let block = &blocks[k * B..(k + 1) * B];
                    match x[first..].first_chunk::<B>() {
                        Some(x) => add_block::<L, B>(block, x, &mut sums),
                        // The rightmost blocks may extend past the last column.
                        None => {
                            let mut some = [T::ZERO; B];
                            some[..x.len() - first].copy_from_slice(&x[first..]);
                            add_block::<L, B>(block, &some, &mut sums);
                        }
                    }
                }
                for (y, &sum) in y.iter_mut().zip(&sums) {
                    *y = L::sum(sum);
                }
            }
        }
    }
}

/// Adds a line of a block times x to each sum, element by element.
///
/// # Safety
/// The CPU supports the instructions.
#[inline(always)]
unsafe fn add_block<L: Lanes, const B: usize>(
    block: &[[L::Value; B]],
    x: &[L::Value; B],
    sums: &mut [L::Vector; B],
) {
    let lines = block.as_ptr().cast::<L::Value>();
    for at in (0..B * B).step_by(64 / size_of::<L::Value>()) {
        prefetch(lines.wrapping_add(at + AHEAD));
    }
    for first in (0..B).step_by(L::LANES) {
        let n = L::LANES.min(B - first);
        // SAFETY: lines and x have B elements, of which n come after `first`.
        unsafe {
            let x = some::<L>(x.as_ptr().add(first), n);
            for (sum, line) in sums.iter_mut().zip(block) {
                *sum = L::mul_add(some::<L>(line.as_ptr().add(first), n), x, *sum);
            }
        }
    }
}

/// `from[0..n]`, 0 in the other lanes.
///
/// # Safety
/// As [`Lanes::load_first`].
#[inline(always)]
unsafe fn some<L: Lanes>(from: *const L::Value, n: usize) -> L::Vector {
    // SAFETY: guaranteed by the caller.
    unsafe { if n == L::LANES { L::load(from) } else { L::load_first(from, n) } }
}
