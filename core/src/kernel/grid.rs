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
    /// Block b takes tile b of about equally many entries (CSR, [`Tiles`](super::Tiles)).
    BlockPerTile,
    /// Neighbouring lanes take neighbouring rows, and 1, 2, 4 or 8 lanes share one (column-major HLL,
    /// [`lanes_a_row`](super::lanes_a_row)).
    LanesPerRow,
    /// The lanes of warp w take the rows of hack w (compact HLL).
    WarpPerHack,
    /// The lanes of warp w take the columns of row of blocks w, as many at once as fit (BSR).
    WarpPerBlockRow,
}

/// What is to be shared out in one launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Work {
    /// So many rows.
    Rows(u64),
    /// So many entries of COO.
    Entries(u64),
    /// So many tiles, a block each.
    Tiles(u64),
    /// So many rows, each shared by so many lanes of a warp.
    Shared(u64, u64),
}

impl GridMapping {
    /// Blocks of `block` threads that are launched.
    pub fn blocks(self, work: Work, block: u32) -> u64 {
        let threads = match (self, work) {
            (_, Work::Tiles(tiles)) => return tiles,
            (_, Work::Shared(rows, lanes)) => {
                rows.div_ceil(LANES / lanes.clamp(1, LANES)).saturating_mul(LANES)
            }
            (Self::ThreadPerRow | Self::ThreadPerHack | Self::WarpPerHack, Work::Rows(rows)) => {
                rows
            }
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
