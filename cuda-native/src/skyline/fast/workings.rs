//! Shared by the parts of the kernel: its arrays, the number of steps per dimension, its launches.

use std::ops::Range;

use crate::arguments::{Arguments, Uint4};
use crate::buffer::Buffer;
use crate::device::{Device, DeviceError};
use crate::launch::{Launch, Shape, Step};
use crate::skyline::operands::Points;
use crate::skyline::workspace::Workspace;

/// Number of points that all others are compared with first.
const CHAMPIONS: u32 = 1024;

/// Maximum dimensions with steps, and maximum thresholds per dimension.
const MOST_USED: u32 = 32;
const MOST_STEPS: u32 = 64;

/// 128-bit words per row of a tile's bits.
const ROW: usize = 8;

/// Bins of keys.
pub(super) const KEYS: usize = 65536;

/// Threads per block: of kernels over points, and of single-block kernels.
pub(super) const BLOCK: u32 = 256;
pub(super) const SINGLE_BLOCK: u32 = 1024;

/// How dimensions are divided into steps.
#[derive(Clone, Copy)]
pub(super) struct Fineness {
    /// Dimensions with steps, and words of four of them.
    pub(super) used: u32,
    pub(super) groups: u32,
    /// 2^bits steps per dimension.
    pub(super) bits: u32,
}

impl Fineness {
    /// The finest division for which the bits of a tile take at most 32 KiB.
    fn of(dimensions: u32) -> Self {
        let used = dimensions.min(MOST_USED);
        let groups = used.div_ceil(4);
        let bits = match groups {
            0 | 1 => 6,
            2 => 5,
            3 | 4 => 4,
            _ => 3,
        };
        Self { used, groups, bits }
    }

    /// 128-bit words per tile.
    pub(super) fn tile(self) -> usize {
        (4 * self.groups as usize * ROW) << self.bits
    }

    pub(super) fn shared_bytes(self) -> u32 {
        (self.tile() * size_of::<Uint4>()) as u32
    }
}

/// Everything that the kernels share.
pub(super) struct Fast<'a> {
    pub(super) on_device: &'a Points<'a>,
    pub(super) workspace: Workspace<'a>,
    pub(super) fineness: Fineness,
    pub(super) champions: u32,
    pub(super) thresholds: Buffer<f64>,
    pub(super) range: Buffer<f64>,
    pub(super) distinct: Buffer<u32>,
    pub(super) chosen: Buffer<u32>,
    pub(super) key: Buffer<u32>,
    pub(super) keys: Buffer<u32>,
    /// Counts: two of champions, survivors, single ones, parts taken.
    pub(super) counts: Buffer<u32>,
    pub(super) survivor: Buffer<u32>,
    pub(super) single: Buffer<u32>,
    pub(super) equal: Buffer<u32>,
}

impl<'a> Fast<'a> {
    pub(super) fn new(on_device: &'a Points<'a>) -> Result<Self, DeviceError> {
        let workspace = Workspace::new(on_device.device);
        let (d, n) = (on_device.dimensions as usize, on_device.points as usize);
        let numbers = |what: &str, len| workspace.array::<u32>(what, len);
        Ok(Self {
            on_device,
            fineness: Fineness::of(on_device.dimensions),
            champions: on_device.points.min(CHAMPIONS),
            thresholds: workspace.array("thresholds", d * MOST_STEPS as usize)?,
            range: workspace.array("the ends of dimensions", 2 * d)?,
            distinct: numbers("the number of different thresholds", d)?,
            chosen: numbers("the dimensions chosen", MOST_USED as usize)?,
            key: numbers("keys", n)?,
            keys: numbers("the points per key", KEYS)?,
            counts: numbers("counts", 5)?,
            survivor: numbers("survivors", n)?,
            single: numbers("survivors that differ", n)?,
            equal: numbers("the equal points of survivors", n)?,
            workspace,
        })
    }

    /// Some of the counts.
    fn of_counts(&self, which: Range<usize>) -> Buffer<u32> {
        self.counts.part(which).expect("there are five") // invariant
    }

    /// The numbers of champions: those with better scores than the last one's, and those with its
    /// score.
    pub(super) fn tails(&self) -> Buffer<u32> {
        self.of_counts(0..2)
    }

    pub(super) fn survivors(&self) -> Buffer<u32> {
        self.of_counts(2..3)
    }

    pub(super) fn singles(&self) -> Buffer<u32> {
        self.of_counts(3..4)
    }

    /// The number of parts of the last comparison that blocks have taken.
    pub(super) fn taken(&self) -> Buffer<u32> {
        self.of_counts(4..5)
    }

    fn device(&self) -> &'a Device {
        self.on_device.device
    }

    /// A launch of a grid of blocks.
    ///
    /// # Safety
    /// As for [`Launch::new`].
    pub(super) unsafe fn blocks<A: Arguments>(
        &self,
        function: &str,
        (grid, block): (u32, u32),
        arguments: &A,
    ) -> Result<Step, DeviceError> {
        let shape = Shape { grid: grid.into(), block, shared_bytes: 0 };
        // SAFETY: the caller's promise.
        unsafe { Launch::new(self.device(), function, shape, arguments) }.map(Step::Launch)
    }

    /// A launch of at least this many threads.
    ///
    /// # Safety
    /// As for [`Launch::new`].
    pub(super) unsafe fn threads<A: Arguments>(
        &self,
        function: &str,
        threads: u32,
        arguments: &A,
    ) -> Result<Step, DeviceError> {
        // SAFETY: the caller's promise.
        unsafe { self.blocks(function, (threads.div_ceil(BLOCK), BLOCK), arguments) }
    }

    pub(super) fn numbers(&self, what: &str, len: u32) -> Result<Buffer<u32>, DeviceError> {
        self.workspace.array(what, len as usize)
    }
}
