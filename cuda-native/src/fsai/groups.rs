//! Rows merged into groups that share one dense system.

use sparsescope_core::fsai::Merging;

use super::matrix::{counted, total};
use super::pattern::DevicePattern;
use super::powers::blocks_of;
use super::systems::{Members, Systems};
use crate::arguments::{
    FsaiGroupFind, FsaiGroupNumber, FsaiGroupOpens, FsaiGroupPlace, FsaiGroupSort, Reads, Writes,
};
use crate::buffer::Buffer;
use crate::device::DeviceError;
use crate::order::{scan, sort};
use crate::setup::Setup;

/// Maximum bytes for marks of columns, unless one warp needs more.
const MARKS: u64 = 1 << 30;

/// Warps per multiprocessor that search for groups: each waits for its own marks.
const WARPS: u64 = 8;

const WHAT: &str = "groups of rows";

/// The groups of a pattern's rows: the same as on the CPU, in the order of opening.
pub(super) fn found(
    setup: &Setup<'_>,
    pattern: &DevicePattern,
    merging: Merging,
) -> Result<Systems, DeviceError> {
    let rows = pattern.rows;
    let n = rows as usize;
    let numbers = || setup.array::<u32>(WHAT, n);
    let (opener, begin, len) = (numbers()?, numbers()?, numbers()?);
    let unions = setup.array(WHAT, pattern.entries as usize)?;
    grow(setup, pattern, merging, [&opener, &begin, &len, &unions])?;

    let opens = numbers()?;
    let arguments = FsaiGroupOpens { rows, opener: Reads(&opener), opens: Writes(&opens) };
    // SAFETY: one thread per row, which has an element of both arrays.
    unsafe { setup.threads("fsai_group_opens", rows.into(), &arguments)? };
    let rank = setup.array(WHAT, n + 1)?;
    scan(setup, rows, &opens, &rank)?;
    let count = setup.element(&rank, n)?;

    let group = numbers()?;
    let sys_begin = setup.array(WHAT, count as usize)?;
    let sys_len = setup.array(WHAT, count as usize)?;
    let arguments = FsaiGroupNumber {
        rows,
        opener: Reads(&opener),
        rank: Reads(&rank),
        begin: Reads(&begin),
        len: Reads(&len),
        group: Writes(&group),
        sys_begin: Writes(&sys_begin),
        sys_len: Writes(&sys_len),
    };
    // SAFETY: one thread per row; openers are rows, whose ranks are below the number of groups.
    unsafe { setup.threads("fsai_group_number", rows.into(), &arguments)? };
    let arguments = FsaiGroupSort {
        groups: count,
        sys_begin: Reads(&sys_begin),
        sys_len: Reads(&sys_len),
        unions: Writes(&unions),
    };
    // SAFETY: one warp per group, whose union lies in the array.
    unsafe {
        let grid = u64::from(count).div_ceil(4);
        setup.blocks("fsai_group_sort", (grid, 128), &arguments)?;
    }

    let (member, member_ptr) = sort(setup, rows, &group, count)?;
    let (place, lengths) = (numbers()?, numbers()?);
    let arguments = FsaiGroupPlace {
        rows,
        member: Reads(&member),
        group: Reads(&group),
        sys_begin: Reads(&sys_begin),
        sys_len: Reads(&sys_len),
        unions: Reads(&unions),
        place: Writes(&place),
        lengths: Writes(&lengths),
    };
    // SAFETY: one thread per member; members are rows, which have groups with unions in the array.
    unsafe { setup.threads("fsai_group_place", rows.into(), &arguments)? };
    let entries = total(setup, rows, &lengths)?;
    counted("the number of nonzeros of G", entries)?;
    let g_ptr = setup.array(WHAT, n + 1)?;
    scan(setup, rows, &lengths, &g_ptr)?;
    let members = Some(Members { ptr: member_ptr, row: member, place });
    let (begin, len, col) = (sys_begin, sys_len, unions);
    Ok(Systems { count, begin, len, col, members, rows, g_ptr, entries })
}

/// The opener of each row's group, and each opener's union.
fn grow(
    setup: &Setup<'_>,
    pattern: &DevicePattern,
    merging: Merging,
    [opener, begin, len, unions]: [&Buffer<u32>; 4],
) -> Result<(), DeviceError> {
    let rows = pattern.rows;
    let block_rows = block_of(merging, rows);
    let most = u64::from(setup.device().properties().multiprocessors) * WARPS;
    let blocks = u64::from(rows.div_ceil(block_rows));
    let warps = blocks_of(blocks, most, MARKS / (2 * u64::from(rows)));
    // SAFETY: no group is open.
    let marks = unsafe { setup.filled(WHAT, warps as usize * rows as usize, 0)? };
    let arguments = FsaiGroupFind {
        rows,
        block_rows,
        alpha: merging.alpha,
        ptr: Reads(&pattern.ptr),
        col: Reads(&pattern.col),
        marks: Writes(&marks),
        opener: Writes(opener),
        begin: Writes(begin),
        len: Writes(len),
        unions: Writes(unions),
    };
    // SAFETY: each warp has its own marks for all columns and strides over blocks of rows; the
    // unions of a block's groups have no more columns than the patterns of its rows, in whose place
    // they are stored.
    unsafe { setup.blocks("fsai_group_find", (warps, 32), &arguments) }
}

/// Rows per block.
fn block_of(merging: Merging, rows: u32) -> u32 {
    let block = merging.block.and_then(|block| u32::try_from(block).ok());
    block.map_or(rows, |block| block.min(rows)).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_have_no_more_rows_than_there_are() {
        let block = |block| block_of(Merging { alpha: 1.0, block }, 1000);
        assert_eq!((block(None), block(Some(100)), block(Some(8192))), (1000, 100, 1000));
        assert_eq!(block(Some(usize::MAX)), 1000);
    }
}
