//! Finds the nonzero blocks of a row of blocks, from left to right, for BSR.

use super::{Csr, Scalar};

/// Calls `begin(column)` for each `B` × `B` block of block row `h` that holds a nonzero, by ascending
/// block column, then `take(slot, value)` for each of its nonzeros, row by row. The rows are merged
/// like sorted lists.
#[cfg_attr(not(target_family = "wasm"), inline(always))]
fn walk<const B: usize, T: Scalar, S>(
    a: &Csr<T>,
    h: usize,
    state: &mut S,
    begin: impl Fn(&mut S, u32),
    take: impl Fn(&mut S, usize, T),
) {
    let mut left: [(&[u32], &[T]); B] = [(&[], &[]); B];
    for (row, i) in left.iter_mut().zip(h * B..a.rows()) {
        *row = a.row(i);
    }
    loop {
        let mut first = u32::MAX;
        let mut any = false;
        for (col, _) in &left {
            if let Some(&c) = col.first() {
                first = first.min(c);
                any = true;
            }
        }
        if !any {
            return;
        }
        let column = first / B as u32;
        let base = column * B as u32;
        begin(state, column);
        for (r, (col, val)) in left.iter_mut().enumerate() {
            while let (Some((&c, more)), Some((&v, more_val))) =
                (col.split_first(), val.split_first())
            {
                let within = (c - base) as usize;
                if within >= B {
                    break;
                }
                take(state, r * B + within, v);
                (*col, *val) = (more, more_val);
            }
        }
    }
}

/// The number of `B` × `B` blocks in block row `h` that hold a nonzero.
fn count<const B: usize, T: Scalar>(a: &Csr<T>, h: usize) -> usize {
    let mut blocks = 0;
    let row_ptr = a.row_ptr();
    if row_ptr.get(h * B) == row_ptr.get(a.rows().min((h + 1) * B)) {
        return 0;
    }
    walk::<B, T, _>(a, h, &mut blocks, |blocks, _| *blocks += 1, |_, _, _| {});
    blocks
}

/// Block columns, bits of the slots that hold a nonzero, and values of a block row.
pub(super) struct BlockRow<'a, T> {
    pub(super) col: &'a mut [u32],
    pub(super) stored: &'a mut [u64],
    pub(super) val: &'a mut [T],
}

/// Writes the blocks of block row `h` to `to`, which has exactly the length they need.
fn gather<const B: usize, T: Scalar>(a: &Csr<T>, h: usize, to: BlockRow<'_, T>) {
    let BlockRow { col, stored, val } = to;
    // Number of blocks begun so far; the last one is being written.
    let mut begun = (0usize, col, stored, val);
    walk::<B, T, _>(
        a,
        h,
        &mut begun,
        |(blocks, col, ..), column| {
            col[*blocks] = column;
            *blocks += 1;
        },
        |(blocks, _, stored, val), slot, value| {
            stored[*blocks - 1] |= 1 << slot;
            val[(*blocks - 1) * B * B + slot] = value;
        },
    );
}

/// Calls a function that is compiled for each block size; other sizes have no blocks.
macro_rules! for_edge {
    ($block:expr, $call:ident, $T:ty, ($($argument:expr),*), $other:expr) => {
        match $block {
            2 => $call::<2, $T>($($argument),*),
            3 => $call::<3, $T>($($argument),*),
            4 => $call::<4, $T>($($argument),*),
            5 => $call::<5, $T>($($argument),*),
            6 => $call::<6, $T>($($argument),*),
            7 => $call::<7, $T>($($argument),*),
            8 => $call::<8, $T>($($argument),*),
            _ => $other,
        }
    };
}

/// Number of blocks with nonzeros in block row `h`, for block sizes from 2 to 8.
pub(super) fn blocks_in_row<T: Scalar>(a: &Csr<T>, block: usize, h: usize) -> usize {
    for_edge!(block, count, T, (a, h), 0)
}

/// Writes the blocks of block row `h`, for block sizes from 2 to 8.
pub(super) fn gather_row<T: Scalar>(a: &Csr<T>, block: usize, h: usize, to: BlockRow<'_, T>) {
    for_edge!(block, gather, T, (a, h, to), ());
}
