//! A sparsity pattern: the positions of a matrix's nonzeros, without their values.

use super::Cancelled;
use super::error::Stop;
use super::workers::in_order;
use sparsescope_matrix::matrix::{Csr, RowPtr, copied};
use sparsescope_matrix::memory::{MemoryLimit, zeroed};

/// The columns of each row, ascending.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pattern {
    row_ptr: RowPtr,
    col: Vec<u32>,
}

/// Rows computed by one task.
const CHUNK: usize = 128;

impl Pattern {
    /// Builds rows 0 to `rows` − 1 with one call each, which appends the columns of a row to its argument.
    /// Memory is checked as rows are built.
    pub(super) fn made<S>(
        rows: usize,
        what: &str,
        limit: MemoryLimit,
        cancelled: &Cancelled<'_>,
        scratch: impl Fn() -> S + Sync,
        row: impl Fn(&mut S, usize, &mut Vec<u32>) -> Result<(), Stop> + Sync,
    ) -> Result<Self, Stop> {
        use std::sync::atomic::{AtomicU64, Ordering};
        let entries = AtomicU64::new(0);
        let chunks = (0..rows).step_by(CHUNK).map(|first| first..rows.min(first + CHUNK));
        let parts = in_order(chunks, cancelled, scratch, |scratch, chunk| {
            let mut lengths = Vec::with_capacity(chunk.len());
            let mut col = Vec::new();
            let others = entries.load(Ordering::Relaxed);
            for i in chunk {
                let before = col.len();
                row(scratch, i, &mut col)?;
                lengths.push(col.len() - before);
                // Once in parts, once joined.
                limit.check(what, 8 * (u128::from(others) + col.len() as u128))?;
            }
            entries.fetch_add(col.len() as u64, Ordering::Relaxed);
            Ok((lengths, col))
        })?;
        let lengths: Vec<usize> = parts.iter().flat_map(|(lengths, _)| lengths).copied().collect();
        let row_ptr = RowPtr::from_lengths(lengths.iter().copied());
        let col = joined(0, parts.into_iter().map(|(_, col)| col).collect(), cancelled)?;
        Ok(Self { row_ptr, col })
    }

    /// The pattern of the stored nonzeros.
    pub fn of<T: sparsescope_matrix::matrix::Scalar>(a: &Csr<T>) -> Self {
        Self { row_ptr: a.row_ptr().clone(), col: copied(a.col()) }
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.row_ptr.len() - 1
    }

    /// Number of nonzeros.
    pub fn entries(&self) -> usize {
        self.col.len()
    }

    /// The columns of row `i`. Panics if there is no such row.
    #[inline]
    pub fn row(&self, i: usize) -> &[u32] {
        &self.col[self.row_ptr.range(i)]
    }

    /// Where each row begins.
    pub fn row_ptr(&self) -> &RowPtr {
        &self.row_ptr
    }

    /// The columns of all rows.
    pub fn col(&self) -> &[u32] {
        &self.col
    }
}

/// The columns of a matrix's rows: all stored ones, or some.
pub(super) enum Columns<'a> {
    Stored(&'a Csr),
    Some(Pattern),
}

impl Columns<'_> {
    #[inline]
    pub(super) fn row(&self, i: usize) -> &[u32] {
        match self {
            Self::Stored(a) => &a.col()[a.row_range(i)],
            Self::Some(pattern) => pattern.row(i),
        }
    }

    pub(super) fn rows(&self) -> usize {
        match self {
            Self::Stored(a) => a.rows(),
            Self::Some(pattern) => pattern.rows(),
        }
    }
}

/// Concatenates the parts.
pub(super) fn joined<T: Copy + Send + Sync>(
    zero: T,
    parts: Vec<Vec<T>>,
    cancelled: &Cancelled<'_>,
) -> Result<Vec<T>, Stop> {
    let mut whole = zeroed(zero, parts.iter().map(Vec::len).sum());
    let mut rest = &mut whole[..];
    let mut copies = Vec::with_capacity(parts.len());
    for part in parts {
        let (to, after) = rest.split_at_mut(part.len());
        copies.push((to, part));
        rest = after;
    }
    in_order(
        copies.into_iter(),
        cancelled,
        || (),
        |(), (to, part)| {
            to.copy_from_slice(&part);
            Ok(())
        },
    )?;
    Ok(whole)
}
