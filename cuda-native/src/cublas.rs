//! cuBLAS, found at run time: the vector operations in f64 that a solver asks for one by one.

use std::ffi::{c_int, c_void};
use std::ptr;
use std::rc::Rc;

use crate::buffer::Buffer;
use crate::device::{Device, DeviceError, Doing};
use crate::library::{function_table, open};

type Handle = *mut c_void;

function_table! {
    /// The functions of cuBLAS that are used; each answers 0 for success.
    Functions {
        cublasCreate_v2(*mut Handle) -> c_int;
        cublasDestroy_v2(Handle) -> c_int;
        cublasSetStream_v2(Handle, *mut c_void) -> c_int;
        cublasDdot_v2(Handle, c_int, *const f64, c_int, *const f64, c_int, *mut f64) -> c_int;
        cublasDnrm2_v2(Handle, c_int, *const f64, c_int, *mut f64) -> c_int;
        cublasDaxpy_v2(Handle, c_int, *const f64, *const f64, c_int, *mut f64, c_int) -> c_int;
        cublasDscal_v2(Handle, c_int, *const f64, *mut f64, c_int) -> c_int;
        cublasDcopy_v2(Handle, c_int, *const f64, c_int, *mut f64, c_int) -> c_int;
    }
}

/// The first driver that runs the library of CUDA 13.
const THIRTEEN: i32 = 13_000;

/// Names of the library's file that fit a driver, the best first.
fn names(driver_version: i32) -> &'static [&'static str] {
    match (cfg!(windows), driver_version >= THIRTEEN) {
        (false, true) => &["libcublas.so.13", "libcublas.so.12"],
        (false, false) => &["libcublas.so.12"],
        (true, true) => &["cublas64_13.dll", "cublas64_12.dll"],
        (true, false) => &["cublas64_12.dll"],
    }
}

/// The library, bound to a device's stream. Sums come back to the host.
pub(crate) struct Cublas {
    functions: Functions,
    handle: Handle,
}

impl Cublas {
    /// Finds the library that fits the driver and starts it, or says why it cannot.
    pub(crate) fn start(device: &Device) -> Result<Rc<Self>, String> {
        let found = open(names(device.driver_version()), "cublas");
        let (library, path) = found.map_err(|why| format!("cuBLAS: {why}"))?;
        let in_file = |why: String| format!("{}: {why}", path.display());
        let functions = Functions::new(library).map_err(in_file)?;
        let bound = device.context().bind_to_thread().doing("take its context");
        bound.map_err(|error| error.to_string())?;
        let mut handle = ptr::null_mut();
        // SAFETY: the device's context is current on this thread; the pointer is valid.
        check("cublasCreate", unsafe { (functions.cublasCreate_v2)(&mut handle) })
            .map_err(|error| error.to_string())?;
        let made = Self { functions, handle };
        // SAFETY: the handle is open, the stream lives as long as the device.
        let status = unsafe {
            let stream = device.stream().cu_stream().cast();
            (made.functions.cublasSetStream_v2)(handle, stream)
        };
        check("cublasSetStream", status).map_err(|error| error.to_string())?;
        Ok(Rc::new(made))
    }

    /// a·b, once all work before is done.
    pub(crate) fn dot(&self, a: &Buffer<f64>, b: &Buffer<f64>) -> Result<f64, DeviceError> {
        let (n, mut sum) = (same_length(a, b)?, 0.0);
        // SAFETY: both arrays lie on the device and have n elements; the sum is the host's.
        let status = unsafe {
            (self.functions.cublasDdot_v2)(self.handle, n, pointer(a), 1, pointer(b), 1, &mut sum)
        };
        check("cublasDdot", status).map(|()| sum)
    }

    /// ‖a‖, once all work before is done.
    pub(crate) fn norm(&self, a: &Buffer<f64>) -> Result<f64, DeviceError> {
        let (n, mut norm) = (same_length(a, a)?, 0.0);
        // SAFETY: as above.
        let status =
            unsafe { (self.functions.cublasDnrm2_v2)(self.handle, n, pointer(a), 1, &mut norm) };
        check("cublasDnrm2", status).map(|()| norm)
    }

    /// y ← y + α·x.
    pub(crate) fn add(
        &self,
        alpha: f64,
        x: &Buffer<f64>,
        y: &Buffer<f64>,
    ) -> Result<(), DeviceError> {
        let n = same_length(x, y)?;
        // SAFETY: both arrays lie on the device and have n elements; α is read before the call returns.
        let status = unsafe {
            (self.functions.cublasDaxpy_v2)(self.handle, n, &alpha, pointer(x), 1, pointer(y), 1)
        };
        check("cublasDaxpy", status)
    }

    /// x ← α·x.
    pub(crate) fn scale(&self, alpha: f64, x: &Buffer<f64>) -> Result<(), DeviceError> {
        let n = same_length(x, x)?;
        // SAFETY: as above.
        let status =
            unsafe { (self.functions.cublasDscal_v2)(self.handle, n, &alpha, pointer(x), 1) };
        check("cublasDscal", status)
    }

    /// y ← x.
    pub(crate) fn copy(&self, x: &Buffer<f64>, y: &Buffer<f64>) -> Result<(), DeviceError> {
        let n = same_length(x, y)?;
        // SAFETY: both arrays lie on the device and have n elements.
        let status = unsafe {
            (self.functions.cublasDcopy_v2)(self.handle, n, pointer(x), 1, pointer(y), 1)
        };
        check("cublasDcopy", status)
    }
}

impl Drop for Cublas {
    fn drop(&mut self) {
        // SAFETY: the handle is open and closed only here.
        let _ = unsafe { (self.functions.cublasDestroy_v2)(self.handle) };
    }
}

fn pointer(array: &Buffer<f64>) -> *mut f64 {
    array.address() as *mut f64
}

/// The length of both, as the library counts.
///
/// Panics when they have different ones.
fn same_length(a: &Buffer<f64>, b: &Buffer<f64>) -> Result<c_int, DeviceError> {
    assert_eq!(a.len(), b.len(), "the arrays have one length");
    let (found, most) = (a.len() as u64, c_int::MAX as u64);
    let what = "the number of rows";
    c_int::try_from(a.len()).map_err(|_| DeviceError::TooLarge { what, found, most })
}

fn check(call: &'static str, status: c_int) -> Result<(), DeviceError> {
    let status = match status {
        0 => return Ok(()),
        1 => "NOT_INITIALIZED".to_owned(),
        3 => "ALLOC_FAILED".to_owned(),
        7 => "INVALID_VALUE".to_owned(),
        8 => "ARCH_MISMATCH".to_owned(),
        11 => "MAPPING_ERROR".to_owned(),
        13 => "EXECUTION_FAILED".to_owned(),
        14 => "INTERNAL_ERROR".to_owned(),
        15 => "NOT_SUPPORTED".to_owned(),
        number => format!("status {number}"),
    };
    Err(DeviceError::Library { library: "cuBLAS", call, status })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_older_driver_is_given_no_newer_library() {
        assert!(names(12_080).iter().all(|name| !name.contains("13")));
        assert!(names(13_000).first().is_some_and(|name| name.contains("13")));
    }

    #[test]
    fn a_failure_names_the_call_and_the_librarys_word() {
        let error = check("cublasDdot", 13).unwrap_err().to_string();
        assert_eq!(error, "cuBLAS failed: cublasDdot answered EXECUTION_FAILED");
        assert_eq!(check("cublasDdot", 0), Ok(()));
    }
}
