//! How the grid of a kernel partitions a matrix: what is computed once before its threads run, and
//! the part that each thread gets.

use std::ops::Range;

use super::bands::Bands;
use super::descriptor::KernelDescriptor;
use super::grid::{GridMapping, LANES, Work};
use super::mapping::Mapping;
use super::tiles::{LaneShape, TileShape, Tiles, lanes_a_row};
use super::windows::WindowShape;
use sparsescope_matrix::matrix::{AnyFormat, Scalar, SlotLayout};

/// The grid of a kernel launch over rows, hacks, tiles or block rows of a matrix.
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
    /// The partition of `a` for blocks of `block` threads, unless the kernel fixes its block size;
    /// `None` for kernels that do not run on a grid, and where `cuda/csr/adaptive` divides the
    /// matrix into windows or bands instead of tiles ([`WindowShape`], [`Bands`]) if the device can.
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
            (GridMapping::BlockPerTile, AnyFormat::Csr(a))
                if WindowShape::suiting(a, usize::MAX).is_some()
                    || Bands::suiting(a, Bands::USUAL, usize::MAX).is_some() =>
            {
                return None;
            }
            (GridMapping::BlockPerTile, AnyFormat::Csr(a)) => {
                let tiles = Tiles::new(a.row_ptr(), TileShape::suiting(a.row_ptr()));
                cut.block = tiles.shape().threads;
                Work::Tiles(cut.tiles.insert(tiles).count() as u64)
            }
            (GridMapping::LanesPerRow, AnyFormat::Csr(a)) => {
                cut.lanes = LaneShape::suiting(rows, a.nnz() as u64).lanes.into();
                cut.block = LaneShape::THREADS;
                Work::Shared(rows, cut.lanes)
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

    /// Threads per block.
    pub fn block(&self) -> u32 {
        self.block
    }

    /// Blocks in the grid.
    pub fn blocks(&self) -> u64 {
        self.blocks
    }

    /// Lanes that share a row of column-major HLL or CSR.
    pub fn lanes(&self) -> u64 {
        self.lanes
    }

    /// Leading blocks that each have one of HLL's spilled rows.
    pub fn apart(&self) -> u64 {
        self.apart
    }

    /// The tiles of CSR.
    pub fn tiles(&self) -> Option<&Tiles> {
        self.tiles.as_ref()
    }

    /// The spilled row that the block of a grid thread works on and the thread's number in the
    /// block; otherwise the thread's number after those blocks.
    pub fn apart_of(&self, thread: u64) -> Result<(u64, u64), u64> {
        let block = u64::from(self.block.max(1));
        match thread / block < self.apart {
            true => Ok((thread / block, thread % block)),
            false => Err(thread - self.apart * block),
        }
    }

    /// The position of a thread's row among those in hacks, and the thread's number among the lanes
    /// that share the row of HLL.
    pub fn shared_row(&self, thread: u64) -> (u64, u64) {
        let rows_a_warp = LANES / self.lanes;
        (thread / LANES * rows_a_warp + thread % rows_a_warp, thread % LANES / rows_a_warp)
    }
}

/// How a warp processes a block row of BSR with this block size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlockLanes {
    edge: u64,
}

impl BlockLanes {
    /// Requires a block size from 2 to 8.
    pub fn new(edge: usize) -> Self {
        Self { edge: edge as u64 }
    }

    /// Columns that the warp processes at once.
    pub fn at_once(self) -> u64 {
        LANES / self.edge
    }

    /// A lane's row in the blocks and its first column in the block row; `None` for the lanes left
    /// over.
    pub fn of(self, lane: u64) -> Option<(u64, u64)> {
        let (row, share) = (lane % self.edge, lane / self.edge);
        (share < self.at_once()).then_some((row, share))
    }
}

/// The nonzeros of one thread of a tile's block: from the thread's own on, with a stride of the
/// block size.
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
    use sparsescope_matrix::matrix::{Csr, FormatSpec, HllLayout, Order};
    use sparsescope_matrix::memory::MemoryLimit;
    use std::sync::Arc;

    #[test]
    fn the_first_blocks_have_the_rows_kept_apart_and_lanes_share_the_others() {
        // 40 rows of 16 nonzeros and two of 64: 8 rows per warp, four lanes per row.
        let length = |i| if i % 21 == 20 { 64 } else { 16 };
        let triplets: Vec<_> =
            (0..42).flat_map(|i| (0..length(i)).map(move |j| (i, j, 1.0))).collect();
        let a = Arc::new(Csr::from_triplets(42, 64, &triplets).unwrap());
        let plain = HllLayout::plain(32, Order::ColumnMajor);
        let spec = FormatSpec::Hll(HllLayout { spill: Some(16), ..plain });
        let a = spec.build(&a, MemoryLimit::unlimited()).unwrap();
        let cut = Cut::new(kernel("cuda/hll/sigma").unwrap(), &a, 64).unwrap();
        // 64 slots per hack and column: 2 hacks of 16 columns, 25 on average.
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
