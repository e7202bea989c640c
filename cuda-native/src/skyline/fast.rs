//! The kernel that compares points with tiles of others as bits: first all with the best of them, then
//! those that survive with one another.

use super::workspace::Workspace;
use super::{Points, Search};
use crate::arguments::{
    Arguments, Reads, SkylineChampions, SkylineChoose, SkylineCut, SkylineEquals, SkylineFilter,
    SkylineKeep, SkylineOrder, SkylineSample, SkylineScore, SkylineStarts, SkylineSteps,
    SkylineSweep, SkylineTiles, Uint4, Writes,
};
use crate::buffer::Buffer;
use crate::device::{Device, DeviceError};
use crate::launch::{Bound, Launch, Shape, Step};

/// Most points: beyond, the work of the last kernel is not counted by 32 bits.
pub(super) const MOST_POINTS: u32 = 1 << 27;

/// Points that all others are compared with first.
const CHAMPIONS: u32 = 1024;

/// Dimensions that have steps, and thresholds that each has room for.
const MOST_USED: u32 = 32;
const MOST_STEPS: u32 = 64;

/// Points of a tile, and 128-bit words of a row of its bits.
const TILE: u32 = 1024;
const ROW: usize = 8;

/// Words of the steps of a tile's corner.
const BOX: usize = 8;

/// Bins of scores and of keys.
const SCORES: usize = 4096;
const KEYS: usize = 65536;

/// Threads a block: of kernels over points, of a sample, and of those that are one block.
const BLOCK: u32 = 256;
const SAMPLE_BLOCK: u32 = 512;
const SINGLE_BLOCK: u32 = 1024;

/// Blocks a multiprocessor that score points.
const SCORE_BLOCKS: u32 = 8;

/// How finely dimensions are divided.
#[derive(Clone, Copy)]
struct Fineness {
    /// Dimensions that have steps, and words of four of them.
    used: u32,
    groups: u32,
    /// 2^bits steps a dimension.
    bits: u32,
}

impl Fineness {
    /// So fine that the bits of a tile take 32 KiB at most.
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

    /// Words of 128 bits of a tile.
    fn tile(self) -> usize {
        (4 * self.groups as usize * ROW) << self.bits
    }

    fn shared_bytes(self) -> u32 {
        (self.tile() * size_of::<Uint4>()) as u32
    }
}

/// Points of which tiles are made.
struct Listed {
    list: Buffer<u32>,
    count: Buffer<u32>,
    steps: Buffer<u32>,
    tiles: Buffer<Uint4>,
    boxes: Buffer<u32>,
    room: u32,
}

impl Listed {
    fn new(
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

/// Everything that the kernels share.
struct Fast<'a> {
    on_device: &'a Points<'a>,
    workspace: Workspace<'a>,
    fineness: Fineness,
    champions: u32,
    thresholds: Buffer<f64>,
    range: Buffer<f64>,
    distinct: Buffer<u32>,
    chosen: Buffer<u32>,
    key: Buffer<u32>,
    keys: Buffer<u32>,
    /// How many of each: two lots of champions, survivors, single ones, parts taken, points kept.
    counts: Buffer<u32>,
    survivor: Buffer<u32>,
    single: Buffer<u32>,
    equal: Buffer<u32>,
}

/// Binds the kernel.
pub(super) fn bind(on_device: &Points<'_>) -> Result<Search, DeviceError> {
    let Points { points, kept, .. } = *on_device;
    // SAFETY: it is counted up from zero.
    let mut steps = vec![unsafe { Step::fill_numbers(kept.comparisons(), 0) }];
    if points == 0 {
        return Ok(Search { bound: Bound::of(steps), conversion_s: 0.0 });
    }
    let fast = Fast::new(on_device)?;
    // SAFETY: they are counted up from zero, and nothing is indexed by a flag.
    steps.extend(unsafe {
        [
            Step::fill_numbers(kept.flags(), 0),
            Step::fill_numbers(&fast.counts, 0),
            Step::fill_numbers(&fast.keys, 0),
        ]
    });
    let champions = fast.choose_champions(&mut steps)?;
    fast.filter(&champions, &mut steps)?;
    fast.sweep(&mut steps)?;
    let (workspace_bytes, spent) = (fast.workspace.bytes(), fast.workspace.spent());
    let bound = Bound { workspace_bytes, spent, ..Bound::of(steps) };
    Ok(Search { bound, conversion_s: 0.0 })
}

impl<'a> Fast<'a> {
    fn new(on_device: &'a Points<'a>) -> Result<Self, DeviceError> {
        let workspace = Workspace::new(on_device.device);
        let (d, n) = (on_device.dimensions as usize, on_device.points as usize);
        let numbers = |what: &str, len| workspace.array::<u32>(what, len);
        Ok(Self {
            on_device,
            fineness: Fineness::of(on_device.dimensions),
            champions: on_device.points.min(CHAMPIONS),
            thresholds: workspace.array("thresholds", d * MOST_STEPS as usize)?,
            range: workspace.array("the ends of dimensions", 2 * d)?,
            distinct: numbers("how many thresholds differ", d)?,
            chosen: numbers("the dimensions chosen", MOST_USED as usize)?,
            key: numbers("keys", n)?,
            keys: numbers("how many have which key", KEYS)?,
            counts: numbers("counts", 6)?,
            survivor: numbers("survivors", n)?,
            single: numbers("survivors that differ", n)?,
            equal: numbers("what survivors equal", n)?,
            workspace,
        })
    }

    /// One of the counts.
    fn count(&self, which: usize) -> Buffer<u32> {
        self.counts.part(which..which + 1).expect("there are six") // invariant
    }

    fn survivors(&self) -> Buffer<u32> {
        self.count(2)
    }

    fn singles(&self) -> Buffer<u32> {
        self.count(3)
    }

    fn device(&self) -> &'a Device {
        self.on_device.device
    }

    /// A launch of so many blocks of so many threads.
    ///
    /// # Safety
    /// As for [`Launch::new`].
    unsafe fn blocks<A: Arguments>(
        &self,
        function: &str,
        (grid, block): (u32, u32),
        arguments: &A,
    ) -> Result<Step, DeviceError> {
        let shape = Shape { grid: grid.into(), block, shared_bytes: 0 };
        // SAFETY: the caller's promise.
        unsafe { Launch::new(self.device(), function, shape, arguments) }.map(Step::Launch)
    }

    /// A launch of a thread for each of so many.
    ///
    /// # Safety
    /// As for [`Launch::new`].
    unsafe fn threads<A: Arguments>(
        &self,
        function: &str,
        threads: u32,
        arguments: &A,
    ) -> Result<Step, DeviceError> {
        // SAFETY: the caller's promise.
        unsafe { self.blocks(function, (threads.div_ceil(BLOCK), BLOCK), arguments) }
    }

    /// Thresholds from a sample of the points in a list, or of all, and the dimensions that get steps.
    fn divide(
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
        // SAFETY: a block a dimension, each with its place in the arrays; a list holds as many points
        // as its count says, below N.
        steps.extend(unsafe {
            let shape = (dimensions, SAMPLE_BLOCK);
            [
                self.blocks("skyline_plan_sample", shape, &sample)?,
                self.blocks("skyline_plan_choose", (1, SINGLE_BLOCK), &choose)?,
            ]
        });
        Ok(())
    }

    /// The points that look best, and the bits of their tile.
    fn choose_champions(&self, steps: &mut Vec<Step>) -> Result<Listed, DeviceError> {
        let Points { device, rows, points, dimensions, .. } = *self.on_device;
        let score = self.workspace.array("scores", points as usize)?;
        let scores = self.workspace.array("how many have which score", SCORES)?;
        let cut = self.workspace.array("the last score", 2)?;
        let champion = self.workspace.array("champions", self.champions as usize)?;
        let count = self.workspace.upload("how many champions", &[self.champions])?;
        let tails = self.counts.part(0..2).expect("there are six"); // invariant
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
        // SAFETY: scores are below the number of bins; no more champions are taken than there is room
        // for, and as many as there are points that have their scores or better ones.
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

    /// The steps of listed points; with their keys where these are to be sorted.
    fn to_steps(
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
        // SAFETY: the list has no more points than room; as many dimensions are chosen as are used;
        // keys are below the number of bins.
        steps.push(unsafe { self.threads("skyline_fast_steps", of.room, &arguments)? });
        Ok(())
    }

    /// The bits of tiles of points whose steps are known.
    fn to_tiles(
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

    /// Lists the points that no champion dominates, and of equal ones a single one.
    fn filter(&self, champions: &Listed, steps: &mut Vec<Step>) -> Result<(), DeviceError> {
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
        // SAFETY: the shared memory holds a tile; bits stand for champions only; there is a place for
        // every point that survives; slots are a power of two and hold points or none.
        steps.extend(unsafe {
            [
                Step::fill_numbers(&slot, 0xff),
                Step::Launch(Launch::new(device, "skyline_fast_filter", shape, &filter)?),
                self.threads("skyline_fast_equals", points, &equals)?,
            ]
        });
        Ok(())
    }

    /// Orders what is left, and compares it with itself.
    fn sweep(&self, steps: &mut Vec<Step>) -> Result<(), DeviceError> {
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

    fn numbers(&self, what: &str, len: u32) -> Result<Buffer<u32>, DeviceError> {
        self.workspace.array(what, len as usize)
    }

    /// Brings points, keys and steps into the order of the keys.
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
        // SAFETY: the keys have been counted, so that each point gets a place of its own.
        steps.extend(unsafe {
            [
                self.blocks("skyline_plan_starts", (1, SINGLE_BLOCK), &begin)?,
                self.threads("skyline_plan_order", from.room, &order)?,
            ]
        });
        Ok(())
    }

    /// Compares points in order with the tiles before them, and says which survivors are kept.
    fn compare(
        &self,
        ordered: &Listed,
        key: &Buffer<u32>,
        steps: &mut Vec<Step>,
    ) -> Result<(), DeviceError> {
        let Points { device, rows, points, dimensions, kept } = *self.on_device;
        let Fineness { groups, bits, .. } = self.fineness;
        let dominated = self.workspace.array::<u8>("who is dominated", points as usize)?;
        let (next, keeps, survivors) = (self.count(4), self.count(5), self.survivors());
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
            keeps: Writes(&keeps),
        };
        let shared_bytes = self.fineness.shared_bytes();
        let shape = Shape { grid: 1, block: BLOCK, shared_bytes };
        // SAFETY: the shared memory holds a tile; bits stand for listed points only; any number of
        // blocks goes through all parts; there is a flag a point.
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
