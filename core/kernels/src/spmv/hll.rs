//! y = A·x in row-major HLL; padding is multiplied, as in the paper. Rows may be sorted; separately stored
//! rows come last, or first if workers share them.

use std::ops::Range;
use std::sync::Mutex;

use super::dot::Slots;
use super::partition::GuidedChunks;
use super::rows::Rows;
use super::{Checked, Store};
use sparsescope_matrix::matrix::{Hll, Order, Scalar};

/// Loops over hacks, rows and slots.
///
/// x has n elements, y has m; panics otherwise, or when the slots are column-major.
pub fn serial<T: Scalar>(a: &Hll<T>, store: impl Store<T>, x: &[T], y: &mut [T]) {
    let checked = check(a, x, y);
    let order = a.row_order();
    let mut put = |position, sum| store.put(&mut y[order.row_at(position)], sum);
    hacks(checked, 0..a.shape().hacks(), Slots::in_order, &mut put);
    for k in 0..a.tail().rows() {
        put(order.in_blocks() + k, checked.tail(k).in_order());
    }
}

/// Chunks of hacks that shrink towards the end, each taken by the next free worker. The sum over a row runs
/// in four lanes and prefetches four slots ahead (Tor Vergata paper, section on HLL with OpenMP). Separate
/// rows are long and handed out before the hacks, one at a time.
///
/// x has n elements, y has m; panics otherwise, or when the slots are column-major.
pub fn guided<T: Scalar>(
    a: &Hll<T>,
    chunks: &GuidedChunks,
    store: impl Store<T>,
    x: &[T],
    y: &mut [T],
) {
    let checked = check(a, x, y);
    let order = a.row_order();
    let y = Rows::of(a, store, y);
    let long_rows = (0..a.tail().rows()).map(Piece::Row);
    let queue = Mutex::new(long_rows.chain(chunks.hacks().iter().cloned().map(Piece::Hacks)));
    super::crew::each_worker(&|_| {
        loop {
            // A separate statement, so that the lock is released before the piece is processed.
            let next = queue.lock().ok().and_then(|mut queue| queue.next());
            // SAFETY: the queue hands out each position once, and no two have the same row, so that no
            // element of y is written twice; rows are below the number of rows of a, which is the length of
            // y.
            let put = |position: usize, sum: T| unsafe { y.put(order.row_at(position), sum) };
            match next {
                Some(Piece::Row(k)) => {
                    put(order.in_blocks() + k, checked.tail(k).in_lanes());
                }
                Some(Piece::Hacks(range)) => hacks(checked, range, Slots::in_lanes, put),
                None => break,
            }
        }
    });
}

/// Computes some hacks: `y[k]` belongs to row `first + k`, where `first` is the first row of the first hack;
/// each row's sum is in four lanes. Used by a block in one step of an iteration.
///
/// x has n elements, y has one per row of the hacks; panics otherwise, or when the slots are column-major or
/// the rows are sorted or stored separately.
pub fn some_hacks<T: Scalar>(a: &Hll<T>, range: Range<usize>, x: &[T], y: &mut [T]) {
    assert!(a.is_plain(), "this kernel reads rows in their order");
    assert_eq!(a.shape().order(), Order::RowMajor, "this kernel reads row-major slots");
    let row = |hack: usize| (hack * a.shape().hack_size()).min(a.rows());
    let rows = row(range.start)..row(range.end);
    let checked = Checked::<Hll<T>, T>::some_rows(a, &rows, x, y);
    hacks(checked, range, Slots::in_lanes, |position, sum| y[position - rows.start] = sum);
}

/// A unit of work for a worker.
enum Piece {
    /// A separate row.
    Row(usize),
    /// Neighbouring hacks.
    Hacks(Range<usize>),
}

fn check<'a, T: Scalar>(a: &'a Hll<T>, x: &'a [T], y: &[T]) -> Checked<'a, Hll<T>, T> {
    let checked = Checked::<Hll<T>, T>::new(a, x, y);
    assert_eq!(a.shape().order(), Order::RowMajor, "this kernel reads row-major slots");
    checked
}

/// Calls `put` with the `dot` of the slots of each position of `hacks`, padding included.
fn hacks<'a, T: Scalar>(
    a: Checked<'a, Hll<T>, T>,
    hacks: Range<usize>,
    dot: impl Fn(Slots<'a, T>) -> T,
    mut put: impl FnMut(usize, T),
) {
    let shape = a.a().shape();
    for h in hacks {
        let width = shape.max_nzr()[h] as usize;
        let mut slot = shape.offsets()[h] as usize;
        for position in shape.hack_rows(h) {
            put(position, dot(a.slots(slot..slot + width)));
            slot += width;
        }
    }
}
