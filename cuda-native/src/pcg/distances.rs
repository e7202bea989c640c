//! How far the columns of a matrix are from their rows.

use sparsescope_core::kernel::{GridMapping, Work};
use sparsescope_core::matrix::Offset;

use crate::arguments::{CsrRange, Element, Reads, Writes};
use crate::buffer::Buffer;
use crate::device::{Device, DeviceError, count, row_count};
use crate::launch::{Launch, Shape, Step, enqueue, preset};

/// Threads per block, and maximum number of blocks.
const BLOCK: u32 = 256;
const MOST_BLOCKS: u64 = 2048;

/// Number of distances that 16 bits can represent.
const WINDOW: u64 = 1 << 16;

/// A row's distance from itself, in a range.
const OWN: u64 = 1 << 32;

/// The range of the distances, on the device.
pub(super) struct Distances {
    /// Minimum and maximum plus 2³², which are reversed if there are no nonzeros, and whether a row
    /// is too long.
    range: Buffer<u64>,
}

impl Distances {
    /// The range of no rows.
    pub(super) fn none(device: &Device) -> Result<Self, DeviceError> {
        // SAFETY: the kernel takes any numbers.
        let range = unsafe { preset::<u64>(device, "the distances of columns", 3, 0)? };
        let least = range.part(0..1).expect("there are three words"); // invariant
        // SAFETY: the kernel takes any minimum.
        enqueue(device, &[unsafe { Step::fill_numbers(&least, 0xff) }])?;
        Ok(Self { range })
    }

    /// Adds rows in CSR with sorted columns, before which the matrix has `before` other rows.
    pub(super) fn add<O: Offset + Element>(
        &self,
        device: &Device,
        before: usize,
        (row_ptr, col): (&Buffer<O>, &Buffer<u32>),
    ) -> Result<(), DeviceError> {
        let rows = row_count(row_ptr.len() - 1)?;
        let arguments = CsrRange {
            rows,
            before: count("the number of rows", before)?,
            row_ptr: Reads(row_ptr),
            col: Reads(col),
            range: Writes(&self.range),
        };
        let grid = GridMapping::ThreadPerRow.blocks(Work::Rows(rows.into()), BLOCK);
        let shape = Shape { grid: grid.min(MOST_BLOCKS), block: BLOCK, shared_bytes: 0 };
        // SAFETY: there is one offset more than rows, and offsets ascend up to the number of
        // columns; `range` has three words.
        let launch = unsafe { Launch::new(device, "csr_setup_range", shape, &arguments)? };
        enqueue(device, &[Step::Launch(launch)])
    }

    /// The windows of the distances, if two hold all of them. Those of rows from themselves are among
    /// them if `has_own`, which excludes nothing where a row has a nonzero on the diagonal. There are
    /// none if a row has 65 536 nonzeros or more, even for a form that stores no lengths.
    pub(super) fn windows(
        &self,
        device: &Device,
        has_own: bool,
    ) -> Result<Option<Windows>, DeviceError> {
        Ok(windows_of(&self.range.to_host(device)?, has_own))
    }
}

/// Adjacent windows of 65 536 columns, which move with the rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Windows {
    /// Start of a row's first window minus the row, modulo 2³².
    pub(super) base: u32,
    /// One or two.
    pub(super) number: u32,
}

fn windows_of(range: &[u64], has_own: bool) -> Option<Windows> {
    let [least, greatest, too_long] = *range else { return None };
    let (least, greatest) =
        if has_own { (least.min(OWN), greatest.max(OWN)) } else { (least, greatest) };
    if least > greatest {
        return Some(Windows { base: 0, number: 1 });
    }
    let number = (greatest - least) / WINDOW + 1;
    // The low half of the minimum is the distance modulo 2³², as kernels add it.
    let windows = Windows { base: least as u32, number: number as u32 };
    (too_long == 0 && number <= 2).then_some(windows)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The base and number of the windows.
    fn found(range: [u64; 3], has_own: bool) -> Option<(i32, u32)> {
        windows_of(&range, has_own).map(|Windows { base, number }| (base.cast_signed(), number))
    }

    #[test]
    fn distances_count_from_the_least_where_two_windows_have_all_of_them() {
        assert_eq!(found([OWN - 5, OWN + 65_530, 0], false), Some((-5, 1)));
        assert_eq!(found([OWN - 5, OWN + 65_531, 0], false), Some((-5, 2)));
        assert_eq!(found([OWN - 5, OWN + 131_066, 0], false), Some((-5, 2)));
        assert_eq!(found([OWN - 5, OWN + 131_067, 0], false), None);
        assert_eq!(found([OWN + 7, OWN + 8, 1], false), None);
        assert_eq!(found([u64::MAX, 0, 0], false), Some((0, 1)));
    }

    #[test]
    fn rows_themselves_are_in_the_windows_if_asked() {
        assert_eq!(found([OWN + 7, OWN + 8, 0], false), Some((7, 1)));
        assert_eq!(found([OWN + 7, OWN + 8, 0], true), Some((0, 1)));
        assert_eq!(found([OWN - 65_536, OWN - 1, 0], true), Some((-65_536, 2)));
        assert_eq!(found([u64::MAX, 0, 0], true), Some((0, 1)));
    }

    #[test]
    fn kernels_have_windows_of_the_same_size() {
        let (_, common) = crate::kernels::COMMON;
        assert!(common.contains(&format!("WINDOW = {WINDOW}, OF_BYTE")));
    }
}
