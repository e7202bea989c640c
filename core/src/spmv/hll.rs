//! y = A·x in row-major HLL; padding is multiplied, as in the paper. Rows may be sorted; those kept
//! apart come last, or first where workers share.

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
    let order = a.row_order();
    // SAFETY: Hll holds only columns below cols, padding included; check found x that long.
    let dot = |col: &[u32], val: &[f64]| unsafe { dot::in_order(col, val, x) };
    hacks(a, 0..a.shape().hacks(), dot, |position, sum| y[order.row_at(position)] = sum);
    for k in 0..a.tail().rows() {
        let (col, val) = a.tail().row(k);
        y[order.row_at(order.in_blocks() + k)] = dot(col, val);
    }
}

/// Chunks of hacks that shrink towards the end, each taken by the next free worker; the sum over
/// a row runs in four lanes and prefetches four slots ahead (Tor Vergata paper, section on HLL
/// with OpenMP). Rows kept apart are long and handed out before the hacks, one at a time.
///
/// x has n elements, y has m; panics otherwise, or when the slots are column-major.
pub fn guided(a: &Hll, chunks: &GuidedChunks, x: &[f64], y: &mut [f64]) {
    check(a, x, y);
    let order = a.row_order();
    let y = Rows { y: y.as_mut_ptr(), rows: y.len() };
    // SAFETY: as in `serial`.
    let dot = |col: &[u32], val: &[f64]| unsafe { dot::in_lanes(col, val, x) };
    let long_rows = (0..a.tail().rows()).map(Piece::Row);
    let queue = Mutex::new(long_rows.chain(chunks.hacks().iter().cloned().map(Piece::Hacks)));
    rayon::broadcast(|_| {
        loop {
            // A statement of its own, so that the lock is free while the piece is worked on.
            let next = queue.lock().ok().and_then(|mut queue| queue.next());
            // SAFETY: the queue hands out each position once, and no two have the same row, so
            // that no element of y is written twice; check found y as long as there are rows.
            let put = |position: usize, sum: f64| unsafe { y.put(order.row_at(position), sum) };
            match next {
                Some(Piece::Row(k)) => {
                    let (col, val) = a.tail().row(k);
                    put(order.in_blocks() + k, dot(col, val));
                }
                Some(Piece::Hacks(range)) => hacks(a, range, dot, put),
                None => break,
            }
        }
    });
}

/// What a worker takes at a time.
enum Piece {
    /// A row kept apart.
    Row(usize),
    /// Neighbouring hacks.
    Hacks(Range<usize>),
}

/// y, whose elements several workers write, each another one.
#[derive(Clone, Copy)]
struct Rows {
    y: *mut f64,
    rows: usize,
}

// SAFETY: the pointer stands for exclusive access to y, which `put`'s callers divide by rows.
unsafe impl Send for Rows {}
// SAFETY: as above.
unsafe impl Sync for Rows {}

impl Rows {
    /// # Safety
    /// y is alive, `row` is below its length, and nobody else touches that element meanwhile.
    unsafe fn put(self, row: usize, value: f64) {
        debug_assert!(row < self.rows);
        // SAFETY: the caller's promise.
        unsafe { self.y.add(row).write(value) };
    }
}

fn check(a: &Hll, x: &[f64], y: &[f64]) {
    check_sizes(a.rows(), a.cols(), x, y);
    assert_eq!(a.shape().order(), Order::RowMajor, "this kernel reads row-major slots");
}

/// `put`s the `dot` of the slots of each position of `hacks`, padding included.
fn hacks(
    a: &Hll,
    hacks: Range<usize>,
    dot: impl Fn(&[u32], &[f64]) -> f64,
    mut put: impl FnMut(usize, f64),
) {
    let shape = a.shape();
    for h in hacks {
        let width = shape.max_nzr()[h] as usize;
        let mut slot = shape.offsets()[h] as usize;
        for position in shape.hack_rows(h) {
            let slots = slot..slot + width;
            put(position, dot(&a.col()[slots.clone()], &a.val()[slots]));
            slot += width;
        }
    }
}
