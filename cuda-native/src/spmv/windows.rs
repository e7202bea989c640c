//! The launcher of `cuda/csr/adaptive` where rows are long.

use sparsescope_core::kernel::{WindowShape, Windows};
use sparsescope_core::matrix::Csr;

use super::operands::Operands;
use crate::arguments::{CsrWindows, Reads, Stored, Writes};
use crate::arrays::Slots;
use crate::buffer::{Buffer, Spent};
use crate::device::{Device, DeviceError, count};
use crate::launch::{Shape, Step};
use crate::value::DeviceReal;

/// Windows on the device, and the sums of pieces.
pub(super) struct WindowPlan<T> {
    shape: WindowShape,
    /// Number of blocks.
    count: usize,
    /// Four words per block and for the end.
    blocks: Buffer<u32>,
    /// Four words per piece.
    pieces: Buffer<u32>,
    /// Two words per group and for the end.
    groups: Buffer<u32>,
    part_ptr: Buffer<u32>,
    /// Sums of the pieces, row by row.
    part_sum: Buffer<T>,
    /// Number of finished blocks of each group: 0 before and after each launch.
    arrived: Buffer<u32>,
}

impl<T: DeviceReal> WindowPlan<T> {
    /// The windows of a matrix, if it has long rows and the device enough shared memory.
    pub(super) fn suiting(device: &Device, a: &Csr<T>) -> Result<Option<Self>, DeviceError> {
        let shared_bytes = device.properties().shared_per_block as usize;
        let Some(shape) = WindowShape::suiting(a, shared_bytes) else { return Ok(None) };
        let Some(windows) = Windows::new(a, shape.width::<T>(), shape.entries) else {
            return Ok(None);
        };
        let end = [0, windows.pieces.len() as u32, 0, 0];
        let blocks = windows.blocks.iter().map(|block| [block.column, block.piece, block.group, 0]);
        let blocks: Vec<u32> = blocks.chain([end]).flatten().collect();
        let pieces = windows.pieces.iter().flat_map(|piece| {
            [piece.entry as u32, (piece.entry >> 32) as u32, piece.length, piece.place]
        });
        let pieces: Vec<u32> = pieces.collect();
        let end = (a.rows() as u32, 0);
        let groups = windows.groups.iter().chain([&end]).flat_map(|&(row, count)| [row, count]);
        let groups: Vec<u32> = groups.collect();
        Ok(Some(Self {
            shape,
            count: windows.blocks.len(),
            blocks: Buffer::of(device, "the blocks of windows", &blocks)?,
            pieces: Buffer::of(device, "the pieces of rows", &pieces)?,
            groups: Buffer::of(device, "the groups of rows", &groups)?,
            part_ptr: Buffer::of(device, "the pieces of each row", &windows.part_ptr)?,
            part_sum: Buffer::unset(device, "the sums of pieces", windows.pieces.len())?,
            arrived: Buffer::of(
                device,
                "the blocks that are done",
                &vec![0; windows.groups.len()],
            )?,
        }))
    }

    /// y = A·x, if this is the plan of the operands' matrix, which has these columns and values.
    pub(super) fn step<V: Stored<T>>(
        &self,
        o: &Operands<'_, T>,
        slots: &Slots<V>,
    ) -> Result<Step, DeviceError> {
        let WindowShape { threads, lanes, bytes, .. } = self.shape;
        let arguments = CsrWindows {
            width: count("the columns of a window", self.shape.width::<T>())?,
            cols: count("the number of columns", o.cols)?,
            blocks: Reads(&self.blocks),
            pieces: Reads(&self.pieces),
            groups: Reads(&self.groups),
            part_ptr: Reads(&self.part_ptr),
            col: Reads(&slots.col),
            val: Reads(&slots.val),
            x: Reads(o.x),
            y: Writes(o.y),
            part_sum: Writes(&self.part_sum),
            arrived: Writes(&self.arrived),
        };
        let grid = self.count as u64;
        let shape = Shape { grid, block: threads, shared_bytes: bytes as u32 };
        let name = format!("csr_adaptive_windows_{threads}x{lanes}");
        // SAFETY: there are as many blocks as in the plan, and one more element of it and of its
        // groups. Each nonzero is in one piece, whose block has a window with its column, and each
        // piece has a place of its own for its sum, among those of its row; columns are below cols,
        // and x and y have one element per column and row. The groups hold each row once, and their
        // counts of blocks that are done are zero before the first launch and after each. A block
        // has shared memory for the elements of x in its window.
        unsafe { o.launch_shape(&name, shape, &arguments) }
    }

    /// Bytes of its arrays, and the time spent on making them.
    pub(super) fn taken(&self) -> (u64, Spent) {
        let plan = [&self.blocks, &self.pieces, &self.groups, &self.part_ptr, &self.arrived];
        let part_sum = (self.part_sum.bytes(), self.part_sum.spent());
        plan.iter().fold(part_sum, |(bytes, spent), one| (bytes + one.bytes(), spent + one.spent()))
    }
}
