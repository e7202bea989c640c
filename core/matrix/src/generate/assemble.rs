//! Builds CSR from a rule for rows: lengths, prefix sum, then every row in its place.

use std::sync::atomic::{AtomicBool, Ordering};

use crate::parallel::*;

use crate::matrix::{Csr, FormatError, RowPtr};
use crate::memory::{MemoryError, MemoryLimit, zeroed};
use crate::pace::Pace;

/// Why a matrix or points were not generated.
#[derive(Debug, thiserror::Error)]
pub enum GenerateError {
    /// More memory than the limit allows.
    #[error(transparent)]
    Memory(#[from] MemoryError),
    /// Parameters that are inconsistent.
    #[error("{0}")]
    Parameters(String),
    /// The generated rows or coordinates are invalid.
    #[error("{spec} generates invalid data: {reason}")]
    #[expect(missing_docs, reason = "the message names the fields")]
    Format { spec: String, reason: FormatError },
    /// The caller's flag was set.
    #[error("generating was cancelled")]
    Cancelled,
}

impl GenerateError {
    /// Whether the caller's flag was set.
    pub fn is_cancelled(&self) -> bool {
        matches!(self, Self::Cancelled)
    }
}

/// A matrix given row by row; any row can be generated independently and is always the same.
pub(super) trait Rule: Send + Sync {
    /// Rows m.
    fn rows(&self) -> usize;
    /// Columns n.
    fn cols(&self) -> usize {
        self.rows()
    }
    /// Maximum number of nonzeros.
    fn most_entries(&self) -> u128;
    /// Number of nonzeros of row `i`, if counting is faster than generating.
    fn row_len(&self, i: usize) -> Option<usize> {
        let _ = i;
        None
    }
    /// Appends the nonzeros of row `i < rows()` to `row`, in any order, without duplicate columns.
    fn row(&self, i: usize, row: &mut Vec<(u32, f64)>);
}

/// Rows generated between checks of the cancel flag.
const CHUNK: usize = 4096;

/// Rejects what exceeds the limit, with its size in bytes.
fn check(spec: &str, rule: &dyn Rule, limit: MemoryLimit) -> Result<(), MemoryError> {
    limit.check(spec, rule.most_entries() * 12 + rule.rows() as u128 * 16)
}

/// Applies the rule to all rows sequentially, in steps of a few thousand rows.
pub(super) async fn assemble_in_steps(
    spec: &str,
    rule: &dyn Rule,
    limit: MemoryLimit,
) -> Result<Csr, GenerateError> {
    check(spec, rule, limit)?;
    let (mut lengths, mut row) = (Vec::with_capacity(rule.rows()), Vec::new());
    for piece in Pace::InSteps.pieces(rule.rows()) {
        lengths.extend(piece.map(|i| {
            rule.row_len(i).unwrap_or_else(|| {
                row.clear();
                rule.row(i, &mut row);
                row.len()
            })
        }));
        Pace::InSteps.rest().await;
    }
    let nnz = lengths.iter().sum();
    let (mut col, mut val) = (Vec::with_capacity(nnz), Vec::with_capacity(nnz));
    for piece in Pace::InSteps.pieces(rule.rows()) {
        for i in piece {
            row.clear();
            rule.row(i, &mut row);
            row.sort_unstable_by_key(|&(column, _)| column);
            col.extend(row.iter().map(|&(column, _)| column));
            val.extend(row.iter().map(|&(_, value)| value));
        }
        Pace::InSteps.rest().await;
    }
    let row_ptr = RowPtr::from_lengths(lengths.iter().copied());
    Csr::try_new(rule.rows(), rule.cols(), row_ptr, col, val)
        .map_err(|reason| GenerateError::Format { spec: spec.to_owned(), reason })
}

/// Applies the rule to all rows, in parallel on the ambient pool. Rows whose length is not known
/// are generated twice, so that only the matrix itself is kept.
pub(super) fn assemble(
    spec: &str,
    rule: &dyn Rule,
    limit: MemoryLimit,
    cancel: &AtomicBool,
) -> Result<Csr, GenerateError> {
    let rows = rule.rows();
    let cancelled = || cancel.load(Ordering::Relaxed);
    check(spec, rule, limit)?;

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

#[cfg(test)]
mod tests {
    use std::task::{Context, Poll, Waker};

    use crate::generate::{GeneratorSpec, generate, generate_in_steps};
    use crate::memory::MemoryLimit;

    #[test]
    fn a_matrix_made_in_steps_is_the_one_that_is_made_at_once() {
        let limit = MemoryLimit::unlimited();
        for text in ["poisson2d?n=150", "powerlaw?m=20000&nnz=70000&max=250", "diagonal?m=1"] {
            let spec = GeneratorSpec::parse(text).unwrap();
            let mut work = Box::pin(generate_in_steps(&spec, limit));
            let mut context = Context::from_waker(Waker::noop());
            let mut polls = 0;
            let made = loop {
                polls += 1;
                if let Poll::Ready(made) = work.as_mut().poll(&mut context) {
                    break made.unwrap();
                }
            };
            assert_eq!(made, generate(&spec, limit, &false.into()).unwrap(), "{text}");
            assert!(polls > 2 && (made.rows() < 8192 || polls > 4), "{text}: {polls}");
        }
    }

    #[test]
    fn what_does_not_fit_is_refused_with_its_bytes_before_the_first_step() {
        let spec = GeneratorSpec::parse("stencil7?n=1000").unwrap();
        let made = crate::pace::at_once(generate_in_steps(&spec, MemoryLimit::bytes(1 << 28)));
        let error = made.unwrap_err().to_string();
        assert!(error.contains("bytes (") && error.contains("memory limit"), "{error}");
    }
}
