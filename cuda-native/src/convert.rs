//! Converts CSR on the device to column-major HLL, all at once or a piece at a time.

use std::ops::Range;
use std::time::Instant;

use sparsescope_core::experiment::PrepareError;
use sparsescope_core::kernel::{GridMapping, Work};
use sparsescope_core::matrix::{
    Csr, Hll, HllLayout, HllShape, Offset, RowOrder, RowPtr, SlotLayout,
};
use sparsescope_core::memory::MemoryLimit;

use crate::arguments::{ConvertHll, Element, Reads, Writes};
use crate::arrays::{Arrays, Hacks, Offsets, Slots};
use crate::buffer::{Buffer, Spent};
use crate::device::{Device, DeviceError};
use crate::launch::{Launch, Shape, Step, enqueue};
use crate::refusal::refused;
use crate::value::DeviceReal;

/// Threads per block of the kernel.
const BLOCK: u32 = 128;

/// What the host knows of a matrix in CSR.
#[derive(Clone, Copy)]
pub(crate) enum Known<'a, T> {
    /// All of it.
    Whole(&'a Csr<T>),
    /// Only its row offsets.
    Rows(&'a RowPtr),
}

impl<'a, T: DeviceReal> Known<'a, T> {
    fn row_ptr(self) -> &'a RowPtr {
        match self {
            Self::Whole(a) => a.row_ptr(),
            Self::Rows(row_ptr) => row_ptr,
        }
    }
}

/// Converts `a`, whose CSR arrays are `csr`, to hacks; no row may be kept apart where the host does
/// not know the nonzeros. The host computes the order of rows and the hacks' widths, the device
/// moves the nonzeros. Fails, before allocating, if that needs more than the device has free, or
/// than `memory`, which includes the plan.
pub(crate) fn hacks<T: DeviceReal>(
    device: &Device,
    a: Known<'_, T>,
    csr: &Arrays<T>,
    layout: HllLayout,
    memory: MemoryLimit,
) -> Result<Hacks<T>, PrepareError> {
    let Arrays::Csr { row_ptr, slots } = csr else {
        return Err(refused(DeviceError::Format("formats other than CSR here")));
    };
    let start = Instant::now();
    let plan = planned(a.row_ptr(), layout, memory)?;
    let planned_s = start.elapsed().as_secs_f64();
    let made = match row_ptr {
        Offsets::Narrow(row_ptr) => made_of(device, a, (row_ptr, slots), plan),
        Offsets::Wide(row_ptr) => made_of(device, a, (row_ptr, slots), plan),
    };
    let made = made.map_err(refused)?;
    Ok(Hacks { seconds: planned_s + made.seconds, ..made })
}

/// Nonzeros in CSR on the device at a time while hacks are filled piece by piece.
const PIECE: usize = 1 << 22;

/// Converts `a`, which lies on the host, to hacks with every row at its own place: it is uploaded
/// and converted a piece at a time, so that the device never holds it twice. Fails as [`hacks`]
/// does. Also returns the time of the upload.
pub(crate) fn hacks_in_pieces<T: DeviceReal>(
    device: &Device,
    a: &Csr<T>,
    layout: HllLayout,
    memory: MemoryLimit,
) -> Result<(Hacks<T>, Spent), PrepareError> {
    in_pieces(device, a, layout, (memory, PIECE))
}

fn in_pieces<T: DeviceReal>(
    device: &Device,
    a: &Csr<T>,
    layout: HllLayout,
    (memory, most): (MemoryLimit, usize),
) -> Result<(Hacks<T>, Spent), PrepareError> {
    let start = Instant::now();
    let (order, shape) = planned(a.row_ptr(), layout, memory)?;
    if order.row_of().is_some() || order.tail() > 0 {
        let sentence = "reordered rows cannot be converted to hacks in parts";
        return Err(PrepareError::Refused(sentence.to_owned()));
    }
    let planned_s = start.elapsed().as_secs_f64();
    let mut made = room(device, Known::Whole(a), (order, shape)).map_err(refused)?;
    let mut spent = Spent::default();
    for hacks in pieces(a.row_ptr(), made.shape.hack_size(), most) {
        let took = piece(device, a, &made, hacks).map_err(refused)?;
        spent = spent + took.0;
        made.seconds += took.1;
    }
    made.seconds += planned_s;
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
    made: &Hacks<T>,
    hacks: Range<usize>,
) -> Result<(Spent, f64), DeviceError> {
    let hack_size = made.shape.hack_size();
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
    let start = Instant::now();
    fill(device, (&row_ptr, &slots), made, (hacks, rows))?;
    Ok((row_ptr.spent() + slots.spent(), start.elapsed().as_secs_f64()))
}

/// Plans the slots; refused if the plan is larger than `memory`.
fn planned(
    row_ptr: &RowPtr,
    layout: HllLayout,
    memory: MemoryLimit,
) -> Result<(RowOrder, HllShape), PrepareError> {
    let plan = Hll::<f64>::plan_of(row_ptr, layout)
        .map_err(|error| PrepareError::Refused(error.to_string()))?;
    let bytes = u128::from(plan.1.bytes() + plan.0.bytes());
    let fits = memory.check("the plan of HLL", bytes);
    fits.map_err(|error| PrepareError::Refused(error.to_string()))?;
    Ok(plan)
}

/// The same with offsets of one width and a plan.
fn made_of<T: DeviceReal, O: Offset + Element>(
    device: &Device,
    a: Known<'_, T>,
    csr: (&Buffer<O>, &Slots<T>),
    plan: (RowOrder, HllShape),
) -> Result<Hacks<T>, DeviceError> {
    let made = room(device, a, plan)?;
    let start = Instant::now();
    let all = (0..made.shape.hacks(), 0..made.order.in_blocks());
    fill(device, csr, &made, all)?;
    Ok(Hacks { seconds: start.elapsed().as_secs_f64(), ..made })
}

/// Hacks with unfilled slots.
fn room<T: DeviceReal>(
    device: &Device,
    a: Known<'_, T>,
    (order, shape): (RowOrder, HllShape),
) -> Result<Hacks<T>, DeviceError> {
    let filled = shape.slots() as usize;
    let matrix = "the matrix in HLL";
    let each = (size_of::<u32>() + T::BYTES) as u64;
    device.check_memory(matrix, (shape.slots()).saturating_mul(each))?;
    let row_of = Buffer::of(device, "the order of rows", order.row_of().unwrap_or(&[]))?;
    let offsets = Buffer::of(device, "the hack offsets", shape.offsets())?;
    let row_len = Buffer::unset(device, "the row lengths", order.in_blocks())?;
    let slots = Slots {
        col: Buffer::unset(device, matrix, filled)?,
        val: Buffer::unset(device, matrix, filled)?,
    };
    let (tail_ptr, tail) = tail(device, a, &order)?;
    Ok(Hacks { order, shape, offsets, row_len, row_of, slots, tail_ptr, tail, seconds: 0.0 })
}

/// Fills the slots of some hacks, at the positions `rows`, from CSR whose first row is that of the
/// first position, unless rows are reordered. Waits for completion.
fn fill<T: DeviceReal, O: Offset + Element>(
    device: &Device,
    (row_ptr, csr): (&Buffer<O>, &Slots<T>),
    made: &Hacks<T>,
    (hacks, rows): (Range<usize>, Range<usize>),
) -> Result<(), DeviceError> {
    let Hacks { order, shape, slots, .. } = made;
    let outside = || DeviceError::Arrays("hacks are out of range".to_owned());
    let max_nzr = shape.max_nzr().get(hacks.clone()).ok_or_else(outside)?;
    let max_nzr = Buffer::of(device, "the hack widths", max_nzr)?;
    let offsets = made.offsets.part(hacks.clone()).ok_or_else(outside)?;
    let row_len = made.row_len.part(rows.clone()).ok_or_else(outside)?;
    let stored = hacks.len() * shape.hack_size();
    let counted = |what: &'static str, found: usize| {
        let most = u64::from(u32::MAX - 1);
        let fits = u32::try_from(found).ok().filter(|&count| u64::from(count) <= most);
        fits.ok_or(DeviceError::TooLarge { what, found: found as u64, most })
    };
    let stored = counted("the number of rows", stored)?;
    let arguments = ConvertHll {
        in_hacks: counted("the number of rows", rows.len())?,
        stored,
        hack_size: counted("the hack size", shape.hack_size())?,
        permuted: u32::from(order.row_of().is_some()),
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
    let grid = GridMapping::ThreadPerRow.blocks(Work::Rows(stored.into()), BLOCK);
    let shape_of_grid = Shape { grid, block: BLOCK, shared_bytes: 0 };
    // SAFETY: one thread per stored position; each position in hacks has its own row and length,
    // row offsets ascend up to the length of CSR's columns and values, and the plan's hacks are as
    // wide as their longest row, so that each slot from a hack's offset on is within col and val.
    let launch = unsafe { Launch::new(device, "convert_hll", shape_of_grid, &arguments)? };
    enqueue(device, &[Step::Launch(launch)])?;
    device.synchronize()
}

/// The rows kept apart, in CSR with 64-bit offsets.
fn tail<T: DeviceReal>(
    device: &Device,
    a: Known<'_, T>,
    order: &RowOrder,
) -> Result<(Buffer<u64>, Slots<T>), DeviceError> {
    let what = "the offsets of very long rows";
    let a = match a {
        Known::Whole(a) => a,
        Known::Rows(_) => {
            assert_eq!(order.tail(), 0, "a row is kept apart whose entries the host does not know");
            return Ok((Buffer::of(device, what, &[0])?, Slots::of(device, &[], &[])?));
        }
    };
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
    fn pieces_are_hacks_of_so_many_entries_or_a_single_one() {
        // Hacks of two rows with 3, 9, 1, 1 and, for the single last row, 2 nonzeros.
        let row_ptr = RowPtr::from_lengths([1, 2, 4, 5, 0, 1, 1, 0, 2].into_iter());
        assert_eq!(pieces(&row_ptr, 2, 4), [0..1, 1..2, 2..5]);
        assert_eq!(pieces(&row_ptr, 2, 12), [0..2, 2..5]);
        assert_eq!(pieces(&row_ptr, 2, 100), vec![0..5]);
        assert!(pieces(&RowPtr::from_lengths([0; 0].into_iter()), 2, 4).is_empty());
    }
}
