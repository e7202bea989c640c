//! How a kernel maps rows and slots to workers, computed from the partitions that the kernels use.

use std::ops::Range;

use super::grid::GridMapping;
use sparsescope_kernels::spmv::{GuidedChunks, MergePath, MergePoint, Pieces, RowParts, SlotParts};
use sparsescope_matrix::matrix::{AnyFormat, Scalar};

/// How work is divided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mapping {
    /// One worker takes everything in order.
    Serial,
    /// Contiguous parts with the same number of rows.
    EqualRows,
    /// Contiguous parts of the rows with about the same number of nonzeros (CSR). A kernel that
    /// multiplies by A' from the CSR of A has such parts of the columns or of the rows.
    EqualEntries,
    /// Contiguous pieces with the same number of rows plus nonzeros; two pieces may share a row
    /// (CSR).
    MergePath,
    /// Adjacent pieces with about the same number of rows plus nonzeros, whose bounds do not depend
    /// on the number of workers; a long row may be shared (CSR).
    EqualPieces,
    /// Contiguous parts with the same number of block rows (BSR).
    EqualBlockRows,
    /// Hacks in chunks of decreasing size, each taken by the next free worker (HLL).
    GuidedHacks,
    /// Adjacent hacks with about the same number of slots plus rows, followed by the spilled rows
    /// (HLL).
    EqualSlots,
    /// The rows of a dependency level in parallel, level after level.
    Levels,
    /// The rows of a colour in parallel, colour after colour.
    Colors,
    /// All rows that are ready in parallel, pass after pass.
    Passes,
    /// Each row as soon as the rows that it depends on are done.
    Waiting,
    /// Each worker decides its own points.
    OwnPoints,
    /// Each worker marks the points that its own points dominate.
    Marks,
    /// Sorts the points and compares each with those still undominated.
    Sorted,
    /// Each worker solves its own systems.
    OwnSystems,
    /// Adjacent threads of a GPU take adjacent columns of X, row after row or block row after block row (SpMM).
    ColumnsOfRows,
    /// Threads of a GPU grid.
    Grid(GridMapping),
    /// Subgroups of a GPU, of the size that the device gives them; each takes one row at a time.
    Subgroups,
    /// Each workgroup of a GPU takes a span with a few nonzeros per invocation (COO).
    WorkgroupSpans,
    /// Up to the library.
    Library,
    /// The mapping of the kernel that is picked for the matrix.
    Chosen,
}

/// What one worker does in one piece.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Share {
    /// The worker; absent if the next free one takes it.
    pub worker: Option<usize>,
    /// Rows touched, the last one possibly only in part. For formats with their own row order these
    /// are positions ([`row_at`](super::row_at) returns the row).
    pub rows: Range<usize>,
    /// The nonzeros of the share if rows can be shared; otherwise all slots of `rows`.
    pub entries: Option<Range<usize>>,
}

impl Mapping {
    /// The shares of `a` for `workers` workers (at least 1), in row order. A mapping that the
    /// format does not support gives one share.
    pub fn shares<T: Scalar>(self, a: &AnyFormat<T>, workers: usize) -> Vec<Share> {
        let by_worker = |parts: &RowParts| {
            let numbered = parts.iter().enumerate();
            numbered.map(|(p, rows)| Share { worker: Some(p), rows, entries: None }).collect()
        };
        match (self, a) {
            (Self::EqualRows, _) => by_worker(&RowParts::equal_rows(a.rows(), workers)),
            (Self::EqualEntries, AnyFormat::Csr(a)) => {
                by_worker(&RowParts::equal_entries(a.row_ptr(), workers))
            }
            (Self::MergePath, AnyFormat::Csr(a)) => {
                shared_rows(a.rows(), MergePath::new(a.row_ptr(), workers).iter())
            }
            (Self::EqualPieces, AnyFormat::Csr(a)) => {
                shared_rows(a.rows(), Pieces::new(a.row_ptr(), workers).ends())
            }
            (Self::EqualSlots, AnyFormat::Hll(a)) => {
                by_worker(SlotParts::new(a, workers).positions())
            }
            (Self::EqualBlockRows, AnyFormat::Bsr(a)) => {
                by_worker(&RowParts::equal_block_rows(a.rows(), a.block(), workers))
            }
            (Self::GuidedHacks, AnyFormat::Hll(a)) => {
                let chunks = GuidedChunks::new(a.shape(), workers);
                let order = a.row_order();
                let kept_apart = (order.in_blocks()..order.rows()).map(|p| p..p + 1);
                let rows = chunks.rows().iter().chain(kept_apart);
                rows.map(|rows| Share { worker: None, rows, entries: None }).collect()
            }
            (Self::EqualEntries, AnyFormat::CsrCompact(a)) => {
                by_worker(&RowParts::equal_entries(a.row_ptr(), workers))
            }
            (Self::EqualSlots, AnyFormat::HllCompact(a)) => {
                by_worker(SlotParts::of(a.shape(), a.tail(), workers).positions())
            }
            _ => vec![Share { worker: Some(0), rows: 0..a.rows(), entries: None }],
        }
    }
}

/// The shares between merge-path points; a row may span several.
fn shared_rows(rows: usize, ends: impl Iterator<Item = (MergePoint, MergePoint)>) -> Vec<Share> {
    ends.enumerate()
        .map(|(p, (from, to))| Share {
            worker: Some(p),
            rows: from.row..rows.min(to.row + 1),
            entries: Some(from.entry..to.entry),
        })
        .collect()
}
