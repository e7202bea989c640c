//! y = A·x in BSR; zeros inside blocks are multiplied.

use std::ops::Range;

use super::partition::RowParts;
use super::simd::{Decode, Level, Loop, Vectorised, run};
use super::{Scaling, Store, check_sizes, each_own_part};
use sparsescope_matrix::matrix::{Bsr, prefetch_lines};

/// Prefetch distance for blocks, in values.
const AHEAD: usize = 256;

/// Equal contiguous parts of the block rows, one per worker. b sums are accumulated at a time, each a vector
/// of the level to which a line of a block times its part of x is added; a 2 × 2 block that fits in one vector
/// is added to a single sum. The result is bitwise identical for any number of workers.
///
/// x has n elements, y has m, and `parts` start at block rows; panics otherwise.
pub fn parts<T: Vectorised>(
    a: &Bsr<T>,
    level: Level,
    parts: &RowParts,
    store: Option<Scaling<T>>,
    x: &[T],
    y: &mut [T],
) {
    check_sizes(a.rows(), a.cols(), x, y);
    let level = self::level(a, level);
    each_own_part(parts.split(y), |(rows, y)| match a.block() {
        2 => run(level, Part::<2, 4, T, _> { a, x, rows, store, y }),
        3 => run(level, Part::<3, 2, T, _> { a, x, rows, store, y }),
        4 => run(level, Part::<4, 1, T, _> { a, x, rows, store, y }),
        5 => run(level, Part::<5, 1, T, _> { a, x, rows, store, y }),
        6 => run(level, Part::<6, 1, T, _> { a, x, rows, store, y }),
        7 => run(level, Part::<7, 1, T, _> { a, x, rows, store, y }),
        _ => run(level, Part::<8, 1, T, _> { a, x, rows, store, y }),
    });
}

/// The level used to compute y = A·x: `level`, or the next one below if the lines of blocks would leave half
/// of each vector empty.
pub fn level<T: Vectorised>(a: &Bsr<T>, level: Level) -> Level {
    level.of_at_most::<T>(2 * a.block() - 1)
}

/// The work of one worker: `y[k]` = row `rows.start + k` · x, with blocks of B × B. Small blocks have few sums,
/// so that each addition would wait for the one before; N sets of sums take the blocks in turn.
struct Part<'a, const B: usize, const N: usize, T, S> {
    a: &'a Bsr<T>,
    x: &'a [T],
    rows: Range<usize>,
    store: S,
    y: &'a mut [T],
}

impl<const B: usize, const N: usize, T, S> Loop<T> for Part<'_, B, N, T, S>
where
    T: Vectorised,
    S: Store<T>,
{
    type Output = ();

    #[inline(always)]
    unsafe fn run<L: Decode<Value = T>>(self) {
        let Self { a, x, rows, store, y } = self;
        assert!(a.block() == B && rows.start.is_multiple_of(B), "parts begin at rows of blocks");
        // The last block row may extend past the last row.
        let (whole, cut) = y.as_chunks_mut::<B>();
        let mut last = [[T::ZERO; B]];
        last[0][..cut.len()].copy_from_slice(cut);
        let last_rows = &mut last[..cut.len().min(1)];
        for (y, h) in whole.iter_mut().chain(last_rows).zip(rows.start / B..) {
            let range = a.row_ptr().range(h);
            let col = &a.col()[range.clone()];
            let mut block = a.val()[range.start * B * B..range.end * B * B].as_ptr();
            // Columns ascend, so that only the last block of a row can extend past the last column.
            let (inside, past) = match col.split_last() {
                Some((&last, others)) if (last as usize + 1) * B > x.len() => (others, Some(last)),
                _ => (col, None),
            };
            // SAFETY: there are B² values per column, and x has B elements from those of each block inside on.
            // The CPU supports the instructions, as the caller guarantees.
            let sums = unsafe {
                let mut sums = [[L::zero(); B]; N];
                let (turns, rest) = inside.as_chunks::<N>();
                for col in turns {
                    prefetch_lines(block.wrapping_add(AHEAD), N * B * B);
                    for (sums, &col) in sums.iter_mut().zip(col) {
                        add_block::<L, B>(block, x.as_ptr().add(col as usize * B), sums);
                        block = block.add(B * B);
                    }
                }
                for (sums, &col) in sums.iter_mut().zip(rest) {
                    add_block::<L, B>(block, x.as_ptr().add(col as usize * B), sums);
                    block = block.add(B * B);
                }
                if let Some(col) = past {
                    let (x, mut some) = (&x[col as usize * B..], [T::ZERO; B]);
                    some[..x.len()].copy_from_slice(x);
                    add_block::<L, B>(block, some.as_ptr(), &mut sums[0]);
                }
                totals::<L, B, N>(&sums)
            };
            store.put_all(y, &sums);
        }
        cut.copy_from_slice(&last[0][..cut.len()]);
    }
}

/// Whether a block is one vector: 2 × 2 in four lanes or more.
#[inline(always)]
const fn is_vector<L: Decode, const B: usize>() -> bool {
    B == 2 && L::LANES >= 4
}

/// Adds a block times x, element by element: each line to its sum, or the whole block to the first one.
///
/// # Safety
/// The block has B² values, x has B elements, and the CPU supports the instructions.
#[inline(always)]
unsafe fn add_block<L: Decode, const B: usize>(
    block: *const L::Value,
    x: *const L::Value,
    sums: &mut [L::Vector; B],
) {
    // SAFETY: lines and x have B elements, of which n come after `first`.
    unsafe {
        if is_vector::<L, B>() {
            let x = L::build(|k| *x.add(k % B));
            sums[0] = L::mul_add(some::<L>(block, B * B), x, sums[0]);
            return;
        }
        for first in (0..B).step_by(L::LANES) {
            let n = L::LANES.min(B - first);
            let x = some::<L>(x.add(first), n);
            for (r, sum) in sums.iter_mut().enumerate() {
                *sum = L::mul_add(some::<L>(block.add(r * B + first), n), x, *sum);
            }
        }
    }
}

/// The sum of each line over all sets of sums.
///
/// # Safety
/// The CPU supports the instructions.
#[inline(always)]
unsafe fn totals<L: Decode, const B: usize, const N: usize>(
    sums: &[[L::Vector; B]; N],
) -> [L::Value; B] {
    // SAFETY: guaranteed by the caller.
    unsafe {
        let total = |r: usize| sums[1..].iter().fold(sums[0][r], |sum, more| L::add(sum, more[r]));
        std::array::from_fn(|r| match is_vector::<L, B>() {
            true => L::sum(L::add_in(L::zero(), total(0), 0b11 << (2 * r))),
            false => L::sum(total(r)),
        })
    }
}

/// `from[0..n]`, 0 in the other lanes.
///
/// # Safety
/// As [`Lanes::load_first`](super::simd::Lanes::load_first).
#[inline(always)]
unsafe fn some<L: Decode>(from: *const L::Value, n: usize) -> L::Vector {
    // SAFETY: guaranteed by the caller.
    unsafe { if n == L::LANES { L::load(from) } else { L::load_first(from, n) } }
}
