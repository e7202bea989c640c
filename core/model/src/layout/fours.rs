//! The memory requests of a warp whose lanes have the rows of a hack and load four slots at once:
//! `hll_compact.cu`, load by load.

use super::array::Array;
use super::asking::{Asking, ask, ask_of, first_lanes};
use super::step::{Sink, StepKind};
use crate::kernel::{Cut, KernelDescriptor, LANES, Pass, StridedSlots};
use sparsescope_matrix::matrix::{AnyFormat, Coded, CompactHll, Fours, Scalar};

const WARP: usize = LANES as usize;

/// Slots of a lane in a group.
const FOUR: u64 = 4;

/// Bytes that a lane loads at once, at most.
const WIDEST: u64 = 16;

/// SpMV over hacks in groups of four lines.
pub(super) struct FourPass<'a, T> {
    kernel: &'static KernelDescriptor,
    ask: Asking<'a, T>,
    a: &'a CompactHll<T>,
    fours: &'a Fours<T>,
    cut: &'a Cut,
    /// Bytes per value, as the kernel stores it.
    value_bytes: u64,
}

impl<'a, T: Scalar> FourPass<'a, T> {
    /// `format` is `a`, the fours are made from it, and `cut` is the kernel's partition of it, which stores values in
    /// `value_bytes` bytes.
    pub(super) fn new(
        kernel: &'static KernelDescriptor,
        (format, a): (&'a AnyFormat<T>, &'a CompactHll<T>),
        fours: &'a Fours<T>,
        (cut, value_bytes): (&'a Cut, u32),
    ) -> Self {
        Self { kernel, ask: Asking(format), a, fours, cut, value_bytes: value_bytes.into() }
    }

    /// Reports all that a warp does to `sink`; returns how many of its threads have a row.
    pub(super) fn warp(&self, warp: u64, sink: &mut impl Sink) -> u64 {
        if let Coded::Byte { table, .. } = self.fours.values() {
            self.fill_shared(warp, table.len() as u64, sink);
        }
        let first = warp * LANES;
        let with_row = first_lanes((self.a.rows() as u64).saturating_sub(first));
        if with_row == 0 {
            return 0;
        }
        sink.step(StepKind::Start);
        self.ask.same(Array::GroupPtr, u32::MAX, warp + 1, sink);
        self.ask.same(Array::GroupPtr, u32::MAX, warp, sink);
        let runs: [Option<StridedSlots>; WARP] = std::array::from_fn(|lane| {
            let thread = first + lane as u64;
            self.kernel.thread_slots(self.ask.0, self.cut, Pass::Rows, thread).next()
        });
        let group = |hack: u64| u64::from(self.fours.group_ptr()[hack as usize]);
        for (number, g) in (0..).zip(group(warp)..group(warp + 1)) {
            self.group(number, g, &runs, sink);
        }
        sink.step(StepKind::End);
        let position = |lane: usize| first + lane as u64;
        let order = self.a.row_order();
        if order.row_of().is_some() {
            ask_of(self.ask.load(Array::RowOf), with_row, position, sink);
        }
        let row = |lane: usize| order.row_at(position(lane) as usize) as u64;
        ask_of(self.ask.store(Array::Y), with_row, row, sink);
        u64::from(with_row.count_ones())
    }

    /// All threads of a block, with or without a row, copy the dictionary to shared memory.
    fn fill_shared(&self, warp: u64, distinct: u64, sink: &mut impl Sink) {
        let block = u64::from(self.cut.block());
        let thread = warp * LANES % block;
        for k in (thread..distinct).step_by(block as usize) {
            let active = first_lanes(distinct - k);
            sink.step(StepKind::Fill);
            ask_of(self.ask.load(Array::Dictionary), active, |lane| k + lane as u64, sink);
        }
    }

    /// The lines of a group, one step each; the first step loads what all four share.
    fn group(
        &self,
        number: u64,
        g: u64,
        runs: &[Option<StridedSlots>; WARP],
        sink: &mut impl Sink,
    ) {
        let of_lanes = |array: Array, group: u64, sink: &mut _| {
            let request = self.ask.load(array).of(FOUR as u32);
            ask_of(request, u32::MAX, |lane| group * LANES + lane as u64, sink);
        };
        let loads = (FOUR * self.value_bytes).div_ceil(WIDEST);
        for line in 0..FOUR {
            let step = number * FOUR + line;
            let has_slot = |lane: usize| runs[lane].as_ref().filter(|run| step < run.steps);
            if (0..WARP).all(|lane| has_slot(lane).is_none()) {
                break;
            }
            sink.step(StepKind::Loop(step));
            for lane in 0..WARP {
                if let Some(run) = has_slot(lane) {
                    sink.lane(lane, run.access(self.ask.0, step));
                }
            }
            if line == 0 {
                sink.request(&self.ask.load(Array::Base).of(FOUR as u32).same(u32::MAX, g));
                of_lanes(Array::Low, g, sink);
                match self.fours.values() {
                    Coded::Plain(_) => (0..loads).for_each(|load| {
                        let request = self.ask.load(Array::Val).of((FOUR / loads) as u32);
                        let part = |lane: usize| (g * LANES + lane as u64) * loads + load;
                        ask_of(request, u32::MAX, part, sink);
                    }),
                    Coded::Byte { .. } | Coded::Short { .. } => {
                        of_lanes(Array::Codes, g, sink);
                    }
                }
                if self.fours.is_wide(g as usize) {
                    let upper = self.fours.base()[(FOUR * g) as usize + 1];
                    of_lanes(Array::High, upper.into(), sink);
                }
            }
            let entry = |lane: usize| {
                has_slot(lane)?;
                let (column, _) = self.fours.entry(g as usize, lane, line as usize)?;
                Some(column.into())
            };
            ask(self.ask.load(Array::X), entry, sink);
            if let Coded::Short { codes, .. } = self.fours.values() {
                // Too large for shared memory: each slot reads the dictionary in global memory.
                let code = |lane: usize| (g * LANES + lane as u64) * FOUR + line;
                let number =
                    |lane: usize| has_slot(lane).map(|_| codes[code(lane) as usize].into());
                ask(self.ask.load(Array::Dictionary), number, sink);
            }
        }
    }
}
