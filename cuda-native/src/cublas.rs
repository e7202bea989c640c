//! cuBLAS, loaded at run time: the f64 vector operations that a solver calls one by one, and the LU
//! factorisation of many small matrices without pivoting, with its solves.

use std::ffi::{c_int, c_void};
use std::ptr;
use std::rc::Rc;

use crate::buffer::Buffer;
use crate::device::{Device, DeviceError, Doing};
use crate::library::{function_table, open};

type Handle = *mut c_void;

function_table! {
    /// The cuBLAS functions used; each returns 0 on success.
    Functions {
        cublasCreate_v2(*mut Handle) -> c_int;
        cublasDestroy_v2(Handle) -> c_int;
        cublasGetVersion_v2(Handle, *mut c_int) -> c_int;
        cublasSetStream_v2(Handle, *mut c_void) -> c_int;
        cublasDdot_v2(Handle, c_int, *const f64, c_int, *const f64, c_int, *mut f64) -> c_int;
        cublasDnrm2_v2(Handle, c_int, *const f64, c_int, *mut f64) -> c_int;
        cublasDaxpy_v2(Handle, c_int, *const f64, *const f64, c_int, *mut f64, c_int) -> c_int;
        cublasDscal_v2(Handle, c_int, *const f64, *mut f64, c_int) -> c_int;
        cublasDcopy_v2(Handle, c_int, *const f64, c_int, *mut f64, c_int) -> c_int;
        cublasDgetrfBatched(
            Handle, c_int, *mut c_void, c_int, *mut c_void, *mut c_void, c_int
        ) -> c_int;
        cublasDgetrsBatched(
            Handle, c_int, c_int, c_int, *const c_void, c_int, *const c_void, *mut c_void, c_int,
            *mut c_int, c_int
        ) -> c_int;
    }
}

/// The library's constant for a matrix that is not transposed.
const NO_TRANSPOSE: c_int = 0;

/// The first driver that runs the library of CUDA 13.
const THIRTEEN: i32 = 13_000;

/// File names of the library that fit a driver, the best first.
fn names(driver_version: i32) -> &'static [&'static str] {
    match (cfg!(windows), driver_version >= THIRTEEN) {
        (false, true) => &["libcublas.so.13", "libcublas.so.12"],
        (false, false) => &["libcublas.so.12"],
        (true, true) => &["cublas64_13.dll", "cublas64_12.dll"],
        (true, false) => &["cublas64_12.dll"],
    }
}

/// The library, bound to a device's stream. Sums are returned to the host.
pub(crate) struct Cublas {
    functions: Functions,
    handle: Handle,
    version: String,
}

/// Many systems of n unknowns: device addresses of pointer arrays to each matrix and each
/// right-hand side, and of one status per system for its factorisation.
#[derive(Clone, Copy)]
pub(crate) struct Batched {
    pub(crate) n: c_int,
    pub(crate) systems: c_int,
    pub(crate) matrices: u64,
    pub(crate) right: u64,
    pub(crate) info: u64,
}

impl Cublas {
    /// Loads and initialises the library, or returns why it cannot.
    pub(crate) fn start(device: &Device) -> Result<Rc<Self>, String> {
        let found = open(names(device.driver_version()), "cublas");
        let (library, path) = found.map_err(|why| format!("cuBLAS: {why}"))?;
        let in_file = |why: String| format!("{}: {why}", path.display());
        let functions = Functions::new(library).map_err(in_file)?;
        let bound = device.context().bind_to_thread().doing("make its context current");
        bound.map_err(|error| error.to_string())?;
        let mut handle = ptr::null_mut();
        // SAFETY: the device's context is current on this thread; the pointer is valid.
        check("cublasCreate", unsafe { (functions.cublasCreate_v2)(&mut handle) })
            .map_err(|error| error.to_string())?;
        let mut made = Self { functions, handle, version: String::new() };
        let stream = device.stream().cu_stream().cast();
        let mut version = 0;
        // SAFETY: the handle is open, the stream lives as long as the device.
        let status = unsafe {
            match (made.functions.cublasSetStream_v2)(handle, stream) {
                0 => (made.functions.cublasGetVersion_v2)(handle, &mut version),
                status => status,
            }
        };
        check("cublasSetStream", status).map_err(|error| error.to_string())?;
        made.version = format!("{}.{}.{}", version / 10_000, version / 100 % 100, version % 100);
        Ok(Rc::new(made))
    }

    /// `13.1.0`.
    pub(crate) fn version(&self) -> &str {
        &self.version
    }

    /// a·b, after all previous work.
    pub(crate) fn dot(&self, a: &Buffer<f64>, b: &Buffer<f64>) -> Result<f64, DeviceError> {
        let (n, mut sum) = (same_length(a, b)?, 0.0);
        // SAFETY: both arrays lie on the device and have n elements; the sum is on the host.
        let status = unsafe {
            (self.functions.cublasDdot_v2)(self.handle, n, pointer(a), 1, pointer(b), 1, &mut sum)
        };
        check("cublasDdot", status).map(|()| sum)
    }

    /// ‖a‖, after all previous work.
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

    /// Adds to the stream: factors the matrices and solves for the right-hand sides, both in place.
    ///
    /// # Safety
    /// The addresses must point to the arrays of that many systems on the device, alive until the
    /// solve is done.
    pub(crate) unsafe fn solve(&self, systems: Batched) -> Result<(), DeviceError> {
        let Batched { n, systems, matrices, right, info } = systems;
        let (f, no_pivots) = (&self.functions, ptr::null_mut::<c_void>());
        // SAFETY: the caller's promise; without an array of pivots the library does not pivot.
        check("cublasDgetrfBatched", unsafe {
            let (matrices, info) = (matrices as *mut c_void, info as *mut c_void);
            (f.cublasDgetrfBatched)(self.handle, n, matrices, n, no_pivots, info, systems)
        })?;
        let mut wrong_argument = 0;
        // SAFETY: as above; the last number is one of the host.
        check("cublasDgetrsBatched", unsafe {
            (f.cublasDgetrsBatched)(
                self.handle,
                NO_TRANSPOSE,
                n,
                1,
                matrices as *const c_void,
                n,
                no_pivots,
                right as *mut c_void,
                n,
                &mut wrong_argument,
                systems,
            )
        })
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

/// The common length of both, as the library's integer.
///
/// Panics if their lengths differ.
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
    fn a_failure_names_the_call_and_the_word_of_the_library() {
        let error = check("cublasDdot", 13).unwrap_err().to_string();
        assert_eq!(error, "cuBLAS failed: cublasDdot returned EXECUTION_FAILED");
        assert_eq!(check("cublasDdot", 0), Ok(()));
    }
}
