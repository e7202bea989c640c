//! How work is assigned to the threads of a GPU grid, and how many blocks are launched. The
//! launchers take their grids from here.

use std::ops::Range;

use sparsescope_matrix::matrix::{Coo, Scalar};

/// Threads per warp.
pub const LANES: u64 = 32;

/// Nonzeros of COO per warp: a multiple of [`LANES`].
pub const COO_SPAN: u64 = 512;

/// How threads are assigned work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GridMapping {
    /// Thread t takes row t.
    ThreadPerRow,
    /// The lanes of warp w take every 32nd slot of row w.
    WarpPerRow,
    /// Thread t takes hack t (HLL). There are as many threads as rows, as in the paper.
    ThreadPerHack,
    /// The lanes of warp w take every 32nd nonzero of span w (COO, and the tail of HYB, whose
    /// ELLPACK part runs before with one thread per row).
    WarpPerSpan,
    /// Block b takes tile b; tiles have about the same number of nonzeros (CSR,
    /// [`Tiles`](super::Tiles)).
    BlockPerTile,
    /// Adjacent lanes take adjacent rows, and 1, 2, 4 or 8 lanes share a row (column-major HLL,
    /// [`lanes_a_row`](super::lanes_a_row)); or 2 to 32 adjacent lanes share a row (CSR,
    /// [`LaneShape`](super::LaneShape)).
    LanesPerRow,
    /// The lanes of warp w take the rows of hack w (compact HLL).
    WarpPerHack,
    /// The lanes of warp w take the columns of block row w, as many at once as fit (BSR).
    WarpPerBlockRow,
}

/// The work of one launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Work {
    /// Number of rows.
    Rows(u64),
    /// Number of nonzeros of COO.
    Entries(u64),
    /// Number of tiles, one block each.
    Tiles(u64),
    /// Number of rows, and of lanes of a warp that share each.
    Shared(u64, u64),
}

impl GridMapping {
    /// The number of blocks of `block` threads to launch.
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

/// The nonzeros of span `warp`.
pub(crate) fn span_entries<T: Scalar>(coo: &Coo<T>, warp: u64) -> Range<u64> {
    let entries = coo.nnz() as u64;
    let begin = warp.saturating_mul(COO_SPAN).min(entries);
    begin..begin.saturating_add(COO_SPAN).min(entries)
}
