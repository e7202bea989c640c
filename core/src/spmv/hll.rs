//! y = A·x in row-major HLL; padding is multiplied, as in the paper.

use std::ops::Range;
use std::sync::Mutex;

use super::check_sizes;
use super::partition::GuidedChunks;
use crate::matrix::{Hll, Order};

/// Hack, row, entry.
///
/// x has n elements, y has m; panics otherwise, or when the slots are column-major.
pub fn serial(a: &Hll, x: &[f64], y: &mut [f64]) {
    check(a, x, y);
    hacks_into(a, 0..a.shape().hacks(), y, |col, val| {
        // SAFETY: Hll holds only columns below cols, padding included; check found x that long.
        unsafe { dot(col, val, x) }
    });
}

/// Chunks of hacks that shrink towards the end, each taken by the next free worker; the sum over
/// a row runs in four lanes and prefetches four slots ahead (Tor Vergata paper, section on HLL
/// with OpenMP).
///
/// x has n elements, y has m; panics otherwise, or when the slots are column-major.
pub fn guided(a: &Hll, chunks: &GuidedChunks, x: &[f64], y: &mut [f64]) {
    check(a, x, y);
    let parts = chunks.rows().split(y);
    let queue = Mutex::new(chunks.hacks().iter().cloned().zip(parts));
    rayon::broadcast(|_| {
        loop {
            // A statement of its own, so that the lock is free while the chunk is worked on.
            let next = queue.lock().ok().and_then(|mut queue| queue.next());
            let Some((hacks, (_, y))) = next else { break };
            hacks_into(a, hacks, y, |col, val| {
                // SAFETY: as in `serial`.
                unsafe { dot_lanes(col, val, x) }
            });
        }
    });
}

fn check(a: &Hll, x: &[f64], y: &[f64]) {
    check_sizes(a.shape().rows(), a.cols(), x, y);
    assert_eq!(a.shape().order(), Order::RowMajor, "this kernel reads row-major slots");
}

/// y = `dot` of the slots of each row of `hacks`, padding included.
fn hacks_into(a: &Hll, hacks: Range<usize>, y: &mut [f64], dot: impl Fn(&[u32], &[f64]) -> f64) {
    let shape = a.shape();
    let mut y = y.iter_mut();
    for h in hacks {
        let width = shape.max_nzr()[h] as usize;
        let mut slot = shape.offsets()[h] as usize;
        for y in y.by_ref().take(shape.hack_rows(h).len()) {
            let slots = slot..slot + width;
            *y = dot(&a.col()[slots.clone()], &a.val()[slots]);
            slot += width;
        }
    }
}

/// Σ val[k]·x[col[k]], in order.
///
/// # Safety
/// Every column is below `x.len()`.
#[inline(always)]
unsafe fn dot(col: &[u32], val: &[f64], x: &[f64]) -> f64 {
    let mut sum = 0.0;
    for (&c, &v) in col.iter().zip(val) {
        // SAFETY: the caller's promise.
        sum += v * unsafe { *x.get_unchecked(c as usize) };
    }
    sum
}

/// The same in four partial sums, prefetching the slots four ahead.
///
/// # Safety
/// Every column is below `x.len()`.
#[inline(always)]
unsafe fn dot_lanes(col: &[u32], val: &[f64], x: &[f64]) -> f64 {
    const LANES: usize = 4;
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
    let rest = unsafe { dot(col_rest, val_rest, x) };
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
