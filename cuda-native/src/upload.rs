//! Matrices on the device, one copy for all kernels that read the same format.

use std::sync::{Arc, Mutex, PoisonError, Weak};

use sparsescope_core::matrix::{AnyFormat, Batches, Csr, HllLayout, Points, Precision};

use crate::arrays::{Arrays, Hacks};
use crate::buffer::Buffer;
use crate::device::{Device, DeviceError};
use crate::transpose::Transposed;
use crate::value::DeviceReal;

/// A copy on the device, with its source.
pub(crate) struct OnDevice<H, D> {
    /// The copy is identified by this very object: it lives as long as the copy, so that no other
    /// can have its address meanwhile.
    host: H,
    copy: D,
}

impl<H, D> OnDevice<H, D> {
    /// The source of the copy.
    pub(crate) fn host(&self) -> &H {
        &self.host
    }

    /// The arrays on the device.
    pub(crate) fn copy(&self) -> &D {
        &self.copy
    }
}

/// A matrix on the device.
pub(crate) type Uploaded<T> = OnDevice<AnyFormat<T>, Arrays<T>>;

/// A matrix in column-major HLL on the device, if converted there.
pub(crate) type UploadedHacks<T> = OnDevice<Arranged<T>, Hacks<T>>;

/// The transpose of a matrix in CSR, made on the device; its source is the host's transpose.
pub(crate) type UploadedTransposed<T> = OnDevice<AnyFormat<T>, Transposed<T>>;

/// A matrix and its HLL layout.
#[derive(Clone)]
pub(crate) struct Arranged<T> {
    pub(crate) a: Arc<Csr<T>>,
    pub(crate) layout: HllLayout,
}

/// A vector on the device.
pub(crate) type UploadedVector<T> = OnDevice<Arc<Vec<T>>, Buffer<T>>;

/// Points on the device, one after the other.
pub(crate) type UploadedPoints = OnDevice<Arc<Points>, Buffer<f64>>;

/// The points on the device that some kernel still uses.
#[derive(Default)]
pub(crate) struct PointUploads(Copies<Arc<Points>, Buffer<f64>>);

impl PointUploads {
    /// Returns a copy of these points.
    pub(crate) fn points(
        &self,
        device: &Device,
        host: &Arc<Points>,
    ) -> Result<Arc<UploadedPoints>, DeviceError> {
        self.0.get_or_make(host, |host| Buffer::of(device, "the points", host.coordinates()))
    }
}

/// Dense matrices on the device, one array per size.
pub(crate) type UploadedBatches = OnDevice<Arc<Batches>, Vec<Buffer<f64>>>;

/// Right-hand sides on the device, one array per size.
pub(crate) type UploadedRight = OnDevice<Arc<Vec<Vec<f64>>>, Vec<Buffer<f64>>>;

/// The batches on the device that some kernel still uses.
#[derive(Default)]
pub(crate) struct BatchUploads {
    matrices: Copies<Arc<Batches>, Vec<Buffer<f64>>>,
    right: Copies<Arc<Vec<Vec<f64>>>, Vec<Buffer<f64>>>,
}

impl BatchUploads {
    /// Returns a copy of these matrices; free memory is checked for all before the first is copied.
    pub(crate) fn matrices(
        &self,
        device: &Device,
        host: &Arc<Batches>,
    ) -> Result<Arc<UploadedBatches>, DeviceError> {
        self.matrices.get_or_make(host, |host| {
            device.check_memory("the batch", host.bytes())?;
            let sizes = host.sizes().iter().map(|sized| sized.batch().values());
            sizes.map(|values| Buffer::of(device, "the matrices", values)).collect()
        })
    }

    /// Returns a copy of these right-hand sides.
    pub(crate) fn right(
        &self,
        device: &Device,
        host: &Arc<Vec<Vec<f64>>>,
    ) -> Result<Arc<UploadedRight>, DeviceError> {
        self.right.get_or_make(host, |host| {
            host.iter().map(|b| Buffer::of(device, "the right-hand sides", b)).collect()
        })
    }
}

/// A shared object, compared by identity.
trait Shared: Clone {
    /// Whether both are the same object.
    fn is(&self, other: &Self) -> bool;
}

impl<T> Shared for Arc<T> {
    fn is(&self, other: &Self) -> bool {
        Arc::ptr_eq(self, other)
    }
}

impl<T: Clone> Shared for Arranged<T> {
    fn is(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.a, &other.a) && self.layout == other.layout
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

/// Copies that some kernel still uses.
struct Copies<H, D>(Mutex<Vec<Weak<OnDevice<H, D>>>>);

impl<H, D> Default for Copies<H, D> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<H: Shared, D> Copies<H, D> {
    /// The copy of `host`, made unless another kernel already uses one.
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

/// Everything on the device in one precision that some kernel still uses.
pub(crate) struct Uploads<T: DeviceReal> {
    matrices: Copies<AnyFormat<T>, Arrays<T>>,
    hacks: Copies<Arranged<T>, Hacks<T>>,
    transposed: Copies<AnyFormat<T>, Transposed<T>>,
    vectors: Copies<Arc<Vec<T>>, Buffer<T>>,
}

impl<T: DeviceReal> Default for Uploads<T> {
    fn default() -> Self {
        let (matrices, hacks, transposed, vectors) = Default::default();
        Self { matrices, hacks, transposed, vectors }
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

    /// The same in a precision. A matrix rounded to fewer bits than those of `T` is the source of
    /// one copy only, which has its values in these bits.
    pub(crate) fn matrix_in(
        &self,
        device: &Device,
        host: &AnyFormat<T>,
        precision: Precision,
    ) -> Result<Arc<Uploaded<T>>, DeviceError> {
        self.matrices.get_or_make(host, |host| Arrays::in_precision(device, host, precision))
    }

    /// A matrix in column-major HLL, made by `make` unless another kernel already uses one.
    pub(crate) fn hacks<E>(
        &self,
        of: &Arranged<T>,
        make: impl FnOnce(&Arranged<T>) -> Result<Hacks<T>, E>,
    ) -> Result<Arc<UploadedHacks<T>>, E> {
        self.hacks.get_or_make(of, make)
    }

    /// A transpose in CSR, made by `make` unless another kernel already uses one.
    pub(crate) fn transposed<E>(
        &self,
        of: &AnyFormat<T>,
        make: impl FnOnce() -> Result<Transposed<T>, E>,
    ) -> Result<Arc<UploadedTransposed<T>>, E> {
        self.transposed.get_or_make(of, |_| make())
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

    /// A number in place of a copy on the device.
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
