//! A square matrix in CSR on the device, and what the host knows of it.

use std::borrow::Cow;
use std::sync::Arc;

use sparsescope_core::experiment::PrepareError;
use sparsescope_core::matrix::{AnyFormat, Csr, RowPtr};

use crate::arrays::{Arrays, Offsets, Slots};
use crate::device::{Device, DeviceError};
use crate::refusal::refused;
use crate::upload::Uploaded;

/// A matrix from which operators of any format are made.
#[derive(Clone)]
pub(crate) enum Source {
    /// A matrix that the host holds too.
    Copied { host: Arc<Csr>, copy: Arc<Uploaded<f64>> },
    /// A matrix made on the device.
    Made(Arc<Arrays<f64>>),
}

/// Arrays in CSR.
fn csr(arrays: &Arrays<f64>) -> Result<(&Offsets, &Slots<f64>), DeviceError> {
    match arrays {
        Arrays::Csr { row_ptr, slots } => Ok((row_ptr, slots)),
        _ => Err(wrong_format()),
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
            Self::Made(made) => made,
        }
    }

    /// Its row offsets, copied back if needed.
    pub(super) fn row_ptr(&self, device: &Device) -> Result<Cow<'_, RowPtr>, DeviceError> {
        match self {
            Self::Copied { host, .. } => Ok(Cow::Borrowed(host.row_ptr())),
            Self::Made(made) => Ok(Cow::Owned(csr(made)?.0.to_host(device)?)),
        }
    }

    pub(super) fn rows(&self) -> Result<usize, DeviceError> {
        Ok(csr(self.arrays())?.0.len() - 1)
    }

    /// All of it on the host, copied back if needed.
    pub(super) fn to_host(&self, device: &Device) -> Result<Arc<Csr>, PrepareError> {
        match self {
            Self::Copied { host, .. } => Ok(Arc::clone(host)),
            Self::Made(made) => {
                let (row_ptr, slots) = csr(made).map_err(refused)?;
                let row_ptr = row_ptr.to_host(device).map_err(refused)?;
                let col = slots.col.to_host(device).map_err(refused)?;
                let val = slots.val.to_host(device).map_err(refused)?;
                let rows = row_ptr.len() - 1;
                let made = Csr::try_new(rows, rows, row_ptr, col, val);
                made.map(Arc::new).map_err(|error| PrepareError::Refused(error.to_string()))
            }
        }
    }

    /// Bytes of its arrays.
    pub(super) fn bytes(&self) -> u64 {
        match self {
            Self::Copied { host, .. } => host.bytes(),
            Self::Made(made) => csr(made).map_or(0, |(row_ptr, slots)| {
                row_ptr.bytes() + slots.col.bytes() + slots.val.bytes()
            }),
        }
    }
}
