//! Points as steps between thresholds, and tiles of their bits.

use super::workings::{BLOCK, Fast, Fineness, SINGLE_BLOCK};
use crate::arguments::{
    Reads, SkylineChoose, SkylineSample, SkylineSteps, SkylineTiles, Uint4, Writes,
};
use crate::buffer::Buffer;
use crate::device::DeviceError;
use crate::launch::Step;
use crate::skyline::operands::Points;
use crate::skyline::workspace::Workspace;

/// Points per tile.
const TILE: u32 = 1024;

/// Words of the steps of a tile's corner.
const BOX: usize = 8;

/// Threads of a block that sorts a sample.
const SAMPLE_BLOCK: u32 = 512;

/// The points from which tiles are made.
pub(super) struct Listed {
    pub(super) list: Buffer<u32>,
    pub(super) count: Buffer<u32>,
    pub(super) steps: Buffer<u32>,
    pub(super) tiles: Buffer<Uint4>,
    pub(super) boxes: Buffer<u32>,
    pub(super) room: u32,
}

impl Listed {
    pub(super) fn new(
        workspace: &Workspace<'_>,
        (list, count): (Buffer<u32>, Buffer<u32>),
        room: u32,
        fineness: Fineness,
    ) -> Result<Self, DeviceError> {
        let tiles = room.div_ceil(TILE) as usize;
        let steps = workspace.array("steps", fineness.groups as usize * room as usize)?;
        let boxes = workspace.array("the corners of tiles", tiles * BOX)?;
        let tiles = workspace.array("the bits of tiles", tiles * fineness.tile())?;
        Ok(Self { list, count, steps, tiles, boxes, room })
    }
}

impl Fast<'_> {
    /// Thresholds from a sample of the points in a list, or of all, and the dimensions with steps.
    pub(super) fn divide(
        &self,
        listed: Option<(&Buffer<u32>, &Buffer<u32>)>,
        steps: &mut Vec<Step>,
    ) -> Result<(), DeviceError> {
        let Points { rows, points, dimensions, .. } = *self.on_device;
        let (survivors, is_listed) = (self.survivors(), u32::from(listed.is_some()));
        let (list, count) = listed.unwrap_or((&self.survivor, &survivors));
        let sample = SkylineSample {
            points,
            dimensions,
            listed: is_listed,
            bits: self.fineness.bits,
            list: Reads(list),
            count: Reads(count),
            x: Reads(rows),
            thresholds: Writes(&self.thresholds),
            distinct: Writes(&self.distinct),
            range: Writes(&self.range),
        };
        let choose = SkylineChoose {
            dimensions,
            distinct: Reads(&self.distinct),
            chosen: Writes(&self.chosen),
        };
        // SAFETY: one block per dimension, each with its place in the arrays; a list holds as many
        // points as its count says, below N.
        steps.extend(unsafe {
            let shape = (dimensions, SAMPLE_BLOCK);
            [
                self.blocks("skyline_plan_sample", shape, &sample)?,
                self.blocks("skyline_plan_choose", (1, SINGLE_BLOCK), &choose)?,
            ]
        });
        Ok(())
    }

    /// The steps of listed points, with their keys if these are to be sorted.
    pub(super) fn to_steps(
        &self,
        of: &Listed,
        sorted: bool,
        steps: &mut Vec<Step>,
    ) -> Result<(), DeviceError> {
        let Fineness { used, groups, bits } = self.fineness;
        let arguments = SkylineSteps {
            room: of.room,
            dimensions: self.on_device.dimensions,
            used,
            groups,
            bits,
            listed: sorted.into(),
            count: Reads(&of.count),
            list: Reads(&of.list),
            x: Reads(self.on_device.rows),
            chosen: Reads(&self.chosen),
            thresholds: Reads(&self.thresholds),
            steps: Writes(&of.steps),
            key: Writes(&self.key),
            keys: Writes(&self.keys),
        };
        // SAFETY: the list has at most `room` points; as many dimensions are chosen as are used;
        // keys are below the number of bins.
        steps.push(unsafe { self.threads("skyline_fast_steps", of.room, &arguments)? });
        Ok(())
    }

    /// The bits of tiles of points with known steps.
    pub(super) fn to_tiles(
        &self,
        of: &Listed,
        sorted: bool,
        steps: &mut Vec<Step>,
    ) -> Result<(), DeviceError> {
        let Fineness { groups, bits, .. } = self.fineness;
        let arguments = SkylineTiles {
            room: of.room,
            groups,
            bits,
            listed: sorted.into(),
            count: Reads(&of.count),
            steps: Reads(&of.steps),
            tiles: Writes(&of.tiles),
            boxes: Writes(&of.boxes),
        };
        let grid = of.room.div_ceil(TILE);
        // SAFETY: there are a tile and a corner for each block.
        steps.push(unsafe { self.blocks("skyline_plan_tiles", (grid, BLOCK), &arguments)? });
        Ok(())
    }
}
