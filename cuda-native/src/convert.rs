//! Column-major HLL, made on the device of CSR that lies there.

use std::time::Instant;

use sparsescope_core::experiment::PrepareError;
use sparsescope_core::kernel::{GridMapping, Work};
use sparsescope_core::matrix::{
    Csr, Hll, HllLayout, HllShape, Offset, RowOrder, RowPtr, SlotLayout,
};
use sparsescope_core::memory::MemoryLimit;

use crate::arguments::{ConvertHll, Element, Reads, Writes};
use crate::arrays::{Arrays, Hacks, Offsets, Slots};
use crate::buffer::Buffer;
use crate::device::{Device, DeviceError};
use crate::launch::{Launch, Shape, Step, enqueue};
use crate::refusal::refused;
use crate::value::DeviceReal;

/// Threads a block of the kernel.
const BLOCK: u32 = 128;

/// What the host knows of a matrix in CSR.
#[derive(Clone, Copy)]
pub(crate) enum Known<'a, T> {
    /// All of it.
    Whole(&'a Csr<T>),
    /// Where its rows begin.
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

/// `a`, whose arrays in CSR are `csr`, in hacks; no row may be kept apart where the host knows no entries.
/// The host finds the order of rows and the hacks' widths,
/// the device moves the entries. Fails, before allocating, when that needs more than the device has free,
/// or than `memory`, in which the plan lies.
pub(crate) fn hacks<T: DeviceReal>(
    device: &Device,
    a: Known<'_, T>,
    csr: &Arrays<T>,
    layout: HllLayout,
    memory: MemoryLimit,
) -> Result<Hacks<T>, PrepareError> {
    let Arrays::Csr { row_ptr, slots } = csr else {
        return Err(refused(DeviceError::Format("another than CSR")));
    };
    let start = Instant::now();
    let plan = Hll::<T>::plan_of(a.row_ptr(), layout)
        .map_err(|error| PrepareError::Refused(error.to_string()))?;
    let planned_s = start.elapsed().as_secs_f64();
    let bytes = u128::from(plan.1.bytes() + plan.0.bytes());
    let fits = memory.check("the plan of HLL", bytes);
    fits.map_err(|error| PrepareError::Refused(error.to_string()))?;
    let made = match row_ptr {
        Offsets::Narrow(row_ptr) => made_of(device, a, (row_ptr, slots), plan),
        Offsets::Wide(row_ptr) => made_of(device, a, (row_ptr, slots), plan),
    };
    let made = made.map_err(refused)?;
    Ok(Hacks { seconds: planned_s + made.seconds, ..made })
}

/// The same with offsets of one width and a plan.
fn made_of<T: DeviceReal, O: Offset + Element>(
    device: &Device,
    a: Known<'_, T>,
    (row_ptr, csr): (&Buffer<O>, &Slots<T>),
    (order, shape): (RowOrder, HllShape),
) -> Result<Hacks<T>, DeviceError> {
    let filled = shape.slots() as usize;
    let matrix = "the matrix in HLL";
    let each = (size_of::<u32>() + T::BYTES) as u64;
    device.check_memory(matrix, (shape.slots()).saturating_mul(each))?;
    let in_hacks = order.in_blocks();
    let row_of = Buffer::of(device, "the order of rows", order.row_of().unwrap_or(&[]))?;
    let offsets = Buffer::of(device, "the hack offsets", shape.offsets())?;
    let max_nzr = Buffer::of(device, "the hack widths", shape.max_nzr())?;
    let row_len = Buffer::unset(device, "the row lengths", in_hacks)?;
    let slots = Slots {
        col: Buffer::unset(device, matrix, filled)?,
        val: Buffer::unset(device, matrix, filled)?,
    };
    let (tail_ptr, tail) = tail(device, a, &order)?;

    let start = Instant::now();
    let stored = shape.hacks() * shape.hack_size();
    let counted = |what: &'static str, found: usize| {
        let most = u64::from(u32::MAX - 1);
        let fits = u32::try_from(found).ok().filter(|&count| u64::from(count) <= most);
        fits.ok_or(DeviceError::TooLarge { what, found: found as u64, most })
    };
    let stored = counted("the number of rows", stored)?;
    let arguments = ConvertHll {
        in_hacks: counted("the number of rows", in_hacks)?,
        stored,
        hack_size: counted("the hack size", shape.hack_size())?,
        permuted: u32::from(order.row_of().is_some()),
        row_of: Reads(&row_of),
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
    // SAFETY: a thread a position that is stored; each position in hacks has a row and a length of its own,
    // rows have ascending offsets up to the length of CSR's columns and values, and the plan's hacks are as
    // wide as their longest row, so that each slot from a hack's offset on is one of col and val.
    let launch = unsafe { Launch::new(device, "convert_hll", shape_of_grid, &arguments)? };
    enqueue(device, &[Step::Launch(launch)])?;
    device.synchronize()?;
    let seconds = start.elapsed().as_secs_f64();
    Ok(Hacks { order, shape, offsets, row_len, row_of, slots, tail_ptr, tail, seconds })
}

/// The rows kept apart, in CSR with offsets of 64 bits.
fn tail<T: DeviceReal>(
    device: &Device,
    a: Known<'_, T>,
    order: &RowOrder,
) -> Result<(Buffer<u64>, Slots<T>), DeviceError> {
    let what = "the offsets of rows kept apart";
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
