//! Σ val[k]·x[col[k]] over the slots of a row: in order, or in lanes.

use sparsescope_matrix::matrix::{Scalar, prefetch};

/// Slots with the x that they gather from: every column is within x.
#[derive(Clone, Copy, Debug)]
pub(super) struct Slots<'a, T> {
    col: &'a [u32],
    val: &'a [T],
    x: &'a [T],
}

/// Number of partial sums of [`Slots::in_lanes`].
const LANES: usize = 4;

impl<'a, T: Scalar> Slots<'a, T> {
    /// # Safety
    /// Every column is below `x.len()`.
    #[inline(always)]
    pub(super) unsafe fn new(col: &'a [u32], val: &'a [T], x: &'a [T]) -> Self {
        Self { col, val, x }
    }

    /// Returns the sum in order, as a plain loop computes it.
    #[inline(always)]
    pub(super) fn in_order(self) -> T {
        let mut sum = T::ZERO;
        for (&c, &v) in self.col.iter().zip(self.val) {
            // SAFETY: every column is within x.
            sum += v * unsafe { *self.x.get_unchecked(c as usize) };
        }
        sum
    }

    /// Returns the sum in four lanes, so that an addition need not wait for the previous one;
    /// prefetches the slots four ahead.
    #[inline(always)]
    pub(super) fn in_lanes(self) -> T {
        let mut sums = [T::ZERO; LANES];
        let (col_groups, col_rest) = self.col.as_chunks::<LANES>();
        let (val_groups, val_rest) = self.val.as_chunks::<LANES>();
        for (col, val) in col_groups.iter().zip(val_groups) {
            prefetch(col.as_ptr().wrapping_add(LANES));
            prefetch(val.as_ptr().wrapping_add(LANES));
            for lane in 0..LANES {
                // SAFETY: every column is within x.
                sums[lane] += val[lane] * unsafe { *self.x.get_unchecked(col[lane] as usize) };
            }
        }
        let rest = Self { col: col_rest, val: val_rest, x: self.x };
        (sums[0] + sums[1]) + (sums[2] + sums[3]) + rest.in_order()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lanes_add_the_same_terms_whatever_the_length() {
        let x: Vec<f64> = (1..=20).map(f64::from).collect();
        for len in 0..20usize {
            let col: Vec<u32> = (0..len as u32).rev().collect();
            let val: Vec<f64> = (0..len).map(|k| 1.0 + k as f64).collect();
            // Σ (k + 1)·(len − k) = len·(len + 1)·(len + 2) / 6, exact in binary.
            let expected = (len * (len + 1) * (len + 2) / 6) as f64;
            // SAFETY: columns are below 20.
            let slots = unsafe { Slots::new(&col, &val, &x) };
            assert_eq!([slots.in_order(), slots.in_lanes()], [expected; 2], "{len} entries");
        }
    }
}
