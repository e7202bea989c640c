//! cuSOLVER, loaded at run time: its Cholesky factorisation of many small matrices, and its solves.

use std::ffi::{c_int, c_void};
use std::ptr;
use std::rc::Rc;

use crate::cublas::Batched;
use crate::device::{Device, DeviceError, Doing};
use crate::library::{function_table, open};

type Handle = *mut c_void;

function_table! {
    /// The cuSOLVER functions used; each returns 0 on success.
    Functions {
        cusolverDnCreate(*mut Handle) -> c_int;
        cusolverDnDestroy(Handle) -> c_int;
        cusolverGetVersion(*mut c_int) -> c_int;
        cusolverDnSetStream(Handle, *mut c_void) -> c_int;
        cusolverDnDpotrfBatched(
            Handle, c_int, c_int, *mut c_void, c_int, *mut c_void, c_int
        ) -> c_int;
        cusolverDnDpotrsBatched(
            Handle, c_int, c_int, c_int, *mut c_void, c_int, *mut c_void, c_int, *mut c_void, c_int
        ) -> c_int;
    }
}

/// The library's constant for the lower triangle.
const LOWER: c_int = 0;

/// The library, bound to a device's stream.
pub(crate) struct Cusolver {
    functions: Functions,
    handle: Handle,
    version: String,
}

impl Cusolver {
    /// Loads and initialises the library, or returns why it cannot.
    pub(crate) fn start(device: &Device) -> Result<Rc<Self>, String> {
        // CUDA 13 ships library version 12, CUDA 12 ships version 11.
        let names: &[&str] = match (cfg!(windows), device.driver_version() >= 13_000) {
            (false, true) => &["libcusolver.so.12", "libcusolver.so.11"],
            (false, false) => &["libcusolver.so.11"],
            (true, true) => &["cusolver64_12.dll", "cusolver64_11.dll"],
            (true, false) => &["cusolver64_11.dll"],
        };
        let (library, path) = open(names, "cusolver").map_err(|why| format!("cuSOLVER: {why}"))?;
        let in_file = |why: String| format!("{}: {why}", path.display());
        let functions = Functions::new(library).map_err(in_file)?;
        let bound = device.context().bind_to_thread().doing("make its context current");
        bound.map_err(|error| error.to_string())?;
        let mut handle = ptr::null_mut();
        // SAFETY: the device's context is current on this thread; the pointer is valid.
        check("cusolverDnCreate", unsafe { (functions.cusolverDnCreate)(&mut handle) })
            .map_err(|error| error.to_string())?;
        let mut made = Self { functions, handle, version: String::new() };
        let stream = device.stream().cu_stream().cast();
        let mut version = 0;
        // SAFETY: the handle is open, the stream lives as long as the device.
        let status = unsafe {
            match (made.functions.cusolverDnSetStream)(handle, stream) {
                0 => (made.functions.cusolverGetVersion)(&mut version),
                status => status,
            }
        };
        check("cusolverDnSetStream", status).map_err(|error| error.to_string())?;
        made.version = format!("{}.{}.{}", version / 1000, version / 100 % 10, version % 100);
        Ok(Rc::new(made))
    }

    /// `12.0.4`.
    pub(crate) fn version(&self) -> &str {
        &self.version
    }

    /// Adds to the stream: factors the matrices and solves for the right-hand sides, both in place.
    /// `wrong_argument` is the device address of a status number.
    ///
    /// # Safety
    /// The addresses must point to the arrays of that many systems on the device, alive until the
    /// solve is done.
    pub(crate) unsafe fn solve(
        &self,
        systems: Batched,
        wrong_argument: u64,
    ) -> Result<(), DeviceError> {
        let Batched { n, systems, matrices, right, info } = systems;
        let (f, matrices) = (&self.functions, matrices as *mut c_void);
        // SAFETY: the caller's promise.
        check("cusolverDnDpotrfBatched", unsafe {
            let info = info as *mut c_void;
            (f.cusolverDnDpotrfBatched)(self.handle, LOWER, n, matrices, n, info, systems)
        })?;
        // SAFETY: the caller's promise.
        check("cusolverDnDpotrsBatched", unsafe {
            let (right, info) = (right as *mut c_void, wrong_argument as *mut c_void);
            let solve = f.cusolverDnDpotrsBatched;
            solve(self.handle, LOWER, n, 1, matrices, n, right, n, info, systems)
        })
    }
}

impl Drop for Cusolver {
    fn drop(&mut self) {
        // SAFETY: the handle is open and closed only here.
        let _ = unsafe { (self.functions.cusolverDnDestroy)(self.handle) };
    }
}

fn check(call: &'static str, status: c_int) -> Result<(), DeviceError> {
    let status = match status {
        0 => return Ok(()),
        1 => "NOT_INITIALIZED".to_owned(),
        2 => "ALLOC_FAILED".to_owned(),
        3 => "INVALID_VALUE".to_owned(),
        4 => "ARCH_MISMATCH".to_owned(),
        6 => "EXECUTION_FAILED".to_owned(),
        7 => "INTERNAL_ERROR".to_owned(),
        9 => "NOT_SUPPORTED".to_owned(),
        number => format!("status {number}"),
    };
    Err(DeviceError::Library { library: "cuSOLVER", call, status })
}
