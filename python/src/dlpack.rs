//! Vectors of other libraries on a GPU, by DLPack: <https://dmlc.github.io/dlpack/latest/python_spec.html>.

use std::ffi::c_void;
use std::ptr::NonNull;

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use sparsescope_core::matrix::Precision;

/// DLPack's number for CUDA devices.
const CUDA: i32 = 2;

/// DLPack's number for floating-point types.
const FLOAT: u8 = 2;

/// `DLTensor`, with its structures for the device and the type written out.
#[repr(C)]
struct Tensor {
    data: *const c_void,
    _device: [i32; 2],
    dimensions: i32,
    code: u8,
    bits: u8,
    lanes: u16,
    /// One per dimension.
    shape: *const i64,
    /// In elements; null if they are contiguous.
    strides: *const i64,
    byte_offset: u64,
}

/// `DLManagedTensor`.
#[repr(C)]
struct Managed {
    tensor: Tensor,
    _context: *mut c_void,
    deleter: Option<unsafe extern "C" fn(*mut Managed)>,
}

/// A vector of another library, which keeps it until this is dropped.
pub(crate) struct Foreign {
    managed: NonNull<Managed>,
    what: &'static str,
}

impl Foreign {
    /// What an object exports for work on a stream of this GPU, given by its handle. Fails if the object is on
    /// another device; without a GPU, the matrix is on the CPU.
    pub(crate) fn of(
        object: &Bound<'_, PyAny>,
        what: &'static str,
        gpu: Option<i32>,
        stream: u64,
    ) -> PyResult<Self> {
        let device: (i32, i32) = object.call_method0("__dlpack_device__")?.extract()?;
        if gpu.is_none_or(|gpu| device != (CUDA, gpu)) {
            let place = gpu.map_or("the CPU".to_owned(), |gpu| format!("GPU {gpu}"));
            let sentence =
                format!("{what} is on another device than the matrix, which is on {place}");
            return Err(PyValueError::new_err(sentence));
        }
        let options = PyDict::new(object.py());
        // DLPack does not allow 0; 1 is the default stream there and for the driver.
        options.set_item("stream", stream.max(1))?;
        let capsule = object.call_method("__dlpack__", (), Some(&options))?;
        let (capsule, name) = (capsule.as_ptr(), c"dltensor".as_ptr());
        // SAFETY: the capsule is alive, and the thread is attached to the interpreter.
        let managed = unsafe {
            match ffi::PyCapsule_IsValid(capsule, name) {
                0 => None,
                _ => NonNull::new(ffi::PyCapsule_GetPointer(capsule, name).cast()),
            }
        };
        let Some(managed) = managed else {
            let sentence = format!("{what} exports no capsule named dltensor");
            return Err(PyTypeError::new_err(sentence));
        };
        // SAFETY: as above. Who renames the capsule must call the deleter, which its own destructor no longer does.
        unsafe { ffi::PyCapsule_SetName(capsule, c"used_dltensor".as_ptr()) };
        Ok(Self { managed, what })
    }

    /// Its address on the GPU. Fails unless it is a contiguous vector of `len` elements in this precision.
    pub(crate) fn address(&self, len: usize, precision: Precision) -> PyResult<u64> {
        let what = self.what;
        // SAFETY: the deleter has not been called.
        let tensor = unsafe { &self.managed.as_ref().tensor };
        if tensor.dimensions != 1 {
            let found = tensor.dimensions;
            let sentence = format!("{what} must have one dimension, found {found}");
            return Err(PyValueError::new_err(sentence));
        }
        let is_real = (tensor.code, tensor.lanes) == (FLOAT, 1);
        if !is_real || u64::from(tensor.bits) != 8 * precision.bytes() {
            let word = precision.as_str();
            return Err(PyTypeError::new_err(format!("{what} must be a vector of {word}")));
        }
        // SAFETY: there is one dimension; strides may be null.
        let (found, stride) = unsafe { (*tensor.shape, tensor.strides.as_ref().copied()) };
        if usize::try_from(found) != Ok(len) {
            let sentence = format!("{what} has {found} elements, expected {len}");
            return Err(PyValueError::new_err(sentence));
        }
        if len > 1 && stride.is_some_and(|stride| stride != 1) {
            return Err(PyValueError::new_err(format!("{what} must be contiguous")));
        }
        Ok(tensor.data as u64 + tensor.byte_offset)
    }
}

impl Drop for Foreign {
    fn drop(&mut self) {
        // SAFETY: it is called once, here, since the capsule was renamed.
        unsafe {
            if let Some(deleter) = self.managed.as_ref().deleter {
                deleter(self.managed.as_ptr());
            }
        }
    }
}
