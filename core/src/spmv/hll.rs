//! y = A·x in row-major HLL; padding is multiplied, as in the paper.

use std::ops::Range;
use std::sync::Mutex;

use super::partition::GuidedChunks;
use super::{check_sizes, dot};
use crate::matrix::{Hll, Order};

/// Hack, row, entry.
///
/// x has n elements, y has m; panics otherwise, or when the slots are column-major.
pub fn serial(a: &Hll, x: &[f64], y: &mut [f64]) {
    check(a, x, y);
    hacks_into(a, 0..a.shape().hacks(), y, |col, val| {
        // SAFETY: Hll holds only columns below cols, padding included; check found x that long.
        unsafe { dot::in_order(col, val, x) }
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
                unsafe { dot::in_lanes(col, val, x) }
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
