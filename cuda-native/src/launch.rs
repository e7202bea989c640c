//! What one execution asks of the device: launches, fillings, copies and calls of libraries, in order.

use std::ffi::{c_int, c_void};

use cudarc::driver::sys::{self, CUfunction_attribute_enum as Attribute};
use cudarc::driver::{CudaFunction, CudaGraph, result};
use sparsescope_core::kernel::UserKernel;
use sparsescope_core::record::LaunchCost;

use crate::arguments::{Arguments, Element, Value};
use crate::buffer::{Buffer, Memory, Spent};
use crate::device::{Device, DeviceError, Doing};
use crate::kernels::Variant;

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
    /// Launched only if the device holds all blocks at once, which may then wait for one another.
    cooperative: bool,
    /// Launched before the kernel before it has ended, for which it waits itself.
    ahead: bool,
    /// The arguments, each in the low bytes of a word.
    words: Vec<u64>,
    _memory: Vec<Memory>,
}

/// Most blocks of a grid.
const MOST_BLOCKS: u32 = i32::MAX as u32;

/// The first driver whose graphs keep launches ahead of the end of the kernel before: CUDA 12.3's.
const AHEAD_DRIVER: i32 = 12_030;

/// Bytes of shared memory that a block takes without asking for them.
const SHARED_UNASKED: u32 = 48 << 10;

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

/// Bytes of the device's memory that are copied to others.
#[derive(Clone, Debug)]
pub(crate) struct Transfer {
    to: u64,
    from: u64,
    bytes: usize,
    _memory: [Memory; 2],
}

/// One of the things that an execution asks for.
pub(crate) enum Step {
    /// Launches a kernel.
    Launch(Launch),
    /// Sets bytes to a value.
    Fill(Fill),
    /// Copies an array.
    Copy(Transfer),
    /// Does what it likes with the device's stream: calls a library, or launches kernels as the
    /// results of others ask for.
    Call(Box<Call>),
}

/// Work of its own on a device's stream.
type Call = dyn Fn(&Device) -> Result<(), DeviceError>;

/// A kernel bound to its operands, which it keeps.
pub(crate) struct Bound {
    /// Puts back what an execution in place changes; nothing where executions can be repeated as
    /// they are.
    pub(crate) reset: Vec<Step>,
    /// One execution, or what is repeated in it.
    pub(crate) steps: Vec<Step>,
    /// How often one execution goes through the steps.
    pub(crate) times: u32,
    /// What is left to do before the result is read; never timed.
    pub(crate) finish: Vec<Step>,
    /// Set to another number than 0 by kernels that gave up waiting: then there is no result.
    pub(crate) stuck: Option<Buffer<u32>>,
    /// Bytes of the memory that the steps use beside the operands.
    pub(crate) workspace_bytes: u64,
    /// What it took to make that.
    pub(crate) spent: Spent,
}

impl Bound {
    /// Steps that need nothing beside the operands and can be repeated as they are.
    pub(crate) fn of(steps: Vec<Step>) -> Self {
        Self {
            reset: Vec::new(),
            steps,
            times: 1,
            finish: Vec::new(),
            stuck: None,
            workspace_bytes: 0,
            spent: Spent::default(),
        }
    }

    /// An execution changes what it reads.
    pub(crate) fn is_in_place(&self) -> bool {
        !self.reset.is_empty()
    }

    /// Whether a kernel gave up waiting, once all work before is done.
    pub(crate) fn is_stuck(&self, device: &Device) -> Result<bool, DeviceError> {
        let Some(stuck) = &self.stuck else { return Ok(false) };
        Ok(stuck.to_host(device)?.iter().any(|&flag| flag != 0))
    }

    /// What each of our launches takes of a multiprocessor.
    pub(crate) fn launches(&self, device: &Device) -> Result<Vec<LaunchCost>, DeviceError> {
        let costs = self.steps.iter().filter_map(|step| match step {
            Step::Launch(launch) => launch.cost(device).transpose(),
            Step::Fill(_) | Step::Copy(_) | Step::Call(_) => None,
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
        // SAFETY: the caller's promise.
        unsafe { Self::in_variant(device, A::VARIANT, function, shape, arguments) }
    }

    /// The same, of a variant of the source that has this argument list too.
    ///
    /// # Safety
    /// As for [`Launch::new`].
    pub(crate) unsafe fn in_variant<A: Arguments>(
        device: &Device,
        variant: Variant,
        function: &str,
        shape: Shape,
        arguments: &A,
    ) -> Result<Self, DeviceError> {
        let Some(&name) = A::FUNCTIONS.iter().find(|&&known| known == function) else {
            let status = format!("{function} does not take these arguments");
            return Err(DeviceError::Driver { doing: "bind a kernel", status });
        };
        let function = device.kernel(variant, name)?;
        // SAFETY: the caller's promise.
        unsafe { Self::of_function(name, function, shape, arguments) }
    }

    /// The function of a user's kernel with these arguments. Fails as the others do.
    ///
    /// # Safety
    /// As for [`Launch::new`]; and the arguments are those of the kernel's family.
    pub(crate) unsafe fn of_user<A: Arguments>(
        device: &Device,
        user: &'static UserKernel,
        shape: Shape,
        arguments: &A,
    ) -> Result<Self, DeviceError> {
        let function = device.user_kernel(user, A::VARIANT)?;
        // SAFETY: the caller's promise.
        unsafe { Self::of_function(user.function(), function, shape, arguments) }
    }

    /// A function that is loaded, with these arguments.
    ///
    /// # Safety
    /// As for [`Launch::new`]; and the function has the arguments' parameters.
    unsafe fn of_function<A: Arguments>(
        name: &'static str,
        function: CudaFunction,
        shape: Shape,
        arguments: &A,
    ) -> Result<Self, DeviceError> {
        let Shape { grid, block, shared_bytes } = shape;
        let grid = u32::try_from(grid).ok().filter(|&grid| grid <= MOST_BLOCKS);
        let grid = grid.ok_or(DeviceError::TooLarge {
            what: "the grid",
            found: shape.grid,
            most: MOST_BLOCKS.into(),
        })?;
        let attribute = |which| attribute_of(&function, which);
        let most = attribute(Attribute::CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK)?;
        if block > most {
            let registers = attribute(Attribute::CU_FUNC_ATTRIBUTE_NUM_REGS)?;
            return Err(DeviceError::Block { function: name, registers, most, block });
        }
        if shared_bytes > SHARED_UNASKED {
            let which = Attribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
            let asked = function.set_attribute(which, shared_bytes as i32);
            asked.doing("give a kernel its shared memory")?;
        }
        let (words, _memory) = (arguments.words(), arguments.memory());
        let (cooperative, ahead) = (false, false);
        Ok(Self { name, function, grid, block, shared_bytes, cooperative, ahead, words, _memory })
    }

    /// The same with so many blocks, none more than those whose threads its maker vouched for.
    pub(crate) fn with_grid(&self, grid: u32) -> Self {
        Self { grid, ..self.clone() }
    }

    /// The same with as many blocks as the device holds at once, but no more than `most` a
    /// multiprocessor, launched so that it does hold them. Whoever made the launch vouches for any
    /// number of blocks.
    pub(crate) fn resident(self, device: &Device, most: u32) -> Result<Self, DeviceError> {
        let blocks = self.blocks_per_multiprocessor(device)?.min(most);
        let grid = blocks * device.properties().multiprocessors;
        Ok(Self { grid, cooperative: true, ..self })
    }

    /// The same with as many blocks as the device holds at once. Whoever made the launch vouches for any
    /// number of blocks.
    pub(crate) fn filling(self, device: &Device) -> Result<Self, DeviceError> {
        let blocks = self.blocks_per_multiprocessor(device)?.max(1);
        let grid = blocks * device.properties().multiprocessors;
        Ok(Self { grid, ..self })
    }

    /// The same, launched before the kernel before it has ended where the device can do that (programmatic
    /// dependent launch).
    ///
    /// # Safety
    /// All threads of the function call `after_others` before they read what other kernels write, and
    /// before they write.
    pub(crate) unsafe fn ahead(self, device: &Device) -> Self {
        let can = device.properties().capability.0 >= 9 && device.driver_version() >= AHEAD_DRIVER;
        Self { ahead: can, ..self }
    }

    /// The same, launched once the kernel before it has ended.
    fn in_turn(self) -> Self {
        Self { ahead: false, ..self }
    }

    /// Blocks.
    pub(crate) fn grid(&self) -> u32 {
        self.grid
    }

    /// Blocks that a multiprocessor holds at a time.
    fn blocks_per_multiprocessor(&self, device: &Device) -> Result<u32, DeviceError> {
        device.context().bind_to_thread().doing("take its context")?;
        // SAFETY: the function is loaded, and keeps its module.
        let blocks = unsafe {
            let (block, shared_bytes) = (self.block as c_int, self.shared_bytes as usize);
            let function = self.function.cu_function();
            result::occupancy::max_active_block_per_multiprocessor(function, block, shared_bytes)
        };
        Ok(u32::try_from(blocks.doing("tell what a kernel takes")?).unwrap_or(0))
    }

    /// What it takes of a multiprocessor; nothing for a grid without blocks, which is not launched.
    pub(crate) fn cost(&self, device: &Device) -> Result<Option<LaunchCost>, DeviceError> {
        if self.grid == 0 {
            return Ok(None);
        }
        let attribute = |which| attribute_of(&self.function, which);
        let shared_bytes = attribute(Attribute::CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES)?;
        let blocks_per_sm = self.blocks_per_multiprocessor(device)?;
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
            let (function, stream) = (self.function.cu_function(), device.stream().cu_stream());
            let (grid, block) = ((self.grid, 1, 1), (self.block, 1, 1));
            let (shared_bytes, arguments) = (self.shared_bytes, arguments.as_mut_slice());
            match (self.cooperative, self.ahead) {
                (false, false) => {
                    result::launch_kernel(function, grid, block, shared_bytes, stream, arguments)
                }
                (false, true) => self.launch_ahead(stream, arguments),
                (true, _) => result::launch_cooperative_kernel(
                    function,
                    grid,
                    block,
                    shared_bytes,
                    stream,
                    arguments,
                ),
            }
        };
        launched.doing("launch a kernel")
    }

    /// Launches it before the kernel before it has ended.
    ///
    /// # Safety
    /// As for a launch that waits: the arguments are those of the function's parameters.
    unsafe fn launch_ahead(
        &self,
        stream: sys::CUstream,
        arguments: &mut [*mut c_void],
    ) -> Result<(), result::DriverError> {
        // SAFETY: all zeroes are a value of this structure of numbers.
        let mut attribute: sys::CUlaunchAttribute = unsafe { std::mem::zeroed() };
        attribute.id =
            sys::CUlaunchAttributeID::CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION;
        attribute.value.programmaticStreamSerializationAllowed = 1;
        let config = sys::CUlaunchConfig {
            gridDimX: self.grid,
            gridDimY: 1,
            gridDimZ: 1,
            blockDimX: self.block,
            blockDimY: 1,
            blockDimZ: 1,
            sharedMemBytes: self.shared_bytes,
            hStream: stream,
            attrs: &mut attribute,
            numAttrs: 1,
        };
        let function = self.function.cu_function();
        // SAFETY: the caller's promise; the configuration lives until the call has returned.
        unsafe {
            sys::cuLaunchKernelEx(&config, function, arguments.as_mut_ptr(), std::ptr::null_mut())
        }
        .result()
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

impl Transfer {
    fn enqueue(&self, device: &Device) -> Result<(), DeviceError> {
        if self.bytes == 0 {
            return Ok(());
        }
        let stream = device.stream().cu_stream();
        // SAFETY: the bytes are those of two buffers of one type, whose memory is kept.
        let copied = unsafe { result::memcpy_dtod_async(self.to, self.from, self.bytes, stream) };
        copied.doing("copy memory")
    }
}

impl Step {
    /// Copies an array into another of the same length; panics when it has another.
    pub(crate) fn copy<T: Element>(to: &Buffer<T>, from: &Buffer<T>) -> Self {
        assert_eq!(to.len(), from.len(), "the arrays have one length");
        let _memory = [to.memory(), from.memory()];
        Self::Copy(Transfer {
            to: to.address(),
            from: from.address(),
            bytes: from.bytes() as usize,
            _memory,
        })
    }

    /// Sets every byte of an array that may hold numbers to index by.
    ///
    /// # Safety
    /// Kernels that read the array take the number that these bytes are.
    pub(crate) unsafe fn fill_numbers<T: Element>(array: &Buffer<T>, byte: u8) -> Self {
        let (address, bytes) = (array.address(), array.bytes() as usize);
        Self::Fill(Fill { address, bytes, byte, _memory: array.memory() })
    }

    /// Sets every byte of an array of values.
    pub(crate) fn fill<T: Value>(array: &Buffer<T>, byte: u8) -> Self {
        let (address, bytes) = (array.address(), array.len() * size_of::<T>());
        Self::Fill(Fill { address, bytes, byte, _memory: array.memory() })
    }

    /// Sets an array to zero.
    pub(crate) fn zero<T: Value>(array: &Buffer<T>) -> Self {
        Self::fill(array, 0)
    }

    /// The same, where a launch waits until the kernel before it has ended.
    pub(crate) fn in_turn(self) -> Self {
        match self {
            Self::Launch(launch) => Self::Launch(launch.in_turn()),
            other => other,
        }
    }

    /// Adds it to the device's stream.
    pub(crate) fn enqueue(&self, device: &Device) -> Result<(), DeviceError> {
        match self {
            Self::Launch(launch) => launch.enqueue(device),
            Self::Fill(fill) => fill.enqueue(device),
            Self::Copy(copy) => copy.enqueue(device),
            Self::Call(call) => call(device),
        }
    }
}

/// What a function takes or bears.
fn attribute_of(function: &CudaFunction, which: Attribute) -> Result<u32, DeviceError> {
    let value = function.get_attribute(which).doing("tell what a kernel takes")?;
    Ok(u32::try_from(value).unwrap_or(0))
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
pub(crate) struct Graph<S> {
    graph: CudaGraph,
    /// They keep the memory that the graph works on.
    _steps: S,
}

impl<S: AsRef<[Step]>> Graph<S> {
    /// Records `repetitions` runs of the steps; `None` where they ask for nothing.
    pub(crate) fn record(
        device: &Device,
        steps: S,
        repetitions: u32,
    ) -> Result<Option<Self>, DeviceError> {
        let stream = device.stream();
        let mode = sys::CUstreamCaptureMode_enum::CU_STREAM_CAPTURE_MODE_THREAD_LOCAL;
        stream.begin_capture(mode).doing("begin a graph")?;
        let recorded = (0..repetitions).try_for_each(|_| enqueue(device, steps.as_ref()));
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
