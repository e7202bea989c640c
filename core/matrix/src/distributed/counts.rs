//! Nonzeros per block of rows, from which a partition is cut. For a generated matrix each rank counts a share
//! of the blocks before any rank builds rows to keep.

use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::parallel::*;

use super::error::DistributedError;
use super::rows::Rows;

/// Minimum number of blocks per rank, if there are enough rows: a cut is off by at most half a block.
const BLOCKS_A_RANK: u64 = 2048;

/// The nonzeros of each block of rows; the last block may be shorter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlockCounts {
    rows: u64,
    block: u64,
    sums: Vec<u64>,
}

impl BlockCounts {
    /// Takes the nonzeros of each block of `block` ≥ 1 of `rows` rows. Panics when the number of sums differs
    /// from the number of blocks.
    pub fn new(rows: u64, block: u64, sums: Vec<u64>) -> Self {
        assert_eq!(sums.len() as u64, rows.div_ceil(block.max(1)), "one sum a block");
        Self { rows, block: block.max(1), sums }
    }

    /// Rows per block when this many rows are distributed among `ranks` ranks.
    pub fn block_of(rows: u64, ranks: usize) -> u64 {
        (rows / (ranks.max(1) as u64 * BLOCKS_A_RANK)).max(1)
    }

    /// The blocks that a rank counts, out of all blocks of a matrix, before the matrix is distributed.
    pub fn share(rows: u64, ranks: usize, rank: usize) -> Range<u64> {
        let blocks = u128::from(rows.div_ceil(Self::block_of(rows, ranks)));
        let start = |rank: usize| (blocks * rank as u128 / ranks.max(1) as u128) as u64;
        start(rank)..start(rank + 1)
    }

    /// Counts the nonzeros of these blocks of a matrix that is distributed among this many ranks, without
    /// keeping a row.
    pub fn count(
        source: &dyn Rows,
        ranks: usize,
        blocks: Range<u64>,
        cancel: &AtomicBool,
    ) -> Result<Vec<u64>, DistributedError> {
        let (rows, block) = (source.rows(), Self::block_of(source.rows(), ranks));
        let count = |k: u64| {
            let mut row = Vec::new();
            let mut length = |i: u64| {
                source.row_len(i).unwrap_or_else(|| {
                    source.row(i, &mut row);
                    row.len()
                }) as u64
            };
            match cancel.load(Ordering::Relaxed) {
                true => 0,
                false => (k * block..rows.min((k + 1) * block)).map(&mut length).sum(),
            }
        };
        let first = blocks.start;
        let number = (blocks.end - blocks.start) as usize;
        let sums = (0..number).into_par_iter().map(|k| count(first + k as u64)).collect();
        match cancel.load(Ordering::Relaxed) {
            true => Err(DistributedError::Cancelled),
            false => Ok(sums),
        }
    }

    /// Rows of the matrix.
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// Nonzeros of each block.
    pub fn sums(&self) -> &[u64] {
        &self.sums
    }

    /// The first row of block `k`; the number of rows for `k` past the last block.
    pub fn start(&self, k: usize) -> u64 {
        self.rows.min(self.block.saturating_mul(k as u64))
    }
}
