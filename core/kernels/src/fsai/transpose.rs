//! Gᵀ: each thread counts and fills some columns, so the result does not depend on the number of threads.

use super::Cancelled;
use super::error::Stop;
use super::workers::in_order;
use sparsescope_matrix::matrix::{Csr, RowPtr};
use sparsescope_matrix::memory::{MemoryLimit, zeroed};

/// Rows skipped together if they have none of the requested columns.
const BLOCK: usize = 256;

/// Minimum number of parts that the columns are split into, so that the write positions of one part fit into
/// a cache.
const PARTS: usize = 64;

/// A lower triangular matrix, and the first column of each block of rows.
struct Rows<'g> {
    g: &'g Csr,
    first: Vec<u32>,
}

impl Rows<'_> {
    /// Calls `each` for each nonzero in these columns: row, column, and place in G, rows ascending.
    #[inline]
    fn for_entries(
        &self,
        columns: std::ops::Range<usize>,
        cancelled: &Cancelled<'_>,
        mut each: impl FnMut(usize, usize, usize),
    ) -> Result<(), Stop> {
        // Rows before the first column have none of them.
        for block in columns.start / BLOCK..self.first.len() {
            if self.first[block] as usize >= columns.end {
                continue;
            }
            if cancelled() {
                return Err(Stop::Cancelled);
            }
            for i in block * BLOCK..self.g.rows().min((block + 1) * BLOCK) {
                let range = self.g.row_range(i);
                let col = &self.g.col()[range.clone()];
                let from = col.partition_point(|&c| (c as usize) < columns.start);
                for (at, &c) in col.iter().enumerate().skip(from) {
                    if c as usize >= columns.end {
                        break;
                    }
                    each(i, c as usize, range.start + at);
                }
            }
        }
        Ok(())
    }
}

/// The transpose of a lower triangular matrix.
pub(super) fn transposed(
    g: &Csr,
    limit: MemoryLimit,
    cancelled: &Cancelled<'_>,
) -> Result<Csr, Stop> {
    let n = g.rows();
    limit.check("the transposed factor", u128::from(g.bytes()) + 16 * n as u128)?;
    let blocks = (0..n).step_by(BLOCK).map(|first| first..n.min(first + BLOCK));
    let least = |rows: std::ops::Range<usize>| rows.filter_map(|i| g.row(i).0.first()).min();
    let first = blocks.map(|rows| least(rows).copied().unwrap_or(u32::MAX)).collect();
    let rows = Rows { g, first };

    let width = n.div_ceil(PARTS.max(4 * rayon::current_num_threads())).max(1024);
    let mut counts = vec![0usize; n];
    let parts = counts.chunks_mut(width).enumerate();
    in_order(
        parts,
        cancelled,
        || (),
        |(), (part, counts)| {
            let start = part * width;
            let columns = start..start + counts.len();
            rows.for_entries(columns, cancelled, |_, c, _| counts[c - start] += 1)
        },
    )?;
    let row_ptr = RowPtr::from_lengths(counts.iter().copied());

    let (mut col, mut val) = (zeroed(0u32, g.nnz()), zeroed(0.0f64, g.nnz()));
    let (mut col_rest, mut val_rest) = (&mut col[..], &mut val[..]);
    let mut parts = Vec::new();
    for start in (0..n).step_by(width) {
        let columns = start..n.min(start + width);
        let len = row_ptr.get(columns.end) - row_ptr.get(start);
        let (col, after) = col_rest.split_at_mut(len);
        col_rest = after;
        let (val, after) = val_rest.split_at_mut(len);
        val_rest = after;
        parts.push((columns, col, val));
    }
    in_order(
        parts.into_iter(),
        cancelled,
        || (),
        |(), (columns, col, val)| {
            let base = row_ptr.get(columns.start);
            let start = columns.start;
            let mut next: Vec<usize> = columns.clone().map(|c| row_ptr.get(c) - base).collect();
            rows.for_entries(columns, cancelled, |i, c, at| {
                let next = &mut next[c - start];
                col[*next] = i as u32;
                val[*next] = g.val()[at];
                *next += 1;
            })
        },
    )?;
    Ok(Csr::try_new(n, n, row_ptr, col, val)?)
}
