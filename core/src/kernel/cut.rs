//! How the grid of a kernel cuts a matrix: what is found once, before its threads go through it, and
//! which part each of them has.

use std::ops::Range;

use super::descriptor::KernelDescriptor;
use super::grid::{GridMapping, LANES, Work};
use super::mapping::Mapping;
use super::tiles::{TileShape, Tiles, lanes_a_row};
use crate::matrix::{AnyFormat, Scalar, SlotLayout};

/// The grid of a kernel's launch over rows, hacks, tiles or rows of blocks of a matrix.
#[derive(Clone, Debug)]
pub struct Cut {
    pub(super) mapping: GridMapping,
    block: u32,
    blocks: u64,
    lanes: u64,
    apart: u64,
    tiles: Option<Tiles>,
}

impl Cut {
    /// The cut of `a` for blocks of `block` threads, unless the kernel has blocks of its own; none for
    /// kernels that do not run on a grid.
    pub fn new<T: Scalar>(kernel: &KernelDescriptor, a: &AnyFormat<T>, block: u32) -> Option<Self> {
        let Mapping::Grid(mapping) = kernel.mapping else { return None };
        let rows = a.rows() as u64;
        let mut cut = Self { mapping, block, blocks: 0, lanes: 1, apart: 0, tiles: None };
        let work = match (mapping, a) {
            (GridMapping::WarpPerSpan, AnyFormat::Hyb(_)) => {
                cut.blocks = GridMapping::ThreadPerRow.blocks(Work::Rows(rows), block);
                return Some(cut);
            }
            (GridMapping::WarpPerSpan, _) => return Some(cut),
            (GridMapping::BlockPerTile, AnyFormat::Csr(a)) => {
                let tiles = Tiles::new(a.row_ptr(), TileShape::suiting(a.row_ptr()));
                cut.block = tiles.shape().threads;
                Work::Tiles(cut.tiles.insert(tiles).count() as u64)
            }
            (GridMapping::LanesPerRow, AnyFormat::Hll(a)) => {
                let in_hacks = a.row_order().in_blocks() as u64;
                cut.lanes = lanes_a_row(in_hacks, a.shape().slots()).into();
                cut.apart = a.row_order().tail() as u64;
                Work::Shared(in_hacks, cut.lanes)
            }
            (GridMapping::WarpPerBlockRow, AnyFormat::Bsr(a)) => {
                Work::Rows(rows.div_ceil(a.block() as u64))
            }
            _ => Work::Rows(rows),
        };
        cut.blocks = cut.apart + mapping.blocks(work, cut.block);
        Some(cut)
    }

    /// Threads a block.
    pub fn block(&self) -> u32 {
        self.block
    }

    /// Blocks of the grid.
    pub fn blocks(&self) -> u64 {
        self.blocks
    }

    /// Lanes that share a row of column-major HLL.
    pub fn lanes(&self) -> u64 {
        self.lanes
    }

    /// Blocks at the beginning that have a row each which HLL keeps apart.
    pub fn apart(&self) -> u64 {
        self.apart
    }

    /// The tiles of CSR.
    pub fn tiles(&self) -> Option<&Tiles> {
        self.tiles.as_ref()
    }

    /// The row kept apart that the block of a thread of the grid has, and the number of the thread in the
    /// block; otherwise the thread's number behind those blocks.
    pub fn apart_of(&self, thread: u64) -> Result<(u64, u64), u64> {
        let block = u64::from(self.block.max(1));
        match thread / block < self.apart {
            true => Ok((thread / block, thread % block)),
            false => Err(thread - self.apart * block),
        }
    }

    /// The position of the row that a thread has among those in hacks, and which of the lanes that share
    /// the row it is.
    pub fn shared_row(&self, thread: u64) -> (u64, u64) {
        let rows_a_warp = LANES / self.lanes;
        (thread / LANES * rows_a_warp + thread % rows_a_warp, thread % LANES / rows_a_warp)
    }
}

/// How a warp goes through a row of blocks of this edge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlockLanes {
    edge: u64,
}

impl BlockLanes {
    /// For blocks of an edge from 2 to 8.
    pub fn new(edge: usize) -> Self {
        Self { edge: edge as u64 }
    }

    /// Columns that go through the warp at once.
    pub fn at_once(self) -> u64 {
        LANES / self.edge
    }

    /// The row in the blocks that a lane has, and its first column in the row of blocks; none for the
    /// lanes that are left over.
    pub fn of(self, lane: u64) -> Option<(u64, u64)> {
        let (row, share) = (lane % self.edge, lane / self.edge);
        (share < self.at_once()).then_some((row, share))
    }
}

/// The entries of a thread of a tile's block: every so many'th of the tile's, from the thread's own.
pub(super) fn tile_entries(tiles: &Tiles, thread: u64) -> Option<(Range<u64>, u64)> {
    let threads = u64::from(tiles.shape().threads);
    let number = usize::try_from(thread / threads).ok()?;
    let [here, next] = tiles.with_end().get(number..)?.first_chunk()?;
    Some((here.entry + thread % threads..next.entry, threads))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::kernel;
    use crate::matrix::{Csr, FormatSpec, HllLayout, Order};
    use crate::memory::MemoryLimit;
    use std::sync::Arc;

    #[test]
    fn the_first_blocks_have_the_rows_kept_apart_and_lanes_share_the_others() {
        // 40 rows of 16 entries and two of 64: 8 rows a warp, four lanes each.
        let length = |i| if i % 21 == 20 { 64 } else { 16 };
        let triplets: Vec<_> =
            (0..42).flat_map(|i| (0..length(i)).map(move |j| (i, j, 1.0))).collect();
        let a = Arc::new(Csr::from_triplets(42, 64, &triplets).unwrap());
        let plain = HllLayout::plain(32, Order::ColumnMajor);
        let spec = FormatSpec::Hll(HllLayout { spill: Some(16), ..plain });
        let a = spec.build(&a, MemoryLimit::unlimited()).unwrap();
        let cut = Cut::new(kernel("cuda/hll/sigma").unwrap(), &a, 64).unwrap();
        // 64 slots a hack and column: 2 hacks of 16 columns, a mean of 25.
        assert_eq!((cut.lanes(), cut.apart(), cut.blocks()), (4, 2, 2 + 3));
        assert_eq!((cut.apart_of(127), cut.apart_of(128)), (Ok((1, 63)), Err(0)));
        assert_eq!((cut.shared_row(7), cut.shared_row(8)), ((7, 0), (0, 1)));
        assert_eq!((cut.shared_row(31), cut.shared_row(32)), ((7, 3), (8, 0)));
    }

    #[test]
    fn as_many_columns_of_blocks_go_at_once_as_fit_into_a_warp() {
        let three = BlockLanes::new(3);
        assert_eq!((three.at_once(), three.of(29), three.of(30)), (10, Some((2, 9)), None));
        let eight = BlockLanes::new(8);
        assert_eq!((eight.at_once(), eight.of(31)), (4, Some((7, 3))));
    }
}
