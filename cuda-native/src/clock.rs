//! Device timing by events in its stream.

use std::sync::OnceLock;

use cudarc::driver::{CudaEvent, sys};

use crate::device::{Device, DeviceError, Doing};
use crate::probe::status_name;

/// Two events around the work to be timed.
pub(crate) struct Clock {
    start: CudaEvent,
    end: CudaEvent,
}

impl Clock {
    pub(crate) fn new(device: &Device) -> Result<Self, DeviceError> {
        let event = || {
            let flags = Some(sys::CUevent_flags::CU_EVENT_DEFAULT);
            device.context().new_event(flags).doing("create an event")
        };
        Ok(Self { start: event()?, end: event()? })
    }

    /// Seconds that the device spends on what `work` adds to its stream; waits for it.
    pub(crate) fn time(
        &self,
        device: &Device,
        work: impl FnOnce() -> Result<(), DeviceError>,
    ) -> Result<f64, DeviceError> {
        self.begin(device)?;
        work()?;
        self.end(device)?;
        self.end.synchronize().doing("synchronize")?;
        self.seconds()
    }

    /// Records the start event in the device's stream.
    pub(crate) fn begin(&self, device: &Device) -> Result<(), DeviceError> {
        self.start.record(device.stream()).doing("record an event")
    }

    /// Records the end event.
    pub(crate) fn end(&self, device: &Device) -> Result<(), DeviceError> {
        self.end.record(device.stream()).doing("record an event")
    }

    /// Seconds between the two events, both of which the device has reached.
    pub(crate) fn seconds(&self) -> Result<f64, DeviceError> {
        elapsed_ms(&self.start, &self.end).map(|ms| f64::from(ms) * 1e-3)
    }
}

/// Rounds to picoseconds: events are no more precise, so further digits need not be stored.
pub(crate) fn to_picoseconds(seconds: f64) -> f64 {
    (seconds * 1e12).round() / 1e12
}

type Elapsed = unsafe extern "C" fn(*mut f32, sys::CUevent, sys::CUevent) -> sys::CUresult;

/// Milliseconds between two events. Calls the function that every driver has: the bindings call one
/// that only drivers of CUDA 12.8 and later have.
fn elapsed_ms(start: &CudaEvent, end: &CudaEvent) -> Result<f32, DeviceError> {
    static FUNCTION: OnceLock<Option<Elapsed>> = OnceLock::new();
    let function = FUNCTION.get_or_init(|| {
        // SAFETY: a device exists, so the library is loaded; the signature is the driver's.
        unsafe { sys::culib().get::<Elapsed>(b"cuEventElapsedTime\0") }.ok().map(|f| *f)
    });
    let function = function.expect("the probe found it before a device was opened"); // invariant
    let mut milliseconds = 0.0;
    // SAFETY: both events are alive, and the pointer is valid.
    let status = unsafe { function(&mut milliseconds, start.cu_event(), end.cu_event()) };
    match status {
        sys::CUresult::CUDA_SUCCESS => Ok(milliseconds),
        status => {
            Err(DeviceError::Driver { doing: "read the elapsed time", status: status_name(status) })
        }
    }
}
