//! A y that several workers write to.

use super::simd::Lanes;
use super::{Store, Unscaled, scaled};
use sparsescope_matrix::matrix::{CompactHll, Hll, RowOrder, Scalar};

/// y, to which several workers write, each to different elements, and what they store.
#[derive(Clone, Copy)]
pub(crate) struct Rows<T, S = Unscaled> {
    y: *mut T,
    rows: usize,
    store: S,
}

// SAFETY: the pointer stands for exclusive access to y, which the callers of its methods divide by rows.
unsafe impl<T: Send, S: Send> Send for Rows<T, S> {}
// SAFETY: as above.
unsafe impl<T: Send, S: Sync> Sync for Rows<T, S> {}

impl<T: Scalar> Rows<T> {
    /// All of `y`, whatever its elements belong to.
    pub(crate) fn all(y: &mut [T]) -> Self {
        Self { y: y.as_mut_ptr(), rows: y.len(), store: Unscaled }
    }
}

impl<T: Scalar, S: Store<T>> Rows<T, S> {
    /// Panics unless y has one element per row of `a`.
    pub(super) fn of(a: &Hll<T>, store: S, y: &mut [T]) -> Self {
        assert_eq!(y.len(), a.rows(), "y has one element a row");
        Self { y: y.as_mut_ptr(), rows: y.len(), store }
    }

    /// The same for a compact matrix.
    pub(super) fn of_compact(a: &CompactHll<T>, store: S, y: &mut [T]) -> Self {
        assert_eq!(y.len(), a.rows(), "y has one element a row");
        Self { y: y.as_mut_ptr(), rows: y.len(), store }
    }

    /// Stores the sum of a row.
    ///
    /// # Safety
    /// y is alive, `row` is below its length, and nobody else accesses that element meanwhile.
    #[inline(always)]
    pub(super) unsafe fn put(self, row: usize, sum: T) {
        debug_assert!(row < self.rows);
        // SAFETY: guaranteed by the caller.
        self.store.put(unsafe { &mut *self.y.add(row) }, sum);
    }

    /// Returns a pointer to the elements from `row` on.
    ///
    /// # Safety
    /// y is alive, and `row` is at most its length.
    #[inline(always)]
    pub(crate) unsafe fn at(self, row: usize) -> *mut T {
        debug_assert!(row <= self.rows);
        // SAFETY: guaranteed by the caller.
        unsafe { self.y.add(row) }
    }

    /// Stores the sums of the rows at `count` positions of `order`, starting at `first`, in vectors of
    /// neighbouring positions.
    ///
    /// # Safety
    /// As for [`put`](Self::put), for the rows of these positions, and the CPU supports the instructions.
    #[inline(always)]
    pub(super) unsafe fn put_sums<L: Lanes<Value = T>, const G: usize>(
        self,
        order: &RowOrder,
        (first, count): (usize, usize),
        sums: &[L::Vector; G],
    ) {
        for (g, &sums) in sums.iter().enumerate() {
            let first = first + g * L::LANES;
            let count = count.saturating_sub(g * L::LANES).min(L::LANES);
            match order.row_of() {
                // SAFETY: the rows are at their own places, `count` of them from `first` on, and accessed by
                // nobody else.
                None if count == L::LANES => unsafe {
                    let y = self.at(first);
                    L::store(y, scaled::<L, S>(self.store, y, L::LANES, sums));
                },
                None if count == 0 => {}
                // SAFETY: as above.
                None => unsafe {
                    let y = self.at(first);
                    L::store_first(y, scaled::<L, S>(self.store, y, count, sums), count);
                },
                Some(row_of) => {
                    // SAFETY: guaranteed by the caller.
                    let sums = unsafe { L::to_array(sums) };
                    for (&row, &sum) in row_of.iter().skip(first).take(count).zip(&sums) {
                        // SAFETY: guaranteed by the caller; each row has one position.
                        unsafe { self.put(row as usize, sum) };
                    }
                }
            }
        }
    }
}
