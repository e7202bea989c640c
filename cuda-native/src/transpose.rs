//! Transposes CSR on the device: nonzeros are sorted by column, those of one column stay in the
//! order of their rows, so that the result is the same in every run.

use sparsescope_core::matrix::{Csr, RowPtr};

use crate::arguments::{ConvertTransposed, Reads, Writes};
use crate::arrays::{Arrays, Offsets, Slots};
use crate::buffer::Spent;
use crate::device::{Device, DeviceError};
use crate::kernels::LEAST_TO_WAIT;
use crate::order::sort;
use crate::setup::Setup;
use crate::value::DeviceReal;

/// A matrix in CSR that was transposed on the device.
pub(crate) struct Transposed<T: DeviceReal> {
    pub(crate) arrays: Arrays<T>,
    /// Seconds of transposing.
    pub(crate) seconds: f64,
    /// Time spent on the memory for it.
    pub(crate) spent: Spent,
}

/// Whether the device can transpose a matrix: the kernels that sort take 32-bit numbers, need
/// compute capability 7.0, and more memory than the matrix.
pub(crate) fn can<T: DeviceReal>(device: &Device, a: &Csr<T>) -> bool {
    let is_narrow = matches!(a.row_ptr(), RowPtr::Narrow(_)) && a.nnz() > 0;
    // Both matrices, and two columns and two places per nonzero.
    let bytes = a.nnz() as u64 * (2 * (size_of::<u32>() + T::BYTES) + 16) as u64;
    let fits = || device.check_memory("the transpose of A", bytes).is_ok();
    let (major, minor) = device.properties().capability;
    let sorts = 10 * major + minor >= LEAST_TO_WAIT;
    is_narrow && u32::try_from(a.cols()).is_ok() && sorts && fits()
}

/// Transposes a matrix of `cols` columns for which [`can`] is true.
pub(crate) fn transposed<T: DeviceReal>(
    device: &Device,
    csr: &Arrays<T>,
    cols: usize,
) -> Result<Transposed<T>, DeviceError> {
    let Arrays::Csr { row_ptr: Offsets::Narrow(row_ptr), slots } = csr else {
        return Err(DeviceError::Format("formats other than CSR with 32-bit offsets here"));
    };
    let (rows, entries) = ((row_ptr.len() - 1) as u32, slots.col.len());
    let (setup, arrays, seconds) = Setup::of(device, |setup| {
        let what = "the transpose of A";
        let (order, ptr) = sort(setup, entries as u32, &slots.col, cols as u32)?;
        let made = Slots { col: setup.array(what, entries)?, val: setup.array(what, entries)? };
        let arguments = ConvertTransposed {
            entries: entries as u32,
            rows,
            row_ptr: Reads(row_ptr),
            order: Reads(&order),
            csr_val: Reads(&slots.val),
            col: Writes(&made.col),
            val: Writes(&made.val),
        };
        // SAFETY: one thread per nonzero; the order has each nonzero once, and the offsets of rows
        // ascend from 0 up to their number. Columns of A, its transpose's rows, are below `cols`.
        unsafe { setup.threads("convert_transposed", entries as u64, &arguments)? };
        Ok(Arrays::Csr { row_ptr: Offsets::Narrow(ptr), slots: made })
    })?;
    Ok(Transposed { arrays, seconds, spent: setup.spent() })
}
