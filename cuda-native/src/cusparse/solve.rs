//! The library's triangular solve.

use std::ffi::{c_int, c_void};
use std::ptr::{self, from_ref};
use std::rc::Rc;

use super::{
    BASE_ZERO, Cusparse, Descriptor, Direction, INDEX_32I, check, offsets, pointer, vector,
};
use crate::arrays::{Offsets, Slots};
use crate::buffer::{Buffer, Memory};
use crate::device::{Device, DeviceError, Doing};
use crate::value::DeviceReal;

// Values of the library's enumerations.
const FILL_MODE: c_int = 0;
const DIAGONAL_TYPE: c_int = 1;
const NON_UNIT: c_int = 0;
const DEFAULT_ALGORITHM: c_int = 0;

/// Which triangle of a matrix is solved with, including its diagonal; the rest is ignored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Triangle {
    Lower = 0,
    Upper = 1,
}

/// An analysed triangular system: T·x = r.
pub(crate) struct Solve<T: 'static> {
    one: &'static T,
    matrix: Descriptor,
    r: Descriptor,
    x: Descriptor,
    analysis: Descriptor,
    workspace: Buffer<u8>,
    /// Owns what the descriptors point to.
    _memory: Vec<Memory>,
    /// Last, so that it outlives the descriptors.
    library: Rc<Cusparse>,
}

impl<T: DeviceReal> Solve<T> {
    /// Describes the operands, allocates the workspace and lets the library analyse the structure.
    ///
    /// # Safety
    /// The arrays must be those of a square matrix with as many rows as r and x have elements:
    /// ascending offsets up to the number of slots, and columns within the matrix.
    pub(crate) unsafe fn new(
        library: Rc<Cusparse>,
        device: &Device,
        triangle: Triangle,
        (row_ptr, slots): (&Offsets, &Slots<T>),
        (r, x): (&Buffer<T>, &Buffer<T>),
    ) -> Result<Self, DeviceError> {
        device.context().bind_to_thread().doing("make its context current")?;
        let f = &library.functions;
        let [one, _] = T::FACTORS;
        let _memory =
            vec![row_ptr.memory(), slots.col.memory(), slots.val.memory(), r.memory(), x.memory()];
        let mut handle = ptr::null_mut();
        let (rows, nnz) = (r.len() as i64, slots.col.len() as i64);
        let ((row_ptr, width), col, val) =
            (offsets(row_ptr), pointer(&slots.col), pointer(&slots.val));
        // SAFETY: the pointers are those of CSR's arrays on the device.
        check("cusparseCreateCsr", unsafe {
            (f.cusparseCreateCsr)(
                &mut handle,
                rows,
                rows,
                nnz,
                row_ptr,
                col,
                val,
                width,
                INDEX_32I,
                BASE_ZERO,
                T::DATA_TYPE,
            )
        })?;
        let matrix = Descriptor { handle, destroy: f.cusparseDestroySpMat };
        for (attribute, value) in [(FILL_MODE, triangle as c_int), (DIAGONAL_TYPE, NON_UNIT)] {
            // SAFETY: both attributes are enumerations, as wide as an int.
            check("cusparseSpMatSetAttribute", unsafe {
                let value: *const c_void = from_ref(&value).cast();
                (f.cusparseSpMatSetAttribute)(matrix.handle, attribute, value, size_of::<c_int>())
            })?;
        }
        let (r, x) = (vector(f, r)?, vector(f, x)?);
        let mut handle = ptr::null_mut();
        // SAFETY: the pointer is valid.
        check("cusparseSpSV_createDescr", unsafe { (f.cusparseSpSV_createDescr)(&mut handle) })?;
        let analysis = Descriptor { handle, destroy: f.cusparseSpSV_destroyDescr };
        let mut bytes = 0;
        // SAFETY: all descriptors and what they point to are alive; the factor, in host memory, is
        // of the declared type.
        check("cusparseSpSV_bufferSize", unsafe {
            (f.cusparseSpSV_bufferSize)(
                library.handle,
                Direction::Plain as c_int,
                from_ref(one).cast(),
                matrix.handle,
                r.handle,
                x.handle,
                T::DATA_TYPE,
                DEFAULT_ALGORITHM,
                analysis.handle,
                &mut bytes,
            )
        })?;
        let workspace = Buffer::unset(device, "cuSPARSE's workspace", bytes)?;
        Ok(Self { one, matrix, r, x, analysis, workspace, _memory, library })
    }

    /// Lets the library analyse the structure.
    pub(crate) fn analyse(&self) -> Result<(), DeviceError> {
        // SAFETY: all descriptors and what they point to are alive; the workspace is as large as
        // the library requested; `new`'s caller guarantees the indices in the arrays.
        check("cusparseSpSV_analysis", unsafe {
            (self.library.functions.cusparseSpSV_analysis)(
                self.library.handle,
                Direction::Plain as c_int,
                from_ref(self.one).cast(),
                self.matrix.handle,
                self.r.handle,
                self.x.handle,
                T::DATA_TYPE,
                DEFAULT_ALGORITHM,
                self.analysis.handle,
                pointer(&self.workspace),
            )
        })
    }

    /// Adds one solve to the stream.
    pub(crate) fn enqueue(&self) -> Result<(), DeviceError> {
        // SAFETY: as above.
        check("cusparseSpSV_solve", unsafe {
            (self.library.functions.cusparseSpSV_solve)(
                self.library.handle,
                Direction::Plain as c_int,
                from_ref(self.one).cast(),
                self.matrix.handle,
                self.r.handle,
                self.x.handle,
                T::DATA_TYPE,
                DEFAULT_ALGORITHM,
                self.analysis.handle,
            )
        })
    }

    /// The library's workspace.
    pub(crate) fn workspace(&self) -> &Buffer<u8> {
        &self.workspace
    }
}
