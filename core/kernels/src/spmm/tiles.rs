//! A row of Y in vectors whose lanes are columns of X.

use crate::spmv::simd::{Lanes, Level, Vectorised};

/// The level used for k columns: `level`, or the next one below if they would leave half of each vector empty.
pub fn level_for<T: Vectorised>(level: Level, k: usize) -> Level {
    level.of_at_most::<T>(2 * k - 1)
}

/// Slots of a row.
#[derive(Clone, Copy)]
pub(super) struct Slots<'a, T> {
    pub(super) col: &'a [u32],
    pub(super) val: &'a [T],
}

/// Writes Σ val\[e\]·X\[col\[e\]\] into a row of Y, whose length is k.
///
/// # Safety
/// X has k elements at k times each column, and the CPU supports the instructions.
#[inline(always)]
pub(super) unsafe fn row<L: Lanes>(
    slots: Slots<'_, L::Value>,
    x: *const L::Value,
    y: &mut [L::Value],
) {
    let k = y.len();
    let mut first = 0;
    // SAFETY: guaranteed by the caller; a tile lies within the k columns.
    unsafe {
        while first + 8 * L::LANES <= k {
            tile::<L, 8>(slots, x, y, first);
            first += 8 * L::LANES;
        }
        if first + 4 * L::LANES <= k {
            tile::<L, 4>(slots, x, y, first);
            first += 4 * L::LANES;
        }
        if first + 2 * L::LANES <= k {
            tile::<L, 2>(slots, x, y, first);
            first += 2 * L::LANES;
        }
        if first + L::LANES <= k {
            tile::<L, 1>(slots, x, y, first);
            first += L::LANES;
        }
        if first < k {
            rest::<L>(slots, x, y, first);
        }
    }
}

/// The sums of G vectors of columns, from `first` on.
///
/// # Safety
/// As for [`row`], and that many columns follow `first`.
#[inline(always)]
unsafe fn tile<L: Lanes, const G: usize>(
    slots: Slots<'_, L::Value>,
    x: *const L::Value,
    y: &mut [L::Value],
    first: usize,
) {
    // SAFETY: guaranteed by the caller.
    unsafe {
        let mut sums = [L::zero(); G];
        for (&c, &v) in slots.col.iter().zip(slots.val) {
            let from = x.add(c as usize * y.len() + first);
            let v = L::splat(v);
            for (g, sum) in sums.iter_mut().enumerate() {
                *sum = L::mul_add(v, L::load(from.add(g * L::LANES)), *sum);
            }
        }
        let to = y.as_mut_ptr().add(first);
        for (g, &sum) in sums.iter().enumerate() {
            L::store(to.add(g * L::LANES), sum);
        }
    }
}

/// The sums of the columns from `first` on, which do not fill a vector.
///
/// # Safety
/// As for [`row`], and at least one column follows `first`, but fewer than a vector has lanes.
#[inline(always)]
unsafe fn rest<L: Lanes>(
    slots: Slots<'_, L::Value>,
    x: *const L::Value,
    y: &mut [L::Value],
    first: usize,
) {
    let n = y.len() - first;
    // SAFETY: guaranteed by the caller.
    unsafe {
        let mut sum = L::zero();
        for (&c, &v) in slots.col.iter().zip(slots.val) {
            let from = x.add(c as usize * y.len() + first);
            sum = L::mul_add(L::splat(v), L::load_first(from, n), sum);
        }
        L::store_first(y.as_mut_ptr().add(first), sum, n);
    }
}
