//! The device's memory: its bandwidth, its caches emptied, and what a launch costs.

use std::sync::OnceLock;

use crate::buffer::Buffer;
use crate::clock::{Clock, to_picoseconds};
use crate::device::{Device, DeviceError};
use crate::kernels::{Family, Variant};
use crate::launch::{Launch, Step, enqueue};

/// Threads a block of the kernels here.
const BLOCK: u32 = 256;

/// Blocks of a grid that strides, for each multiprocessor: enough to keep all of it busy.
const BLOCKS_EACH: u64 = 16;

/// Least bytes of an array that bandwidth is measured with, unless memory is short.
const LEAST_BYTES: u64 = 4 << 30;

/// Passes of which the best counts.
const PASSES: usize = 12;

/// Bytes a second, best of several passes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct DeviceBandwidth {
    /// Bytes of each array.
    pub(crate) array_bytes: u64,
    /// `b[i] = a[i]`: 16 bytes an element.
    pub(crate) copy: f64,
    /// `c[i] = a[i] + s·b[i]`: 24 bytes an element.
    pub(crate) triad: f64,
}

/// An array larger than the caches, and the kernels that go through it.
pub(crate) struct Memory {
    flush: [Step; 1],
    nothing: [Step; 1],
    launch_seconds: OnceLock<f64>,
    _array: Buffer<f64>,
}

impl Memory {
    pub(crate) fn new(device: &Device) -> Result<Self, DeviceError> {
        let bytes = (4 * device.properties().l2_bytes).max(64 << 20);
        let elements = (bytes / 8) as usize;
        let array = Buffer::<f64>::unset(device, "the array that flushes the caches", elements)?;
        let zero = Step::zero(array.address(), elements * 8);
        enqueue(device, &[zero])?;
        let arguments = vec![elements as u64 / 2, array.address(), array.address()];
        let blocks = u64::from(device.properties().multiprocessors) * BLOCKS_EACH;
        let flush = launch(device, "memory_read", blocks, arguments)?;
        let function = device.kernel(Variant::of(Family::Memory), "memory_nothing")?;
        let arguments = Vec::new();
        let nothing = Launch { function, grid: 1, block: 32, shared_bytes: 0, arguments };
        Ok(Self {
            flush: [flush],
            nothing: [Step::Launch(nothing)],
            launch_seconds: OnceLock::new(),
            _array: array,
        })
    }

    /// Adds to the stream what pushes everything else out of the second-level cache.
    pub(crate) fn flush(&self, device: &Device) -> Result<(), DeviceError> {
        enqueue(device, &self.flush)
    }

    /// Seconds between launches of a kernel that does nothing; measured on first use.
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

/// Measures with arrays of at least eight times the second-level cache, of which three fit into
/// half of the free memory.
pub(crate) fn bandwidth(device: &Device) -> Result<DeviceBandwidth, DeviceError> {
    let wanted = LEAST_BYTES.max(8 * device.properties().l2_bytes);
    let elements = (wanted.min(device.free_bytes()? / 6) / 8) as usize & !1;
    let array = || Buffer::<f64>::unset(device, "an array to measure the bandwidth", elements);
    let (a, b, c) = (array()?, array()?, array()?);
    let zero = |of: &Buffer<f64>| Step::zero(of.address(), elements * 8);
    enqueue(device, &[zero(&a), zero(&b), zero(&c)])?;
    let pairs = elements as u64 / 2;
    let blocks = pairs.div_ceil(BLOCK.into());
    let copy = launch(device, "memory_copy", blocks, vec![pairs, a.address(), b.address()])?;
    let factor = 3f64.to_bits();
    let arguments = vec![pairs, a.address(), b.address(), c.address(), factor];
    let triad = launch(device, "memory_triad", blocks, arguments)?;
    let clock = Clock::new(device)?;
    let best = |steps: [Step; 1]| {
        let mut best = f64::INFINITY;
        for _ in 0..PASSES {
            best = best.min(clock.time(device, || enqueue(device, &steps))?);
        }
        Ok::<f64, DeviceError>(best)
    };
    let bytes = elements as f64 * 8.0;
    let (copy, triad) = (2.0 * bytes / best([copy])?, 3.0 * bytes / best([triad])?);
    Ok(DeviceBandwidth { array_bytes: elements as u64 * 8, copy, triad })
}

/// A launch of one of the kernels here.
fn launch(
    device: &Device,
    name: &str,
    grid: u64,
    arguments: Vec<u64>,
) -> Result<Step, DeviceError> {
    let function = device.kernel(Variant::of(Family::Memory), name)?;
    Ok(Step::Launch(Launch { function, grid, block: BLOCK, shared_bytes: 0, arguments }))
}
