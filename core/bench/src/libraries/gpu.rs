//! The GPU in the process of a library. The code that drives it is in another crate.

use std::ffi::c_void;

/// Opens the GPU with this number, from 0; fails with a sentence.
pub type OpenGpu = fn(usize) -> Result<Box<dyn LibraryGpu>, String>;

/// Adds work of the library to the stream; fails with a sentence.
pub type Work<'w> = &'w dyn Fn() -> Result<(), String>;

/// A GPU in the process of a library. Its arrays are freed with it. Errors are sentences.
pub trait LibraryGpu {
    /// The stream for the work of the library, a `cudaStream_t`.
    fn stream(&self) -> *mut c_void;

    /// Copies `bytes` bytes from `host` to a new array; returns its address on the device.
    ///
    /// # Safety
    /// The bytes can be read, and nothing writes them meanwhile.
    unsafe fn upload(&mut self, host: *const u8, bytes: usize) -> Result<*mut u8, String>;

    /// Allocates the memory that [`run`](Self::run) copies to and from; returns its address on the device.
    fn vectors(&mut self, bytes: usize) -> Result<*mut u8, String>;

    /// Waits for all work of the device, in any stream.
    fn synchronize(&self) -> Result<(), String>;

    /// Copies the vectors from `host`, does both works, and copies the vectors back as they are when the stream
    /// has done the second. Work outside the stream comes too early and is overwritten, or comes too late.
    ///
    /// # Safety
    /// As many bytes as the vectors have can be read and written at `host`, and nothing else accesses them
    /// meanwhile.
    unsafe fn run(
        &self,
        host: *mut u8,
        warm_up: Work<'_>,
        timed: Work<'_>,
    ) -> Result<GpuTimes, String>;
}

/// Times of [`LibraryGpu::run`] in seconds.
#[derive(Clone, Copy, Debug)]
pub struct GpuTimes {
    /// The second work, between two events in the stream.
    pub timed: f64,
    /// Everything, between two events in the stream.
    pub stream: f64,
    /// Everything, by the clock of the CPU, until all streams of the device have nothing to do.
    pub passed: f64,
}
