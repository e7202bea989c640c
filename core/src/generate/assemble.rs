//! From a rule for rows to CSR: lengths, prefix sum, then every row in its place.

use std::sync::atomic::{AtomicBool, Ordering};

use crate::parallel::*;

use crate::matrix::{Csr, FormatError, RowPtr};
use crate::memory::{MemoryError, MemoryLimit, zeroed};

/// Why a matrix or points were not generated.
#[derive(Debug, thiserror::Error)]
pub enum GenerateError {
    /// It would not fit.
    #[error(transparent)]
    Memory(#[from] MemoryError),
    /// Parameters that do not go together.
    #[error("{0}")]
    Parameters(String),
    /// The generated rows do not form a matrix, or the coordinates no points.
    #[error("{spec} makes nothing that is sound: {reason}")]
    #[expect(missing_docs, reason = "the message names the fields")]
    Format { spec: String, reason: FormatError },
    /// The caller's flag was set.
    #[error("generating was cancelled")]
    Cancelled,
}

impl GenerateError {
    /// The caller's flag was set.
    pub fn is_cancelled(&self) -> bool {
        matches!(self, Self::Cancelled)
    }
}

/// A matrix given row by row; any row can be had on its own and always comes out the same.
pub(super) trait Rule: Send + Sync {
    /// Rows m.
    fn rows(&self) -> usize;
    /// Columns n.
    fn cols(&self) -> usize {
        self.rows()
    }
    /// Entries at most.
    fn most_entries(&self) -> u128;
    /// Entries of row `i`, where they can be counted faster than made.
    fn row_len(&self, i: usize) -> Option<usize> {
        let _ = i;
        None
    }
    /// Appends the entries of row `i < rows()` to `row`, in any order, no column twice.
    fn row(&self, i: usize, row: &mut Vec<(u32, f64)>);
}

/// Rows made between two looks at the cancel flag.
const CHUNK: usize = 4096;

/// Runs the rule over all rows, in parallel on the ambient pool. Rows whose length is not known
/// are made twice, so that nothing but the matrix itself is kept.
pub(super) fn assemble(
    spec: &str,
    rule: &dyn Rule,
    limit: MemoryLimit,
    cancel: &AtomicBool,
) -> Result<Csr, GenerateError> {
    let rows = rule.rows();
    let cancelled = || cancel.load(Ordering::Relaxed);
    limit.check(spec, rule.most_entries() * 12 + rows as u128 * 16)?;

    let mut lengths = vec![0usize; rows];
    lengths.par_chunks_mut(CHUNK).enumerate().for_each(|(c, lengths)| {
        if cancelled() {
            return;
        }
        let mut row = Vec::new();
        for (i, length) in (c * CHUNK..).zip(lengths) {
            *length = rule.row_len(i).unwrap_or_else(|| {
                row.clear();
                rule.row(i, &mut row);
                row.len()
            });
        }
    });
    let row_ptr = RowPtr::from_lengths(lengths.iter().copied());
    let nnz: usize = lengths.iter().sum();
    let mut col = zeroed(0u32, nnz);
    let mut val = zeroed(0f64, nnz);

    let mut parts = Vec::with_capacity(rows.div_ceil(CHUNK));
    let (mut cols_left, mut vals_left) = (col.as_mut_slice(), val.as_mut_slice());
    for (c, lengths) in lengths.chunks(CHUNK).enumerate() {
        let entries = lengths.iter().sum();
        let (cols, rest) = std::mem::take(&mut cols_left).split_at_mut(entries);
        cols_left = rest;
        let (vals, rest) = std::mem::take(&mut vals_left).split_at_mut(entries);
        vals_left = rest;
        parts.push((c * CHUNK, lengths, cols, vals));
    }
    parts.into_par_iter().for_each(|(first, lengths, cols, vals)| {
        if cancelled() {
            return;
        }
        let mut row = Vec::new();
        let mut slots = cols.iter_mut().zip(vals);
        for (i, &length) in (first..).zip(lengths) {
            row.clear();
            rule.row(i, &mut row);
            debug_assert_eq!(row.len(), length, "row {i} is as long as it was said to be");
            row.sort_unstable_by_key(|&(column, _)| column);
            for (&entry, (col, val)) in row.iter().zip(slots.by_ref().take(length)) {
                (*col, *val) = entry;
            }
        }
    });
    if cancelled() {
        return Err(GenerateError::Cancelled);
    }
    Csr::try_new(rows, rule.cols(), row_ptr, col, val)
        .map_err(|reason| GenerateError::Format { spec: spec.to_owned(), reason })
}
