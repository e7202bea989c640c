//! The steps of one execution on the device: launches, fills, copies and library calls, in order.

use std::ffi::{c_int, c_void};

use cudarc::driver::sys::{self, CUfunction_attribute_enum as Attribute};
use cudarc::driver::{CudaFunction, CudaGraph, result};
use sparsescope_core::kernel::UserKernel;
use sparsescope_core::record::LaunchCost;

use crate::arguments::{Argument, Arguments, Element, Value};
use crate::buffer::{Buffer, Memory, Spent};
use crate::device::{Device, DeviceError, Doing};
use crate::kernels::Variant;

/// A kernel with its grid and arguments. It keeps its memory alive.
#[derive(Clone, Debug)]
pub(crate) struct Launch {
    name: &'static str,
    function: CudaFunction,
    /// Blocks.
    grid: u32,
    /// Threads per block.
    block: u32,
    /// Bytes of shared memory per block.
    shared_bytes: u32,
    /// Launched only if the device holds all blocks at once, so that they may wait for one another.
    cooperative: bool,
    /// Launched before the previous kernel has ended; waits for it itself.
    ahead: bool,
    /// The arguments, each in the low bytes of a word.
    words: Vec<u64>,
    _memory: Vec<Memory>,
}

/// Maximum blocks per grid.
const MOST_BLOCKS: u32 = i32::MAX as u32;

/// The first driver whose graphs preserve programmatic dependent launches: CUDA 12.3's.
const AHEAD_DRIVER: i32 = 12_030;

/// Bytes of shared memory available to a block without opting in.
const SHARED_UNASKED: u32 = 48 << 10;

/// Blocks, threads per block and bytes of shared memory per block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Shape {
    pub(crate) grid: u64,
    pub(crate) block: u32,
    pub(crate) shared_bytes: u32,
}

/// Device memory that is set to a byte value.
#[derive(Clone, Debug)]
pub(crate) struct Fill {
    address: u64,
    bytes: usize,
    byte: u8,
    _memory: Memory,
}

/// Device memory that is copied.
#[derive(Clone, Debug)]
pub(crate) struct Transfer {
    to: u64,
    from: u64,
    bytes: usize,
    _memory: [Memory; 2],
}

/// One step of an execution.
pub(crate) enum Step {
    /// Launches a kernel.
    Launch(Launch),
    /// Sets bytes to a value.
    Fill(Fill),
    /// Copies an array.
    Copy(Transfer),
    /// Runs arbitrary work on the device's stream: calls a library, or launches kernels depending
    /// on earlier results.
    Call(Box<Call>),
}

/// Arbitrary work on a device's stream.
type Call = dyn Fn(&Device) -> Result<(), DeviceError>;

/// A kernel bound to its operands, which it keeps alive.
pub(crate) struct Bound {
    /// Undoes the changes of an in-place execution; empty if executions can be repeated.
    pub(crate) reset: Vec<Step>,
    /// One execution, or the part of it that is repeated.
    pub(crate) steps: Vec<Step>,
    /// How often one execution runs the steps.
    pub(crate) times: u32,
    /// Steps before the result is read; never timed.
    pub(crate) finish: Vec<Step>,
    /// Set to a nonzero value by kernels that gave up waiting: then there is no result.
    pub(crate) stuck: Option<Buffer<u32>>,
    /// Bytes of memory that the steps use besides the operands.
    pub(crate) workspace_bytes: u64,
    /// Bytes of the operands that the steps do not read because the workspace has them in fewer.
    pub(crate) saved_bytes: u64,
    /// Time spent on creating the workspace.
    pub(crate) spent: Spent,
}

impl Bound {
    /// Repeatable steps that need no memory besides the operands.
    pub(crate) fn of(steps: Vec<Step>) -> Self {
        Self {
            reset: Vec::new(),
            steps,
            times: 1,
            finish: Vec::new(),
            stuck: None,
            workspace_bytes: 0,
            saved_bytes: 0,
            spent: Spent::default(),
        }
    }

    /// Whether an execution changes what it reads.
    pub(crate) fn is_in_place(&self) -> bool {
        !self.reset.is_empty()
    }

    /// Whether a kernel gave up waiting, after all previous work.
    pub(crate) fn is_stuck(&self, device: &Device) -> Result<bool, DeviceError> {
        let Some(stuck) = &self.stuck else { return Ok(false) };
        Ok(stuck.to_host(device)?.iter().any(|&flag| flag != 0))
    }

    /// Resource use per multiprocessor of each of our launches.
    pub(crate) fn launches(&self, device: &Device) -> Result<Vec<LaunchCost>, DeviceError> {
        let costs = self.steps.iter().filter_map(|step| match step {
            Step::Launch(launch) => launch.cost(device).transpose(),
            Step::Fill(_) | Step::Copy(_) | Step::Call(_) => None,
        });
        costs.collect()
    }
}

impl Launch {
    /// The function of this name with these arguments. Fails if the grid exceeds the device's
    /// limit.
    ///
    /// # Safety
    /// Whenever it is launched, the function's threads must access only the elements of the
    /// arguments' arrays and `shape.shared_bytes` of shared memory.
    pub(crate) unsafe fn new<A: Arguments>(
        device: &Device,
        function: &str,
        shape: Shape,
        arguments: &A,
    ) -> Result<Self, DeviceError> {
        // SAFETY: the caller's promise.
        unsafe { Self::in_variant(device, A::VARIANT, function, shape, arguments) }
    }

    /// The same for another variant of the source with this argument list.
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
        let functions = (A::FUNCTIONS, function);
        // SAFETY: the caller's promise.
        unsafe { Self::of_known(device, variant, functions, shape, &arguments.list()) }
    }

    /// A function of our sources, which must be one of the known ones.
    ///
    /// # Safety
    /// As for [`Launch::of_function`].
    unsafe fn of_known(
        device: &Device,
        variant: Variant,
        (functions, function): (&[&'static str], &str),
        shape: Shape,
        arguments: &[&dyn Argument],
    ) -> Result<Self, DeviceError> {
        let name = known(functions, function)?;
        let function = device.kernel(variant, name)?;
        // SAFETY: the caller's promise.
        unsafe { Self::of_function(name, function, shape, arguments) }
    }

    /// The function of a user's kernel with these arguments. Fails as the others do.
    ///
    /// # Safety
    /// As for [`Launch::new`]; the arguments must also be those of the kernel's family.
    pub(crate) unsafe fn of_user<A: Arguments>(
        device: &Device,
        user: &'static UserKernel,
        shape: Shape,
        arguments: &A,
    ) -> Result<Self, DeviceError> {
        let (name, function) = (user.function(), device.user_kernel(user, A::VARIANT)?);
        // SAFETY: the caller's promise.
        unsafe { Self::of_function(name, function, shape, &arguments.list()) }
    }

    /// A loaded function with its arguments.
    ///
    /// # Safety
    /// As for [`Launch::new`]; the function must also have the arguments' parameters.
    unsafe fn of_function(
        name: &'static str,
        function: CudaFunction,
        shape: Shape,
        arguments: &[&dyn Argument],
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
        // Only ever raised: earlier launches of the same function may have more.
        let which = Attribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
        if shared_bytes > SHARED_UNASKED.max(attribute(which)?) {
            let asked = function.set_attribute(which, shared_bytes as i32);
            asked.doing("set a kernel's shared memory")?;
        }
        let words = arguments.iter().map(|argument| argument.word()).collect();
        let _memory = arguments.iter().filter_map(|argument| argument.memory()).collect();
        let (cooperative, ahead) = (false, false);
        Ok(Self { name, function, grid, block, shared_bytes, cooperative, ahead, words, _memory })
    }

    /// The same with this many blocks, at most the number that the creator of the launch
    /// guaranteed.
    pub(crate) fn with_grid(&self, grid: u32) -> Self {
        Self { grid, ..self.clone() }
    }

    /// The same with as many blocks as the device holds at once, but at most `most` per
    /// multiprocessor, launched so that all of them are resident. The creator of the launch
    /// guarantees any number of blocks.
    pub(crate) fn resident(self, device: &Device, most: u32) -> Result<Self, DeviceError> {
        let blocks = self.blocks_per_multiprocessor(device)?.min(most);
        let grid = blocks * device.properties().multiprocessors;
        Ok(Self { grid, cooperative: true, ..self })
    }

    /// The same with as many blocks as the device holds at once. The creator of the launch
    /// guarantees any number of blocks.
    pub(crate) fn filling(self, device: &Device) -> Result<Self, DeviceError> {
        let blocks = self.blocks_per_multiprocessor(device)?.max(1);
        let grid = blocks * device.properties().multiprocessors;
        Ok(Self { grid, ..self })
    }

    /// The same, launched before the previous kernel has ended if the device supports it
    /// (programmatic dependent launch).
    ///
    /// # Safety
    /// All threads of the function must call `after_others` before they read what other kernels
    /// write, and before they write.
    pub(crate) unsafe fn ahead(self, device: &Device) -> Self {
        let can = device.properties().capability.0 >= 9 && device.driver_version() >= AHEAD_DRIVER;
        Self { ahead: can, ..self }
    }

    /// The same, launched after the previous kernel has ended.
    fn in_turn(self) -> Self {
        Self { ahead: false, ..self }
    }

    /// Number of blocks.
    pub(crate) fn grid(&self) -> u32 {
        self.grid
    }

    /// Blocks resident per multiprocessor.
    fn blocks_per_multiprocessor(&self, device: &Device) -> Result<u32, DeviceError> {
        device.context().bind_to_thread().doing("make its context current")?;
        // SAFETY: the function is loaded, and keeps its module alive.
        let blocks = unsafe {
            let (block, shared_bytes) = (self.block as c_int, self.shared_bytes as usize);
            let function = self.function.cu_function();
            result::occupancy::max_active_block_per_multiprocessor(function, block, shared_bytes)
        };
        Ok(u32::try_from(blocks.doing("report a kernel's attributes")?).unwrap_or(0))
    }

    /// Its resource use per multiprocessor; `None` for an empty grid, which is not launched.
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
        // SAFETY: `Arguments` lists as many arguments as the function has parameters, of their types;
        // `_memory` keeps alive what they point to, and frees it in the order of the one stream;
        // the creator of the launch guarantees what the threads access.
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

    /// Launches it before the previous kernel has ended.
    ///
    /// # Safety
    /// As for an ordinary launch: the arguments must be those of the function's parameters.
    unsafe fn launch_ahead(
        &self,
        stream: sys::CUstream,
        arguments: &mut [*mut c_void],
    ) -> Result<(), result::DriverError> {
        // SAFETY: all zeros are a valid value of this structure of numbers.
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
        // SAFETY: the caller's promise; the configuration lives until the call returns.
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
        // SAFETY: the bytes are those of a buffer whose memory is kept alive; any bits are a value,
        // and none is used as an index.
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
        // SAFETY: the bytes are those of two buffers of one type, whose memory is kept alive.
        let copied = unsafe { result::memcpy_dtod_async(self.to, self.from, self.bytes, stream) };
        copied.doing("copy memory")
    }
}

impl Step {
    /// Copies an array into another of the same length; panics if the lengths differ.
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

    /// Sets every byte of an array that may hold indices.
    ///
    /// # Safety
    /// Kernels that read the array must accept the resulting number.
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

    /// The same, but a launch waits until the previous kernel has ended.
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

/// The function of this name, if it is known.
fn known(functions: &[&'static str], function: &str) -> Result<&'static str, DeviceError> {
    functions.iter().find(|&&name| name == function).copied().ok_or_else(|| {
        let status = format!("{function} does not take these arguments");
        DeviceError::Driver { doing: "bind a kernel", status }
    })
}

/// An attribute of a function.
fn attribute_of(function: &CudaFunction, which: Attribute) -> Result<u32, DeviceError> {
    let value = function.get_attribute(which).doing("report a kernel's attributes")?;
    Ok(u32::try_from(value).unwrap_or(0))
}

/// Fraction of a multiprocessor's maximum threads that this many blocks use.
fn occupancy(blocks: u32, block: u32, most_threads: u32) -> f64 {
    (f64::from(blocks) * f64::from(block) / f64::from(most_threads.max(1))).min(1.0)
}

/// Adds all steps to the stream.
pub(crate) fn enqueue(device: &Device, steps: &[Step]) -> Result<(), DeviceError> {
    device.context().bind_to_thread().doing("make its context current")?;
    steps.iter().try_for_each(|step| step.enqueue(device))
}

/// A new array with every byte set to this value.
///
/// # Safety
/// As for [`Step::fill_numbers`].
pub(crate) unsafe fn preset<T: Element>(
    device: &Device,
    what: &str,
    len: usize,
    byte: u8,
) -> Result<Buffer<T>, DeviceError> {
    let array = Buffer::unset(device, what, len)?;
    // SAFETY: the caller's promise.
    enqueue(device, &[unsafe { Step::fill_numbers(&array, byte) }])?;
    Ok(array)
}

/// Steps recorded for launching without the host.
pub(crate) struct Graph<S> {
    graph: CudaGraph,
    /// Keep the memory that the graph works on.
    _steps: S,
}

impl<S: AsRef<[Step]>> Graph<S> {
    /// Records `repetitions` runs of the steps; `None` if there is nothing to run.
    pub(crate) fn record(
        device: &Device,
        steps: S,
        repetitions: u32,
    ) -> Result<Option<Self>, DeviceError> {
        let stream = device.stream();
        let mode = sys::CUstreamCaptureMode_enum::CU_STREAM_CAPTURE_MODE_THREAD_LOCAL;
        stream.begin_capture(mode).doing("begin graph capture")?;
        let recorded = (0..repetitions).try_for_each(|_| enqueue(device, steps.as_ref()));
        // Always end the capture, or the stream would stay unusable.
        let graph = stream.end_capture(sys::CUgraphInstantiate_flags(0)).doing("end graph capture");
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
        // The hardware's limit on blocks leaves thread slots unused.
        assert_eq!(occupancy(32, 32, 2048), 0.5);
        assert_eq!(occupancy(12, 160, 2048), 0.9375);
        assert_eq!((occupancy(0, 1024, 2048), occupancy(1, 32, 0)), (0.0, 1.0));
    }
}
