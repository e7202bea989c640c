//! Launchers for column-major and compact HLL.

use sparsescope_core::kernel::{GridMapping, LANES, Work, lanes_a_row};
use sparsescope_core::matrix::AnyFormat;

use super::operands::{Operands, wrong_format};
use crate::arguments::{
    HllColumnMajor, HllCompactByte, HllCompactPlain, HllCompactShort, HllSigma, Reads, Stored,
    Writes,
};
use crate::arrays::{Arrays, GroupValues, Groups};
use crate::buffer::Buffer;
use crate::device::{DeviceError, count};
use crate::launch::{Bound, Step};
use crate::value::DeviceReal;

/// Rows in their own order.
pub(super) fn column_major<T: DeviceReal>(o: &Operands<'_, T>) -> Result<Bound, DeviceError> {
    let a = o.hacks()?;
    if !a.row_of.is_empty() || a.order.tail() > 0 {
        return Err(wrong_format(o));
    }
    let rows = o.row_count()?;
    let lanes = lanes_a_row(u64::from(rows), a.slot_count());
    let arguments = HllColumnMajor {
        rows,
        hack_size: count("the hack size", a.hack_size)?,
        lanes,
        offsets: Reads(&a.offsets),
        row_len: Reads(&a.row_len),
        col: Reads(&a.slots.col),
        val: Reads(&a.slots.val),
        x: Reads(o.x),
        y: Writes(o.y),
    };
    let work = (o.grid(), Work::Shared(u64::from(rows), u64::from(lanes)));
    // SAFETY: every row lies in a hack, whose offset is followed by as many slots for each of its
    // rows as the longest has nonzeros; columns are below cols, x and y have one element per column
    // and row. Lanes of rows beyond the last read nothing. Lanes and hack sizes are powers of two.
    let step = unsafe { o.launch("hll_column_major", work, 0, &arguments)? };
    Ok(Bound::of(vec![step]))
}

/// Rows in any order, and rows kept apart.
pub(super) fn sigma<T: DeviceReal>(o: &Operands<'_, T>) -> Result<Bound, DeviceError> {
    let a = o.hacks()?;
    if a.row_of.is_empty() {
        // Neither sorted rows nor rows kept apart.
        return column_major(o);
    }
    o.row_count()?;
    let (in_hacks, apart) = (a.order.in_blocks(), a.order.tail());
    let lanes = lanes_a_row(in_hacks as u64, a.slot_count());
    let arguments = HllSigma {
        in_hacks: count("the number of rows", in_hacks)?,
        apart: count("the number of very long rows", apart)?,
        hack_size: count("the hack size", a.hack_size)?,
        lanes,
        offsets: Reads(&a.offsets),
        row_len: Reads(&a.row_len),
        row_of: Reads(&a.row_of),
        col: Reads(&a.slots.col),
        val: Reads(&a.slots.val),
        tail_ptr: Reads(&a.tail_ptr),
        tail_col: Reads(&a.tail.col),
        tail_val: Reads(&a.tail.val),
        x: Reads(o.x),
        y: Writes(o.y),
    };
    let in_hacks = o.grid().blocks(Work::Shared(in_hacks as u64, lanes.into()), o.block);
    let shared_bytes = o.block / LANES as u32 * T::BYTES as u32;
    let shape = o.shape(in_hacks + apart as u64, shared_bytes);
    // SAFETY: as above by position; each position has its own row. The first blocks take one of the
    // rows kept apart each, whose offsets ascend up to the length of their columns and values, and
    // one value per warp of shared memory.
    let step = unsafe { o.launch_shape("hll_sigma", shape, &arguments)? };
    Ok(Bound::of(vec![step]))
}

/// Groups of four slots.
pub(super) fn compact<T: DeviceReal>(o: &Operands<'_, T>) -> Result<Bound, DeviceError> {
    let (Arrays::Compact(groups), AnyFormat::HllCompact(a)) = o.format()? else {
        return Err(wrong_format(o));
    };
    if a.row_order().tail() > 0 || a.shape().hack_size() as u64 != LANES {
        return Err(wrong_format(o));
    }
    let step = match &groups.values {
        GroupValues::Plain(val) => compact_plain(o, groups, val),
        GroupValues::Half(val) => compact_plain(o, groups, val),
        GroupValues::OtherHalf(val) => compact_plain(o, groups, val),
        GroupValues::Byte { codes, dictionary } => {
            let arguments = HllCompactByte {
                in_hacks: o.row_count()?,
                permuted: u32::from(!groups.row_of.is_empty()),
                row_of: Reads(&groups.row_of),
                group_ptr: Reads(&groups.group_ptr),
                base: Reads(&groups.base),
                low: Reads(&groups.low),
                high: Reads(&groups.high),
                codes: Reads(codes),
                distinct: count("the number of distinct values", dictionary.len())?,
                dictionary: Reads(dictionary),
                x: Reads(o.x),
                y: Writes(o.y),
            };
            // SAFETY: as below. An 8-bit code is below the number of distinct values, of which
            // there are at most 256.
            unsafe { o.launch("hll_compact_byte", over_hacks(o), 0, &arguments) }
        }
        GroupValues::Short { codes, dictionary } => {
            let arguments = HllCompactShort {
                in_hacks: o.row_count()?,
                permuted: u32::from(!groups.row_of.is_empty()),
                row_of: Reads(&groups.row_of),
                group_ptr: Reads(&groups.group_ptr),
                base: Reads(&groups.base),
                low: Reads(&groups.low),
                high: Reads(&groups.high),
                codes: Reads(codes),
                dictionary: Reads(dictionary),
                x: Reads(o.x),
                y: Writes(o.y),
            };
            // SAFETY: as below.
            unsafe { o.launch("hll_compact_short", over_hacks(o), 0, &arguments) }
        }
    };
    Ok(Bound::of(vec![step?]))
}

/// One lane per row.
fn over_hacks<T: DeviceReal>(o: &Operands<'_, T>) -> (GridMapping, Work) {
    (o.grid(), Work::Rows(o.rows as u64))
}

/// Groups whose values are stored as they are.
fn compact_plain<T: DeviceReal, V: Stored<T>>(
    o: &Operands<'_, T>,
    groups: &Groups<T>,
    val: &Buffer<V>,
) -> Result<Step, DeviceError> {
    let arguments = HllCompactPlain {
        in_hacks: o.row_count()?,
        permuted: u32::from(!groups.row_of.is_empty()),
        row_of: Reads(&groups.row_of),
        group_ptr: Reads(&groups.group_ptr),
        base: Reads(&groups.base),
        low: Reads(&groups.low),
        high: Reads(&groups.high),
        val: Reads(val),
        x: Reads(o.x),
        y: Writes(o.y),
    };
    // SAFETY: a hack has one warp, and each of its groups four bases, 128 distances and 128 values
    // or codes of the dictionary; groups of wide columns name one of high. Columns are below cols,
    // x and y have one element per column and row, and where rows are permuted each position has
    // its own row. Lanes of positions beyond the last store nothing.
    unsafe { o.launch("hll_compact_plain", over_hacks(o), 0, &arguments) }
}
