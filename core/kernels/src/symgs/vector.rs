//! A vector that several workers read and write, with each element written by one of them.

use sparsescope_matrix::matrix::prefetch;

/// Elements of a vector that the worker of a row reads and writes while other workers access other elements.
#[derive(Clone, Copy)]
pub(super) struct Shared<T> {
    elements: *mut T,
    len: usize,
}

// SAFETY: the pointer stands for exclusive access to the vector, which the callers of `get` and
// `put` divide among themselves.
unsafe impl<T: Send> Send for Shared<T> {}
// SAFETY: as above.
unsafe impl<T: Send> Sync for Shared<T> {}

impl<T: Copy> Shared<T> {
    /// Shares the vector; `elements` must not be used otherwise meanwhile.
    pub(super) fn new(elements: &mut [T]) -> Self {
        Self { elements: elements.as_mut_ptr(), len: elements.len() }
    }

    /// # Safety
    /// The vector is alive, `i` is below its length, and nobody writes that element meanwhile.
    #[inline(always)]
    pub(super) unsafe fn get(self, i: usize) -> T {
        debug_assert!(i < self.len);
        // SAFETY: guaranteed by the caller.
        unsafe { self.elements.add(i).read() }
    }

    /// # Safety
    /// The vector is alive, `i` is below its length, and nobody else accesses that element meanwhile.
    #[inline(always)]
    pub(super) unsafe fn put(self, i: usize, value: T) {
        debug_assert!(i < self.len);
        // SAFETY: guaranteed by the caller.
        unsafe { self.elements.add(i).write(value) };
    }

    /// Prefetches the cache line of element `i`, which need not exist.
    #[inline(always)]
    pub(super) fn prefetch(self, i: usize) {
        prefetch(self.elements.wrapping_add(i));
    }
}
