//! How a kernel maps rows and slots to workers, computed from the same partitions that the
//! kernels follow.

use std::ops::Range;

use super::grid::GridMapping;
use crate::matrix::{AnyFormat, Scalar};
use crate::spmv::{GuidedChunks, MergePath, MergePoint, Pieces, RowParts, SlotParts};

/// The rule by which work is divided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mapping {
    /// One worker takes everything in order.
    Serial,
    /// Contiguous parts of equally many rows.
    EqualRows,
    /// Contiguous parts of the rows with about equally many entries (CSR).
    EqualEntries,
    /// Contiguous pieces with equally many rows plus entries; a row may be shared (CSR).
    MergePath,
    /// Neighbouring pieces, whose ends do not depend on the number of workers, with about equally many
    /// rows plus entries; a long row may be shared (CSR).
    EqualPieces,
    /// Contiguous parts of equally many rows of blocks (BSR).
    EqualBlockRows,
    /// Hacks in shrinking chunks for the next free worker (HLL).
    GuidedHacks,
    /// Neighbouring hacks with about equally many slots plus rows, the rows kept apart after them (HLL).
    EqualSlots,
    /// The rows of a dependency level at once, level after level.
    Levels,
    /// The rows of a colour at once, colour after colour.
    Colors,
    /// All rows that are ready at once, pass after pass.
    Passes,
    /// Each row as soon as those that it waits for are done.
    Waiting,
    /// Each worker decides its own points.
    OwnPoints,
    /// Each worker marks the points that its own dominate.
    Marks,
    /// The points sorted, and each compared with those that stand so far.
    Sorted,
    /// Each worker solves its own systems.
    OwnSystems,
    /// Threads of a GPU's grid.
    Grid(GridMapping),
    /// Subgroups of a GPU, as large as the device makes them, each takes a row at a time.
    Subgroups,
    /// Each workgroup of a GPU takes a span of as many entries as a few for each of its invocations (COO).
    WorkgroupSpans,
    /// A library's own.
    Library,
    /// That of the kernel that is chosen for the matrix.
    Chosen,
}

/// What one worker does in one go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Share {
    /// The worker; absent when the next free one takes it.
    pub worker: Option<usize>,
    /// Rows touched, the last one perhaps only in part; where a format stores rows in an order of
    /// its own, positions in it ([`row_at`](super::row_at) tells the row).
    pub rows: Range<usize>,
    /// The entries worked on when rows can be shared; otherwise all slots of `rows`.
    pub entries: Option<Range<usize>>,
}

impl Mapping {
    /// The shares in which `workers` workers (at least 1) go through `a`, in row order. A mapping
    /// that the format does not support gives one share.
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

/// Shares between whose ends a row may lie.
fn shared_rows(rows: usize, ends: impl Iterator<Item = (MergePoint, MergePoint)>) -> Vec<Share> {
    ends.enumerate()
        .map(|(p, (from, to))| Share {
            worker: Some(p),
            rows: from.row..rows.min(to.row + 1),
            entries: Some(from.entry..to.entry),
        })
        .collect()
}
