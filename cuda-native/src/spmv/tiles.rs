//! The launcher of `cuda/csr/adaptive`.

use sparsescope_core::kernel::{GridMapping, TileShape, Tiles, Work};
use sparsescope_core::matrix::{AnyFormat, Offset, RowPtr};

use super::bands::BandPlan;
use super::operands::{Operands, wrong_format};
use super::windows::WindowPlan;
use crate::arguments::{CsrTiles, Element, Reads, Stored, Writes};
use crate::arrays::{Arrays, HalfSlots, Offsets, Slots};
use crate::buffer::{Buffer, Spent};
use crate::device::{Device, DeviceError};
use crate::launch::{Bound, Shape, Step};
use crate::value::DeviceReal;

pub(super) fn csr_adaptive<T: DeviceReal>(o: &Operands<'_, T>) -> Result<Bound, DeviceError> {
    let (arrays, AnyFormat::Csr(a)) = o.format()? else { return Err(wrong_format(o)) };
    o.row_count()?;
    let plan = if let Some(windows) = WindowPlan::suiting(o.device, a)? {
        Divided::Windows(windows)
    } else if let Some(bands) = BandPlan::suiting(o, a)? {
        Divided::Bands(bands)
    } else {
        Divided::Tiles(Plan::of(o.device, a.row_ptr())?)
    };
    let step = match arrays {
        Arrays::Csr { row_ptr, slots } => step_of(o, &plan, row_ptr, slots),
        Arrays::OfHalves { row_ptr, slots: HalfSlots::Half(slots) } => {
            step_of(o, &plan, row_ptr, slots)
        }
        Arrays::OfHalves { row_ptr, slots: HalfSlots::Other(slots) } => {
            step_of(o, &plan, row_ptr, slots)
        }
        _ => Err(wrong_format(o)),
    };
    let ((workspace_bytes, spent), saved_bytes) = match plan {
        Divided::Tiles(plan) => ((plan.bytes(), plan.spent()), 0),
        Divided::Windows(plan) => (plan.taken(), 0),
        Divided::Bands(plan) => (plan.taken(), plan.saved_bytes()),
    };
    Ok(Bound { workspace_bytes, saved_bytes, spent, ..Bound::of(vec![step?]) })
}

/// How a matrix is divided among blocks.
enum Divided<T> {
    Tiles(Plan<T>),
    Windows(WindowPlan<T>),
    Bands(BandPlan<T>),
}

/// Tiles on the device, and their partial sums.
pub(crate) struct Plan<T> {
    pub(crate) shape: TileShape,
    pub(crate) tiles: usize,
    /// Four words per tile and for the end.
    pub(crate) words: Buffer<u32>,
    /// Sums of the parts of long rows, by tile.
    pub(crate) part_sum: Buffer<T>,
    /// Number of finished parts of a row, at its first tile: 0 before and after each launch.
    pub(crate) arrived: Buffer<u32>,
}

impl<T: DeviceReal> Plan<T> {
    /// The tiles for a matrix with these row offsets.
    pub(crate) fn of(device: &Device, row_ptr: &RowPtr) -> Result<Self, DeviceError> {
        let tiles = Tiles::new(row_ptr, TileShape::suiting(row_ptr));
        // A row, a part, and the halves of a nonzero's index.
        let words = tiles.with_end().iter().flat_map(|tile| {
            let part = tile.part.unwrap_or(u32::MAX);
            [tile.row, part, tile.entry as u32, (tile.entry >> 32) as u32]
        });
        let words: Vec<u32> = words.collect();
        let in_parts = tiles.with_end().iter().any(|tile| tile.part.is_some());
        let parted = if in_parts { tiles.count() } else { 0 };
        Ok(Self {
            shape: tiles.shape(),
            tiles: tiles.count(),
            words: Buffer::of(device, "the tiles", &words)?,
            part_sum: Buffer::unset(device, "the sums of parts", parted)?,
            arrived: Buffer::of(device, "the parts that are done", &vec![0; parted])?,
        })
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.words.bytes() + self.part_sum.bytes() + self.arrived.bytes()
    }

    pub(crate) fn spent(&self) -> Spent {
        self.words.spent() + self.part_sum.spent() + self.arrived.spent()
    }
}

fn step_of<T: DeviceReal, V: Stored<T>>(
    o: &Operands<'_, T>,
    plan: &Divided<T>,
    row_ptr: &Offsets,
    slots: &Slots<V>,
) -> Result<Step, DeviceError> {
    match (plan, row_ptr) {
        (Divided::Tiles(plan), Offsets::Narrow(row_ptr)) => over_tiles(o, plan, row_ptr, slots),
        (Divided::Tiles(plan), Offsets::Wide(row_ptr)) => over_tiles(o, plan, row_ptr, slots),
        (Divided::Windows(plan), _) => plan.step(o, slots),
        (Divided::Bands(plan), _) => plan.step(o, slots),
    }
}

fn over_tiles<T: DeviceReal, V: Stored<T>, O: Offset + Element>(
    o: &Operands<'_, T>,
    plan: &Plan<T>,
    row_ptr: &Buffer<O>,
    slots: &Slots<V>,
) -> Result<Step, DeviceError> {
    let TileShape { threads, items } = plan.shape;
    let arguments = CsrTiles {
        plan: Reads(&plan.words),
        row_ptr: Reads(row_ptr),
        col: Reads(&slots.col),
        val: Reads(&slots.val),
        x: Reads(o.x),
        y: Writes(o.y),
        part_sum: Writes(&plan.part_sum),
        arrived: Writes(&plan.arrived),
    };
    let work = Work::Tiles(plan.tiles as u64);
    let grid = GridMapping::BlockPerTile.blocks(work, threads);
    let shape = Shape { grid, block: threads, shared_bytes: 0 };
    let name = format!("csr_adaptive_{threads}x{items}");
    // SAFETY: there are as many blocks as tiles, and one more element of the plan, four words each.
    // Tiles hold each row once, whole or in parts, and no more nonzeros than the shape has; offsets
    // ascend up to the length of col and val, columns are below cols, and x and y have one element
    // per column and row. Where a row is in parts, each tile has a place for its sum and its row's
    // first one a count, which is zero before the first launch and after each.
    unsafe { o.launch_shape(&name, shape, &arguments) }
}
