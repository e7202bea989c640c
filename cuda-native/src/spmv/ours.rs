//! Launchers of the kernels in `kernels/`.

use sparsescope_core::kernel::{COO_SPAN, GridMapping, LANES, LaneShape, Work};
use sparsescope_core::matrix::{AnyFormat, Offset};

use super::operands::{Operands, wrong_format};
use crate::arguments::{
    CooBegin, CooCarry, CooSegmented, Csr, Element, EllOfLengths, EllOfWidth, Hll, HllSharedX,
    Reads, Stored, Writes,
};
use crate::arrays::{Arrays, HalfSlots, Offsets, Slots};
use crate::buffer::Buffer;
use crate::device::{DeviceError, count};
use crate::launch::{Bound, Shape, Step};
use crate::value::DeviceReal;

pub(super) fn csr<T: DeviceReal>(o: &Operands<'_, T>) -> Result<Bound, DeviceError> {
    csr_with(o, 0)
}

/// With one value per thread in shared memory.
pub(super) fn csr_shared<T: DeviceReal>(o: &Operands<'_, T>) -> Result<Bound, DeviceError> {
    csr_with(o, value_a_thread(o))
}

fn csr_with<T: DeviceReal>(o: &Operands<'_, T>, shared_bytes: u32) -> Result<Bound, DeviceError> {
    let step = match o.format()?.0 {
        Arrays::Csr { row_ptr, slots } => csr_from(o, row_ptr, slots, shared_bytes),
        Arrays::OfHalves { row_ptr, slots: HalfSlots::Half(slots) } => {
            csr_from(o, row_ptr, slots, shared_bytes)
        }
        Arrays::OfHalves { row_ptr, slots: HalfSlots::Other(slots) } => {
            csr_from(o, row_ptr, slots, shared_bytes)
        }
        _ => Err(wrong_format(o)),
    };
    Ok(Bound::of(vec![step?]))
}

fn csr_from<T: DeviceReal, V: Stored<T>>(
    o: &Operands<'_, T>,
    row_ptr: &Offsets,
    slots: &Slots<V>,
    shared_bytes: u32,
) -> Result<Step, DeviceError> {
    match row_ptr {
        Offsets::Narrow(row_ptr) => csr_of(o, row_ptr, slots, shared_bytes),
        Offsets::Wide(row_ptr) => csr_of(o, row_ptr, slots, shared_bytes),
    }
}

fn csr_of<T: DeviceReal, V: Stored<T>, O: Offset + Element>(
    o: &Operands<'_, T>,
    row_ptr: &Buffer<O>,
    slots: &Slots<V>,
    shared_bytes: u32,
) -> Result<Step, DeviceError> {
    let (rows, row_ptr) = (o.row_count()?, Reads(row_ptr));
    let (col, val) = (Reads(&slots.col), Reads(&slots.val));
    let arguments = Csr { rows, row_ptr, col, val, x: Reads(o.x), y: Writes(o.y) };
    if o.grid() == GridMapping::LanesPerRow {
        let LaneShape { lanes, in_flight } = LaneShape::suiting(o.rows as u64, o.nnz as u64);
        let (work, block) = (Work::Shared(o.rows as u64, lanes.into()), LaneShape::THREADS);
        let shape = Shape { grid: o.grid().blocks(work, block), block, shared_bytes };
        let name = format!("csr_lanes_{lanes}x{in_flight}");
        // SAFETY: as below. Lanes of rows beyond the last read and write nothing, and blocks have
        // as many threads as the function is bounded to.
        return unsafe { o.launch_shape(&name, shape, &arguments) };
    }
    // SAFETY: a CSR matrix has rows + 1 ascending offsets up to the length of col and val, and only
    // columns below cols; x and y have one element per column and row. Threads of rows beyond the
    // last return. A thread's place in shared memory is its index in the block, and those kernels
    // that use shared memory get one value per thread.
    unsafe { o.over_rows(shared_bytes, &arguments) }
}

pub(super) fn ell<T: DeviceReal>(o: &Operands<'_, T>) -> Result<Bound, DeviceError> {
    let (Arrays::Ell { row_len, slots }, AnyFormat::Ell(a)) = o.format()? else {
        return Err(wrong_format(o));
    };
    let (rows, x, y) = (o.row_count()?, Reads(o.x), Writes(o.y));
    let (col, val) = (Reads(&slots.col), Reads(&slots.val));
    // The papers' kernel processes the full width, ours each row's length.
    let step = if o.kernel.needs.finite_x {
        let width = count("the width of ELLPACK", a.shape().width)?;
        let arguments = EllOfWidth { rows, width, col, val, x, y };
        // SAFETY: ELLPACK has rows × width slots, and only columns below cols, padding included; x
        // and y have one element per column and row. Threads of rows beyond the last return.
        unsafe { o.over_rows(0, &arguments) }
    } else {
        let arguments = EllOfLengths { rows, row_len: Reads(row_len), col, val, x, y };
        // SAFETY: as above; each row has a length, at most the width.
        unsafe { o.over_rows(0, &arguments) }
    };
    Ok(Bound::of(vec![step?]))
}

pub(super) fn hll<T: DeviceReal>(o: &Operands<'_, T>) -> Result<Bound, DeviceError> {
    let (Arrays::Hll { offsets, max_nzr, slots }, AnyFormat::Hll(a)) = o.format()? else {
        return Err(wrong_format(o));
    };
    if !a.is_plain() {
        return Err(wrong_format(o));
    }
    let shape = a.shape();
    let (rows, x, y) = (o.row_count()?, Reads(o.x), Writes(o.y));
    let hack_size = count("the hack size", shape.hack_size())?;
    let hacks = count("the number of hacks", shape.hacks())?;
    let (offsets, max_nzr) = (Reads(offsets), Reads(max_nzr));
    let (col, val) = (Reads(&slots.col), Reads(&slots.val));
    let step = if o.kernel.id == "cuda/hll/shared-x" {
        let cols = count("the number of columns", o.x.len())?;
        let arguments =
            HllSharedX { rows, hack_size, hacks, offsets, max_nzr, col, val, x, y, cols };
        // SAFETY: as below. As many elements of x are kept as both the block has threads and x has
        // elements, one value per thread of shared memory.
        unsafe { o.over_rows(value_a_thread(o), &arguments) }
    } else {
        let arguments = Hll { rows, hack_size, hacks, offsets, max_nzr, col, val, x, y };
        // SAFETY: no row is kept apart, so that the hacks hold all of them; each hack has an offset
        // and a width, and from the offset on, a width of slots for each of its rows lies in col
        // and val. Columns are below cols, padding included; x and y have one element per column
        // and row. Threads of hacks or rows beyond the last return. Hack sizes are powers of two,
        // as the shifts and masks of warp-per-row need.
        unsafe { o.over_rows(0, &arguments) }
    };
    Ok(Bound::of(vec![step?]))
}

pub(super) fn coo<T: DeviceReal>(o: &Operands<'_, T>) -> Result<Bound, DeviceError> {
    let (Arrays::Coo { row, slots }, _) = o.format()? else { return Err(wrong_format(o)) };
    let (first, bound) = (beginning(o)?, segmented(o, row, slots)?);
    let steps = first.steps.into_iter().chain(bound.steps).collect();
    Ok(Bound { steps, ..bound })
}

/// What y becomes before sums are added to it: beta times itself.
pub(super) fn beginning<T: DeviceReal>(o: &Operands<'_, T>) -> Result<Bound, DeviceError> {
    let (rows, beta) = (o.row_count()?, o.scale.beta);
    if beta == 0.0 {
        return Ok(Bound::of(vec![Step::zero(o.y)]));
    }
    if beta == 1.0 {
        return Ok(Bound::of(Vec::new()));
    }
    let per_row = (GridMapping::ThreadPerRow, Work::Rows(rows.into()));
    let arguments = CooBegin { rows, y: Writes(o.y) };
    // SAFETY: y has one element per row; threads of rows beyond the last do nothing.
    let step = unsafe { o.launch("coo_begin", per_row, 0, &arguments)? };
    Ok(Bound::of(vec![step]))
}

pub(super) fn hyb<T: DeviceReal>(o: &Operands<'_, T>) -> Result<Bound, DeviceError> {
    let (Arrays::Hyb { row_len, ell, row, tail }, _) = o.format()? else {
        return Err(wrong_format(o));
    };
    let arguments = EllOfLengths {
        rows: o.row_count()?,
        row_len: Reads(row_len),
        col: Reads(&ell.col),
        val: Reads(&ell.val),
        x: Reads(o.x),
        y: Writes(o.y),
    };
    let per_row = (GridMapping::ThreadPerRow, Work::Rows(o.rows as u64));
    // SAFETY: as for ELLPACK alone; HYB's ELLPACK part has all rows and columns of the matrix.
    let first = unsafe { o.launch("ell_column_major", per_row, 0, &arguments)? };
    let mut bound = segmented(o, row, tail)?;
    bound.steps.insert(0, first);
    Ok(bound)
}

/// Adds the sums of nonzeros in COO to y: the spans, then their carries.
fn segmented<T: DeviceReal>(
    o: &Operands<'_, T>,
    row: &Buffer<u32>,
    slots: &Slots<T>,
) -> Result<Bound, DeviceError> {
    let entries = row.len() as u64;
    if entries == 0 {
        return Ok(Bound::of(Vec::new()));
    }
    let spans = entries.div_ceil(COO_SPAN);
    let carry_row =
        Buffer::<u32>::unset(o.device, "sums carried over between spans", spans as usize)?;
    let carry_sum =
        Buffer::<T>::unset(o.device, "sums carried over between spans", spans as usize)?;
    let workspace_bytes = carry_row.bytes() + carry_sum.bytes();
    let spent = carry_row.spent() + carry_sum.spent();
    let (x, y) = (Reads(o.x), Writes(o.y));
    let arguments = CooSegmented {
        entries,
        span: COO_SPAN,
        row: Reads(row),
        col: Reads(&slots.col),
        val: Reads(&slots.val),
        x,
        y,
        carry_row: Writes(&carry_row),
        carry_sum: Writes(&carry_sum),
    };
    debug_assert_eq!(COO_SPAN % LANES, 0);
    let per_span = (GridMapping::WarpPerSpan, Work::Entries(entries));
    // SAFETY: COO has as many rows, columns and values as nonzeros, only rows and columns of the
    // matrix, and y and x have one element for each of these; warps of spans beyond the last
    // return, the others have their own place in the carries.
    let sums = unsafe { o.launch("coo_segmented", per_span, 0, &arguments)? };
    let mut steps = vec![sums];
    if spans > 1 {
        let (carry_row, carry_sum) = (Reads(&carry_row), Reads(&carry_sum));
        let arguments = CooCarry { spans, carry_row, carry_sum, y };
        // As many warps as spans.
        let per_warp = (GridMapping::WarpPerRow, Work::Rows(spans));
        // SAFETY: the previous launch has written every span's row, which is one of y or none;
        // warps beyond the last span return.
        steps.push(unsafe { o.launch("coo_carry", per_warp, 0, &arguments)? });
    }
    Ok(Bound { workspace_bytes, spent, ..Bound::of(steps) })
}

/// Bytes of one value per thread of a block.
fn value_a_thread<T: DeviceReal>(o: &Operands<'_, T>) -> u32 {
    o.block * T::BYTES as u32
}
