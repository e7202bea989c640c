//! Σ val[k]·x[col[k]] over the slots of a row: in order, or in lanes.

/// The sum in order, as a plain loop gives it.
///
/// # Safety
/// Every column is below `x.len()`.
#[inline(always)]
pub(super) unsafe fn in_order(col: &[u32], val: &[f64], x: &[f64]) -> f64 {
    let mut sum = 0.0;
    for (&c, &v) in col.iter().zip(val) {
        // SAFETY: the caller's promise.
        sum += v * unsafe { *x.get_unchecked(c as usize) };
    }
    sum
}

/// Partial sums of [`in_lanes`].
const LANES: usize = 4;

/// The sum in four lanes, so that an addition need not wait for the one before it; asks for the
/// slots four ahead.
///
/// # Safety
/// Every column is below `x.len()`.
#[inline(always)]
pub(super) unsafe fn in_lanes(col: &[u32], val: &[f64], x: &[f64]) -> f64 {
    let mut sums = [0.0; LANES];
    let (col_groups, col_rest) = col.as_chunks::<LANES>();
    let (val_groups, val_rest) = val.as_chunks::<LANES>();
    for (col, val) in col_groups.iter().zip(val_groups) {
        prefetch(col.as_ptr().wrapping_add(LANES));
        prefetch(val.as_ptr().wrapping_add(LANES));
        for lane in 0..LANES {
            // SAFETY: the caller's promise.
            sums[lane] += val[lane] * unsafe { *x.get_unchecked(col[lane] as usize) };
        }
    }
    // SAFETY: the caller's promise.
    let rest = unsafe { in_order(col_rest, val_rest, x) };
    (sums[0] + sums[1]) + (sums[2] + sums[3]) + rest
}

/// Asks for the cache line of `address`, where the architecture can.
#[inline(always)]
fn prefetch<T>(address: *const T) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: a prefetch of any address, valid or not, only hints at the cache.
    unsafe {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        _mm_prefetch::<_MM_HINT_T0>(address.cast());
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = address;
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
            let sums = unsafe { [in_order(&col, &val, &x), in_lanes(&col, &val, &x)] };
            assert_eq!(sums, [expected; 2], "{len} entries");
        }
    }
}
