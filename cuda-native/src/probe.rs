//! Checks for a working driver before anything uses it.

use std::env;
use std::ffi::CStr;

use cudarc::driver::sys;
use sparsescope_core::record::{GPU_SWITCH, GpuAbsence};

/// Oldest CUDA version that a driver must support, in CUDA's encoding and as text.
pub const OLDEST_DRIVER: (i32, &str) = (12000, "12.0");

/// Every driver function that this crate may call. A driver that lacks one is too old; checking
/// here keeps a lookup from failing in the middle of the work.
pub const DRIVER_SYMBOLS: &[&str] = &[
    "cuCtxGetCurrent",
    "cuCtxSetCurrent",
    "cuCtxSynchronize",
    "cuDeviceCanAccessPeer",
    "cuDeviceGet",
    "cuDeviceGetAttribute",
    "cuDeviceGetCount",
    "cuDeviceGetDefaultMemPool",
    "cuDeviceGetName",
    "cuDeviceGetPCIBusId",
    "cuDevicePrimaryCtxRelease_v2",
    "cuDevicePrimaryCtxRetain",
    "cuDeviceTotalMem_v2",
    "cuDriverGetVersion",
    "cuEventCreate",
    "cuEventDestroy_v2",
    "cuEventElapsedTime",
    "cuEventQuery",
    "cuEventRecord",
    "cuEventSynchronize",
    "cuFuncGetAttribute",
    "cuFuncSetAttribute",
    "cuGetErrorName",
    "cuGetErrorString",
    "cuGraphDestroy",
    "cuGraphExecDestroy",
    "cuGraphInstantiateWithFlags",
    "cuGraphLaunch",
    "cuGraphUpload",
    "cuInit",
    "cuLaunchHostFunc",
    "cuLaunchKernel",
    "cuMemAllocAsync",
    "cuMemAlloc_v2",
    "cuMemFreeAsync",
    "cuMemFree_v2",
    "cuMemGetInfo_v2",
    "cuMemPoolSetAccess",
    "cuMemPoolSetAttribute",
    "cuMemPoolTrimTo",
    "cuMemcpyDtoDAsync_v2",
    "cuMemcpyDtoHAsync_v2",
    "cuMemcpyDtoH_v2",
    "cuMemcpyHtoDAsync_v2",
    "cuMemcpyHtoD_v2",
    "cuMemsetD8Async",
    "cuMemsetD8_v2",
    "cuModuleGetFunction",
    "cuModuleLoadData",
    "cuModuleUnload",
    "cuOccupancyMaxActiveBlocksPerMultiprocessor",
    "cuStreamBeginCapture_v2",
    "cuStreamCreate",
    "cuStreamCreateWithPriority",
    "cuStreamDestroy_v2",
    "cuStreamEndCapture",
    "cuStreamIsCapturing",
    "cuStreamSynchronize",
    "cuStreamWaitEvent",
];

/// A working driver.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Probe {
    /// CUDA version that the driver supports: 13000 is 13.0.
    pub driver_version: i32,
    /// Number of devices, at least one.
    pub devices: usize,
}

impl Probe {
    /// `13.0`.
    pub fn version_name(&self) -> String {
        version_name(self.driver_version)
    }
}

/// `13.0` from 13000, CUDA's encoding.
pub(crate) fn version_name(version: i32) -> String {
    format!("{}.{}", version / 1000, version % 1000 / 10)
}

/// Finds a working driver, or returns why there is none. Never panics.
pub fn probe() -> Result<Probe, GpuAbsence> {
    if env::var(GPU_SWITCH).is_ok_and(|value| value.trim().eq_ignore_ascii_case("off")) {
        return Err(GpuAbsence::Disabled);
    }
    // SAFETY: loading the driver's library has no preconditions.
    if !unsafe { sys::is_culib_present() } {
        let library = if cfg!(windows) { "nvcuda.dll" } else { "libcuda.so.1" };
        return Err(GpuAbsence::DriverMissing { library });
    }
    // SAFETY: the library is present, so this does not panic.
    let library = unsafe { sys::culib() };
    let has = |symbol: &str| {
        let name = [symbol.as_bytes(), b"\0"].concat();
        // SAFETY: the symbol is looked up, not used.
        unsafe { library.get::<*const ()>(name.as_slice()) }.is_ok()
    };
    let missing = DRIVER_SYMBOLS.iter().find(|symbol| !has(symbol));
    if !has("cuDriverGetVersion") {
        let (found, detail) = ("?".to_owned(), ": it does not report its version".to_owned());
        return Err(GpuAbsence::DriverTooOld { found, needed: OLDEST_DRIVER.1, detail });
    }
    let mut driver_version = 0;
    // SAFETY: the function exists, and the pointer is valid.
    let status = unsafe { sys::cuDriverGetVersion(&mut driver_version) };
    started("cuDriverGetVersion", status)?;
    if driver_version < OLDEST_DRIVER.0 || missing.is_some() {
        let detail =
            missing.map_or(String::new(), |symbol| format!(": it has no function {symbol}"));
        let found = version_name(driver_version);
        return Err(GpuAbsence::DriverTooOld { found, needed: OLDEST_DRIVER.1, detail });
    }
    // SAFETY: the function exists.
    started("cuInit", unsafe { sys::cuInit(0) })?;
    let mut devices = 0;
    // SAFETY: the driver is initialised, and the pointer is valid.
    started("cuDeviceGetCount", unsafe { sys::cuDeviceGetCount(&mut devices) })?;
    match usize::try_from(devices) {
        Ok(devices @ 1..) => Ok(Probe { driver_version, devices }),
        _ => Err(GpuAbsence::NoDevice),
    }
}

/// Interprets a driver's status during initialisation.
fn started(call: &'static str, status: sys::CUresult) -> Result<(), GpuAbsence> {
    match status {
        sys::CUresult::CUDA_SUCCESS => Ok(()),
        sys::CUresult::CUDA_ERROR_NO_DEVICE => Err(GpuAbsence::NoDevice),
        sys::CUresult::CUDA_ERROR_STUB_LIBRARY => Err(GpuAbsence::StubDriver),
        status => Err(GpuAbsence::DriverFailed { call, status: status_name(status) }),
    }
}

/// The driver's name of a status: `CUDA_ERROR_OUT_OF_MEMORY (out of memory)`. Only for a driver
/// whose symbols are known to be complete.
pub(crate) fn status_name(status: sys::CUresult) -> String {
    let text = |of: unsafe fn(sys::CUresult, *mut *const std::ffi::c_char) -> sys::CUresult| {
        let mut text = std::ptr::null();
        // SAFETY: the functions exist in every driver that `probe` accepts; they set the pointer to
        // null or to a constant NUL-terminated string.
        unsafe {
            let _ = of(status, &mut text);
            (!text.is_null()).then(|| CStr::from_ptr(text).to_string_lossy().into_owned())
        }
    };
    match (text(sys::cuGetErrorName), text(sys::cuGetErrorString)) {
        (Some(name), Some(meaning)) => format!("{name} ({meaning})"),
        _ => format!("status {}", status as u32),
    }
}
