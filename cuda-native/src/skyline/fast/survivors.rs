//! The points that no champion dominates, sorted and compared with one another.

use super::tiles::Listed;
use super::workings::{BLOCK, Fast, Fineness, KEYS, SINGLE_BLOCK};
use crate::arguments::{Reads, SkylineKeep, SkylineOrder, SkylineStarts, SkylineSweep, Writes};
use crate::buffer::Buffer;
use crate::device::DeviceError;
use crate::launch::{Launch, Shape, Step};
use crate::skyline::operands::Points;

impl Fast<'_> {
    /// Sorts the remaining points, and compares them with one another.
    pub(super) fn sweep(&self, steps: &mut Vec<Step>) -> Result<(), DeviceError> {
        let Points { points, .. } = *self.on_device;
        let single = (self.single.clone(), self.singles());
        let unordered = Listed::new(&self.workspace, single, points, self.fineness)?;
        self.divide(Some((&unordered.list, &unordered.count)), steps)?;
        self.to_steps(&unordered, true, steps)?;
        let key = self.numbers("keys in order", points)?;
        let ordered = Listed {
            list: self.numbers("points in order", points)?,
            steps: self.numbers("steps in order", points * self.fineness.groups)?,
            count: unordered.count.clone(),
            tiles: unordered.tiles.clone(),
            boxes: unordered.boxes.clone(),
            room: points,
        };
        self.order(&unordered, &ordered, &key, steps)?;
        self.to_tiles(&ordered, true, steps)?;
        self.compare(&ordered, &key, steps)
    }

    /// Sorts points, keys and steps by key.
    fn order(
        &self,
        from: &Listed,
        to: &Listed,
        key: &Buffer<u32>,
        steps: &mut Vec<Step>,
    ) -> Result<(), DeviceError> {
        let starts = self.workspace.array("where keys begin", KEYS)?;
        let begin = SkylineStarts { keys: Reads(&self.keys), starts: Writes(&starts) };
        let order = SkylineOrder {
            room: from.room,
            groups: self.fineness.groups,
            count: Reads(&from.count),
            list: Reads(&from.list),
            key: Reads(&self.key),
            steps: Reads(&from.steps),
            starts: Writes(&starts),
            order: Writes(&to.list),
            key_out: Writes(key),
            steps_out: Writes(&to.steps),
        };
        // SAFETY: the keys have been counted, so that each point gets its own place.
        steps.extend(unsafe {
            [
                self.blocks("skyline_plan_starts", (1, SINGLE_BLOCK), &begin)?,
                self.threads("skyline_plan_order", from.room, &order)?,
            ]
        });
        Ok(())
    }

    /// Compares sorted points with the tiles before them, and flags the survivors that are kept.
    fn compare(
        &self,
        ordered: &Listed,
        key: &Buffer<u32>,
        steps: &mut Vec<Step>,
    ) -> Result<(), DeviceError> {
        let Points { device, rows, points, dimensions, kept } = *self.on_device;
        let Fineness { groups, bits, .. } = self.fineness;
        let dominated = self.workspace.array::<u8>("the dominated points", points as usize)?;
        let (next, survivors) = (self.taken(), self.survivors());
        let sweep = SkylineSweep {
            room: points,
            dimensions,
            groups,
            bits,
            count: Reads(&ordered.count),
            x: Reads(rows),
            order: Reads(&ordered.list),
            key: Reads(key),
            steps: Reads(&ordered.steps),
            tiles: Reads(&ordered.tiles),
            boxes: Reads(&ordered.boxes),
            dominated: Writes(&dominated),
            next: Writes(&next),
            comparisons: Writes(kept.comparisons()),
        };
        let keep = SkylineKeep {
            count: Reads(&survivors),
            survivor: Reads(&self.survivor),
            equal: Reads(&self.equal),
            dominated: Reads(&dominated),
            kept: Writes(kept.flags()),
            keeps: Writes(kept.count()),
        };
        let shared_bytes = self.fineness.shared_bytes();
        let shape = Shape { grid: 1, block: BLOCK, shared_bytes };
        // SAFETY: the shared memory holds a tile; bits are set only for listed points; any number
        // of blocks processes all parts; there is one flag per point.
        steps.extend(unsafe {
            let launch = Launch::new(device, "skyline_fast", shape, &sweep)?;
            [
                Step::fill_numbers(&dominated, 0),
                Step::Launch(launch.filling(device)?),
                self.threads("skyline_plan_keep", points, &keep)?,
            ]
        });
        Ok(())
    }
}
