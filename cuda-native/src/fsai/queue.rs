//! Systems queued by size.

use std::ops::Range;

use cudarc::driver::sys::CUdevice_attribute_enum as Attribute;
use sparsescope_core::fsai::SetUp;

use super::classes::{Class, classes};
use super::systems::Systems;
use crate::arguments::{FsaiClass, Reads, Writes};
use crate::buffer::Buffer;
use crate::device::{DeviceError, Doing};
use crate::order::sort;
use crate::setup::Setup;

/// Systems sorted by class, ascending within each, and facts about all.
pub(super) struct Queue {
    pub(super) classes: &'static [Class],
    pub(super) order: Buffer<u32>,
    /// Where each class begins, the last one being that of larger systems, followed by its end.
    starts: Vec<u32>,
    /// Σ m², Σ m³ and the largest m.
    squares: u64,
    cubes: u64,
    pub(super) largest: u64,
}

impl Queue {
    /// `systems` must not be empty.
    pub(super) fn of(setup: &Setup<'_>, systems: &Systems) -> Result<Self, DeviceError> {
        let what = "the order of the systems";
        let device = setup.device();
        let shared = Attribute::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN;
        let shared = device.context().attribute(shared).doing("report its shared memory")?;
        let classes = classes(u64::try_from(shared).unwrap_or(0));
        let bounds: Vec<u32> = classes.iter().map(|class| class.most).collect();
        let bounds = setup.upload(what, &bounds)?;
        let key = setup.array(what, systems.count as usize)?;
        // SAFETY: the facts are counted from zero.
        let facts = unsafe { setup.filled::<u64>(what, 4, 0)? };
        let arguments = FsaiClass {
            systems: systems.count,
            classes: classes.len() as u32,
            sys_len: Reads(&systems.len),
            bounds: Reads(&bounds),
            key: Writes(&key),
            facts: Writes(&facts),
        };
        let grid = u64::from(device.properties().multiprocessors) * 4;
        // SAFETY: threads stride over the systems, each with an element of both arrays; there are
        // as many bounds as passed, and four facts.
        unsafe { setup.blocks("fsai_order_class", (grid, 256), &arguments)? };
        let (order, starts) = sort(setup, systems.count, &key, classes.len() as u32 + 1)?;
        let starts = starts.to_host(device)?;
        let facts = facts.to_host(device)?;
        let [_, squares, cubes, largest] = facts[..] else {
            return Err(DeviceError::Driver { doing: "read facts", status: "too few".to_owned() });
        };
        Ok(Self { classes, order, starts, squares, cubes, largest })
    }

    /// The systems of a class, as places in the order; one past the last class holds the larger
    /// ones.
    pub(super) fn class(&self, number: usize) -> Range<u32> {
        let start = |k: usize| self.starts.get(k).copied().unwrap_or(0);
        start(number)..start(number + 1)
    }

    /// Reports the number of systems per class.
    pub(super) fn tell(&self, systems: &Systems, report: &mut SetUp) {
        report.systems = systems.count.into();
        report.largest = self.largest;
        report.gathered = self.squares.into();
        report.flops = self.cubes as f64 / 3.0;
    }
}
