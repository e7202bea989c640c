//! Columns of X that are multiplied together, in one pass over A.

use std::ops::Range;

/// The most columns that are multiplied in one pass over A: those of a row of X fill a cache line in f64.
pub const COLUMNS_AT_ONCE: usize = 8;

/// Some adjacent columns of X, which is stored by rows.
#[derive(Clone, Copy, Debug)]
pub struct ColumnRange<'x, T> {
    x: &'x [T],
    k: usize,
    first: usize,
    count: usize,
}

impl<'x, T> ColumnRange<'x, T> {
    /// The columns of `range`, at least one and at most [`COLUMNS_AT_ONCE`], of X of k columns. Panics unless X has
    /// whole rows with these columns.
    pub fn new(x: &'x [T], k: usize, range: Range<usize>) -> Self {
        let (first, count) = (range.start, range.len());
        assert!((1..=COLUMNS_AT_ONCE).contains(&count), "from 1 to {COLUMNS_AT_ONCE} columns");
        assert!(range.end <= k && x.len().is_multiple_of(k), "X has rows with these columns");
        Self { x, k, first, count }
    }

    /// Rows of X.
    pub(super) fn rows(&self) -> usize {
        self.x.len() / self.k
    }

    /// The number of columns.
    pub(super) fn count(&self) -> usize {
        self.count
    }

    /// Their elements in row c of X.
    #[cfg_attr(not(target_family = "wasm"), inline(always))]
    pub(super) fn row(&self, c: u32) -> &'x [T] {
        &self.x[c as usize * self.k + self.first..][..self.count]
    }
}
