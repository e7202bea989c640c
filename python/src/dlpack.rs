//! Vectors of other libraries on a GPU, by DLPack: <https://dmlc.github.io/dlpack/latest/python_spec.html>.

use std::ffi::{CStr, c_void};
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

/// Frees what was exported, given its address.
type Deleter = Option<unsafe extern "C" fn(*mut c_void)>;

/// `DLManagedTensor`, in capsules named `dltensor`.
#[repr(C)]
struct Managed {
    tensor: Tensor,
    _context: *mut c_void,
    deleter: Deleter,
}

/// `DLManagedTensorVersioned`, in capsules named `dltensor_versioned`: not requested, but accepted.
#[repr(C)]
struct Versioned {
    /// Major and minor; another major has another layout after the deleter.
    version: [u32; 2],
    _context: *mut c_void,
    deleter: Deleter,
    _flags: u64,
    tensor: Tensor,
}

/// A vector x of another library, which keeps it until this is dropped.
pub(crate) struct Foreign {
    tensor: *const Tensor,
    exported: *mut c_void,
    deleter: Deleter,
}

/// The pointer in a capsule of this name, which gets the other: whoever renames it must call the deleter.
fn taken(
    capsule: &Bound<'_, PyAny>,
    name: &'static CStr,
    used: &'static CStr,
) -> Option<NonNull<c_void>> {
    let capsule = capsule.as_ptr();
    // SAFETY: the object is alive, the thread is attached to the interpreter, and the names live forever.
    unsafe {
        if ffi::PyCapsule_IsValid(capsule, name.as_ptr()) == 0 {
            return None;
        }
        let pointer = ffi::PyCapsule_GetPointer(capsule, name.as_ptr());
        ffi::PyCapsule_SetName(capsule, used.as_ptr());
        NonNull::new(pointer)
    }
}

impl Foreign {
    /// What an object exports for work on a stream of this GPU, given by its handle. Fails if the object is on
    /// another device; without a GPU, the matrix is on the CPU.
    pub(crate) fn of(object: &Bound<'_, PyAny>, gpu: Option<i32>, stream: u64) -> PyResult<Self> {
        let device: (i32, i32) = object.call_method0("__dlpack_device__")?.extract()?;
        if gpu.is_none_or(|gpu| device != (CUDA, gpu)) {
            let place = gpu.map_or("the CPU".to_owned(), |gpu| format!("GPU {gpu}"));
            let sentence = format!("x is on another device than the matrix, which is on {place}");
            return Err(PyValueError::new_err(sentence));
        }
        let options = PyDict::new(object.py());
        // DLPack does not allow 0; 1 is the default stream there and for the driver.
        options.set_item("stream", stream.max(1))?;
        let capsule = object.call_method("__dlpack__", (), Some(&options))?;
        let unknown = |found: &str| {
            let sentence = format!("x must be exported as DLPack 1 or older, found {found}");
            PyTypeError::new_err(sentence)
        };
        if let Some(exported) = taken(&capsule, c"dltensor", c"used_dltensor") {
            let managed = exported.cast::<Managed>().as_ptr();
            // SAFETY: a capsule of this name has such a structure.
            let (tensor, deleter) = unsafe { (&raw const (*managed).tensor, (*managed).deleter) };
            return Ok(Self { tensor, exported: exported.as_ptr(), deleter });
        }
        let names = (c"dltensor_versioned", c"used_dltensor_versioned");
        let exported = taken(&capsule, names.0, names.1).ok_or_else(|| unknown("no capsule"))?;
        let managed = exported.cast::<Versioned>().as_ptr();
        // SAFETY: as above.
        let (tensor, deleter) = unsafe { (&raw const (*managed).tensor, (*managed).deleter) };
        let foreign = Self { tensor, exported: exported.as_ptr(), deleter };
        // SAFETY: as above; every version begins with its number.
        let [major, minor] = unsafe { (*managed).version };
        match major {
            1 => Ok(foreign),
            _ => Err(unknown(&format!("{major}.{minor}"))),
        }
    }

    /// Its address on the GPU. Fails unless it is a contiguous vector of `len` elements in this precision.
    pub(crate) fn address(&self, len: usize, precision: Precision) -> PyResult<u64> {
        // SAFETY: the deleter has not been called.
        let tensor = unsafe { &*self.tensor };
        if tensor.dimensions != 1 {
            let found = tensor.dimensions;
            let sentence = format!("x must have one dimension, found {found}");
            return Err(PyValueError::new_err(sentence));
        }
        let is_real = (tensor.code, tensor.lanes) == (FLOAT, 1);
        if !is_real || u64::from(tensor.bits) != 8 * precision.bytes() {
            let word = precision.as_str();
            return Err(PyTypeError::new_err(format!("x must be a vector of {word}")));
        }
        // SAFETY: there is one dimension; strides may be null.
        let (found, stride) = unsafe { (*tensor.shape, tensor.strides.as_ref().copied()) };
        if usize::try_from(found) != Ok(len) {
            let sentence = format!("x has {found} elements, expected {len}");
            return Err(PyValueError::new_err(sentence));
        }
        if len > 1 && stride.is_some_and(|stride| stride != 1) {
            return Err(PyValueError::new_err("x must be contiguous"));
        }
        Ok(tensor.data as u64 + tensor.byte_offset)
    }
}

impl Drop for Foreign {
    fn drop(&mut self) {
        if let Some(deleter) = self.deleter {
            // SAFETY: it is called once, here, since the capsule was renamed.
            unsafe { deleter(self.exported) };
        }
    }
}
