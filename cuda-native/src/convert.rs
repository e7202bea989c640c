//! Converts CSR on the device to column-major HLL, all at once or a piece at a time.

use std::ops::Range;
use std::time::Instant;

use sparsescope_core::experiment::PrepareError;
use sparsescope_core::matrix::{
    Csr, HACK_SIZES, Hll, HllLayout, Offset, Order, RowOrder, RowPtr, SlotLayout,
};
use sparsescope_core::memory::MemoryLimit;

use crate::arguments::{ConvertHll, Element, PlanHacks, Reads, Writes};
use crate::arrays::{Arrays, Hacks, Offsets, Slots};
use crate::buffer::{Buffer, Spent};
use crate::device::{Device, DeviceError, count, row_count};
use crate::launch::{Launch, Shape, Step, enqueue, preset};
use crate::refusal::refused;
use crate::value::DeviceReal;

/// Threads per block of the kernel that fills, and the positions that a block has.
const BLOCK: u32 = 128;
const POSITIONS: usize = 32;

/// Nonzeros for which every block has room: 9 for each row in each of its four warps.
const LEAST_ROOM: usize = 4 * 9 * POSITIONS;

/// Threads per block of the kernels that plan, and offsets per block.
const PLAN_BLOCK: u32 = 1024;
const HACKS_PLANNED: u64 = 8 * 1024;

/// Where the slots of column-major hacks lie, on the device.
pub(crate) struct Plan {
    order: RowOrder,
    hack_size: usize,
    /// Width of each hack.
    max_nzr: Buffer<u32>,
    /// First slot of each hack, followed by the number of slots.
    pub(crate) offsets: Buffer<u64>,
    pub(crate) slots: u64,
    /// Seconds of planning.
    seconds: f64,
}

impl Plan {
    /// Made on the host, for rows in any order; refused if it is larger than `memory`.
    fn on_host(
        device: &Device,
        row_ptr: &RowPtr,
        layout: HllLayout,
        memory: MemoryLimit,
    ) -> Result<Self, PrepareError> {
        let start = Instant::now();
        let (order, shape) = Hll::<f64>::plan_of(row_ptr, layout)
            .map_err(|error| PrepareError::Refused(error.to_string()))?;
        let bytes = u128::from(shape.bytes() + order.bytes());
        let fits = memory.check("the plan of HLL", bytes);
        fits.map_err(|error| PrepareError::Refused(error.to_string()))?;
        let seconds = start.elapsed().as_secs_f64();
        let (hack_size, slots) = (shape.hack_size(), shape.slots());
        let max_nzr = Buffer::of(device, "the hack widths", shape.max_nzr()).map_err(refused)?;
        let offsets = Buffer::of(device, "the hack offsets", shape.offsets()).map_err(refused)?;
        Ok(Self { order, hack_size, max_nzr, offsets, slots, seconds })
    }

    /// Made on the device, for rows in their own order and one of [`HACK_SIZES`], with widths that are
    /// multiples of a number. Waits for completion.
    pub(crate) fn on_device<O: Offset + Element>(
        device: &Device,
        row_ptr: &Buffer<O>,
        (hack_size, multiple): (usize, u32),
    ) -> Result<Self, DeviceError> {
        let rows = row_ptr.len() - 1;
        let hacks = rows.div_ceil(hack_size);
        let max_nzr = Buffer::unset(device, "the hack widths", hacks)?;
        let offsets = Buffer::unset(device, "the hack offsets", hacks + 1)?;
        let blocks = rows.div_ceil(PLAN_BLOCK as usize);
        let sums = Buffer::unset(device, "the sums of hack widths", blocks)?;
        let arguments = PlanHacks {
            rows: row_count(rows)?,
            hack_size: count("the hack size", hack_size)?,
            multiple,
            row_ptr: Reads(row_ptr),
            max_nzr: Writes(&max_nzr),
            sums: Writes(&sums),
            offsets: Writes(&offsets),
        };
        let by_rows = Shape { grid: blocks as u64, block: PLAN_BLOCK, shared_bytes: 0 };
        let by_hacks = Shape { grid: (hacks as u64 + 1).div_ceil(HACKS_PLANNED), ..by_rows };
        // SAFETY: one thread per row, which has a hack with a width, and a sum per block; then one
        // thread for 8 offsets, of which there is one more than hacks. Hack sizes divide a block.
        let steps = unsafe {
            [
                Step::Launch(Launch::new(device, "csr_setup_widths", by_rows, &arguments)?),
                Step::Launch(Launch::new(device, "csr_setup_offsets", by_hacks, &arguments)?),
            ]
        };
        let start = Instant::now();
        enqueue(device, &steps)?;
        let end = offsets.part(hacks..hacks + 1);
        let end = end.expect("an offset follows the last hack"); // invariant
        let slots = end.to_host(device)?.first().copied().unwrap_or(0);
        let (order, seconds) = (RowOrder::identity(rows), start.elapsed().as_secs_f64());
        Ok(Self { order, hack_size, max_nzr, offsets, slots, seconds })
    }
}

/// Converts a matrix in CSR, `csr`, to hacks. Where rows lie in their own order, the device plans
/// the hacks too; otherwise the host does. Fails, before allocating slots, if they need more than
/// the device has free, or if a plan on the host needs more than `memory`.
pub(crate) fn hacks<T: DeviceReal>(
    device: &Device,
    host: &Csr<T>,
    csr: &Arrays<T>,
    layout: HllLayout,
    memory: MemoryLimit,
) -> Result<Hacks<T>, PrepareError> {
    let Arrays::Csr { row_ptr, slots } = csr else {
        return Err(refused(DeviceError::Format("formats other than CSR here")));
    };
    // The host refuses other hack sizes.
    let is_plain = HllLayout::plain(layout.hack_size, Order::ColumnMajor) == layout
        && HACK_SIZES.contains(&layout.hack_size);
    let plan = match row_ptr {
        _ if !is_plain => Plan::on_host(device, host.row_ptr(), layout, memory)?,
        Offsets::Narrow(row_ptr) => {
            Plan::on_device(device, row_ptr, (layout.hack_size, 1)).map_err(refused)?
        }
        Offsets::Wide(row_ptr) => {
            Plan::on_device(device, row_ptr, (layout.hack_size, 1)).map_err(refused)?
        }
    };
    let made = match row_ptr {
        Offsets::Narrow(row_ptr) => filled(device, host, (row_ptr, slots), &plan),
        Offsets::Wide(row_ptr) => filled(device, host, (row_ptr, slots), &plan),
    };
    made.map_err(refused)
}

/// Nonzeros in CSR on the device at a time while hacks are filled piece by piece.
const PIECE: usize = 1 << 22;

/// What is done with the rows of a piece that are on the device in CSR, after this many other rows.
type Look<'l, T> = dyn FnMut(usize, &Buffer<u64>, &Slots<T>) -> Result<(), DeviceError> + 'l;

/// Converts `a`, which lies on the host, to hacks with every row at its own place: it is uploaded
/// and converted a piece at a time, so that the device never holds it twice; `look` sees each piece
/// before. Fails as [`hacks`] does. Also returns the time of the upload.
pub(crate) fn hacks_in_pieces<T: DeviceReal>(
    device: &Device,
    a: &Csr<T>,
    layout: HllLayout,
    memory: MemoryLimit,
    look: &mut Look<'_, T>,
) -> Result<(Hacks<T>, Spent), PrepareError> {
    let plan = Plan::on_host(device, a.row_ptr(), layout, memory)?;
    if plan.order.row_of().is_some() || plan.order.tail() > 0 {
        let sentence = "reordered rows cannot be converted to hacks in parts";
        return Err(PrepareError::Refused(sentence.to_owned()));
    }
    let mut made = room(device, a, &plan).map_err(refused)?;
    let mut spent = Spent::default();
    for hacks in pieces(a.row_ptr(), plan.hack_size, PIECE) {
        let took = piece(device, a, (&made, &plan.max_nzr), hacks, look).map_err(refused)?;
        spent = spent + took.0;
        made.seconds += took.1;
    }
    Ok((made, spent))
}

/// Ranges of hacks, each with up to `most` nonzeros or a single hack.
fn pieces(row_ptr: &RowPtr, hack_size: usize, most: usize) -> Vec<Range<usize>> {
    let rows = row_ptr.len() - 1;
    let hacks = rows.div_ceil(hack_size);
    let begin = |hack: usize| row_ptr.get((hack * hack_size).min(rows));
    let mut all = Vec::new();
    let mut first = 0;
    while first < hacks {
        let fits = |end: &usize| begin(*end) - begin(first) <= most;
        let end = (first + 2..=hacks).take_while(fits).last().unwrap_or(first + 1);
        all.push(first..end);
        first = end;
    }
    all
}

/// Uploads the rows of some hacks and fills their slots; returns the upload time and the seconds of
/// filling.
fn piece<T: DeviceReal>(
    device: &Device,
    a: &Csr<T>,
    (made, max_nzr): (&Hacks<T>, &Buffer<u32>),
    hacks: Range<usize>,
    look: &mut Look<'_, T>,
) -> Result<(Spent, f64), DeviceError> {
    let hack_size = made.hack_size;
    let rows = hacks.start * hack_size..(hacks.end * hack_size).min(a.rows());
    let begin = a.row_ptr().get(rows.start);
    let offsets: Vec<u64> =
        (rows.start..=rows.end).map(|row| (a.row_ptr().get(row) - begin) as u64).collect();
    let entries = begin..a.row_ptr().get(rows.end);
    let outside = || DeviceError::Arrays("part of a matrix is out of range".to_owned());
    let col = a.col().get(entries.clone()).ok_or_else(outside)?;
    let val = a.val().get(entries).ok_or_else(outside)?;
    let row_ptr = Buffer::of(device, "the row offsets", &offsets)?;
    let slots = Slots::of(device, col, val)?;
    look(rows.start, &row_ptr, &slots)?;
    let seconds = fill(device, (&row_ptr, &slots), (made, max_nzr), (hacks, rows))?;
    Ok((row_ptr.spent() + slots.spent(), seconds))
}

/// The hacks of a plan, with all nonzeros.
fn filled<T: DeviceReal, O: Offset + Element>(
    device: &Device,
    host: &Csr<T>,
    csr: (&Buffer<O>, &Slots<T>),
    plan: &Plan,
) -> Result<Hacks<T>, DeviceError> {
    let made = room(device, host, plan)?;
    let all = (0..plan.max_nzr.len(), 0..plan.order.in_blocks());
    let seconds = fill(device, csr, (&made, &plan.max_nzr), all)?;
    Ok(Hacks { seconds: plan.seconds + seconds, ..made })
}

/// Hacks with unfilled slots.
fn room<T: DeviceReal>(
    device: &Device,
    host: &Csr<T>,
    plan: &Plan,
) -> Result<Hacks<T>, DeviceError> {
    let Plan { order, hack_size, offsets, slots, seconds, .. } = plan;
    let filled = *slots as usize;
    let matrix = "the matrix in HLL";
    let each = (size_of::<u32>() + T::BYTES) as u64;
    device.check_memory(matrix, slots.saturating_mul(each))?;
    let row_of = Buffer::of(device, "the order of rows", order.row_of().unwrap_or(&[]))?;
    let row_len = Buffer::unset(device, "the row lengths", order.in_blocks())?;
    let slots = Slots {
        col: Buffer::unset(device, matrix, filled)?,
        val: Buffer::unset(device, matrix, filled)?,
    };
    let (tail_ptr, tail) = tail(device, host, order)?;
    let (order, hack_size, offsets) = (order.clone(), *hack_size, offsets.clone());
    let (seconds, transposition_s) = (*seconds, 0.0);
    Ok(Hacks {
        order,
        hack_size,
        offsets,
        row_len,
        row_of,
        slots,
        tail_ptr,
        tail,
        seconds,
        transposition_s,
    })
}

/// Fills the slots of some hacks, at the positions `rows`, from CSR whose first row is that of the
/// first position, unless rows are reordered. Waits for completion and returns its seconds.
fn fill<T: DeviceReal, O: Offset + Element>(
    device: &Device,
    (row_ptr, csr): (&Buffer<O>, &Slots<T>),
    (made, max_nzr): (&Hacks<T>, &Buffer<u32>),
    (hacks, rows): (Range<usize>, Range<usize>),
) -> Result<f64, DeviceError> {
    let Hacks { order, hack_size, slots, .. } = made;
    let outside = || DeviceError::Arrays("hacks are out of range".to_owned());
    let max_nzr = max_nzr.part(hacks.clone()).ok_or_else(outside)?;
    let offsets = made.offsets.part(hacks.clone()).ok_or_else(outside)?;
    let row_len = made.row_len.part(rows.clone()).ok_or_else(outside)?;
    let stored = row_count(hacks.len() * hack_size)?;
    // Two blocks at once, so that one copies while the other writes. Rows in another order are not copied as a whole.
    let each = (size_of::<u32>() + T::BYTES) as u32;
    let is_permuted = order.row_of().is_some();
    let most = if is_permuted { 0 } else { device.properties().shared_per_block / 2 / each };
    let room = room_of_block(csr.col.len(), rows.len(), most as usize);
    let arguments = ConvertHll {
        in_hacks: row_count(rows.len())?,
        stored,
        hack_size: count("the hack size", *hack_size)?,
        permuted: u32::from(is_permuted),
        room,
        row_of: Reads(&made.row_of),
        row_ptr: Reads(row_ptr),
        csr_col: Reads(&csr.col),
        csr_val: Reads(&csr.val),
        offsets: Reads(&offsets),
        max_nzr: Reads(&max_nzr),
        row_len: Writes(&row_len),
        col: Writes(&slots.col),
        val: Writes(&slots.val),
    };
    let grid = u64::from(stored).div_ceil(POSITIONS as u64);
    let shape_of_grid = Shape { grid, block: BLOCK, shared_bytes: room * each };
    // SAFETY: one block per 32 stored positions, with shared memory for `room` columns and values;
    // each position in hacks has its own row and length, row offsets ascend up to the length of
    // CSR's columns and values, and the plan's hacks are as wide as their longest row, so that each
    // slot from a hack's offset on is within col and val.
    let launch = unsafe { Launch::new(device, "convert_hll", shape_of_grid, &arguments)? };
    let start = Instant::now();
    enqueue(device, &[Step::Launch(launch)])?;
    device.synchronize()?;
    Ok(start.elapsed().as_secs_f64())
}

/// Nonzeros that a block has room for: a quarter more than an average block has, and one more for
/// every 32, which the kernel leaves free. If that is more than `most`, blocks are not copied as a
/// whole.
fn room_of_block(entries: usize, rows: usize, most: usize) -> u32 {
    let average = entries / rows.max(1).div_ceil(POSITIONS);
    let room = average + average / 4;
    let room = room + room / 32 + 1;
    if room > most { LEAST_ROOM as u32 } else { room.max(LEAST_ROOM) as u32 }
}

/// The rows kept apart, in CSR with 64-bit offsets.
fn tail<T: DeviceReal>(
    device: &Device,
    a: &Csr<T>,
    order: &RowOrder,
) -> Result<(Buffer<u64>, Slots<T>), DeviceError> {
    let what = "the offsets of very long rows";
    if order.tail() == 0 {
        // SAFETY: no row has a nonzero.
        let offsets = unsafe { preset(device, what, 1, 0)? };
        return Ok((offsets, Slots::of(device, &[], &[])?));
    }
    let rows = || (order.in_blocks()..order.rows()).map(|p| order.row_at(p));
    let row_ptr = RowPtr::from_lengths(rows().map(|row| a.row_len(row)));
    let offsets: Vec<u64> = (0..row_ptr.len()).map(|k| row_ptr.get(k) as u64).collect();
    let col: Vec<u32> = rows().flat_map(|row| a.row(row).0.iter().copied()).collect();
    let val: Vec<T> = rows().flat_map(|row| a.row(row).1.iter().copied()).collect();
    let offsets = Buffer::of(device, what, &offsets)?;
    Ok((offsets, Slots::of(device, &col, &val)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_has_room_for_more_than_the_average_unless_that_is_too_much() {
        // 40 nonzeros per row are 1280 per block; 1600 and 50 that stay free.
        assert_eq!(room_of_block(40 * 320, 320, 9000), 1651);
        assert_eq!(room_of_block(40 * 320, 320, 1650), LEAST_ROOM as u32);
        assert_eq!(room_of_block(7 * 320, 320, 9000), LEAST_ROOM as u32);
        // The last block may have fewer rows.
        assert_eq!(room_of_block(1280, 33, 9000), LEAST_ROOM as u32);
        assert_eq!(room_of_block(0, 0, 9000), LEAST_ROOM as u32);
    }

    #[test]
    fn pieces_are_hacks_of_so_many_entries_or_a_single_one() {
        // Hacks of two rows with 3, 9, 1, 1 and, for the single last row, 2 nonzeros.
        let row_ptr = RowPtr::from_lengths([1, 2, 4, 5, 0, 1, 1, 0, 2].into_iter());
        assert_eq!(pieces(&row_ptr, 2, 4), [0..1, 1..2, 2..5]);
        assert_eq!(pieces(&row_ptr, 2, 12), [0..2, 2..5]);
        assert_eq!(pieces(&row_ptr, 2, 100), vec![0..5]);
        assert!(pieces(&RowPtr::from_lengths([0; 0].into_iter()), 2, 4).is_empty());
    }
}
