//! The launcher of `cuda/csr/adaptive` where rows near each other have nonzeros in nearby columns.

use sparsescope_core::kernel::{BandShape, Bands};
use sparsescope_core::matrix::Csr;

use super::operands::Operands;
use crate::arguments::{CsrBands, Reads, Stored, Writes};
use crate::arrays::Slots;
use crate::buffer::{Buffer, Spent};
use crate::device::{DeviceError, count};
use crate::launch::{Shape, Step};
use crate::value::DeviceReal;

/// Bands on the device, and the sums of parts of long rows.
pub(super) struct BandPlan<T> {
    shape: BandShape,
    /// Number of blocks.
    count: usize,
    /// Maximum elements of x that a block keeps.
    width: usize,
    /// Number of nonzeros in tiles.
    in_tiles: usize,
    /// Eight words per block.
    bands: Buffer<u32>,
    /// Four words per tile.
    tiles: Buffer<u32>,
    /// Eight words per part of a long row.
    parts: Buffer<u32>,
    /// Columns of nonzeros among those that a block keeps.
    near: Buffer<u16>,
    /// Ends of rows in their tiles.
    ends: Buffer<u16>,
    /// Sums of the parts of long rows.
    part_sum: Buffer<T>,
    /// Number of finished parts of a row, at its first part: 0 before and after each launch.
    arrived: Buffer<u32>,
}

impl<T: DeviceReal> BandPlan<T> {
    /// The bands of the operands' matrix, if they suit it, the device has enough shared memory and nothing else to do,
    /// which the blocks would keep waiting, and x begins where it can be copied 16 bytes at a time.
    pub(super) fn suiting(o: &Operands<'_, T>, a: &Csr<T>) -> Result<Option<Self>, DeviceError> {
        if !o.is_alone || !o.x.address().is_multiple_of(16) {
            return Ok(None);
        }
        let (device, properties) = (o.device, o.device.properties());
        let blocks = properties.multiprocessors as usize;
        let shared_bytes = properties.shared_per_block as usize;
        let Some(made) = Bands::suiting(a, blocks, shared_bytes) else { return Ok(None) };
        let bands = made.bands.iter().flat_map(|band| {
            let ([one, two], tiles, parts) = (&band.kept, &band.tiles, &band.parts);
            let columns = [one.start, one.len() as u32, two.start, two.len() as u32];
            [columns, [tiles.start, tiles.end, parts.start, parts.end]]
        });
        let bands: Vec<u32> = bands.flatten().collect();
        let tiles = made.tiles.iter().flat_map(|t| [t.entry, t.entries, t.row, t.rows]);
        let tiles: Vec<u32> = tiles.collect();
        let parts = made.parts.iter();
        let parts = parts.flat_map(|p| [p.entry, p.entries, p.row, p.first, p.count, 0, 0, 0]);
        let parts: Vec<u32> = parts.collect();
        Ok(Some(Self {
            shape: made.shape,
            count: made.bands.len(),
            width: made.width,
            in_tiles: made.shape.in_tiles(a),
            bands: Buffer::of(device, "the bands of rows", &bands)?,
            tiles: Buffer::of(device, "the tiles of bands", &tiles)?,
            parts: Buffer::of(device, "the parts of long rows", &parts)?,
            near: Buffer::of(device, "the columns of bands", &made.near(a))?,
            ends: Buffer::of(device, "the ends of rows", &made.ends(a))?,
            part_sum: Buffer::unset(device, "the sums of parts", made.parts.len())?,
            arrived: Buffer::of(device, "the parts that are done", &vec![0; made.parts.len()])?,
        }))
    }

    /// y = A·x with the operands of this plan, whose matrix has these columns and values.
    pub(super) fn step<V: Stored<T>>(
        &self,
        o: &Operands<'_, T>,
        slots: &Slots<V>,
    ) -> Result<Step, DeviceError> {
        let BandShape { threads, items } = self.shape;
        let arguments = CsrBands {
            width: count("the elements of x that a block keeps", self.width)?,
            bands: Reads(&self.bands),
            tiles: Reads(&self.tiles),
            parts: Reads(&self.parts),
            near: Reads(&self.near),
            ends: Reads(&self.ends),
            col: Reads(&slots.col),
            val: Reads(&slots.val),
            x: Reads(o.x),
            y: Writes(o.y),
            part_sum: Writes(&self.part_sum),
            arrived: Writes(&self.arrived),
        };
        let shared_bytes = ((self.width + self.shape.products()) * T::BYTES) as u32;
        let shape = Shape { grid: self.count as u64, block: threads, shared_bytes };
        let name = format!("csr_adaptive_bands_{threads}x{items}");
        // SAFETY: there are as many blocks as bands. Each row is in one tile of one band or, if it is
        // longer than a tile, in parts, and so are its nonzeros; rows of a tile end at their own
        // nonzeros. A block has shared memory for its products and for the elements of x in its two
        // ranges, which are below cols and begin at multiples of 64 in x, whose address is one of 16,
        // and in shared memory; nonzeros of its tiles have their place among these elements. Columns are below cols, and x
        // and y have one element per column and row. Each part has a place for its sum, and its
        // row's first one a count, which is zero before the first launch and after each.
        unsafe { o.launch_shape(&name, shape, &arguments) }
    }

    /// Columns of nonzeros in tiles are read in 16 bits, not in 32.
    pub(super) fn saved_bytes(&self) -> u64 {
        (self.in_tiles * (size_of::<u32>() - size_of::<u16>())) as u64
    }

    /// Bytes of its arrays, and the time spent on making them.
    pub(super) fn taken(&self) -> (u64, Spent) {
        let plan = [&self.bands, &self.tiles, &self.parts, &self.arrived];
        let bytes = self.near.bytes() + self.ends.bytes() + self.part_sum.bytes();
        let spent = self.near.spent() + self.ends.spent() + self.part_sum.spent();
        plan.iter()
            .fold((bytes, spent), |(bytes, spent), one| (bytes + one.bytes(), spent + one.spent()))
    }
}
