//! Matrices on the device, one copy for all kernels that read the same format.

use std::sync::{Arc, Mutex, PoisonError, Weak};

use sparsescope_core::experiment::SpmvProblem;
use sparsescope_core::matrix::{AnyFormat, FormatSpec, RowPtr};

use crate::buffer::Buffer;
use crate::device::{Device, DeviceError};

/// Row or slice offsets in the width that kernels count with.
#[derive(Debug)]
pub(crate) enum Offsets {
    Narrow(Buffer<u32>),
    Wide(Buffer<u64>),
}

impl Offsets {
    fn of(device: &Device, row_ptr: &RowPtr) -> Result<Self, DeviceError> {
        let what = "the row offsets";
        Ok(match row_ptr {
            RowPtr::Narrow(offsets) => Self::Narrow(Buffer::of(device, what, offsets)?),
            RowPtr::Wide(offsets) => Self::Wide(Buffer::of(device, what, offsets)?),
        })
    }

    pub(crate) fn bits(&self) -> u32 {
        match self {
            Self::Narrow(_) => 32,
            Self::Wide(_) => 64,
        }
    }

    pub(crate) fn address(&self) -> u64 {
        match self {
            Self::Narrow(buffer) => buffer.address(),
            Self::Wide(buffer) => buffer.address(),
        }
    }
}

/// Columns and values of a format's slots.
#[derive(Debug)]
pub(crate) struct Slots {
    pub(crate) col: Buffer<u32>,
    pub(crate) val: Buffer<f64>,
}

impl Slots {
    fn of(device: &Device, col: &[u32], val: &[f64]) -> Result<Self, DeviceError> {
        // Both at once, so that a matrix that does not fit is refused before half of it is copied.
        device.check_memory("the matrix", (size_of_val(col) + size_of_val(val)) as u64)?;
        let col = Buffer::of(device, "the columns", col)?;
        let val = Buffer::of(device, "the values", val)?;
        Ok(Self { col, val })
    }
}

/// The arrays of a format on the device.
#[derive(Debug)]
pub(crate) enum Arrays {
    Csr { row_ptr: Offsets, slots: Slots },
    Coo { row: Buffer<u32>, slots: Slots },
    Ell { row_len: Buffer<u32>, slots: Slots },
    Hyb { row_len: Buffer<u32>, ell: Slots, row: Buffer<u32>, tail: Slots },
    Hll { offsets: Buffer<u64>, max_nzr: Buffer<u32>, slots: Slots },
}

/// A matrix on the device, beside the same on the host.
pub(crate) struct Uploaded {
    pub(crate) host: AnyFormat,
    pub(crate) arrays: Arrays,
}

impl Uploaded {
    fn new(device: &Device, host: AnyFormat) -> Result<Self, DeviceError> {
        let lengths = |of: &[u32]| Buffer::of(device, "the row lengths", of);
        let arrays = match &host {
            AnyFormat::Csr(a) => Arrays::Csr {
                slots: Slots::of(device, a.col(), a.val())?,
                row_ptr: Offsets::of(device, a.row_ptr())?,
            },
            AnyFormat::Coo(a) => Arrays::Coo {
                slots: Slots::of(device, a.col(), a.val())?,
                row: Buffer::of(device, "the row indices", a.row())?,
            },
            AnyFormat::Ell(a) => Arrays::Ell {
                slots: Slots::of(device, a.col(), a.val())?,
                row_len: lengths(a.row_len())?,
            },
            AnyFormat::Hyb(a) => Arrays::Hyb {
                ell: Slots::of(device, a.ell().col(), a.ell().val())?,
                row_len: lengths(a.ell().row_len())?,
                tail: Slots::of(device, a.tail().col(), a.tail().val())?,
                row: Buffer::of(device, "the row indices", a.tail().row())?,
            },
            AnyFormat::Hll(a) => Arrays::Hll {
                slots: Slots::of(device, a.col(), a.val())?,
                offsets: Buffer::of(device, "the hack offsets", a.shape().offsets())?,
                max_nzr: Buffer::of(device, "the hack widths", a.shape().max_nzr())?,
            },
            AnyFormat::Bsr(_) => return Err(DeviceError::Format("BSR")),
            AnyFormat::Dia(_) => return Err(DeviceError::Format("DIA")),
        };
        Ok(Self { host, arrays })
    }
}

/// What has been copied to the device and is still used by some kernel.
#[derive(Default)]
pub(crate) struct Uploads {
    matrices: Mutex<Vec<(usize, FormatSpec, Weak<Uploaded>)>>,
    vectors: Mutex<Vec<(usize, Weak<Buffer<f64>>)>>,
}

impl Uploads {
    /// The problem's matrix in this format, copied unless another kernel uses it already.
    pub(crate) fn matrix(
        &self,
        device: &Device,
        problem: &SpmvProblem,
        spec: FormatSpec,
        host: &AnyFormat,
    ) -> Result<Arc<Uploaded>, DeviceError> {
        let mut all = self.matrices.lock().unwrap_or_else(PoisonError::into_inner);
        all.retain(|(_, _, kept)| kept.strong_count() > 0);
        // What is kept alive belongs to a prepared kernel, which borrows its problem: while it
        // lives, no other problem can have the same address.
        let found = all.iter().find(|(of, kept_spec, _)| *of == key(problem) && *kept_spec == spec);
        if let Some(made) = found.and_then(|(_, _, kept)| kept.upgrade()) {
            return Ok(made);
        }
        let made = Arc::new(Uploaded::new(device, host.clone())?);
        all.push((key(problem), spec, Arc::downgrade(&made)));
        Ok(made)
    }

    /// The problem's x.
    pub(crate) fn x(
        &self,
        device: &Device,
        problem: &SpmvProblem,
    ) -> Result<Arc<Buffer<f64>>, DeviceError> {
        let mut all = self.vectors.lock().unwrap_or_else(PoisonError::into_inner);
        all.retain(|(_, kept)| kept.strong_count() > 0);
        let found = all.iter().find(|(of, _)| *of == key(problem));
        if let Some(made) = found.and_then(|(_, kept)| kept.upgrade()) {
            return Ok(made);
        }
        let made = Arc::new(Buffer::of(device, "the vector x", problem.x())?);
        all.push((key(problem), Arc::downgrade(&made)));
        Ok(made)
    }
}

fn key(problem: &SpmvProblem) -> usize {
    std::ptr::from_ref(problem).addr()
}
