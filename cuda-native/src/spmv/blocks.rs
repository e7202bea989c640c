//! Launchers for BSR and DIA.

use sparsescope_core::kernel::{GridMapping, Work};
use sparsescope_core::matrix::{AnyFormat, Offset};

use super::operands::{Operands, wrong_format};
use crate::arguments::{BsrWarp, Dia, Element, Reads, Writes};
use crate::arrays::{Arrays, Offsets, Slots};
use crate::buffer::Buffer;
use crate::device::{DeviceError, count};
use crate::launch::{Bound, Step};
use crate::value::DeviceReal;

pub(super) fn bsr<T: DeviceReal>(o: &Operands<'_, T>) -> Result<Bound, DeviceError> {
    let (Arrays::Bsr { row_ptr, slots }, AnyFormat::Bsr(a)) = o.format()? else {
        return Err(wrong_format(o));
    };
    let step = match row_ptr {
        Offsets::Narrow(row_ptr) => bsr_of(o, a.block(), row_ptr, slots),
        Offsets::Wide(row_ptr) => bsr_of(o, a.block(), row_ptr, slots),
    };
    Ok(Bound::of(vec![step?]))
}

fn bsr_of<T: DeviceReal, O: Offset + Element>(
    o: &Operands<'_, T>,
    edge: usize,
    row_ptr: &Buffer<O>,
    slots: &Slots<T>,
) -> Result<Step, DeviceError> {
    let (rows, cols) = (o.row_count()?, count("the number of columns", o.cols)?);
    let (row_ptr, col, val) = (Reads(row_ptr), Reads(&slots.col), Reads(&slots.val));
    let arguments = BsrWarp { rows, cols, row_ptr, col, val, x: Reads(o.x), y: Writes(o.y) };
    // One warp per block row.
    let over = (GridMapping::WarpPerBlockRow, Work::Rows(o.rows.div_ceil(edge) as u64));
    // SAFETY: each block row has an offset and an end, up to the number of blocks, each of which
    // has a column and edge x edge values; elements of x beyond the last column are not read, sums
    // of rows beyond the last not stored. x and y have one element per column and row; warps beyond
    // the last block row return.
    unsafe { o.launch(&format!("bsr_warp_{edge}"), over, 0, &arguments) }
}

pub(super) fn dia<T: DeviceReal>(o: &Operands<'_, T>) -> Result<Bound, DeviceError> {
    let (Arrays::Dia { offsets, val }, _) = o.format()? else { return Err(wrong_format(o)) };
    let arguments = Dia {
        rows: o.row_count()?,
        cols: o.cols as u64,
        diagonals: count("the number of diagonals", offsets.len())?,
        offsets: Reads(offsets),
        val: Reads(val),
        x: Reads(o.x),
        y: Writes(o.y),
    };
    // SAFETY: each diagonal has an offset and one value per row; only columns of the matrix are
    // read from x, which has one element per column, and y has one per row. Threads of rows beyond
    // the last return.
    let step = unsafe { o.over_rows(0, &arguments)? };
    Ok(Bound::of(vec![step]))
}
