//! Launchers of `cuda/spmm/bsr` and `cuda/spmm/hll`.

use sparsescope_core::kernel::columns_per_thread;
use sparsescope_core::matrix::Offset;

use crate::arguments::{Arguments, Element, Reads, SpmmBsr, SpmmHll, Stored, Writes};
use crate::arrays::{Hacks, Offsets};
use crate::buffer::Buffer;
use crate::cusparse::Block;
use crate::device::{Device, DeviceError, count, row_count};
use crate::launch::{Bound, Launch, Shape, Step};
use crate::value::DeviceReal;

/// Adjacent threads on adjacent columns of X, one row of blocks of BSR with `edge` rows each after the
/// other.
pub(super) fn bsr<T: DeviceReal, V: Stored<T>>(
    device: &Device,
    block: u32,
    operands: &Block<'_, T, V>,
    edge: usize,
) -> Result<Bound, DeviceError> {
    let step = match operands.row_ptr {
        Offsets::Narrow(row_ptr) => block_rows(device, block, operands, edge, row_ptr),
        Offsets::Wide(row_ptr) => block_rows(device, block, operands, edge, row_ptr),
    };
    Ok(Bound::of(vec![step?]))
}

fn block_rows<T: DeviceReal, V: Stored<T>, O: Offset + Element>(
    device: &Device,
    block: u32,
    operands: &Block<'_, T, V>,
    edge: usize,
    row_ptr: &Buffer<O>,
) -> Result<Step, DeviceError> {
    let Block { rows, cols, columns, slots, x, y, .. } = *operands;
    let each = columns_per_thread(columns, T::BYTES);
    let arguments = SpmmBsr {
        rows: row_count(rows)?,
        cols: count("the number of columns", cols)?,
        columns: count("the number of columns of X", columns)?,
        row_ptr: Reads(row_ptr),
        col: Reads(&slots.col),
        val: Reads(&slots.val),
        x: Reads(x),
        y: Writes(y),
    };
    let threads = (rows.div_ceil(edge) * (columns / each)) as u64;
    let shape = Shape { grid: threads.div_ceil(block.into()), block, shared_bytes: 0 };
    let (variant, name) =
        (SpmmBsr::<T, V, O>::VARIANT.of_width(edge as u32), format!("spmm_bsr_{each}"));
    // SAFETY: each block row has an offset and an end, up to the number of blocks, each of which
    // has a column and edge x edge values, aligned for two if edge is even. Rows of X beyond the
    // last are not read, those of Y not stored. X and Y are as above; threads of block rows beyond
    // the last return.
    unsafe { Launch::in_variant(device, variant, &name, shape, &arguments) }.map(Step::Launch)
}

/// The same on column-major HLL, whose rows may be sorted. Fails if some are kept apart.
pub(super) fn hll<T: DeviceReal>(
    device: &Device,
    block: u32,
    a: &Hacks<T>,
    columns: usize,
    (x, y): (&Buffer<T>, &Buffer<T>),
) -> Result<Bound, DeviceError> {
    if a.order.tail() > 0 {
        return Err(DeviceError::Format("SpMM with rows of HLL that are kept apart"));
    }
    let rows = a.order.rows();
    let each = columns_per_thread(columns, T::BYTES);
    let arguments = SpmmHll {
        rows: row_count(rows)?,
        columns: count("the number of columns of X", columns)?,
        hack_size: count("the hack size", a.hack_size)?,
        permuted: u32::from(!a.row_of.is_empty()),
        offsets: Reads(&a.offsets),
        row_len: Reads(&a.row_len),
        row_of: Reads(&a.row_of),
        col: Reads(&a.slots.col),
        val: Reads(&a.slots.val),
        x: Reads(x),
        y: Writes(y),
    };
    let threads = (rows * (columns / each)) as u64;
    let shape = Shape { grid: threads.div_ceil(block.into()), block, shared_bytes: 0 };
    // SAFETY: no row is kept apart, so that every position lies in a hack, whose offset is followed
    // by as many slots for each of its rows as the longest has nonzeros; columns are below cols, and
    // where rows are sorted each position has its own row. X and Y are as above; threads of
    // positions beyond the last return.
    let launch = unsafe { Launch::new(device, &format!("spmm_hll_{each}"), shape, &arguments)? };
    Ok(Bound::of(vec![Step::Launch(launch)]))
}
