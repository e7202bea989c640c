//! Prefix sums of arrays, and sorting of rows by key.

use crate::arguments::{
    OrderCount, OrderDigits, OrderScan, OrderSort, OrderStarts, OrderSums, Reads, Writes,
};
use crate::buffer::Buffer;
use crate::device::DeviceError;
use crate::setup::Setup;

/// Numbers that a block scans, and numbers that it sorts.
const SCANNED: u64 = 8192;
const SORTED: u64 = 4096;

/// Exclusive prefix sums of the first `n` elements of `from`, with the total; `to` has one more
/// element and may be `from`.
pub(crate) fn scan(
    setup: &Setup<'_>,
    n: u32,
    from: &Buffer<u32>,
    to: &Buffer<u32>,
) -> Result<(), DeviceError> {
    let blocks = u64::from(n).div_ceil(SCANNED).max(1);
    let sums = setup.array::<u32>("sums", blocks as usize)?;
    let of_blocks = OrderSums { n, from: Reads(from), sums: Writes(&sums) };
    let starts = OrderStarts { n: blocks as u32, sums: Writes(&sums) };
    let scan = OrderScan { n, from: Reads(from), sums: Reads(&sums), out: Writes(to) };
    // SAFETY: a block reads its 8192 elements up to n, and has its own sum; the last one writes
    // element n.
    unsafe {
        setup.blocks("symgs_order_sums", (blocks, 1024), &of_blocks)?;
        setup.blocks("symgs_order_starts", (1, 1024), &starts)?;
        setup.blocks("symgs_order_scan", (blocks, 1024), &scan)
    }
}

/// Stable sort of rows by group, and where each group begins. There must be at least one row, and
/// each key must be below the number of groups.
pub(crate) fn sort(
    setup: &Setup<'_>,
    rows: u32,
    key: &Buffer<u32>,
    groups: u32,
) -> Result<(Buffer<u32>, Buffer<u32>), DeviceError> {
    let n = rows as usize;
    let what = "the rows in their order";
    let group_ptr = setup.array::<u32>(what, groups as usize + 1)?;
    // SAFETY: counted from zero.
    let counts = unsafe { setup.filled::<u32>(what, groups as usize, 0)? };
    let count = OrderCount { rows, key: Reads(key), counts: Writes(&counts) };
    let grid = u64::from(setup.device().properties().multiprocessors) * 4;
    // SAFETY: keys are below the number of groups.
    unsafe { setup.blocks("symgs_order_count", (grid, 256), &count)? };
    scan(setup, groups, &counts, &group_ptr)?;

    let tiles = u64::from(rows).div_ceil(SORTED);
    let table = setup.array::<u32>(what, 256 * tiles as usize + 1)?;
    let keys = [setup.array::<u32>(what, n)?, setup.array::<u32>(what, n)?];
    let orders = [setup.array::<u32>(what, n)?, setup.array::<u32>(what, n)?];
    let ([even_key, odd_key], [even, odd]) = (&keys, &orders);
    let (mut from, mut to) = ((key, even), (odd_key, odd));
    let mut shift = 0;
    loop {
        let digits = OrderDigits { n: rows, key: Reads(from.0), shift, table: Writes(&table) };
        let sort = OrderSort {
            n: rows,
            shift,
            numbered: u32::from(shift > 0),
            key: Reads(from.0),
            from: Reads(from.1),
            table: Reads(&table),
            key_out: Writes(to.0),
            out: Writes(to.1),
        };
        // SAFETY: blocks count and place their 4096 elements up to the number of rows; the table,
        // one column per block, says where those of a digit begin, so that all places differ.
        unsafe {
            setup.blocks("symgs_order_digits", (tiles, 256), &digits)?;
            scan(setup, (256 * tiles) as u32, &table, &table)?;
            setup.blocks("symgs_order_sort", (tiles, 256), &sort)?;
        }
        shift += 8;
        if shift >= 32 || (groups - 1) >> shift == 0 {
            return Ok((to.1.clone(), group_ptr));
        }
        let others = match shift / 8 % 2 {
            0 => (odd_key, odd),
            _ => (even_key, even),
        };
        (from, to) = (to, others);
    }
}
