//! A square matrix in CSR on the device, and what the host knows of it.

use std::sync::Arc;

use sparsescope_core::experiment::PrepareError;
use sparsescope_core::matrix::{AnyFormat, Csr, RowPtr};

use crate::arrays::{Arrays, Offsets};
use crate::convert::Known;
use crate::device::{Device, DeviceError};
use crate::refusal::refused;
use crate::upload::Uploaded;

/// A matrix from which operators of any format are made.
#[derive(Clone)]
pub(crate) enum Source {
    /// A matrix that the host holds too.
    Copied { host: Arc<Csr>, copy: Arc<Uploaded<f64>> },
    /// A matrix made on the device.
    Made(Arc<Made>),
}

/// A matrix that was made on the device.
pub(crate) struct Made {
    row_ptr: RowPtr,
    arrays: Arrays<f64>,
}

impl Made {
    /// From arrays in CSR; the row offsets are read back.
    pub(super) fn of(device: &Device, arrays: Arrays<f64>) -> Result<Self, DeviceError> {
        let row_ptr = match &arrays {
            Arrays::Csr { row_ptr: Offsets::Narrow(offsets), .. } => {
                RowPtr::Narrow(offsets.to_host(device)?)
            }
            Arrays::Csr { row_ptr: Offsets::Wide(offsets), .. } => {
                RowPtr::Wide(offsets.to_host(device)?)
            }
            _ => return Err(wrong_format()),
        };
        Ok(Self { row_ptr, arrays })
    }

    /// Copies all of it to the host.
    fn to_host(&self, device: &Device) -> Result<Csr, PrepareError> {
        let Arrays::Csr { slots, .. } = &self.arrays else { return Err(refused(wrong_format())) };
        let col = slots.col.to_host(device).map_err(refused)?;
        let val = slots.val.to_host(device).map_err(refused)?;
        let rows = self.row_ptr.len() - 1;
        let made = Csr::try_new(rows, rows, self.row_ptr.clone(), col, val);
        made.map_err(|error| PrepareError::Refused(error.to_string()))
    }

    fn bytes(&self) -> u64 {
        match &self.arrays {
            Arrays::Csr { row_ptr, slots } => {
                row_ptr.bytes() + slots.col.bytes() + slots.val.bytes()
            }
            _ => 0,
        }
    }
}

fn wrong_format() -> DeviceError {
    DeviceError::Format("formats other than CSR here")
}

impl Source {
    /// A matrix that was copied to the device in CSR.
    pub(crate) fn copied(copy: Arc<Uploaded<f64>>) -> Result<Self, DeviceError> {
        let AnyFormat::Csr(host) = copy.host() else {
            return Err(wrong_format());
        };
        Ok(Self::Copied { host: Arc::clone(host), copy })
    }

    /// Its arrays on the device.
    pub(super) fn arrays(&self) -> &Arrays<f64> {
        match self {
            Self::Copied { copy, .. } => copy.copy(),
            Self::Made(made) => &made.arrays,
        }
    }

    /// Its row offsets.
    pub(super) fn row_ptr(&self) -> &RowPtr {
        match self {
            Self::Copied { host, .. } => host.row_ptr(),
            Self::Made(made) => &made.row_ptr,
        }
    }

    pub(super) fn rows(&self) -> usize {
        self.row_ptr().len() - 1
    }

    /// The part of it on the host.
    pub(super) fn known(&self) -> Known<'_, f64> {
        match self {
            Self::Copied { host, .. } => Known::Whole(host),
            Self::Made(made) => Known::Rows(&made.row_ptr),
        }
    }

    /// All of it on the host, copied back if needed.
    pub(super) fn to_host(&self, device: &Device) -> Result<Arc<Csr>, PrepareError> {
        match self {
            Self::Copied { host, .. } => Ok(Arc::clone(host)),
            Self::Made(made) => made.to_host(device).map(Arc::new),
        }
    }

    /// Bytes of its arrays.
    pub(super) fn bytes(&self) -> u64 {
        match self {
            Self::Copied { host, .. } => host.bytes(),
            Self::Made(made) => made.bytes(),
        }
    }
}
