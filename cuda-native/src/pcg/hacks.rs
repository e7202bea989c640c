//! A matrix in column-major HLL for a solver's SpMV.

use sparsescope_core::kernel::{GridMapping, LANES, Work, lanes_a_row};
use sparsescope_core::matrix::{DEFAULT_HACK_SIZE, Offset};

use super::distances::{Distances, Windows};
use super::distinct::Distinct;
use super::state::{Product, Scalars};
use crate::arguments::{CsrHacks, Element, HllColumnMajorSolver, HllDistances, Reads, Writes};
use crate::arrays::{Arrays, Hacks, Offsets, Slots};
use crate::buffer::{Buffer, Spent};
use crate::convert::Plan;
use crate::device::{Device, DeviceError, Properties, count, row_count};
use crate::launch::{Launch, Shape, Step, enqueue};

/// Threads per block.
const BLOCK: u32 = 256;

/// Threads per block of the kernel that fills slots from CSR.
const FILL_BLOCK: u32 = 128;

/// Warps of that block, each of which fills a hack.
const FILLED: usize = FILL_BLOCK as usize / LANES as usize;

/// Kernels that load four slots at once take fewer rows, and fewer slots before rows are padded to
/// multiples of four; the number of a four then has 32 bits.
const MOST_ROWS_IN_FOURS: u32 = 1 << 31;
const MOST_SLOTS_IN_FOURS: u64 = 1 << 33;

const _: () =
    assert!(DEFAULT_HACK_SIZE == LANES as usize, "the solver's kernels take hacks of a warp");

/// The hacks of a matrix, whose columns are 16-bit distances where all of them fit: those of a
/// row's first slots from one window of 65 536 columns that moves with the rows, the others from
/// the next one. So distances may differ by up to 131 071, as in bands of 65 536 on either side.
/// If asked, values are 8- or 16-bit codes where they are few.
pub(super) struct NearHacks {
    rows: u32,
    lanes: u32,
    /// First slot of each hack, followed by the number of slots.
    offsets: Buffer<u64>,
    /// Empty where there are distances and codes.
    row_len: Buffer<u32>,
    near: Near,
    /// The columns; empty where they are distances.
    col: Buffer<u32>,
    /// One or two bytes per slot; empty where values are stored as they are. Where columns are
    /// distances too, four slots of a row are adjacent, and padding has the row's own column and the
    /// value 0.
    codes: Buffer<u8>,
    /// Where slots have codes, the distinct values.
    val: Buffer<f64>,
    multiprocessors: u32,
    threads_per_multiprocessor: u32,
}

/// Columns as distances.
struct Near {
    /// Number of windows that hold these columns, and there are no others; 0 if they are not used,
    /// and empty.
    windows: u32,
    /// Start of a row's low window minus the row, modulo 2³².
    base: u32,
    /// The distance of each slot; how many of a row's are in the low window is in the upper 16 bits
    /// of its length, or the top bit of a slot's code tells.
    distance: Buffer<u16>,
}

/// What columns and values are, in errors.
const MATRIX: &str = "the matrix in HLL";

impl NearHacks {
    /// A matrix in CSR, with codes of its values if `encodes`. If there is no memory for codes, values
    /// stay as they are.
    pub(super) fn of(
        device: &Device,
        csr: &Arrays<f64>,
        encodes: bool,
    ) -> Result<Self, DeviceError> {
        match csr {
            Arrays::Csr { row_ptr: Offsets::Narrow(row_ptr), slots } => {
                Self::of_csr(device, (row_ptr, slots), encodes)
            }
            Arrays::Csr { row_ptr: Offsets::Wide(row_ptr), slots } => {
                Self::of_csr(device, (row_ptr, slots), encodes)
            }
            _ => Err(DeviceError::Format("formats other than CSR here")),
        }
    }

    fn of_csr<O: Offset + Element>(
        device: &Device,
        (row_ptr, csr): (&Buffer<O>, &Slots<f64>),
        encodes: bool,
    ) -> Result<Self, DeviceError> {
        let rows = row_count(row_ptr.len() - 1)?;
        let distances = Distances::none(device)?;
        distances.add(device, 0, (row_ptr, &csr.col))?;
        let windows = distances.windows(device, true)?;
        let plan = Plan::on_device(device, row_ptr, (DEFAULT_HACK_SIZE, 1))?;
        // Distances and codes take a lane per row.
        let takes_fours = lanes_a_row(rows.into(), plan.slots) == 1
            && rows < MOST_ROWS_IN_FOURS
            && plan.slots < MOST_SLOTS_IN_FOURS;
        let encodes = encodes && plan.slots > 0 && (takes_fours || windows.is_none());
        let table = Distinct::new(device, encodes)?;
        if encodes {
            // A sample most likely has all values where they are few; otherwise all are looked at.
            for is_sample in [true, false] {
                table.add(device, (row_ptr, &csr.val), is_sample)?;
                let Some(values) = table.values(device)? else { break };
                let made = Self::coded(device, row_ptr, (&plan, windows), values);
                let Some(made) = if_room(made)? else { break };
                made.fill(device, (row_ptr, csr), &table)?;
                if !table.is_missing(device)? {
                    return Ok(made);
                }
            }
        }
        let mut made = Self::planned(device, (rows, &plan), windows, false)?;
        made.val = Buffer::unset(device, MATRIX, made.slots())?;
        made.fill(device, (row_ptr, csr), &table)?;
        Ok(made)
    }

    /// Unfilled hacks of the rows of CSR with codes of these values; of this plan, unless columns are
    /// distances, since widths are multiples of four then.
    fn coded<O: Offset + Element>(
        device: &Device,
        row_ptr: &Buffer<O>,
        (plan, windows): (&Plan, Option<Windows>),
        values: Buffer<f64>,
    ) -> Result<Self, DeviceError> {
        let rows = row_count(row_ptr.len() - 1)?;
        let mut made = if windows.is_some() {
            let in_fours = Plan::on_device(device, row_ptr, (DEFAULT_HACK_SIZE, 4))?;
            Self::planned(device, (rows, &in_fours), windows, true)?
        } else {
            Self::planned(device, (rows, plan), None, false)?
        };
        made.codes = Distinct::codes(device, (&values, made.near.windows), made.slots())?;
        made.val = values;
        Ok(made)
    }

    /// Unfilled hacks of a plan, without codes and values; without lengths if `has_fours`, which have
    /// distances, and codes later.
    fn planned(
        device: &Device,
        (rows, plan): (u32, &Plan),
        windows: Option<Windows>,
        has_fours: bool,
    ) -> Result<Self, DeviceError> {
        let slots = plan.slots as usize;
        let near = Near::of(device, windows, slots)?;
        let col = Buffer::unset(device, MATRIX, if near.windows > 0 { 0 } else { slots })?;
        let lengths = if has_fours { 0 } else { rows as usize };
        let row_len = Buffer::unset(device, "the row lengths", lengths)?;
        let stored = Slots { col, val: Buffer::unset(device, MATRIX, 0)? };
        let rows_of = (plan.offsets.clone(), row_len);
        let made = Self::new(device, (rows, plan.slots), rows_of, near, stored)?;
        Ok(if has_fours { Self { lanes: 1, ..made } } else { made })
    }

    /// Hacks whose columns have this range of distances. If there is no memory for distances, columns
    /// stay as they are.
    pub(super) fn of_hacks(
        device: &Device,
        hacks: Hacks<f64>,
        rows: u32,
        distances: &Distances,
    ) -> Result<Self, DeviceError> {
        let Hacks { offsets, row_len, slots, .. } = hacks;
        let windows = distances.windows(device, false)?;
        let near = match if_room(Near::of(device, windows, slots.col.len()))? {
            Some(near) => near,
            None => Near::of(device, None, 0)?,
        };
        let shape = (rows, slots.val.len() as u64);
        let mut made = Self::new(device, shape, (offsets, row_len), near, slots)?;
        if made.near.windows > 0 {
            made.narrow(device)?;
            made.col = Buffer::unset(device, MATRIX, 0)?;
        }
        Ok(made)
    }

    /// Hacks of this many rows and slots, without codes.
    fn new(
        device: &Device,
        (rows, slots): (u32, u64),
        (offsets, row_len): (Buffer<u64>, Buffer<u32>),
        near: Near,
        stored: Slots<f64>,
    ) -> Result<Self, DeviceError> {
        let &Properties { multiprocessors, threads_per_multiprocessor, .. } = device.properties();
        Ok(Self {
            rows,
            lanes: lanes_a_row(rows.into(), slots),
            offsets,
            row_len,
            near,
            col: stored.col,
            codes: Distinct::no_codes(device)?,
            val: stored.val,
            multiprocessors,
            threads_per_multiprocessor,
        })
    }

    /// Number of slots.
    fn slots(&self) -> usize {
        self.col.len() + self.near.distance.len()
    }

    /// Number of distinct values, if slots have codes of theirs; otherwise 0.
    fn distinct(&self) -> u32 {
        if self.codes.is_empty() { 0 } else { self.val.len() as u32 }
    }

    /// Fills the lengths and slots from CSR, with codes from the table if there is room for them.
    fn fill<O: Offset + Element>(
        &self,
        device: &Device,
        (row_ptr, csr): (&Buffer<O>, &Slots<f64>),
        table: &Distinct,
    ) -> Result<(), DeviceError> {
        // Bytes of a column and a code or value. Several blocks share a multiprocessor, also where rows
        // are long.
        let each = if self.distinct() > 0 { 6 } else { 12 };
        let most = device.properties().shared_per_block as usize / 4 / FILLED / each;
        let room = room_of_hack(csr.col.len(), self.rows as usize, most);
        let arguments = CsrHacks {
            rows: self.rows,
            room: count("the number of nonzeros", room)?,
            row_ptr: Reads(row_ptr),
            csr_col: Reads(&csr.col),
            csr_val: Reads(&csr.val),
            offsets: Reads(&self.offsets),
            near: self.near.windows,
            base: self.near.base,
            capacity: table.keys.len() as u32,
            keys: Reads(&table.keys),
            index: Reads(&table.index),
            distinct: self.distinct(),
            missing: Writes(&table.missing),
            row_len: Writes(&self.row_len),
            col: Writes(&self.col),
            distance: Writes(&self.near.distance),
            codes: Writes(&self.codes),
            val: Writes(&self.val),
        };
        let grid = GridMapping::ThreadPerRow.blocks(Work::Rows(self.rows.into()), FILL_BLOCK);
        let shared_bytes = count("the shared memory", FILLED * room * each)?;
        let shape = Shape { grid, block: FILL_BLOCK, shared_bytes };
        // SAFETY: a warp has the rows of a hack and its slots, from its offset to the next one, and
        // shared memory for `room` nonzeros. Row offsets ascend up to the length of CSR's columns and
        // values; each slot has a distance if there are windows, else a column, and a code of as many
        // bytes as `distinct` needs, else a value. Each row has a length, or a multiple of four slots
        // where there are distances and codes. Half of the table is free, so that a search for any
        // value ends. The kernel takes any flag.
        let steps = unsafe {
            let launch = Launch::new(device, "csr_setup_hacks", shape, &arguments)?;
            [Step::fill_numbers(&table.missing, 0), Step::Launch(launch)]
        };
        enqueue(device, &steps)
    }

    /// Makes distances of the columns.
    fn narrow(&self, device: &Device) -> Result<(), DeviceError> {
        let arguments = HllDistances {
            rows: self.rows,
            offsets: Reads(&self.offsets),
            row_len: Writes(&self.row_len),
            base: self.near.base,
            col: Reads(&self.col),
            distance: Writes(&self.near.distance),
        };
        let grid = GridMapping::ThreadPerRow.blocks(Work::Rows(self.rows.into()), BLOCK);
        let shape = Shape { grid, block: BLOCK, shared_bytes: 0 };
        // SAFETY: every row lies in a hack at its own position, and there is one distance per slot.
        // Each thread writes the length of its own row.
        let launch = unsafe { Launch::new(device, "hll_distances", shape, &arguments)? };
        enqueue(device, &[Step::Launch(launch)])
    }

    /// Bytes of its arrays.
    pub(super) fn bytes(&self) -> u64 {
        let columns = self.col.bytes() + self.near.distance.bytes();
        let rows = self.offsets.bytes() + self.row_len.bytes();
        rows + columns + self.codes.bytes() + self.val.bytes()
    }

    /// Time spent on creating them.
    pub(super) fn spent(&self) -> Spent {
        let columns = self.col.spent() + self.near.distance.spent();
        let rows = self.offsets.spent() + self.row_len.spent();
        rows + columns + self.codes.spent() + self.val.spent()
    }

    /// The kernel of an SpMV, and how many of its blocks have registers on a multiprocessor at once.
    fn kernel(&self) -> (&'static str, u64) {
        match (self.near.windows > 0, self.codes.is_empty()) {
            (true, false) => ("hll_fours_solver", 8),
            (false, false) => ("hll_coded_solver", 4),
            (_, true) => ("hll_column_major_solver", 4),
        }
    }

    /// Blocks of an SpMV: as many as run at once, if there are rows for all.
    pub(super) fn blocks(&self) -> u64 {
        let work = Work::Shared(self.rows.into(), self.lanes.into());
        let (_, at_once) = self.kernel();
        let at_once = at_once.min(u64::from(self.threads_per_multiprocessor / BLOCK));
        GridMapping::LanesPerRow.blocks(work, BLOCK).min(at_once * u64::from(self.multiprocessors))
    }

    /// The step of an SpMV.
    pub(super) fn product(
        &self,
        device: &Device,
        scalars: &Scalars,
        product: &Product<'_>,
    ) -> Result<Step, DeviceError> {
        let Product { x, y, purpose } = product;
        let sum = scalars.sum_for(*purpose);
        let arguments = HllColumnMajorSolver {
            rows: self.rows,
            lanes: self.lanes,
            offsets: Reads(&self.offsets),
            row_len: Reads(&self.row_len),
            near: self.near.windows,
            base: self.near.base,
            col: Reads(&self.col),
            distance: Reads(&self.near.distance),
            distinct: self.distinct(),
            codes: Reads(&self.codes),
            val: Reads(&self.val),
            x: Reads(x),
            y: Writes(y),
            purpose: purpose.number(),
            with: Reads(purpose.with().unwrap_or(x)),
            parts: Writes(&sum.parts),
            counts: Writes(&sum.counts),
            numbers: Writes(&scalars.numbers),
            words: Reads(&scalars.words),
        };
        let shape = Shape { grid: self.blocks(), block: BLOCK, shared_bytes: 0 };
        let (name, _) = self.kernel();
        // SAFETY: every row lies in a hack of a warp at its own position, and there is one offset more
        // than hacks; `row_len` has the row's length, in its lower half where `near`. The slots of its
        // length have a column, in the array that `near` selects, within the matrix, and a value or,
        // for the kernels of codes, a code below `distinct` of as many bytes as it needs; x has one
        // element per column, y and the vector it is multiplied with one per row. The sums of blocks
        // have enough space. For fours, a lane has a row, and each row has a multiple of four slots, of
        // which padding has the row's own column, in a square matrix, and a code; rows and slots are
        // few enough. All threads wait for the previous kernels before they read x or write.
        let launch = unsafe { Launch::new(device, name, shape, &arguments)?.ahead(device) };
        Ok(Step::Launch(launch))
    }
}

impl Near {
    /// Room for the columns of this many slots as distances, if there are windows.
    fn of(device: &Device, windows: Option<Windows>, slots: usize) -> Result<Self, DeviceError> {
        let (windows, base, slots) = windows.map_or((0, 0, 0), |w| (w.number, w.base, slots));
        let distance = Buffer::unset(device, "the distances of columns", slots)?;
        Ok(Self { windows, base, distance })
    }
}

/// What was made, unless there was no memory for it.
fn if_room<T>(made: Result<T, DeviceError>) -> Result<Option<T>, DeviceError> {
    match made {
        Ok(made) => Ok(Some(made)),
        Err(DeviceError::Memory { .. }) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Nonzeros of a hack for which there is room in shared memory: a quarter more than the average, up
/// to `most`, or none if that is less.
fn room_of_hack(nonzeros: usize, rows: usize, most: usize) -> usize {
    let average = nonzeros / rows.div_ceil(DEFAULT_HACK_SIZE).max(1);
    if average < most { (average + average / 4 + 1).min(most) } else { 0 }
}

#[cfg(test)]
mod tests {
    use super::room_of_hack;

    #[test]
    fn a_hack_has_room_for_more_than_the_average_unless_few_would_fit() {
        assert_eq!(room_of_hack(32 * 40, 64, 1000), 801);
        assert_eq!(room_of_hack(32 * 40, 64, 700), 700);
        assert_eq!((room_of_hack(32 * 40, 64, 640), room_of_hack(0, 0, 1000)), (0, 1));
    }
}
