//! The memory requests of a warp whose lanes share rows of column-major hacks, or whose block has a
//! spilled row: `hll_column_major.cu`, load by load.

use super::array::Array;
use super::asking::{ask, ask_of};
use super::pass::{FormatPass, Runs};
use super::request::Lanes;
use super::step::{Sink, StepKind};
use crate::kernel::{LANES, StridedSlots};
use sparsescope_matrix::matrix::{Hll, Scalar};

/// SpMV over rows shared by lanes.
pub(super) type LanePass<'a, T> = FormatPass<'a, T, Hll<T>>;

/// The arrays of hacks, or of the spilled rows.
struct Entries<'a> {
    arrays: [Array; 2],
    col: &'a [u32],
}

impl<T: Scalar> LanePass<'_, T> {
    /// Reports all that a warp does to `sink`; returns how many of its threads have a row or part
    /// of one.
    pub(super) fn warp(&self, warp: u64, sink: &mut impl Sink) -> u64 {
        let runs = self.runs(warp);
        let has_row = |mask, (lane, run): (usize, &Option<StridedSlots>)| {
            mask | u32::from(run.is_some()) << lane
        };
        let with_row = runs.iter().enumerate().fold(0, has_row);
        if with_row == 0 {
            return 0;
        }
        match self.cut.apart_of(warp * LANES) {
            Ok((number, first)) => self.row_apart(&runs, number, first == 0, sink),
            Err(_) => self.rows(&runs, with_row, sink),
        }
        u64::from(with_row.count_ones())
    }

    /// Rows in hacks.
    fn rows(&self, runs: &Runs, with_row: u32, sink: &mut impl Sink) {
        let position = |lane: usize| runs[lane].and_then(|run| run.row).unwrap_or_default();
        sink.step(StepKind::Start);
        let mut load = |array: Array, index: &dyn Fn(usize) -> u64| {
            ask_of(self.ask.load(array), with_row, index, sink);
        };
        if self.a.row_order().row_of().is_some() {
            load(Array::RowOf, &|lane| position(lane) as u64);
        }
        load(Array::RowLen, &|lane| position(lane) as u64);
        load(Array::Offsets, &|lane| self.a.shape().hack_of(position(lane)) as u64);
        let entries = Entries { arrays: [Array::Col, Array::Val], col: self.a.col() };
        self.entries(runs, &entries, sink);
        sink.step(StepKind::End);
        // The first lane of each row.
        let storing = with_row & ((1u64 << (LANES / self.cut.lanes())) - 1) as u32;
        let row = |lane: usize| self.a.row_order().row_at(position(lane)) as u64;
        ask_of(self.ask.store(Array::Y), storing, row, sink);
    }

    /// A row that the whole block processes; its first warp stores the sum.
    fn row_apart(&self, runs: &Runs, number: u64, is_first: bool, sink: &mut impl Sink) {
        sink.step(StepKind::Start);
        self.ask.same(Array::TailRowPtr, u32::MAX, number + 1, sink);
        self.ask.same(Array::TailRowPtr, u32::MAX, number, sink);
        let tail = self.a.tail();
        let entries = Entries { arrays: [Array::TailCol, Array::TailVal], col: tail.col() };
        self.entries(runs, &entries, sink);
        if is_first {
            let order = self.a.row_order();
            let position = order.in_blocks() + number as usize;
            sink.step(StepKind::End);
            self.ask.same(Array::RowOf, 1, position as u64, sink);
            ask_of(self.ask.store(Array::Y), 1, |_| order.row_at(position) as u64, sink);
        }
    }

    /// The loop over the slots of each lane, with several loads in flight.
    fn entries(&self, runs: &Runs, entries: &Entries<'_>, sink: &mut impl Sink) {
        let steps = runs.iter().flatten().map(|run| run.steps).max().unwrap_or(0);
        let [mut col, mut val] = entries.arrays.map(|array| self.ask.load(array));
        let mut active = u32::MAX;
        for step in 0..steps {
            sink.step(StepKind::Loop(step));
            col.clear();
            val.clear();
            for lane in Lanes(active) {
                let Some(run) = runs[lane].as_ref().filter(|run| step < run.steps) else {
                    active &= !(1 << lane);
                    continue;
                };
                let access = run.access(self.ask.0, step);
                sink.lane(lane, access);
                col.set(lane, access.slot);
                val.set(lane, access.slot);
            }
            sink.request(&col);
            sink.request(&val);
            let column = |lane| col.element(lane).map(|slot| entries.col[slot as usize].into());
            ask(self.ask.load(Array::X), column, sink);
        }
    }
}
