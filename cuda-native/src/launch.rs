//! What one product asks of the device: launches, fillings and calls of libraries, in order.

use std::ffi::{c_int, c_void};

use cudarc::driver::sys::{self, CUfunction_attribute_enum as Attribute};
use cudarc::driver::{CudaFunction, CudaGraph, result};
use sparsescope_core::record::LaunchCost;

use crate::arguments::{Arguments, Value};
use crate::buffer::{Buffer, Memory, Spent};
use crate::device::{Device, DeviceError, Doing};

/// A kernel with its grid and arguments. It keeps the memory that it works on.
#[derive(Clone, Debug)]
pub(crate) struct Launch {
    name: &'static str,
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

/// A kernel bound to its operands, which it keeps.
pub(crate) struct Bound {
    /// Puts back what an execution in place changes; nothing where executions can be repeated as
    /// they are.
    pub(crate) reset: Vec<Step>,
    /// One execution.
    pub(crate) steps: Vec<Step>,
    /// Bytes of the memory that the steps use beside the operands.
    pub(crate) workspace_bytes: u64,
    /// What it took to make that.
    pub(crate) spent: Spent,
}

impl Bound {
    /// Steps that need nothing beside the operands and can be repeated as they are.
    pub(crate) fn of(steps: Vec<Step>) -> Self {
        Self { reset: Vec::new(), steps, workspace_bytes: 0, spent: Spent::default() }
    }

    /// An execution changes what it reads.
    pub(crate) fn is_in_place(&self) -> bool {
        !self.reset.is_empty()
    }

    /// What each of our launches takes of a multiprocessor.
    pub(crate) fn launches(&self, device: &Device) -> Result<Vec<LaunchCost>, DeviceError> {
        let costs = self.steps.iter().filter_map(|step| match step {
            Step::Launch(launch) => launch.cost(device).transpose(),
            Step::Fill(_) | Step::Call(_) => None,
        });
        costs.collect()
    }
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
        let Some(&name) = A::FUNCTIONS.iter().find(|&&known| known == function) else {
            let status = format!("{function} does not take these arguments");
            return Err(DeviceError::Driver { doing: "bind a kernel", status });
        };
        let Shape { grid, block, shared_bytes } = shape;
        let grid = u32::try_from(grid).ok().filter(|&grid| grid <= MOST_BLOCKS);
        let grid = grid.ok_or(DeviceError::TooLarge {
            what: "the grid",
            found: shape.grid,
            most: MOST_BLOCKS.into(),
        })?;
        let function = device.kernel(A::VARIANT, name)?;
        let (words, _memory) = (arguments.words(), arguments.memory());
        Ok(Self { name, function, grid, block, shared_bytes, words, _memory })
    }

    /// What it takes of a multiprocessor; nothing for a grid without blocks, which is not launched.
    pub(crate) fn cost(&self, device: &Device) -> Result<Option<LaunchCost>, DeviceError> {
        if self.grid == 0 {
            return Ok(None);
        }
        let doing = "tell what a kernel takes";
        let attribute = |which| {
            let value = self.function.get_attribute(which).doing(doing)?;
            Ok::<u32, DeviceError>(u32::try_from(value).unwrap_or(0))
        };
        let shared_bytes = attribute(Attribute::CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES)?;
        device.context().bind_to_thread().doing("take its context")?;
        // SAFETY: the function is loaded, and keeps its module.
        let blocks = unsafe {
            let (block, shared_bytes) = (self.block as c_int, self.shared_bytes as usize);
            let function = self.function.cu_function();
            result::occupancy::max_active_block_per_multiprocessor(function, block, shared_bytes)
        };
        let blocks_per_sm = u32::try_from(blocks.doing(doing)?).unwrap_or(0);
        let most_threads = device.properties().threads_per_multiprocessor;
        Ok(Some(LaunchCost {
            function: self.name.to_owned(),
            registers: attribute(Attribute::CU_FUNC_ATTRIBUTE_NUM_REGS)?,
            shared_bytes: u64::from(shared_bytes) + u64::from(self.shared_bytes),
            local_bytes: attribute(Attribute::CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES)?.into(),
            blocks_per_sm,
            occupancy: occupancy(blocks_per_sm, self.block, most_threads),
        }))
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

/// Share of the threads that a multiprocessor can hold which so many blocks are.
fn occupancy(blocks: u32, block: u32, most_threads: u32) -> f64 {
    (f64::from(blocks) * f64::from(block) / f64::from(most_threads.max(1))).min(1.0)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn occupancy_is_the_share_of_threads_and_never_more_than_all() {
        assert_eq!(occupancy(16, 128, 2048), 1.0);
        // The hardware's limit on blocks leaves room that no thread fills.
        assert_eq!(occupancy(32, 32, 2048), 0.5);
        assert_eq!(occupancy(12, 160, 2048), 0.9375);
        assert_eq!((occupancy(0, 1024, 2048), occupancy(1, 32, 0)), (0.0, 1.0));
    }
}
