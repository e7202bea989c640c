//! Vectors written in parts by several workers, and numbers passed between workers.

use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

/// A vector that the steps of an iteration read whole or write in parts.
#[derive(Clone, Copy)]
pub(super) struct Divided {
    elements: *mut f64,
    len: usize,
}

// SAFETY: the pointer stands for exclusive access to the vector, which the callers of `part` and `all` divide
// among themselves.
unsafe impl Send for Divided {}
// SAFETY: as above.
unsafe impl Sync for Divided {}

impl Divided {
    /// Shares the vector as long as `elements` is not used otherwise.
    pub(super) fn new(elements: &mut [f64]) -> Self {
        Self { elements: elements.as_mut_ptr(), len: elements.len() }
    }

    /// A range of elements, for writing. Panics if the vector is shorter.
    ///
    /// # Safety
    /// The vector is alive, and nobody else accesses these elements while the part is in use.
    #[expect(clippy::mut_from_ref, reason = "parts are disjoint by the caller's promise")]
    pub(super) unsafe fn part(&self, range: Range<usize>) -> &mut [f64] {
        assert!(range.start <= range.end && range.end <= self.len, "a part lies in the vector");
        // SAFETY: the range lies within the vector; the rest is the caller's promise.
        unsafe { std::slice::from_raw_parts_mut(self.elements.add(range.start), range.len()) }
    }

    /// All elements, for reading.
    ///
    /// # Safety
    /// The vector is alive, and nobody writes to it while it is read.
    pub(super) unsafe fn all(&self) -> &[f64] {
        // SAFETY: the caller's promise.
        unsafe { std::slice::from_raw_parts(self.elements, self.len) }
    }
}

/// A number that one worker writes and others read later.
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

/// One number per block, summed in block order regardless of who computed them.
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
