//! Patterns of powers: the columns reached from each row by steps along Ã.

use sparsescope_core::matrix::Offset;

use super::matrix::Matrix;
use super::pattern::{DevicePattern, Kept};
use crate::arguments::{Element, FsaiReach, FsaiReachLong, FsaiSame, Reads, Writes};
use crate::buffer::Buffer;
use crate::device::DeviceError;
use crate::setup::Setup;

/// Threads per block of the kernel for rows of any length.
const LONG_BLOCK: u32 = 256;

/// Maximum workspace bytes for rows that fit no table, unless one row needs more.
const WORKSPACE: u64 = 1 << 30;

/// Rows left over by one kernel for the next.
struct Left {
    rows: Buffer<u32>,
    count: Buffer<u32>,
}

impl Left {
    fn new(setup: &Setup<'_>, rows: usize) -> Result<Self, DeviceError> {
        let what = "rows that reach many columns";
        // SAFETY: the row count starts from zero.
        let count = unsafe { setup.filled(what, 1, 0)? };
        Ok(Self { rows: setup.array(what, rows)?, count })
    }
}

/// The steps: their number, and whether they may go above their starting row.
type Steps = (u32, bool);

/// The columns up to each row that are reached from it in at most this many steps.
pub(super) fn found<O: Offset + Element>(
    setup: &Setup<'_>,
    a: &Matrix<'_, O>,
    kept: &Kept,
    steps: Steps,
) -> Result<DevicePattern, DeviceError> {
    let n = a.rows as usize;
    let what = "the pattern";
    let same = setup.array(what, n)?;
    let (row_ptr, len, col) = (Reads(a.row_ptr), Reads(&kept.len), Reads(&kept.col));
    let arguments = FsaiSame { rows: a.rows, row_ptr, len, col, same: Writes(&same) };
    // SAFETY: eight lanes per row, which has an element of each array, and its columns.
    unsafe { setup.threads("fsai_pattern_same", u64::from(a.rows) * 8, &arguments)? };

    let found = setup.array(what, n)?;
    let (wide, long) = (Left::new(setup, n)?, Left::new(setup, n)?);
    let none = setup.array(what, 1)?;
    let reach = Reach { setup, a, kept, steps, same: &same, found: &found };
    reach.in_tables("fsai_pattern_reach", (a.rows, None), &wide, None)?;
    let wides = setup.element(&wide.count, 0)?;
    if wides > 0 {
        reach.in_tables("fsai_pattern_reach_wide", (wides, Some(&wide.rows)), &long, None)?;
    }
    let longs = setup.element(&long.count, 0)?;
    let room = reach.room(longs)?;
    reach.anywhere((longs, &long.rows), &room, (0, &none, &none))?;
    DevicePattern::of_lengths(setup, (a.rows, found.clone()), |ptr, out| {
        let to = Some((ptr, out));
        reach.in_tables("fsai_pattern_reach", (a.rows, None), &wide, to)?;
        if wides > 0 {
            reach.in_tables("fsai_pattern_reach_wide", (wides, Some(&wide.rows)), &long, to)?;
        }
        reach.anywhere((longs, &long.rows), &room, (1, ptr, out))
    })
}

/// What the steps follow, and where their results are counted.
struct Reach<'r, 'd, O> {
    setup: &'r Setup<'d>,
    a: &'r Matrix<'r, O>,
    kept: &'r Kept,
    steps: Steps,
    same: &'r Buffer<u8>,
    found: &'r Buffer<u32>,
}

/// Per block, one bit per column and a list for all columns.
struct Room {
    blocks: u64,
    bits: Buffer<u32>,
    reached: Buffer<u32>,
}

impl<O: Offset + Element> Reach<'_, '_, O> {
    /// Counts the rows (all or those of a list) that fit the tables of a kernel, or writes their
    /// columns at their offsets; counting also lists the others.
    fn in_tables(
        &self,
        function: &str,
        (rows, list): (u32, Option<&Buffer<u32>>),
        left: &Left,
        to: Option<(&Buffer<u32>, &Buffer<u32>)>,
    ) -> Result<(), DeviceError> {
        let (power, climbing) = self.steps;
        let (ptr, out) = to.unwrap_or((self.found, self.found));
        let arguments = FsaiReach {
            rows,
            listed: u32::from(list.is_some()),
            power,
            climbing: u32::from(climbing),
            fill: u32::from(to.is_some()),
            list: Reads(list.unwrap_or(self.found)),
            row_ptr: Reads(self.a.row_ptr),
            len: Reads(&self.kept.len),
            col: Reads(&self.kept.col),
            same: Reads(self.same),
            ptr: Reads(ptr),
            found: Writes(self.found),
            out: Writes(out),
            left: Writes(&left.rows),
            lefts: Writes(&left.count),
        };
        let (warps, block) = if list.is_some() { (1, 32) } else { (4, 128) };
        // About as many as are resident at once: each takes many rows.
        let most = u64::from(self.setup.device().properties().multiprocessors) * 16;
        let grid = u64::from(rows).div_ceil(warps).min(most);
        // SAFETY: warps stride over the rows, or over those of the list. Counting writes one number
        // per row and lists each row at most once; filling writes as many columns as were counted,
        // from the row's offset on. Arrays that are not requested are not accessed.
        unsafe { self.setup.blocks(function, (grid, block), &arguments) }
    }

    /// Workspace for this many rows, or for fewer at a time.
    fn room(&self, rows: u32) -> Result<Room, DeviceError> {
        let n = self.a.rows as usize;
        let words = n / 32 + 1;
        let each = 4 * (words + n) as u64;
        let most = u64::from(self.setup.device().properties().multiprocessors);
        let blocks = if rows == 0 { 0 } else { blocks_of(rows.into(), most, WORKSPACE / each) };
        let what = "the columns reached by long rows";
        // SAFETY: no column has been reached yet.
        let bits = unsafe { self.setup.filled(what, blocks as usize * words, 0)? };
        Ok(Room { blocks, bits, reached: self.setup.array(what, blocks as usize * n)? })
    }

    /// Rows that reach any number of columns.
    fn anywhere(
        &self,
        (longs, list): (u32, &Buffer<u32>),
        room: &Room,
        (fill, ptr, out): (u32, &Buffer<u32>, &Buffer<u32>),
    ) -> Result<(), DeviceError> {
        let (power, climbing) = self.steps;
        let arguments = FsaiReachLong {
            rows: self.a.rows,
            longs,
            power,
            climbing: u32::from(climbing),
            fill,
            list: Reads(list),
            row_ptr: Reads(self.a.row_ptr),
            len: Reads(&self.kept.len),
            col: Reads(&self.kept.col),
            ptr: Reads(ptr),
            found: Writes(self.found),
            out: Writes(out),
            bits: Writes(&room.bits),
            reached: Writes(&room.reached),
        };
        // SAFETY: each block has its own bits and list for all columns, of which it reaches each
        // once; it strides over the list. Otherwise as for the tables.
        unsafe {
            let shape = (room.blocks, LONG_BLOCK);
            self.setup.blocks("fsai_pattern_reach_long", shape, &arguments)
        }
    }
}

/// Number of blocks for this much work: no more than the device can use or memory allows, but at
/// least one.
pub(super) fn blocks_of(work: u64, most: u64, allowed: u64) -> u64 {
    work.min(most).min(allowed).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_bounded_by_work_device_and_memory_but_there_is_one() {
        assert_eq!(blocks_of(5, 100, 100), 5);
        assert_eq!(blocks_of(500, 132, 1000), 132);
        assert_eq!(blocks_of(500, 132, 7), 7);
        assert_eq!(blocks_of(500, 132, 0), 1);
    }
}
