//! NVIDIA's management library (NVML), if present: clocks, throttling, energy and other processes.

use std::ffi::{CStr, CString, c_char, c_int, c_uint, c_ulonglong, c_void};
use std::ptr;

use crate::library::{function_table, open};
use crate::throttle::Reasons;

type Handle = *mut c_void;

function_table! {
    /// The NVML functions used; each returns 0 on success.
    Functions {
        nvmlInit_v2() -> c_int;
        nvmlShutdown() -> c_int;
        nvmlSystemGetDriverVersion(*mut c_char, c_uint) -> c_int;
        nvmlDeviceGetHandleByPciBusId_v2(*const c_char, *mut Handle) -> c_int;
        nvmlDeviceGetClockInfo(Handle, c_int, *mut c_uint) -> c_int;
        nvmlDeviceGetMaxClockInfo(Handle, c_int, *mut c_uint) -> c_int;
        nvmlDeviceGetCurrentClocksThrottleReasons(Handle, *mut c_ulonglong) -> c_int;
        nvmlDeviceGetComputeRunningProcesses_v3(Handle, *mut c_uint, *mut c_void) -> c_int;
        nvmlDeviceGetTemperature(Handle, c_int, *mut c_uint) -> c_int;
        nvmlDeviceGetPowerUsage(Handle, *mut c_uint) -> c_int;
        nvmlDeviceGetTotalEnergyConsumption(Handle, *mut c_ulonglong) -> c_int;
    }
}

// Values of the library's enumerations.
const CLOCK_SM: c_int = 1;
const CLOCK_MEMORY: c_int = 2;
const TEMPERATURE_GPU: c_int = 0;
const INSUFFICIENT_SIZE: c_int = 7;

/// The library with one device.
pub(crate) struct Nvml {
    functions: Functions,
    device: Handle,
}

/// The device's state at one moment; unavailable values are `None`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Moment {
    pub(crate) sm_mhz: Option<u32>,
    pub(crate) memory_mhz: Option<u32>,
    pub(crate) max_sm_mhz: Option<u32>,
    pub(crate) max_memory_mhz: Option<u32>,
    pub(crate) celsius: Option<u32>,
    pub(crate) milliwatts: Option<u32>,
    /// Clock throttle reasons.
    pub(crate) reasons: Option<Reasons>,
    /// Compute processes on the device, including this one.
    pub(crate) processes: Option<u32>,
}

// SAFETY: NVML may be called from several threads at a time, and nothing changes the fields.
unsafe impl Sync for Nvml {}

impl Nvml {
    /// Loads the library and finds the device with this bus address; `None` if either is missing.
    pub(crate) fn of(bus: &str) -> Option<Self> {
        let names: &[&str] =
            if cfg!(windows) { &["nvml.dll"] } else { &["libnvidia-ml.so.1", "libnvidia-ml.so"] };
        let (library, _) = open(names, "nvml").ok()?;
        let functions = Functions::new(library).ok()?;
        // SAFETY: initialisation has no preconditions.
        if unsafe { (functions.nvmlInit_v2)() } != 0 {
            return None;
        }
        let mut made = Self { functions, device: ptr::null_mut() };
        let bus = CString::new(bus).ok()?;
        // SAFETY: the string is NUL-terminated, and the pointer is valid.
        let status = unsafe {
            (made.functions.nvmlDeviceGetHandleByPciBusId_v2)(bus.as_ptr(), &mut made.device)
        };
        (status == 0).then_some(made)
    }

    /// Driver version, `580.95.05`.
    pub(crate) fn driver(&self) -> Option<String> {
        let mut text = [0u8; 81];
        // SAFETY: the buffer has the length that is passed.
        let status = unsafe {
            let length = text.len() as c_uint - 1;
            (self.functions.nvmlSystemGetDriverVersion)(text.as_mut_ptr().cast(), length)
        };
        let text = CStr::from_bytes_until_nul(&text).ok()?;
        (status == 0).then(|| text.to_string_lossy().into_owned())
    }

    /// The device's state now.
    pub(crate) fn moment(&self) -> Moment {
        let f = &self.functions;
        let clock = |get, which| self.told(get, which);
        Moment {
            sm_mhz: clock(f.nvmlDeviceGetClockInfo, CLOCK_SM),
            memory_mhz: clock(f.nvmlDeviceGetClockInfo, CLOCK_MEMORY),
            max_sm_mhz: clock(f.nvmlDeviceGetMaxClockInfo, CLOCK_SM),
            max_memory_mhz: clock(f.nvmlDeviceGetMaxClockInfo, CLOCK_MEMORY),
            celsius: clock(f.nvmlDeviceGetTemperature, TEMPERATURE_GPU),
            milliwatts: self.milliwatts(),
            reasons: self.reasons(),
            processes: self.processes(),
        }
    }

    /// The current power.
    pub(crate) fn milliwatts(&self) -> Option<u32> {
        self.number(|value| {
            // SAFETY: the device's handle and the pointer are valid.
            unsafe { (self.functions.nvmlDeviceGetPowerUsage)(self.device, value) }
        })
    }

    /// The energy that the device has used since the driver was loaded; GPUs before Volta do not
    /// count it.
    pub(crate) fn millijoules(&self) -> Option<u64> {
        let mut energy = 0;
        // SAFETY: the device's handle and the pointer are valid.
        let status = unsafe {
            (self.functions.nvmlDeviceGetTotalEnergyConsumption)(self.device, &mut energy)
        };
        (status == 0).then_some(energy)
    }

    /// The current clock throttle reasons.
    pub(crate) fn reasons(&self) -> Option<Reasons> {
        let mut reasons = 0;
        // SAFETY: the device's handle and the pointer are valid.
        let status = unsafe {
            (self.functions.nvmlDeviceGetCurrentClocksThrottleReasons)(self.device, &mut reasons)
        };
        (status == 0).then_some(Reasons(reasons))
    }

    fn told(
        &self,
        get: unsafe extern "C" fn(Handle, c_int, *mut c_uint) -> c_int,
        which: c_int,
    ) -> Option<u32> {
        self.number(|value| {
            // SAFETY: the device's handle and the pointer are valid.
            unsafe { get(self.device, which, value) }
        })
    }

    fn number(&self, get: impl FnOnce(*mut c_uint) -> c_int) -> Option<u32> {
        let mut value = 0;
        (get(&mut value) == 0).then_some(value)
    }

    /// Compute processes on the device, including this one.
    pub(crate) fn processes(&self) -> Option<u32> {
        let mut count = 0;
        // SAFETY: with space for no process, only the count is written.
        let status = unsafe {
            let get = self.functions.nvmlDeviceGetComputeRunningProcesses_v3;
            get(self.device, &mut count, ptr::null_mut())
        };
        (status == 0 || status == INSUFFICIENT_SIZE).then_some(count)
    }
}

impl Drop for Nvml {
    fn drop(&mut self) {
        // SAFETY: the library was initialised and is shut down only here.
        let _ = unsafe { (self.functions.nvmlShutdown)() };
    }
}
