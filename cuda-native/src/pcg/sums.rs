//! Sums over vectors, which launches leave in parts, and the shape of launches over vectors.

use crate::buffer::{Buffer, Spent};
use crate::device::{Device, DeviceError};
use crate::launch::Shape;

/// Threads per block.
const BLOCK: u32 = 256;

/// Elements per block; larger spans are multiples of it.
pub(super) const SPAN: u32 = 2 * BLOCK;

/// Maximum blocks over a vector when each block adds up the parts left by others.
const MOST_BLOCKS: u32 = 512;

/// Number of blocks in a group, whose sums one block adds up, as in `common.cuh`.
const GROUP: u64 = 256;

/// Maximum number of parts that are left for the reader to add up, as in `common.cuh`.
const MOST_PARTS: u64 = 4096;

/// A sum over the blocks of a launch, left to others in parts.
#[derive(Clone)]
pub(crate) struct Sum {
    /// Number of parts: one per block or, where these are many, one per group.
    pub(super) count: u32,
    pub(super) parts: Buffer<f64>,
    pub(super) counts: Buffer<u32>,
}

/// A launch of one block per `span` of this many elements; a single one if there are none, which
/// reports that.
pub(super) fn blocks_of(span: u32, rows: u32) -> Shape {
    Shape { grid: rows.div_ceil(span).max(1).into(), block: BLOCK, shared_bytes: 0 }
}

/// Elements per block over vectors of this many elements.
pub(super) fn span(rows: u32) -> u32 {
    SPAN * rows.div_ceil(SPAN).div_ceil(MOST_BLOCKS).max(1)
}

/// A launch over vectors of this many elements.
pub(super) fn shape(rows: u32) -> Shape {
    blocks_of(span(rows), rows)
}

impl Sum {
    /// Over launches of this many blocks.
    pub(super) fn of(device: &Device, blocks: u64) -> Result<Self, DeviceError> {
        let groups = blocks.div_ceil(GROUP);
        let count = if blocks > MOST_PARTS { groups } else { blocks } as u32;
        // Some kernels add up two sums at once.
        let parts = Buffer::unset(device, "the sums of blocks", 2 * (blocks + groups) as usize)?;
        let counts = vec![0; groups as usize + 1];
        let counts = Buffer::of(device, "the finished sums", &counts)?;
        Ok(Self { count, parts, counts })
    }

    pub(super) fn bytes(&self) -> u64 {
        self.parts.bytes() + self.counts.bytes()
    }

    pub(super) fn spent(&self) -> Spent {
        self.parts.spent() + self.counts.spent()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_numbers_of_both_sides_are_the_same() {
        let (_, common) = crate::kernels::COMMON;
        for expected in [format!("GROUP = {GROUP};"), format!("MOST_PARTS = {MOST_PARTS};")] {
            assert!(common.contains(&expected), "{expected}");
        }
    }

    #[test]
    fn an_empty_vector_has_a_block_that_tells_so() {
        assert_eq!([0, 1, 512, 513].map(|rows| shape(rows).grid), [1, 1, 1, 2]);
    }

    #[test]
    fn spans_grow_where_blocks_would_be_too_many() {
        let most = SPAN * MOST_BLOCKS;
        assert_eq!([0, 1, most, most + 1].map(span), [SPAN, SPAN, SPAN, 2 * SPAN]);
        for rows in [1, most, most + 1, 3 * most - 1, u32::MAX] {
            let Shape { grid, .. } = shape(rows);
            assert!(grid <= MOST_BLOCKS.into() && grid * u64::from(span(rows)) >= rows.into());
        }
    }
}
