//! The GPU in the process of a kernel library: the arrays of the library, and the clock for its work.

use std::ffi::c_void;
use std::ptr::{null_mut, with_exposed_provenance_mut};
use std::slice::{from_raw_parts, from_raw_parts_mut};
use std::thread::sleep;
use std::time::{Duration, Instant};

use cudarc::driver::result::stream::launch_host_function;
use sparsescope_core::libraries::{GpuTimes, LibraryGpu, Work};

use crate::buffer::Buffer;
use crate::clock::Clock;
use crate::device::{Device, DeviceError, Doing};
use crate::launch::{Step, enqueue};

/// How long the stream is held before it copies the vectors. Work outside the stream is done by then, and what it
/// wrote is overwritten; work in the stream is added meanwhile, so that the device need not wait for the host.
const HOLD: Duration = Duration::from_millis(10);

/// A device for a library. Its memory belongs to this process alone.
pub struct HostedGpu {
    arrays: Vec<Buffer<u8>>,
    vectors: Option<Buffer<u8>>,
    /// For all work, and for the timed work.
    clocks: [Clock; 2],
    device: Device,
}

impl HostedGpu {
    /// Opens the device with this index, from 0; fails with a sentence.
    pub fn open(ordinal: usize) -> Result<Self, String> {
        let device = Device::open(ordinal).map_err(|absence| absence.to_string())?;
        let clock = || Clock::new(&device).map_err(sentence);
        let clocks = [clock()?, clock()?];
        Ok(Self { arrays: Vec::new(), vectors: None, clocks, device })
    }
}

fn sentence(error: DeviceError) -> String {
    error.to_string()
}

fn address(array: &Buffer<u8>) -> *mut u8 {
    with_exposed_provenance_mut(array.address() as usize)
}

/// Keeps the stream waiting.
extern "C" fn hold(_: *mut c_void) {
    sleep(HOLD);
}

impl LibraryGpu for HostedGpu {
    fn stream(&self) -> *mut c_void {
        self.device.stream().cu_stream().cast()
    }

    unsafe fn upload(&mut self, host: *const u8, bytes: usize) -> Result<*mut u8, String> {
        // SAFETY: the caller's promise.
        let host = unsafe { from_raw_parts(host, bytes) };
        let array = Buffer::of(&self.device, "an array of the matrix", host).map_err(sentence)?;
        let address = address(&array);
        self.arrays.push(array);
        Ok(address)
    }

    fn vectors(&mut self, bytes: usize) -> Result<*mut u8, String> {
        let vectors = Buffer::unset(&self.device, "the vectors x and y", bytes);
        let vectors = vectors.map_err(sentence)?;
        // The caller may use them on other streams.
        self.synchronize()?;
        Ok(address(self.vectors.insert(vectors)))
    }

    fn synchronize(&self) -> Result<(), String> {
        self.device.context().synchronize().doing("synchronize").map_err(sentence)
    }

    unsafe fn run(
        &self,
        host: *mut u8,
        warm_up: Work<'_>,
        timed: Work<'_>,
    ) -> Result<GpuTimes, String> {
        let (device, [all, part]) = (&self.device, &self.clocks);
        let vectors = self.vectors.as_ref().ok_or("no vectors were allocated")?;
        // SAFETY: the caller's promise.
        let host = unsafe { from_raw_parts_mut(host, vectors.len()) };
        let kept = Buffer::of(device, "a copy of the vectors", host).map_err(sentence)?;
        let start = Instant::now();
        all.begin(device).map_err(sentence)?;
        let stream = device.stream().cu_stream();
        // SAFETY: the stream is alive; the function reads no argument and calls nothing of CUDA.
        let held = unsafe { launch_host_function(stream, hold, null_mut()) };
        held.doing("hold the stream").map_err(sentence)?;
        enqueue(device, &[Step::copy(vectors, &kept)]).map_err(sentence)?;
        warm_up()?;
        part.begin(device).map_err(sentence)?;
        timed()?;
        part.end(device).map_err(sentence)?;
        enqueue(device, &[Step::copy(&kept, vectors)]).map_err(sentence)?;
        all.end(device).map_err(sentence)?;
        self.synchronize()?;
        let passed = start.elapsed().as_secs_f64();
        host.copy_from_slice(&kept.to_host(device).map_err(sentence)?);
        let (timed, stream) = (part.seconds(), all.seconds());
        Ok(GpuTimes { timed: timed.map_err(sentence)?, stream: stream.map_err(sentence)?, passed })
    }
}
