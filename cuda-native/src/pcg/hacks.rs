//! A matrix in column-major HLL for a solver's SpMV.

use sparsescope_core::kernel::{GridMapping, LANES, Work, lanes_a_row};
use sparsescope_core::matrix::DEFAULT_HACK_SIZE;

use super::state::{Product, Scalars};
use crate::arguments::{
    HllCodes, HllColumnMajorSolver, HllDistanceRange, HllDistances, HllDistinct, Reads, Writes,
};
use crate::arrays::Hacks;
use crate::buffer::{Buffer, Spent};
use crate::device::{Device, DeviceError, Properties};
use crate::launch::{Launch, Shape, Step, enqueue, preset};

/// Threads per block.
const BLOCK: u32 = 256;

/// Number of distances that 16 bits can represent.
const WINDOW: u64 = 1 << 16;

/// Maximum number of values in a table: as much as the caches nearest to the threads hold.
const MOST_DISTINCT: usize = 1 << 13;

/// Number of values that 8-bit codes can represent.
const OF_BYTE: usize = 1 << 8;

/// Maximum number of blocks that look for distinct values or for the range of distances.
const MOST_BLOCKS: u64 = 2048;

/// Slots that show whether values are few before all are read.
const SAMPLE: u64 = 1 << 16;

const _: () =
    assert!(DEFAULT_HACK_SIZE == LANES as usize, "the solver's kernels take hacks of a warp");

/// The hacks of a matrix, whose columns are 16-bit distances where all of them fit: those of a
/// row's first slots from one window of 65 536 columns that moves with the rows, the others from
/// the next one. So distances may differ by up to 131 071, as in bands of 65 536 on either side.
/// If asked, values are 8- or 16-bit codes where they are few.
pub(super) struct NearHacks {
    /// Where slots have codes, its values are the distinct ones.
    hacks: Hacks<f64>,
    rows: u32,
    lanes: u32,
    near: Near,
    /// Whether four slots of a row are adjacent.
    fours: bool,
    /// One or two bytes per slot; empty where values are stored as they are.
    codes: Buffer<u8>,
    multiprocessors: u32,
    threads_per_multiprocessor: u32,
}

/// Columns as distances.
struct Near {
    /// Whether these columns are used, and `hacks` has none; otherwise they are empty.
    used: bool,
    /// Start of a row's low window minus the row, modulo 2³².
    base: u32,
    /// The distance of each slot; how many of a row's are in the low window is in the upper 16 bits
    /// of its length.
    distance: Buffer<u16>,
}

impl NearHacks {
    /// The matrix with this many rows, with codes of its values if `encodes`. If there is no memory
    /// for distances or codes, columns or values stay as they are.
    pub(super) fn of(
        device: &Device,
        mut hacks: Hacks<f64>,
        rows: u32,
        encodes: bool,
    ) -> Result<Self, DeviceError> {
        let lanes = lanes_a_row(rows.into(), hacks.slot_count());
        let near = Near::of(device, &hacks, rows)?;
        // Distances and codes take a lane per row.
        let encodes = encodes && (lanes == 1 || !near.used);
        let found = if encodes { Distinct::of(device, &hacks.slots.val)? } else { None };
        let fours = near.used && found.is_some();
        let codes = match found {
            Some(distinct) => {
                // Before the lengths get their upper halves.
                distinct.fill(device, &hacks, (rows, fours))?;
                hacks.slots.val = distinct.values;
                distinct.codes
            }
            None => Buffer::unset(device, CODES, 0)?,
        };
        if near.used {
            near.fill(device, &hacks, (rows, fours))?;
            hacks.slots.col = Buffer::unset(device, "the columns", 0)?;
        }
        let &Properties { multiprocessors, threads_per_multiprocessor, .. } = device.properties();
        Ok(Self {
            hacks,
            rows,
            lanes,
            near,
            fours,
            codes,
            multiprocessors,
            threads_per_multiprocessor,
        })
    }

    /// Bytes of its arrays.
    pub(super) fn bytes(&self) -> u64 {
        let Hacks { offsets, row_len, slots, .. } = &self.hacks;
        let columns = slots.col.bytes() + self.near.distance.bytes();
        offsets.bytes() + row_len.bytes() + columns + self.codes.bytes() + slots.val.bytes()
    }

    /// Time spent on creating them.
    pub(super) fn spent(&self) -> Spent {
        self.hacks.spent() + self.near.distance.spent() + self.codes.spent()
    }

    /// The kernel of an SpMV, and how many of its blocks have registers on a multiprocessor at once.
    fn kernel(&self) -> (&'static str, u64) {
        match (self.fours, self.codes.is_empty()) {
            (true, _) => ("hll_fours_solver", 8),
            (_, false) => ("hll_coded_solver", 4),
            _ => ("hll_column_major_solver", 4),
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
        let val = &self.hacks.slots.val;
        let arguments = HllColumnMajorSolver {
            rows: self.rows,
            lanes: self.lanes,
            offsets: Reads(&self.hacks.offsets),
            row_len: Reads(&self.hacks.row_len),
            near: u32::from(self.near.used),
            base: self.near.base,
            col: Reads(&self.hacks.slots.col),
            distance: Reads(&self.near.distance),
            distinct: if self.codes.is_empty() { 0 } else { val.len() as u32 },
            codes: Reads(&self.codes),
            val: Reads(val),
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
        // SAFETY: every row lies in a hack of a warp at its own position, and there is one offset more than hacks;
        // `row_len` has the row's length, in its lower half where `near`. The slots of its length have a column, in
        // the array that `near` selects, within the matrix, and a value or, for the kernels of codes, a code below
        // `distinct` of as many bytes as it needs; x has one element per column, y and the vector it is multiplied
        // with one per row. The sums of blocks have enough space. For fours, a lane has a row, and hacks begin at
        // multiples of 32 slots, so groups of four are aligned and within the arrays; what they hold beyond a row's
        // length is not used. All threads wait for the previous kernels before they read x or write.
        let launch = unsafe { Launch::new(device, name, shape, &arguments)?.ahead(device) };
        Ok(Step::Launch(launch))
    }
}

impl Near {
    /// Room for the columns as distances, if all fit and there is memory for them.
    fn of(device: &Device, hacks: &Hacks<f64>, rows: u32) -> Result<Self, DeviceError> {
        let made = |used, base, slots| {
            let distance = Buffer::unset(device, "the distances of columns", slots)?;
            Ok(Self { used, base, distance })
        };
        if let Some(base) = base_of(device, hacks, rows)?
            && let Ok(near) = made(true, base, hacks.slots.col.len())
        {
            return Ok(near);
        }
        made(false, 0, 0)
    }

    fn fill(
        &self,
        device: &Device,
        hacks: &Hacks<f64>,
        (rows, fours): (u32, bool),
    ) -> Result<(), DeviceError> {
        let arguments = HllDistances {
            rows,
            hack_size: DEFAULT_HACK_SIZE as u32,
            fours: u32::from(fours),
            offsets: Reads(&hacks.offsets),
            row_len: Writes(&hacks.row_len),
            base: self.base,
            col: Reads(&hacks.slots.col),
            distance: Writes(&self.distance),
        };
        // SAFETY: every row lies in a hack of that size at its own position, and there is one
        // distance per slot. Each thread writes the length of its own row.
        let launch =
            unsafe { Launch::new(device, "hll_distances", row_a_thread(rows), &arguments)? };
        Step::Launch(launch).enqueue(device)
    }
}

/// What the codes are for, in errors.
const CODES: &str = "the codes of values";

/// The distinct values of a matrix, in a hash table, and room for the codes of its slots.
struct Distinct {
    /// The values that codes are indices of.
    values: Buffer<f64>,
    /// Bit patterns of values by their place in the table, and the code of each.
    keys: Buffer<u64>,
    index: Buffer<u32>,
    codes: Buffer<u8>,
}

impl Distinct {
    /// `None` if distinct values are too many or memory is too little.
    fn of(device: &Device, val: &Buffer<f64>) -> Result<Option<Self>, DeviceError> {
        let capacity = 2 * MOST_DISTINCT;
        let (Ok(keys), Ok(index), Ok(values), Ok(count)) = (
            // SAFETY: the kernel takes places of all ones as free.
            unsafe { preset::<u64>(device, "a table of values", capacity, 0xff) },
            Buffer::unset(device, "a table of values", capacity),
            Buffer::unset(device, "the distinct values", MOST_DISTINCT),
            // SAFETY: the kernel counts from 0.
            unsafe { preset::<u32>(device, "the number of distinct values", 1, 0) },
        ) else {
            return Ok(None);
        };
        let all = val.len() as u64;
        let mut found = 0;
        for slots in [all.min(SAMPLE), all] {
            let arguments = HllDistinct {
                slots,
                val: Reads(val),
                capacity: capacity as u32,
                keys: Writes(&keys),
                index: Writes(&index),
                distinct: Writes(&values),
                count: Writes(&count),
            };
            let grid = slots.div_ceil(BLOCK.into()).min(MOST_BLOCKS);
            let shape = Shape { grid, block: BLOCK, shared_bytes: 0 };
            // SAFETY: there are that many values; the table has `capacity` places, and half as many
            // values are stored.
            let launch = unsafe { Launch::new(device, "hll_distinct", shape, &arguments)? };
            Step::Launch(launch).enqueue(device)?;
            found = count.to_host(device)?.first().map_or(0, |&count| count as usize);
            if found > MOST_DISTINCT {
                return Ok(None);
            }
        }
        let bytes = if found <= OF_BYTE { 1 } else { 2 };
        let codes = Buffer::unset(device, CODES, bytes * val.len());
        let (Ok(codes), Some(values)) = (codes, values.part(0..found)) else { return Ok(None) };
        Ok(Some(Self { values, keys, index, codes }))
    }

    /// Writes the codes of the slots of rows.
    fn fill(
        &self,
        device: &Device,
        hacks: &Hacks<f64>,
        (rows, fours): (u32, bool),
    ) -> Result<(), DeviceError> {
        let arguments = HllCodes {
            rows,
            hack_size: DEFAULT_HACK_SIZE as u32,
            fours: u32::from(fours),
            offsets: Reads(&hacks.offsets),
            row_len: Reads(&hacks.row_len),
            val: Reads(&hacks.slots.val),
            capacity: self.keys.len() as u32,
            keys: Reads(&self.keys),
            index: Reads(&self.index),
            distinct: self.values.len() as u32,
            codes: Writes(&self.codes),
        };
        // SAFETY: every row lies in a hack of that size at its own position, there is one offset more
        // than hacks, and the slots of a row's length, which is whole, have values in the table; codes have one byte each, or two if the distinct values are more
        // than 256.
        let launch = unsafe { Launch::new(device, "hll_codes", row_a_thread(rows), &arguments)? };
        Step::Launch(launch).enqueue(device)
    }
}

/// The base from which the distances of sorted columns count so that two windows hold all of them,
/// if there is one.
fn base_of(device: &Device, hacks: &Hacks<f64>, rows: u32) -> Result<Option<u32>, DeviceError> {
    // SAFETY: the kernel takes any numbers.
    let range = unsafe { preset::<u64>(device, "the distances of columns", 3, 0)? };
    let least = range.part(0..1).expect("there are three words"); // invariant
    let arguments = HllDistanceRange {
        rows,
        hack_size: DEFAULT_HACK_SIZE as u32,
        offsets: Reads(&hacks.offsets),
        row_len: Reads(&hacks.row_len),
        col: Reads(&hacks.slots.col),
        range: Writes(&range),
    };
    let shape = row_a_thread(rows);
    let shape = Shape { grid: shape.grid.min(MOST_BLOCKS), ..shape };
    // SAFETY: every row lies in a hack of that size at its own position and has a column in each slot of its
    // length; `range` has three words. The kernel takes any minimum.
    let steps = unsafe {
        let launch = Launch::new(device, "hll_distance_range", shape, &arguments)?;
        [Step::fill_numbers(&least, 0xff), Step::Launch(launch)]
    };
    enqueue(device, &steps)?;
    Ok(base_of_range(&range.to_host(device)?))
}

/// The same, from the minimum and maximum distance plus 2³², which are reversed if there are no
/// nonzeros, and whether a row is too long.
fn base_of_range(range: &[u64]) -> Option<u32> {
    let [least, greatest, too_long] = *range else { return None };
    if least > greatest {
        return Some(0);
    }
    // The low half of the minimum is the distance modulo 2³², as kernels add it.
    (too_long == 0 && greatest - least < 2 * WINDOW).then_some(least as u32)
}

fn row_a_thread(rows: u32) -> Shape {
    let grid = GridMapping::ThreadPerRow.blocks(Work::Rows(rows.into()), BLOCK);
    Shape { grid, block: BLOCK, shared_bytes: 0 }
}

#[cfg(test)]
mod tests {
    use super::base_of_range;

    const ROW: u64 = 1 << 32;

    #[test]
    fn distances_count_from_the_least_where_two_windows_have_all_of_them() {
        assert_eq!(base_of_range(&[ROW - 5, ROW + 131_066, 0]), Some(0_u32.wrapping_sub(5)));
        assert_eq!(base_of_range(&[ROW - 5, ROW + 131_067, 0]), None);
        assert_eq!(base_of_range(&[ROW + 7, ROW + 7, 0]), Some(7));
        assert_eq!(base_of_range(&[ROW + 7, ROW + 8, 1]), None);
        assert_eq!(base_of_range(&[u64::MAX, 0, 0]), Some(0));
    }
}
