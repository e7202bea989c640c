//! The best-scoring points (champions), and the points that they do not dominate.

use super::tiles::Listed;
use super::workings::{BLOCK, Fast, Fineness, SINGLE_BLOCK};
use crate::arguments::{
    Reads, SkylineChampions, SkylineCut, SkylineEquals, SkylineFilter, SkylineScore, Writes,
};
use crate::device::DeviceError;
use crate::launch::{Launch, Shape, Step};
use crate::skyline::operands::Points;

/// Bins of scores.
const SCORES: usize = 4096;

/// Blocks per multiprocessor that score points.
const SCORE_BLOCKS: u32 = 8;

impl Fast<'_> {
    /// The best-scoring points, and the bits of their tile.
    pub(super) fn choose_champions(&self, steps: &mut Vec<Step>) -> Result<Listed, DeviceError> {
        let Points { device, rows, points, dimensions, .. } = *self.on_device;
        let score = self.workspace.array("scores", points as usize)?;
        let scores = self.workspace.array("the points per score", SCORES)?;
        let cut = self.workspace.array("the last score", 2)?;
        let champion = self.workspace.array("champions", self.champions as usize)?;
        let count = self.workspace.upload("the number of champions", &[self.champions])?;
        let tails = self.tails();
        self.divide(None, steps)?;
        let all = SkylineScore {
            points,
            dimensions,
            used: self.fineness.used,
            x: Reads(rows),
            chosen: Reads(&self.chosen),
            range: Reads(&self.range),
            score: Writes(&score),
            scores: Writes(&scores),
        };
        let last =
            SkylineCut { champions: self.champions, scores: Reads(&scores), cut: Writes(&cut) };
        let take = SkylineChampions {
            points,
            champions: self.champions,
            score: Reads(&score),
            cut: Reads(&cut),
            tails: Writes(&tails),
            champion: Writes(&champion),
        };
        let most = device.properties().multiprocessors * SCORE_BLOCKS;
        let grid = points.div_ceil(BLOCK).min(most.max(1));
        // SAFETY: scores are below the number of bins; no more champions are taken than there is
        // space for, and as many as there are points with their scores or better ones.
        steps.extend(unsafe {
            [
                Step::fill_numbers(&scores, 0),
                self.blocks("skyline_plan_score", (grid, BLOCK), &all)?,
                self.blocks("skyline_plan_cut", (1, SINGLE_BLOCK), &last)?,
                self.threads("skyline_plan_champions", points, &take)?,
            ]
        });
        let listed =
            Listed::new(&self.workspace, (champion, count), self.champions, self.fineness)?;
        self.divide(Some((&listed.list, &listed.count)), steps)?;
        self.to_steps(&listed, false, steps)?;
        self.to_tiles(&listed, false, steps)?;
        Ok(listed)
    }

    /// Lists the points that no champion dominates, and only one of equal points.
    pub(super) fn filter(
        &self,
        champions: &Listed,
        steps: &mut Vec<Step>,
    ) -> Result<(), DeviceError> {
        let Points { device, rows, points, dimensions, kept } = *self.on_device;
        let Fineness { used, groups, bits } = self.fineness;
        let slots = (2 * points).next_power_of_two().max(64);
        let slot = self.workspace.array("slots for equal points", slots as usize)?;
        let (survivors, singles) = (self.survivors(), self.singles());
        let filter = SkylineFilter {
            points,
            dimensions,
            used,
            groups,
            bits,
            champions: self.champions,
            x: Reads(rows),
            chosen: Reads(&self.chosen),
            thresholds: Reads(&self.thresholds),
            champion: Reads(&champions.list),
            tiles: Reads(&champions.tiles),
            survivor: Writes(&self.survivor),
            survivors: Writes(&survivors),
            comparisons: Writes(kept.comparisons()),
        };
        let equals = SkylineEquals {
            dimensions,
            used,
            slots,
            chosen: Reads(&self.chosen),
            x: Reads(rows),
            survivors: Reads(&survivors),
            survivor: Reads(&self.survivor),
            slot: Writes(&slot),
            equal: Writes(&self.equal),
            single: Writes(&self.single),
            singles: Writes(&singles),
        };
        let shared_bytes = self.fineness.shared_bytes();
        let grid = u64::from(points.div_ceil(BLOCK));
        let shape = Shape { grid, block: BLOCK, shared_bytes };
        // SAFETY: the shared memory holds a tile; bits are set only for champions; there is a place
        // for every point that survives; the number of slots is a power of two and each holds a
        // point or none.
        steps.extend(unsafe {
            [
                Step::fill_numbers(&slot, 0xff),
                Step::Launch(Launch::new(device, "skyline_fast_filter", shape, &filter)?),
                self.threads("skyline_fast_equals", points, &equals)?,
            ]
        });
        Ok(())
    }
}
