//! A as the setup reads it.

use sparsescope_core::matrix::Offset;

use crate::arguments::{Element, FsaiLower, FsaiTotal, Reads, Writes};
use crate::arrays::Slots;
use crate::buffer::Buffer;
use crate::device::DeviceError;
use crate::setup::Setup;

/// A + shift·diag(A), square, in CSR on the device.
pub(super) struct Matrix<'a, O> {
    pub(super) rows: u32,
    pub(super) entries: u64,
    pub(super) row_ptr: &'a Buffer<O>,
    pub(super) slots: &'a Slots<f64>,
    /// Factor of the diagonal: 1 + shift.
    pub(super) on_diagonal: f64,
    /// Nonzeros of each row up to the diagonal.
    pub(super) low: Buffer<u32>,
    /// The scaled diagonal; 0 where it is not stored.
    pub(super) diagonal: Buffer<f64>,
}

impl<'a, O: Offset + Element> Matrix<'a, O> {
    /// A has `rows` + 1 ascending offsets up to the number of its nonzeros, and columns that are
    /// rows.
    pub(super) fn of(
        setup: &Setup<'_>,
        (rows, entries): (u32, u64),
        (row_ptr, slots): (&'a Buffer<O>, &'a Slots<f64>),
        shift: f64,
    ) -> Result<Self, DeviceError> {
        let what = "the diagonal";
        let low = setup.array(what, rows as usize)?;
        let diagonal = setup.array(what, rows as usize)?;
        let on_diagonal = 1.0 + shift;
        let arguments = FsaiLower {
            rows,
            on_diagonal,
            row_ptr: Reads(row_ptr),
            col: Reads(&slots.col),
            val: Reads(&slots.val),
            low: Writes(&low),
            diagonal: Writes(&diagonal),
        };
        // SAFETY: one thread per row, which has its offsets and an element of both arrays.
        unsafe { setup.threads("fsai_pattern_lower", rows.into(), &arguments)? };
        Ok(Self { rows, entries, row_ptr, slots, on_diagonal, low, diagonal })
    }
}

/// The sum of the first `n` of these numbers.
pub(super) fn total(setup: &Setup<'_>, n: u32, numbers: &Buffer<u32>) -> Result<u64, DeviceError> {
    // SAFETY: nothing is indexed by the sum.
    let sum = unsafe { setup.filled::<u64>("a sum", 1, 0)? };
    let arguments = FsaiTotal { n, numbers: Reads(numbers), total: Writes(&sum) };
    let grid = u64::from(setup.device().properties().multiprocessors) * 4;
    // SAFETY: threads stride over the n numbers.
    unsafe { setup.blocks("fsai_order_total", (grid, 256), &arguments)? };
    setup.element(&sum, 0)
}

/// The number of entries, if it fits 31-bit offsets.
pub(super) fn counted(what: &'static str, found: u64) -> Result<usize, DeviceError> {
    let most = i32::MAX as u64;
    let fits = usize::try_from(found).ok().filter(|_| found <= most);
    fits.ok_or(DeviceError::TooLarge { what, found, most })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_entries_than_offsets_reach_are_told() {
        let most = i32::MAX as u64;
        assert_eq!(counted("the number of nonzeros", most).unwrap() as u64, most);
        let error = counted("the number of nonzeros", most + 1).unwrap_err().to_string();
        let expected = "the number of nonzeros is 2147483648, more than this kernel's maximum of \
            2147483647";
        assert!(error.starts_with(expected), "{error}");
    }
}
