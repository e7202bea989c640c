//! A matrix in column-major HLL as a solver multiplies with it.

use sparsescope_core::kernel::{GridMapping, Work, lanes_a_row};
use sparsescope_core::matrix::{DEFAULT_HACK_SIZE, SlotLayout};

use super::state::{Product, Scalars};
use crate::arguments::{HllColumnMajorSolver, HllDistances, Reads, Writes};
use crate::arrays::Hacks;
use crate::buffer::{Buffer, Spent};
use crate::device::{Device, DeviceError};
use crate::launch::{Launch, Shape, Step};

/// Threads a block.
const BLOCK: u32 = 256;

/// The hacks of a matrix, whose columns are 16-bit distances from their rows where all of them fit.
pub(super) struct NearHacks {
    hacks: Hacks<f64>,
    rows: u32,
    /// Whether `distance` has the columns, and not the hacks.
    near: bool,
    distance: Buffer<u16>,
}

impl NearHacks {
    /// The matrix with so many rows. Where there is no memory for distances the columns stay as they are.
    pub(super) fn of(
        device: &Device,
        mut hacks: Hacks<f64>,
        rows: u32,
    ) -> Result<Self, DeviceError> {
        let distances = |slots| Buffer::unset(device, "the distances of columns", slots);
        if let Ok(distance) = distances(hacks.slots.col.len())
            && all_fit(device, &hacks, rows, &distance)?
        {
            hacks.slots.col = Buffer::unset(device, "the columns", 0)?;
            return Ok(Self { hacks, rows, near: true, distance });
        }
        Ok(Self { hacks, rows, near: false, distance: distances(0)? })
    }

    /// Bytes of its arrays.
    pub(super) fn bytes(&self) -> u64 {
        let Hacks { offsets, row_len, slots, .. } = &self.hacks;
        let columns = slots.col.bytes() + self.distance.bytes();
        offsets.bytes() + row_len.bytes() + columns + slots.val.bytes()
    }

    /// What it took to make them.
    pub(super) fn spent(&self) -> Spent {
        self.hacks.spent() + self.distance.spent()
    }

    fn lanes(&self) -> u32 {
        lanes_a_row(self.rows.into(), self.hacks.shape.slots())
    }

    /// Blocks of a product.
    pub(super) fn blocks(&self) -> u64 {
        let work = Work::Shared(self.rows.into(), self.lanes().into());
        GridMapping::LanesPerRow.blocks(work, BLOCK)
    }

    /// The step of a product.
    pub(super) fn product(
        &self,
        device: &Device,
        scalars: &Scalars,
        product: &Product<'_>,
    ) -> Result<Step, DeviceError> {
        let Product { x, y, purpose } = product;
        let arguments = HllColumnMajorSolver {
            rows: self.rows,
            hack_size: DEFAULT_HACK_SIZE as u32,
            lanes: self.lanes(),
            offsets: Reads(&self.hacks.offsets),
            row_len: Reads(&self.hacks.row_len),
            near: u32::from(self.near),
            col: Reads(&self.hacks.slots.col),
            distance: Reads(&self.distance),
            val: Reads(&self.hacks.slots.val),
            x: Reads(x),
            y: Writes(y),
            purpose: purpose.number(),
            with: Reads(purpose.with().unwrap_or(x)),
            parts: Writes(&scalars.parts),
            counts: Writes(&scalars.counts),
            numbers: Writes(&scalars.numbers),
            words: Writes(&scalars.words),
            told: Writes(&scalars.told),
        };
        let shape = Shape { grid: self.blocks(), block: BLOCK, shared_bytes: 0 };
        // SAFETY: every row lies in a hack of that size at its own position, and the slots of its length have
        // a column, in the array that `near` says, within the matrix; x has an element a column, y and what
        // it is multiplied with have one a row. What blocks add up has room for as many. All threads wait
        // for the kernels before this one before they read x or write.
        let launch = unsafe {
            Launch::new(device, "hll_column_major_solver", shape, &arguments)?.ahead(device)
        };
        Ok(Step::Launch(launch))
    }
}

/// Makes the distances of columns from their rows, one a slot; whether all of them fit.
fn all_fit(
    device: &Device,
    hacks: &Hacks<f64>,
    rows: u32,
    distance: &Buffer<u16>,
) -> Result<bool, DeviceError> {
    let far = Buffer::of(device, "whether columns are far from their rows", &[0])?;
    let arguments = HllDistances {
        rows,
        hack_size: DEFAULT_HACK_SIZE as u32,
        offsets: Reads(&hacks.offsets),
        row_len: Reads(&hacks.row_len),
        col: Reads(&hacks.slots.col),
        distance: Writes(distance),
        far: Writes(&far),
    };
    let grid = GridMapping::ThreadPerRow.blocks(Work::Rows(rows.into()), BLOCK);
    let shape = Shape { grid, block: BLOCK, shared_bytes: 0 };
    // SAFETY: every row lies in a hack of that size at its own position, and there is a distance a slot.
    let launch = unsafe { Launch::new(device, "hll_distances", shape, &arguments)? };
    Step::Launch(launch).enqueue(device)?;
    Ok(far.to_host(device)?.iter().all(|&far| far == 0))
}
