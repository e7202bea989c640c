//! The device's memory: bandwidth, cache flushing, and launch latency.

use std::sync::OnceLock;

use crate::arguments::{
    Arguments, Double2, MemoryCopy, MemoryNothing, MemoryRead, MemoryTriad, Reads, Writes,
};
use crate::buffer::Buffer;
use crate::clock::{Clock, to_picoseconds};
use crate::device::{Device, DeviceError};
use crate::launch::{Launch, Shape, Step, enqueue};

/// Threads per block of the kernels here.
const BLOCK: u32 = 256;

/// Blocks per multiprocessor of a grid-stride launch: enough to keep the device busy.
const BLOCKS_EACH: u64 = 16;

/// Minimum bytes of an array for measuring bandwidth, unless memory is short.
const LEAST_BYTES: u64 = 4 << 30;

/// Number of passes; the best one counts.
const PASSES: usize = 12;

/// Bytes per second, best of several passes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct DeviceBandwidth {
    /// Bytes of each array.
    pub(crate) array_bytes: u64,
    /// `b[i] = a[i]`: 16 bytes per element.
    pub(crate) copy: f64,
    /// `c[i] = a[i] + s·b[i]`: 24 bytes per element.
    pub(crate) triad: f64,
}

/// An array larger than the caches, and the kernels that traverse it.
pub(crate) struct Memory {
    flush: [Step; 1],
    nothing: [Step; 1],
    launch_seconds: OnceLock<f64>,
}

impl Memory {
    pub(crate) fn new(device: &Device) -> Result<Self, DeviceError> {
        let bytes = (4 * device.properties().l2_bytes).max(64 << 20);
        let pairs = bytes / size_of::<Double2>() as u64;
        let array = Buffer::unset(device, "the cache flush buffer", pairs as usize)?;
        enqueue(device, &[Step::zero(&array)])?;
        let arguments = MemoryRead { pairs, a: Reads(&array), never: Writes(&array) };
        let blocks = u64::from(device.properties().multiprocessors) * BLOCKS_EACH;
        // SAFETY: the array has this many pairs, at least one; threads stride up to that.
        let flush = unsafe { launch(device, "memory_read", (blocks, BLOCK), &arguments)? };
        // SAFETY: it accesses nothing.
        let nothing = unsafe { launch(device, "memory_nothing", (1, 32), &MemoryNothing {})? };
        let launch_seconds = OnceLock::new();
        Ok(Self { flush: [flush], nothing: [nothing], launch_seconds })
    }

    /// Adds to the stream a kernel that evicts everything else from the L2 cache.
    pub(crate) fn flush(&self, device: &Device) -> Result<(), DeviceError> {
        enqueue(device, &self.flush)
    }

    /// Seconds between launches of an empty kernel; measured on first use.
    pub(crate) fn launch_seconds(&self, device: &Device) -> Result<f64, DeviceError> {
        const LAUNCHES: u32 = 1000;
        if let Some(&known) = self.launch_seconds.get() {
            return Ok(known);
        }
        let clock = Clock::new(device)?;
        let mut best = f64::INFINITY;
        for _ in 0..5 {
            let launches = || (0..LAUNCHES).try_for_each(|_| enqueue(device, &self.nothing));
            best = best.min(clock.time(device, launches)? / f64::from(LAUNCHES));
        }
        Ok(*self.launch_seconds.get_or_init(|| to_picoseconds(best)))
    }
}

/// Measures with arrays of at least eight times the L2 cache, three of which fit into half of the
/// free memory.
pub(crate) fn bandwidth(device: &Device) -> Result<DeviceBandwidth, DeviceError> {
    let wanted = LEAST_BYTES.max(8 * device.properties().l2_bytes);
    let pairs = wanted.min(device.free_bytes()? / 6) / size_of::<Double2>() as u64;
    let what = "a bandwidth test array";
    let array = || Buffer::<Double2>::unset(device, what, pairs as usize);
    let (a, b, c) = (array()?, array()?, array()?);
    enqueue(device, &[Step::zero(&a), Step::zero(&b), Step::zero(&c)])?;
    let blocks = pairs.div_ceil(BLOCK.into());
    let arguments = MemoryCopy { pairs, a: Reads(&a), b: Writes(&b) };
    // SAFETY: the arrays have this many pairs; threads beyond return.
    let copy = unsafe { launch(device, "memory_copy", (blocks, BLOCK), &arguments)? };
    let arguments = MemoryTriad { pairs, a: Reads(&a), b: Reads(&b), c: Writes(&c), s: 3.0 };
    // SAFETY: as above.
    let triad = unsafe { launch(device, "memory_triad", (blocks, BLOCK), &arguments)? };
    let clock = Clock::new(device)?;
    let best = |steps: [Step; 1]| {
        let mut best = f64::INFINITY;
        for _ in 0..PASSES {
            best = best.min(clock.time(device, || enqueue(device, &steps))?);
        }
        Ok::<f64, DeviceError>(best)
    };
    let array_bytes = a.bytes();
    let bytes = array_bytes as f64;
    let (copy, triad) = (2.0 * bytes / best([copy])?, 3.0 * bytes / best([triad])?);
    Ok(DeviceBandwidth { array_bytes, copy, triad })
}

/// Launches one of the kernels here.
///
/// # Safety
/// As for [`Launch::new`].
unsafe fn launch<A: Arguments>(
    device: &Device,
    function: &str,
    (grid, block): (u64, u32),
    arguments: &A,
) -> Result<Step, DeviceError> {
    let shape = Shape { grid, block, shared_bytes: 0 };
    // SAFETY: the caller's promise.
    unsafe { Launch::new(device, function, shape, arguments) }.map(Step::Launch)
}
