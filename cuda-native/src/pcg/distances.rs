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

    /// The base from which the distances count so that two windows hold all of them, if there is
    /// one.
    pub(super) fn base(&self, device: &Device) -> Result<Option<u32>, DeviceError> {
        Ok(base_of(&self.range.to_host(device)?))
    }
}

fn base_of(range: &[u64]) -> Option<u32> {
    let [least, greatest, too_long] = *range else { return None };
    if least > greatest {
        return Some(0);
    }
    // The low half of the minimum is the distance modulo 2³², as kernels add it.
    (too_long == 0 && greatest - least < 2 * WINDOW).then_some(least as u32)
}

#[cfg(test)]
mod tests {
    use super::base_of;

    const ROW: u64 = 1 << 32;

    #[test]
    fn distances_count_from_the_least_where_two_windows_have_all_of_them() {
        assert_eq!(base_of(&[ROW - 5, ROW + 131_066, 0]), Some(0_u32.wrapping_sub(5)));
        assert_eq!(base_of(&[ROW - 5, ROW + 131_067, 0]), None);
        assert_eq!(base_of(&[ROW + 7, ROW + 7, 0]), Some(7));
        assert_eq!(base_of(&[ROW + 7, ROW + 8, 1]), None);
        assert_eq!(base_of(&[u64::MAX, 0, 0]), Some(0));
    }
}
