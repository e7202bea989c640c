//! The arrays of a matrix on the device, in the order of its family's bindings. All of them are uploaded in
//! full: kernels read without bounds checks, within the invariants of the formats.

use sparsescope_core::matrix::{AnyFormat, Order, RowPtr};

use crate::buffer::{Buffer, Spent};
use crate::device::Device;
use crate::error::DeviceError;

/// A matrix in some format on the device.
pub(crate) struct Arrays {
    pub(crate) all: Vec<Buffer>,
    /// Slots without a nonzero, which kernels that stop at a row's length do not read.
    pub(crate) padding: u64,
}

impl Arrays {
    /// Bytes of all arrays.
    pub(crate) fn bytes(&self) -> u64 {
        self.all.iter().map(|array| array.bytes).sum()
    }

    /// Time spent on all arrays.
    pub(crate) fn spent(&self) -> Spent {
        self.all.iter().fold(Spent::default(), |all, array| all + array.spent)
    }

    pub(crate) async fn of(device: &Device, host: &AnyFormat<f32>) -> Result<Self, DeviceError> {
        let (col, val) = match host {
            AnyFormat::Csr(a) => (a.col(), a.val()),
            AnyFormat::Coo(a) => (a.col(), a.val()),
            AnyFormat::Ell(a) => (a.col(), a.val()),
            AnyFormat::Hll(a) if a.is_plain() => (a.col(), a.val()),
            _ => return Err(DeviceError::Absent),
        };
        // The largest first: an array that does not fit is rejected before anything is copied.
        let val_copy = Buffer::of(device, "the values", val).await?;
        let col_copy = Buffer::of(device, "the columns", col).await?;
        let mut all = Vec::new();
        let mut padding = 0;
        match host {
            AnyFormat::Csr(a) => {
                let offsets = match a.row_ptr() {
                    RowPtr::Narrow(offsets) => Buffer::of(device, "the row offsets", offsets).await,
                    // There are more than 2³¹ nonzeros, which no binding holds.
                    RowPtr::Wide(_) => Err(DeviceError::Absent),
                };
                all.push(offsets?);
            }
            AnyFormat::Coo(a) => all.push(Buffer::of(device, "the row indices", a.row()).await?),
            AnyFormat::Ell(a) => {
                padding = padding_of(a.row_len(), val.len());
                all.push(Buffer::of(device, "the row lengths", a.row_len()).await?);
            }
            AnyFormat::Hll(a) => {
                // Less than the number of slots, whose bytes fit into 31 bits.
                let offsets: Vec<u32> = a.shape().offsets().iter().map(|&o| o as u32).collect();
                all.push(Buffer::of(device, "the hack offsets", &offsets).await?);
                padding = padding_of(a.row_len(), val.len());
                all.push(match a.shape().order() {
                    Order::RowMajor => {
                        Buffer::of(device, "the hack widths", a.shape().max_nzr()).await?
                    }
                    Order::ColumnMajor => {
                        Buffer::of(device, "the row lengths", a.row_len()).await?
                    }
                });
            }
            _ => return Err(DeviceError::Absent),
        }
        all.push(col_copy);
        all.push(val_copy);
        Ok(Self { all, padding })
    }
}

fn padding_of(row_len: &[u32], slots: usize) -> u64 {
    slots as u64 - row_len.iter().map(|&length| u64::from(length)).sum::<u64>()
}
