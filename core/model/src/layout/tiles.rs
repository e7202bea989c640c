//! The memory requests of a warp whose block has a tile of nonzeros: `csr_adaptive.cu`, load by
//! load.

use super::array::Array;
use super::asking::{Asking, ask_of, first_lanes};
use super::loops::Loops;
use super::request::Lanes;
use super::step::{Sink, StepKind};
use crate::kernel::{Access, LANES, Tile, TileShape, Tiles};
use sparsescope_matrix::matrix::{AnyFormat, Csr, Scalar};

const WARP: usize = LANES as usize;

/// Words per tile in the plan.
const WORDS: u32 = 4;

/// SpMV over tiles.
pub(super) struct TilePass<'a, T> {
    ask: Asking<'a, T>,
    a: &'a Csr<T>,
    tiles: &'a Tiles,
    loops: Loops,
}

/// A warp of a tile's block.
struct OfTile {
    /// Number of the tile.
    number: u64,
    here: Tile,
    next: Tile,
    /// The number of the warp's first thread in the block.
    thread: u64,
}

impl OfTile {
    /// Number of nonzeros in the tile.
    fn entries(&self) -> u64 {
        self.next.entry - self.here.entry
    }

    /// How many of the warp's threads are among the first `threads` of the block.
    fn among(&self, threads: u64) -> u64 {
        threads.saturating_sub(self.thread).min(LANES)
    }
}

impl<'a, T: Scalar> TilePass<'a, T> {
    /// `format` is `a`.
    pub(super) fn new(
        format: &'a AnyFormat<T>,
        a: &'a Csr<T>,
        tiles: &'a Tiles,
        loops: Loops,
    ) -> Self {
        Self { ask: Asking(format), a, tiles, loops }
    }

    /// Reports all that a warp does to `sink`; returns how many of its threads have a nonzero or a
    /// row.
    pub(super) fn warp(&self, warp: u64, sink: &mut impl Sink) -> u64 {
        let TileShape { threads, .. } = self.tiles.shape();
        let warps = u64::from(threads) / LANES;
        let number = warp / warps;
        let Some([here, next]) =
            self.tiles.with_end().get(number as usize..).and_then(<[Tile]>::first_chunk)
        else {
            return 0;
        };
        let of = OfTile { number, here: *here, next: *next, thread: warp % warps * LANES };
        sink.step(StepKind::Start);
        self.plan(number, sink);
        let with_entry = of.among(of.entries());
        match here.part {
            None => with_entry.max(self.whole_rows(&of, sink)),
            Some(part) => {
                self.products(&of, sink);
                self.part(&of, part, sink);
                with_entry
            }
        }
    }

    /// The tile and the next one, the same for all lanes. The compiler loads only the two words of
    /// the next tile that are used, separately.
    fn plan(&self, number: u64, sink: &mut impl Sink) {
        let four = |number: u64| self.ask.load(Array::Plan).of(WORDS).same(u32::MAX, number);
        sink.request(&four(number));
        match self.loops {
            Loops::AsWritten => sink.request(&four(number + 1)),
            Loops::AsCompiled => {
                let next = (number + 1) * u64::from(WORDS);
                self.ask.same(Array::Plan, u32::MAX, next + 2, sink);
                self.ask.same(Array::Plan, u32::MAX, next, sink);
            }
        }
    }

    /// Multiplies the tile's nonzeros, with adjacent lanes on adjacent nonzeros.
    fn products(&self, of: &OfTile, sink: &mut impl Sink) {
        let TileShape { threads, items } = self.tiles.shape();
        let mut row = of.here.row as usize;
        for step in 0..u64::from(items) {
            let first = step * u64::from(threads);
            let lanes = of.among(of.entries().saturating_sub(first));
            if lanes == 0 {
                break;
            }
            sink.step(StepKind::Loop(step));
            let begin = of.here.entry + first + of.thread;
            for lane in 0..lanes {
                let slot = begin + lane;
                while self.a.row_ptr().get(row + 1) as u64 <= slot {
                    row += 1;
                }
                sink.lane(lane as usize, Access { step, row, slot, in_tail: false });
            }
            let (active, at) = (first_lanes(lanes), |lane: usize| begin + lane as u64);
            ask_of(self.ask.load(Array::Col), active, at, sink);
            ask_of(self.ask.load(Array::Val), active, at, sink);
            let column = |lane: usize| u64::from(self.a.col()[at(lane) as usize]);
            ask_of(self.ask.load(Array::X), active, column, sink);
        }
    }

    /// A tile of whole rows: the bounds of its first rows, the multiplications, the sums in shared
    /// memory, the next rows. Sums of rows that a whole warp adds up are stored one by one. Returns
    /// how many of the warp's threads have one of the first rows.
    fn whole_rows(&self, of: &OfTile, sink: &mut impl Sink) -> u64 {
        let shape = self.tiles.shape();
        let rows = u64::from(of.next.row - of.here.row);
        let lanes = u64::from(shape.lanes(rows as u32));
        let at_once = u64::from(shape.threads) / lanes;
        let most = shape.most_of_lanes(lanes as u32);
        // The row of a lane, relative to the tile's first row, in the round that starts with
        // `done`.
        let row = |done: u64, lane: usize| done + (of.thread + lane as u64) / lanes;
        let with_row = |done: u64| first_lanes(of.among(rows.saturating_sub(done) * lanes));
        // In segments, only the ends of rows are read.
        let least = u64::from(shape.is_segmented());
        let ends = |done: u64, sink: &mut _| {
            for next in least..2 {
                let at = |lane: usize| u64::from(of.here.row) + row(done, lane) + next;
                ask_of(self.ask.load(Array::RowPtr), with_row(done), at, sink);
            }
        };
        ends(0, sink);
        self.products(of, sink);
        let mut done = 0;
        while done < rows {
            sink.step(StepKind::End);
            let first = |lane: usize| (lane as u64).is_multiple_of(lanes);
            let firsts = (0..WARP).filter(|&lane| first(lane)).fold(0, |mask, l| mask | 1 << l);
            let at = |lane: usize| u64::from(of.here.row) + row(done, lane);
            let is_long = |lane: usize| self.a.row_len(at(lane) as usize) as u64 > most;
            let mut storing = with_row(done) & firsts;
            for lane in Lanes(storing).filter(|&lane| is_long(lane)) {
                storing &= !(1 << lane);
                ask_of(self.ask.store(Array::Y), 1, |_| at(lane), sink);
            }
            ask_of(self.ask.store(Array::Y), storing, at, sink);
            done += at_once;
            ends(done, sink);
        }
        u64::from(with_row(0).count_ones())
    }

    /// A part of a row: its sum is stored, and the last part adds all sums. The model assumes that
    /// parts arrive in order and counts the atomic that counts them as a store.
    fn part(&self, of: &OfTile, part: u32, sink: &mut impl Sink) {
        let shape = self.tiles.shape();
        let (row, first) = (u64::from(of.here.row), of.number - u64::from(part));
        let in_row = self.a.row_len(row as usize).div_ceil(shape.entries() as usize) as u64;
        let first_thread = u32::from(of.thread == 0);
        sink.step(StepKind::End);
        self.ask.same(Array::RowPtr, u32::MAX, row + 1, sink);
        self.ask.same(Array::RowPtr, u32::MAX, row, sink);
        ask_of(self.ask.store(Array::PartSum), first_thread, |_| of.number, sink);
        ask_of(self.ask.store(Array::Arrived), first_thread, |_| first, sink);
        if u64::from(part) + 1 < in_row {
            return;
        }
        for done in (0..in_row).step_by(shape.threads as usize) {
            let active = first_lanes(of.among(in_row - done));
            let at = |lane: usize| first + done + of.thread + lane as u64;
            ask_of(self.ask.load(Array::PartSum), active, at, sink);
        }
        ask_of(self.ask.store(Array::Y), first_thread, |_| row, sink);
        ask_of(self.ask.store(Array::Arrived), first_thread, |_| first, sink);
    }
}
