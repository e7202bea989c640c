//! What one product asks of the device: launches, fillings and calls of libraries, in order.

use std::ffi::c_void;

use cudarc::driver::{CudaFunction, CudaGraph, result, sys};

use crate::arguments::{Arguments, Value};
use crate::buffer::{Buffer, Memory};
use crate::device::{Device, DeviceError, Doing};

/// A kernel with its grid and arguments. It keeps the memory that it works on.
#[derive(Clone, Debug)]
pub(crate) struct Launch {
    function: CudaFunction,
    /// Blocks.
    grid: u32,
    /// Threads a block.
    block: u32,
    /// Bytes of shared memory a block.
    shared_bytes: u32,
    /// The arguments, each in the low bytes of a word.
    words: Vec<u64>,
    _memory: Vec<Memory>,
}

/// Most blocks of a grid.
const MOST_BLOCKS: u32 = i32::MAX as u32;

/// Blocks, threads a block and bytes of shared memory a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Shape {
    pub(crate) grid: u64,
    pub(crate) block: u32,
    pub(crate) shared_bytes: u32,
}

/// Bytes of the device's memory that are set to a value.
#[derive(Clone, Debug)]
pub(crate) struct Fill {
    address: u64,
    bytes: usize,
    byte: u8,
    _memory: Memory,
}

/// One of the things that a product asks for.
pub(crate) enum Step {
    /// Launches a kernel.
    Launch(Launch),
    /// Sets bytes to a value.
    Fill(Fill),
    /// Calls a library, which uses the device's stream.
    Call(Box<dyn Fn() -> Result<(), DeviceError>>),
}

impl Launch {
    /// The function of this name with these arguments. Fails when the grid is larger than a device
    /// takes.
    ///
    /// # Safety
    /// Whenever it is launched, the function's threads reach the elements of the arguments' arrays and
    /// of `shape.shared_bytes` of shared memory only.
    pub(crate) unsafe fn new<A: Arguments>(
        device: &Device,
        function: &str,
        shape: Shape,
        arguments: &A,
    ) -> Result<Self, DeviceError> {
        if !A::FUNCTIONS.contains(&function) {
            let status = format!("{function} does not take these arguments");
            return Err(DeviceError::Driver { doing: "bind a kernel", status });
        }
        let Shape { grid, block, shared_bytes } = shape;
        let grid = u32::try_from(grid).ok().filter(|&grid| grid <= MOST_BLOCKS);
        let grid = grid.ok_or(DeviceError::TooLarge {
            what: "the grid",
            found: shape.grid,
            most: MOST_BLOCKS.into(),
        })?;
        let function = device.kernel(A::VARIANT, function)?;
        let (words, _memory) = (arguments.words(), arguments.memory());
        Ok(Self { function, grid, block, shared_bytes, words, _memory })
    }

    fn enqueue(&self, device: &Device) -> Result<(), DeviceError> {
        if self.grid == 0 {
            return Ok(());
        }
        let mut arguments: Vec<*mut c_void> =
            self.words.iter().map(|word| std::ptr::from_ref(word).cast_mut().cast()).collect();
        // SAFETY: `Arguments` gives as many words as the function has parameters, of their types;
        // `_memory` keeps what they point to, and frees it in the order of the one stream; whoever
        // made the launch vouches for what the threads reach.
        let launched = unsafe {
            result::launch_kernel(
                self.function.cu_function(),
                (self.grid, 1, 1),
                (self.block, 1, 1),
                self.shared_bytes,
                device.stream().cu_stream(),
                &mut arguments,
            )
        };
        launched.doing("launch a kernel")
    }
}

impl Fill {
    fn enqueue(&self, device: &Device) -> Result<(), DeviceError> {
        if self.bytes == 0 {
            return Ok(());
        }
        let stream = device.stream().cu_stream();
        // SAFETY: the bytes are those of a buffer, whose memory is kept; any bits are a value, and
        // nothing is indexed by one.
        let set = unsafe { result::memset_d8_async(self.address, self.byte, self.bytes, stream) };
        set.doing("fill memory")
    }
}

impl Step {
    /// Sets every byte of an array of values.
    pub(crate) fn fill<T: Value>(array: &Buffer<T>, byte: u8) -> Self {
        let (address, bytes) = (array.address(), array.len() * size_of::<T>());
        Self::Fill(Fill { address, bytes, byte, _memory: array.memory() })
    }

    /// Sets an array to zero.
    pub(crate) fn zero<T: Value>(array: &Buffer<T>) -> Self {
        Self::fill(array, 0)
    }

    /// Adds it to the device's stream.
    fn enqueue(&self, device: &Device) -> Result<(), DeviceError> {
        match self {
            Self::Launch(launch) => launch.enqueue(device),
            Self::Fill(fill) => fill.enqueue(device),
            Self::Call(call) => call(),
        }
    }
}

/// Adds all steps to the stream.
pub(crate) fn enqueue(device: &Device, steps: &[Step]) -> Result<(), DeviceError> {
    device.context().bind_to_thread().doing("take its context")?;
    steps.iter().try_for_each(|step| step.enqueue(device))
}

/// Steps recorded to be launched without the host.
pub(crate) struct Graph<'s> {
    graph: CudaGraph,
    /// They keep the memory that the graph works on.
    _steps: &'s [Step],
}

impl<'s> Graph<'s> {
    /// Records `repetitions` runs of the steps; `None` where they ask for nothing.
    pub(crate) fn record(
        device: &Device,
        steps: &'s [Step],
        repetitions: u32,
    ) -> Result<Option<Self>, DeviceError> {
        let stream = device.stream();
        let mode = sys::CUstreamCaptureMode_enum::CU_STREAM_CAPTURE_MODE_THREAD_LOCAL;
        stream.begin_capture(mode).doing("begin a graph")?;
        let recorded = (0..repetitions).try_for_each(|_| enqueue(device, steps));
        // The capture is ended in any case: the stream would stay unusable.
        let graph = stream.end_capture(sys::CUgraphInstantiate_flags(0)).doing("end a graph");
        let graph = recorded.and(graph)?;
        Ok(graph.map(|graph| Self { graph, _steps: steps }))
    }

    /// Adds it to the device's stream.
    pub(crate) fn launch(&self) -> Result<(), DeviceError> {
        self.graph.launch().doing("launch a graph")
    }
}
