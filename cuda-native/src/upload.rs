//! Matrices on the device, one copy for all kernels that read the same format.

use std::sync::{Arc, Mutex, PoisonError, Weak};

use sparsescope_core::matrix::{AnyFormat, Points, RowPtr};

use crate::buffer::{Buffer, Memory, Spent};
use crate::device::{Device, DeviceError};
use crate::value::DeviceReal;

/// Row or slice offsets in the width that kernels count with.
#[derive(Debug)]
pub(crate) enum Offsets {
    Narrow(Buffer<u32>),
    Wide(Buffer<u64>),
}

impl Offsets {
    pub(crate) fn of(device: &Device, what: &str, of: &RowPtr) -> Result<Self, DeviceError> {
        Ok(match of {
            RowPtr::Narrow(offsets) => Self::Narrow(Buffer::of(device, what, offsets)?),
            RowPtr::Wide(offsets) => Self::Wide(Buffer::of(device, what, offsets)?),
        })
    }

    pub(crate) fn bytes(&self) -> u64 {
        match self {
            Self::Narrow(buffer) => buffer.bytes(),
            Self::Wide(buffer) => buffer.bytes(),
        }
    }

    pub(crate) fn spent(&self) -> Spent {
        match self {
            Self::Narrow(buffer) => buffer.spent(),
            Self::Wide(buffer) => buffer.spent(),
        }
    }

    pub(crate) fn memory(&self) -> Memory {
        match self {
            Self::Narrow(buffer) => buffer.memory(),
            Self::Wide(buffer) => buffer.memory(),
        }
    }
}

/// Columns and values of a format's slots.
#[derive(Debug)]
pub(crate) struct Slots<T> {
    pub(crate) col: Buffer<u32>,
    pub(crate) val: Buffer<T>,
}

impl<T: DeviceReal> Slots<T> {
    pub(crate) fn of(device: &Device, col: &[u32], val: &[T]) -> Result<Self, DeviceError> {
        // Both at once, so that a matrix that does not fit is refused before half of it is copied.
        device.check_memory("the matrix", (size_of_val(col) + size_of_val(val)) as u64)?;
        let col = Buffer::of(device, "the columns", col)?;
        let val = Buffer::of(device, "the values", val)?;
        Ok(Self { col, val })
    }

    pub(crate) fn spent(&self) -> Spent {
        self.col.spent() + self.val.spent()
    }
}

/// The arrays of a format on the device.
#[derive(Debug)]
pub(crate) enum Arrays<T> {
    Csr { row_ptr: Offsets, slots: Slots<T> },
    Coo { row: Buffer<u32>, slots: Slots<T> },
    Ell { row_len: Buffer<u32>, slots: Slots<T> },
    Hyb { row_len: Buffer<u32>, ell: Slots<T>, row: Buffer<u32>, tail: Slots<T> },
    Hll { offsets: Buffer<u64>, max_nzr: Buffer<u32>, slots: Slots<T> },
}

/// What was copied to the device, beside what it was copied from.
pub(crate) struct OnDevice<H, D> {
    /// The copy is known by this very object: it lives as long as the copy, so that no other can
    /// have its address meanwhile.
    host: H,
    copy: D,
}

impl<H, D> OnDevice<H, D> {
    /// What was copied.
    pub(crate) fn host(&self) -> &H {
        &self.host
    }

    /// The arrays of the same on the device.
    pub(crate) fn copy(&self) -> &D {
        &self.copy
    }
}

/// A matrix on the device.
pub(crate) type Uploaded<T> = OnDevice<AnyFormat<T>, Arrays<T>>;

/// A vector on the device.
pub(crate) type UploadedVector<T> = OnDevice<Arc<Vec<T>>, Buffer<T>>;

impl<T: DeviceReal> Arrays<T> {
    /// What it took to bring them there.
    pub(crate) fn spent(&self) -> Spent {
        match self {
            Self::Csr { row_ptr, slots } => row_ptr.spent() + slots.spent(),
            Self::Coo { row, slots } => row.spent() + slots.spent(),
            Self::Ell { row_len, slots } => row_len.spent() + slots.spent(),
            Self::Hyb { row_len, ell, row, tail } => {
                row_len.spent() + ell.spent() + row.spent() + tail.spent()
            }
            Self::Hll { offsets, max_nzr, slots } => {
                offsets.spent() + max_nzr.spent() + slots.spent()
            }
        }
    }

    fn of(device: &Device, host: &AnyFormat<T>) -> Result<Self, DeviceError> {
        let lengths = |of: &[u32]| Buffer::of(device, "the row lengths", of);
        Ok(match host {
            AnyFormat::Csr(a) => Arrays::Csr {
                slots: Slots::of(device, a.col(), a.val())?,
                row_ptr: Offsets::of(device, "the row offsets", a.row_ptr())?,
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
            AnyFormat::CsrCompact(_) => return Err(DeviceError::Format("compact CSR")),
            AnyFormat::HllCompact(_) => return Err(DeviceError::Format("compact HLL")),
        })
    }
}

/// Points on the device, one after the other.
pub(crate) type UploadedPoints = OnDevice<Arc<Points>, Buffer<f64>>;

/// The points that have been copied to the device and are still used by some kernel.
#[derive(Default)]
pub(crate) struct PointUploads(Copies<Arc<Points>, Buffer<f64>>);

impl PointUploads {
    /// These points.
    pub(crate) fn points(
        &self,
        device: &Device,
        host: &Arc<Points>,
    ) -> Result<Arc<UploadedPoints>, DeviceError> {
        self.0.get_or_make(host, |host| Buffer::of(device, "the points", host.coordinates()))
    }
}

/// An object that others share and that is told from equal ones.
trait Shared: Clone {
    /// Both are the same object.
    fn is(&self, other: &Self) -> bool;
}

impl<T> Shared for Arc<T> {
    fn is(&self, other: &Self) -> bool {
        Arc::ptr_eq(self, other)
    }
}

impl<T: DeviceReal> Shared for AnyFormat<T> {
    fn is(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Coo(a), Self::Coo(b)) => a.is(b),
            (Self::Csr(a), Self::Csr(b)) => a.is(b),
            (Self::Ell(a), Self::Ell(b)) => a.is(b),
            (Self::Hyb(a), Self::Hyb(b)) => a.is(b),
            (Self::Hll(a), Self::Hll(b)) => a.is(b),
            (Self::Bsr(a), Self::Bsr(b)) => a.is(b),
            (Self::Dia(a), Self::Dia(b)) => a.is(b),
            (Self::CsrCompact(a), Self::CsrCompact(b)) => a.is(b),
            (Self::HllCompact(a), Self::HllCompact(b)) => a.is(b),
            _ => false,
        }
    }
}

/// Copies that are still used by some kernel.
struct Copies<H, D>(Mutex<Vec<Weak<OnDevice<H, D>>>>);

impl<H, D> Default for Copies<H, D> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<H: Shared, D> Copies<H, D> {
    /// The copy of `host`, made unless another kernel uses it already.
    fn get_or_make<E>(
        &self,
        host: &H,
        make: impl FnOnce(&H) -> Result<D, E>,
    ) -> Result<Arc<OnDevice<H, D>>, E> {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.retain(|made| made.strong_count() > 0);
        if let Some(made) = all.iter().filter_map(Weak::upgrade).find(|made| made.host.is(host)) {
            return Ok(made);
        }
        let made = Arc::new(OnDevice { host: host.clone(), copy: make(host)? });
        all.push(Arc::downgrade(&made));
        Ok(made)
    }
}

/// What has been copied to the device in one precision and is still used by some kernel.
pub(crate) struct Uploads<T> {
    matrices: Copies<AnyFormat<T>, Arrays<T>>,
    vectors: Copies<Arc<Vec<T>>, Buffer<T>>,
}

impl<T> Default for Uploads<T> {
    fn default() -> Self {
        Self { matrices: Copies::default(), vectors: Copies::default() }
    }
}

impl<T: DeviceReal> Uploads<T> {
    /// A matrix in some format.
    pub(crate) fn matrix(
        &self,
        device: &Device,
        host: &AnyFormat<T>,
    ) -> Result<Arc<Uploaded<T>>, DeviceError> {
        self.matrices.get_or_make(host, |host| Arrays::of(device, host))
    }

    /// The vector x.
    pub(crate) fn x(
        &self,
        device: &Device,
        host: &Arc<Vec<T>>,
    ) -> Result<Arc<UploadedVector<T>>, DeviceError> {
        self.vectors.get_or_make(host, |host| Buffer::of(device, "the vector x", host))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sparsescope_core::experiment::SpmvProblem;
    use sparsescope_core::matrix::{Csr, FormatSpec};
    use sparsescope_core::memory::MemoryLimit;

    fn problem(value: f64) -> SpmvProblem {
        let a = Csr::from_triplets(1, 1, &[(0, 0, value)]).unwrap();
        SpmvProblem::new(Arc::new(a), vec![value])
    }

    fn matrix(problem: &SpmvProblem, spec: FormatSpec) -> AnyFormat {
        problem.double().format(spec, MemoryLimit::unlimited()).unwrap().matrix
    }

    /// A number for what would be on the device.
    fn copied<H: Shared>(copies: &Copies<H, u32>, host: &H, number: u32) -> Arc<OnDevice<H, u32>> {
        copies.get_or_make(host, |_| Ok::<_, DeviceError>(number)).unwrap()
    }

    #[test]
    fn a_problem_in_the_place_of_another_finds_nothing_of_it() {
        let (matrices, vectors) = (Copies::default(), Copies::default());
        let mut here = problem(1.0);
        let address = std::ptr::from_ref(&here);
        let first = copied(&matrices, &matrix(&here, FormatSpec::Csr), 1);
        let first_x = copied(&vectors, here.double().x(), 1);
        here = problem(2.0);
        assert_eq!(std::ptr::from_ref(&here), address);
        let second = copied(&matrices, &matrix(&here, FormatSpec::Csr), 2);
        let second_x = copied(&vectors, here.double().x(), 2);
        assert_eq!([first.copy, first_x.copy, second.copy, second_x.copy], [1, 1, 2, 2]);
        assert_eq!([&**first_x.host, &**second_x.host], [[1.0], [2.0]]);
    }

    #[test]
    fn a_format_is_copied_once_for_as_long_as_a_kernel_uses_it() {
        let copies = Copies::default();
        let problem = problem(1.0);
        let (csr, coo) = (matrix(&problem, FormatSpec::Csr), matrix(&problem, FormatSpec::Coo));
        let first = copied(&copies, &csr, 1);
        let coo = copied(&copies, &coo, 2);
        let again = copied(&copies, &matrix(&problem, FormatSpec::Csr), 3);
        assert!(Arc::ptr_eq(&first, &again));
        assert_eq!((first.copy, coo.copy), (1, 2));
        drop((first, again));
        assert_eq!(copied(&copies, &csr, 4).copy, 4);
    }
}
