//! Launchers of our own kernels of Y = A·X.

use sparsescope_core::matrix::Offset;

use crate::arguments::{Element, Reads, Spmm, Writes};
use crate::arrays::Offsets;
use crate::buffer::Buffer;
use crate::cusparse::Block;
use crate::device::{Device, DeviceError};
use crate::launch::{Bound, Launch, Shape, Step};
use crate::value::DeviceReal;

/// Largest number of bytes that a thread moves at once.
const WIDEST: usize = 16;

/// Threads of a row below which each takes fewer columns instead.
const FEWEST_THREADS: usize = 8;

/// Adjacent threads on adjacent columns of X, row after row.
pub(super) fn row_split<T: DeviceReal>(
    device: &Device,
    block: u32,
    operands: &Block<'_, T>,
) -> Result<Bound, DeviceError> {
    let step = match operands.row_ptr {
        Offsets::Narrow(row_ptr) => split(device, block, operands, row_ptr),
        Offsets::Wide(row_ptr) => split(device, block, operands, row_ptr),
    };
    Ok(Bound::of(vec![step?]))
}

fn split<T: DeviceReal, O: Offset + Element>(
    device: &Device,
    block: u32,
    operands: &Block<'_, T>,
    row_ptr: &Buffer<O>,
) -> Result<Step, DeviceError> {
    let Block { rows, columns, slots, x, y, .. } = *operands;
    let count = |what: &'static str, number: usize| {
        let (found, most) = (number as u64, u64::from(u32::MAX - 1));
        let fits = u32::try_from(number).ok().filter(|&number| number < u32::MAX);
        fits.ok_or(DeviceError::TooLarge { what, found, most })
    };
    let each = columns_per_thread::<T>(columns);
    let arguments = Spmm {
        rows: count("the number of rows", rows)?,
        columns: count("the number of columns of X", columns)?,
        row_ptr: Reads(row_ptr),
        col: Reads(&slots.col),
        val: Reads(&slots.val),
        x: Reads(x),
        y: Writes(y),
    };
    let threads = rows as u64 * (columns / each) as u64;
    let shape = Shape { grid: threads.div_ceil(block.into()), block, shared_bytes: 0 };
    let name = format!("spmm_row_split_{each}");
    // SAFETY: a CSR matrix has rows + 1 ascending offsets up to the length of col and val, and only
    // columns below cols; X and Y have `columns` elements per column and row of A, a multiple of
    // those that a thread takes, and both begin where as many elements are aligned. Threads of rows
    // beyond the last return.
    unsafe { Launch::new(device, &name, shape, &arguments) }.map(Step::Launch)
}

/// The columns that a thread takes: as many as it moves at once, if k is a multiple of that and a
/// row still has enough threads.
fn columns_per_thread<T: DeviceReal>(k: usize) -> usize {
    let fits = |each: &usize| {
        k.is_multiple_of(*each) && each * T::BYTES <= WIDEST && k / each >= FEWEST_THREADS
    };
    [4, 2].into_iter().find(fits).unwrap_or(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_take_columns_that_divide_k_and_leave_threads_for_a_row() {
        for (k, double, single) in [
            (1, 1, 1),
            (8, 1, 1),
            (16, 2, 2),
            (24, 2, 2),
            (32, 2, 4),
            (33, 1, 1),
            (34, 2, 2),
            (64, 2, 4),
        ] {
            let found = (columns_per_thread::<f64>(k), columns_per_thread::<f32>(k));
            assert_eq!(found, (double, single), "{k} columns");
        }
    }
}
