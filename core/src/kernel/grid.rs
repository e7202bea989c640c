//! The rules by which the threads of a GPU's grid are given work, and how many blocks are launched.
//! The launchers take their grids from here.

use std::ops::Range;

use crate::matrix::{Coo, Scalar};

/// Threads of a warp.
pub const LANES: u64 = 32;

/// Entries of COO that one warp goes through: a multiple of [`LANES`].
pub const COO_SPAN: u64 = 512;

/// The rule by which threads are given work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GridMapping {
    /// Thread t takes row t.
    ThreadPerRow,
    /// The lanes of warp w take every 32nd slot of row w.
    WarpPerRow,
    /// Thread t takes hack t (HLL). There are as many threads as rows, as in the paper.
    ThreadPerHack,
    /// The lanes of warp w take every 32nd entry of span w (COO, and the tail of HYB, whose
    /// ELLPACK part is gone through before by a thread a row).
    WarpPerSpan,
}

/// What is to be shared out in one launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Work {
    /// So many rows.
    Rows(u64),
    /// So many entries of COO.
    Entries(u64),
}

impl GridMapping {
    /// Blocks of `block` threads that are launched.
    pub fn blocks(self, work: Work, block: u32) -> u64 {
        let threads = match (self, work) {
            (Self::ThreadPerRow | Self::ThreadPerHack, Work::Rows(rows)) => rows,
            (_, Work::Rows(rows)) => rows.saturating_mul(LANES),
            (_, Work::Entries(entries)) => entries.div_ceil(COO_SPAN).saturating_mul(LANES),
        };
        threads.div_ceil(u64::from(block.max(1)))
    }
}

/// The entries of span `warp`.
pub(crate) fn span_entries<T: Scalar>(coo: &Coo<T>, warp: u64) -> Range<u64> {
    let entries = coo.nnz() as u64;
    let begin = warp.saturating_mul(COO_SPAN).min(entries);
    begin..begin.saturating_add(COO_SPAN).min(entries)
}
