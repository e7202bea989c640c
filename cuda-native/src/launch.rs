//! What one product asks of the device: launches, fillings and calls of libraries, in order.

use std::ffi::c_void;

use cudarc::driver::{CudaFunction, CudaGraph, result, sys};

use crate::device::{Device, DeviceError, Doing};

/// A kernel with its grid and arguments.
#[derive(Clone, Debug)]
pub(crate) struct Launch {
    pub(crate) function: CudaFunction,
    /// Blocks.
    pub(crate) grid: u64,
    /// Threads a block.
    pub(crate) block: u32,
    /// Bytes of shared memory a block.
    pub(crate) shared_bytes: u32,
    /// The arguments, each in the low bytes of a word: addresses, u64 and u32 alike.
    pub(crate) arguments: Vec<u64>,
}

/// Most blocks of a grid.
const MOST_BLOCKS: u64 = i32::MAX as u64;

/// One of the things that a product asks for.
pub(crate) enum Step {
    /// Launches a kernel.
    Launch(Launch),
    /// Sets bytes to a value.
    Fill { address: u64, byte: u8, bytes: usize },
    /// Calls a library, which uses the device's stream.
    Call(Box<dyn Fn() -> Result<(), DeviceError>>),
}

impl Launch {
    /// Fails when the grid is larger than a device takes.
    pub(crate) fn check(&self) -> Result<(), DeviceError> {
        if self.grid <= MOST_BLOCKS {
            return Ok(());
        }
        Err(DeviceError::TooLarge { what: "the grid", found: self.grid, most: MOST_BLOCKS })
    }

    fn enqueue(&self, device: &Device) -> Result<(), DeviceError> {
        if self.grid == 0 {
            return Ok(());
        }
        self.check()?;
        let mut arguments: Vec<*mut c_void> =
            self.arguments.iter().map(|word| std::ptr::from_ref(word).cast_mut().cast()).collect();
        // SAFETY: whoever made the launch gave as many arguments as the kernel has parameters, of
        // their sizes (devices and hosts are little-endian, so that a u32 lies in a word's first
        // bytes), and keeps the buffers alive whose addresses are among them.
        let launched = unsafe {
            result::launch_kernel(
                self.function.cu_function(),
                (self.grid as u32, 1, 1),
                (self.block, 1, 1),
                self.shared_bytes,
                device.stream().cu_stream(),
                &mut arguments,
            )
        };
        launched.doing("launch a kernel")
    }
}

impl Step {
    /// Sets bytes to zero.
    pub(crate) fn zero(address: u64, bytes: usize) -> Self {
        Self::Fill { address, byte: 0, bytes }
    }

    /// Adds it to the device's stream.
    pub(crate) fn enqueue(&self, device: &Device) -> Result<(), DeviceError> {
        match self {
            Self::Launch(launch) => launch.enqueue(device),
            Self::Fill { bytes: 0, .. } => Ok(()),
            Self::Fill { address, byte, bytes } => {
                let stream = device.stream().cu_stream();
                // SAFETY: whoever made the step keeps the buffer alive that the bytes lie in.
                let set = unsafe { result::memset_d8_async(*address, *byte, *bytes, stream) };
                set.doing("fill memory")
            }
            Self::Call(call) => call(),
        }
    }
}

/// Adds all steps to the stream.
pub(crate) fn enqueue(device: &Device, steps: &[Step]) -> Result<(), DeviceError> {
    device.context().bind_to_thread().doing("take its context")?;
    steps.iter().try_for_each(|step| step.enqueue(device))
}

/// Records `repetitions` runs of the steps as a graph, which launches them without the host.
pub(crate) fn record(
    device: &Device,
    steps: &[Step],
    repetitions: u32,
) -> Result<Option<CudaGraph>, DeviceError> {
    let stream = device.stream();
    let mode = sys::CUstreamCaptureMode_enum::CU_STREAM_CAPTURE_MODE_THREAD_LOCAL;
    stream.begin_capture(mode).doing("begin a graph")?;
    let recorded = (0..repetitions).try_for_each(|_| enqueue(device, steps));
    // The capture is ended in any case: the stream would stay unusable.
    let graph = stream.end_capture(sys::CUgraphInstantiate_flags(0)).doing("end a graph");
    recorded.and(graph)
}
