//! Vectors whose parts several workers write, and numbers that they hand to one another.

use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

/// A vector that steps of an iteration read whole or write part by part.
#[derive(Clone, Copy)]
pub(super) struct Divided {
    elements: *mut f64,
    len: usize,
}

// SAFETY: the pointer stands for exclusive access to the vector, which the callers of `part` and `all`
// divide among themselves.
unsafe impl Send for Divided {}
// SAFETY: as above.
unsafe impl Sync for Divided {}

impl Divided {
    /// The vector is shared as long as nobody uses `elements` otherwise.
    pub(super) fn new(elements: &mut [f64]) -> Self {
        Self { elements: elements.as_mut_ptr(), len: elements.len() }
    }

    /// Some elements, to write. Panics when there are fewer.
    ///
    /// # Safety
    /// The vector is alive, and as long as the part is used nobody else touches its elements.
    #[expect(clippy::mut_from_ref, reason = "parts are disjoint by the caller's promise")]
    pub(super) unsafe fn part(&self, range: Range<usize>) -> &mut [f64] {
        assert!(range.start <= range.end && range.end <= self.len, "a part lies in the vector");
        // SAFETY: the range lies in the vector; the caller's promise.
        unsafe { std::slice::from_raw_parts_mut(self.elements.add(range.start), range.len()) }
    }

    /// All elements, to read.
    ///
    /// # Safety
    /// The vector is alive, and as long as it is read nobody writes any of its elements.
    pub(super) unsafe fn all(&self) -> &[f64] {
        // SAFETY: the caller's promise.
        unsafe { std::slice::from_raw_parts(self.elements, self.len) }
    }
}

/// A number that one worker writes and others read after it.
#[derive(Debug, Default)]
pub(super) struct Number(AtomicU64);

impl Number {
    pub(super) fn get(&self) -> f64 {
        f64::from_bits(self.0.load(Ordering::Relaxed))
    }

    pub(super) fn set(&self, value: f64) {
        self.0.store(value.to_bits(), Ordering::Relaxed);
    }
}

/// A number of each block, added in the order of the blocks whoever found them.
#[derive(Debug)]
pub(super) struct Partial(Vec<Number>);

impl Partial {
    pub(super) fn new(blocks: usize) -> Self {
        Self((0..blocks).map(|_| Number::default()).collect())
    }

    pub(super) fn put(&self, block: usize, value: f64) {
        self.0[block].set(value);
    }

    pub(super) fn sum(&self) -> f64 {
        self.0.iter().map(Number::get).sum()
    }
}
