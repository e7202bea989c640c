//! How a kernel maps rows and slots to workers, computed from the same partitions that the
//! kernels follow.

use std::ops::Range;

use super::grid::GridMapping;
use crate::matrix::{AnyFormat, RowPtr, SlotLayout};
use crate::spmv::{GuidedChunks, MergePath, RowParts};

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
    /// Contiguous parts of equally many rows of blocks (BSR).
    EqualBlockRows,
    /// Hacks in shrinking chunks for the next free worker (HLL).
    GuidedHacks,
    /// Threads of a GPU's grid.
    Grid(GridMapping),
    /// A library's own.
    Library,
}

/// What one worker does in one go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Share {
    /// The worker; absent when the next free one takes it.
    pub worker: Option<usize>,
    /// Rows touched, the last one perhaps only in part; where a format stores rows in an order of
    /// its own, positions in it ([`row_at`] tells the row).
    pub rows: Range<usize>,
    /// The entries worked on when rows can be shared; otherwise all slots of `rows`.
    pub entries: Option<Range<usize>>,
}

impl Mapping {
    /// The shares in which `workers` workers (at least 1) go through `a`, in row order. A mapping
    /// that the format does not support gives one share.
    pub fn shares(self, a: &AnyFormat, workers: usize) -> Vec<Share> {
        let by_worker = |parts: &RowParts| {
            let numbered = parts.iter().enumerate();
            numbered.map(|(p, rows)| Share { worker: Some(p), rows, entries: None }).collect()
        };
        match (self, a) {
            (Self::EqualRows, _) => by_worker(&RowParts::equal_rows(rows_of(a), workers)),
            (Self::EqualEntries, AnyFormat::Csr(a)) => {
                by_worker(&RowParts::equal_entries(a.row_ptr(), workers))
            }
            (Self::MergePath, AnyFormat::Csr(a)) => merge_shares(a.row_ptr(), workers),
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
            _ => vec![Share { worker: Some(0), rows: 0..rows_of(a), entries: None }],
        }
    }
}

fn merge_shares(row_ptr: &RowPtr, workers: usize) -> Vec<Share> {
    let rows = row_ptr.len() - 1;
    let path = MergePath::new(row_ptr, workers);
    let pieces = path.iter().enumerate();
    pieces
        .map(|(p, (from, to))| Share {
            worker: Some(p),
            rows: from.row..rows.min(to.row + 1),
            entries: Some(from.entry..to.entry),
        })
        .collect()
}

/// Rows of a matrix in any format.
pub(super) fn rows_of(a: &AnyFormat) -> usize {
    match a {
        AnyFormat::Coo(a) => a.rows(),
        AnyFormat::Csr(a) => a.rows(),
        AnyFormat::Ell(a) => a.shape().rows,
        AnyFormat::Hyb(a) => a.ell().shape().rows,
        AnyFormat::Hll(a) => a.rows(),
        AnyFormat::Bsr(a) => a.rows(),
        AnyFormat::Dia(a) => a.rows(),
    }
}

/// The row at a position of a format: the same number but where the format sorts rows.
pub fn row_at(a: &AnyFormat, position: usize) -> usize {
    match a {
        AnyFormat::Hll(a) => a.row_order().row_at(position),
        _ => position,
    }
}

/// The slots that a kernel reads for the row at one position, in order: `(column, value)` of each,
/// padding included. A HYB row goes on in its tail; slots of BSR and DIA that lie outside the matrix
/// are not read.
pub fn row_steps(a: &AnyFormat, row: usize) -> Vec<(u32, f64)> {
    fn padded(layout: &impl SlotLayout, row: usize, col: &[u32], val: &[f64]) -> Vec<(u32, f64)> {
        let slots = (0..layout.row_slots(row)).map(|j| layout.slot(row, j) as usize);
        slots.map(|s| (col[s], val[s])).collect()
    }
    fn coordinates(a: &crate::matrix::Coo, row: usize) -> impl Iterator<Item = (u32, f64)> + '_ {
        let first = a.row().partition_point(|&r| (r as usize) < row);
        let entries = (first..a.nnz()).take_while(move |&k| a.row()[k] as usize == row);
        entries.map(|k| (a.col()[k], a.val()[k]))
    }
    match a {
        AnyFormat::Coo(a) => coordinates(a, row).collect(),
        AnyFormat::Csr(a) => padded(a.as_ref(), row, a.col(), a.val()),
        AnyFormat::Ell(a) => padded(&a.shape(), row, a.col(), a.val()),
        AnyFormat::Hyb(a) => {
            let mut steps = padded(&a.ell().shape(), row, a.ell().col(), a.ell().val());
            steps.extend(coordinates(a.tail(), row));
            steps
        }
        AnyFormat::Hll(a) => match row.checked_sub(a.row_order().in_blocks()) {
            None => padded(a.shape(), row, a.col(), a.val()),
            Some(k) => padded(a.tail(), k, a.tail().col(), a.tail().val()),
        },
        AnyFormat::Bsr(a) => (0..a.row_slots(row)).filter_map(|j| a.slot_entry(row, j)).collect(),
        AnyFormat::Dia(a) => (0..a.row_slots(row)).filter_map(|j| a.slot_entry(row, j)).collect(),
    }
}
