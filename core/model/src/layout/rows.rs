//! The memory requests of a warp that processes rows or hacks: the kernels of `csr.cu`, `ell.cu`
//! and `hll.cu`, load by load.

use super::array::{Array, element_bytes};
use super::launch::{keeps_x, kept_of_x};
use super::loops::{Loops, unrolling};
use super::request::{Direction, Lanes, Request};
use super::step::{Sink, StepKind};
use crate::kernel::{
    Cut, GridMapping, KernelDescriptor, LANES, Mapping, PARTS, Pass, StridedSlots, ThreadSlots,
    Unrolling,
};
use sparsescope_matrix::matrix::{AnyFormat, Scalar};

const WARP: usize = LANES as usize;

/// SpMV over rows.
pub(super) struct RowPass<'a, T> {
    kernel: &'static KernelDescriptor,
    a: &'a AnyFormat<T>,
    loops: Loops,
    unrolling: Unrolling,
    cut: &'a Cut,
    /// Number of elements of x in shared memory.
    kept: Option<u64>,
    /// All lanes of a warp work on one row, and lane 0 stores the sum.
    warp_a_row: bool,
    col: &'a [u32],
}

impl<'a, T: Scalar> RowPass<'a, T> {
    pub(super) fn new(
        kernel: &'static KernelDescriptor,
        a: &'a AnyFormat<T>,
        cut: &'a Cut,
        loops: Loops,
    ) -> Self {
        let col: &[u32] = match a {
            AnyFormat::Csr(a) => a.col(),
            AnyFormat::Ell(a) => a.col(),
            AnyFormat::Hyb(a) => a.ell().col(),
            AnyFormat::Hll(a) => a.col(),
            AnyFormat::Coo(_)
            | AnyFormat::Bsr(_)
            | AnyFormat::Dia(_)
            | AnyFormat::CsrCompact(_)
            | AnyFormat::HllCompact(_) => &[],
        };
        let kept = keeps_x(kernel).then(|| kept_of_x(a, cut.block()));
        let warp_a_row = kernel.mapping == Mapping::Grid(GridMapping::WarpPerRow);
        let unrolling = unrolling(kernel, loops);
        Self { kernel, a, loops, unrolling, cut, kept, warp_a_row, col }
    }

    /// Reports all that a warp does to `sink`; returns how many of its threads have a row or hack.
    pub(super) fn warp(&self, warp: u64, sink: &mut impl Sink) -> u64 {
        if let Some(kept) = self.kept {
            self.fill_shared(warp, kept, sink);
        }
        let (mut busy, mut number) = (0, 0);
        let mut rounds = Rounds::new(self, warp);
        let mut first_round = true;
        while let Some(round) = rounds.next() {
            busy = busy.max(u64::from(round.with_row.count_ones()));
            sink.step(StepKind::Start);
            self.before_loop(&round, first_round, sink);
            number = self.inner_loop(&round, number, sink);
            sink.step(StepKind::End);
            let mut y = self.new_request(Array::Y, Direction::Store);
            let storing = if self.warp_a_row { 1 } else { round.with_row };
            // The first lane of each row.
            let storing = Lanes(storing).step_by(self.cut.lanes() as usize);
            storing.for_each(|lane| y.set(lane, round.row(lane) as u64));
            sink.request(&y);
            first_round = false;
        }
        busy
    }

    fn new_request(&self, array: Array, direction: Direction) -> Request {
        Request::new(array, direction, element_bytes(self.a, array))
    }

    /// Each thread of a block, with or without a row, copies one element of x to shared memory.
    fn fill_shared(&self, warp: u64, kept: u64, sink: &mut impl Sink) {
        let first = warp * LANES % u64::from(self.cut.block());
        let mut x = self.new_request(Array::X, Direction::Load);
        (first..kept.min(first + LANES)).for_each(|k| x.set((k - first) as usize, k));
        if x.active != 0 {
            sink.step(StepKind::Fill);
            sink.request(&x);
        }
    }

    /// The loads before the loop over a row's slots.
    fn before_loop(&self, round: &Round, first_round: bool, sink: &mut impl Sink) {
        let mut load = |array: Array, index: &dyn Fn(usize) -> usize, active: u32| {
            let mut request = self.new_request(array, Direction::Load);
            if self.warp_a_row {
                request = request.same(active, index(round.row(0)) as u64);
            } else {
                Lanes(active).for_each(|lane| request.set(lane, index(round.row(lane)) as u64));
            }
            if request.active != 0 {
                sink.request(&request);
            }
        };
        match self.a {
            AnyFormat::Csr(_) => {
                load(Array::RowPtr, &|row| row, round.with_row);
                load(Array::RowPtr, &|row| row + 1, round.with_row);
            }
            AnyFormat::Ell(_) | AnyFormat::Hyb(_) if !self.kernel.needs.finite_x => {
                load(Array::RowLen, &|row| row, round.with_row);
            }
            AnyFormat::Hll(a) => {
                let hack = |row: usize| a.shape().hack_of(row);
                // A thread that processes a hack keeps its width but reloads its offset for each
                // row, since it has stored to y in between.
                if first_round {
                    load(Array::MaxNzr, &hack, round.with_row);
                }
                let sunk = self.warp_a_row && self.loops == Loops::AsCompiled;
                load(Array::Offsets, &hack, if sunk { round.with_slots } else { round.with_row });
            }
            _ => {}
        }
    }

    /// The loop over the slots of one row per lane, part by part; returns the number of its last
    /// step plus one.
    fn inner_loop(&self, round: &Round, mut number: u64, sink: &mut impl Sink) -> u64 {
        // Steps of each part, by lane.
        let mut parts = [[0u64; WARP]; PARTS];
        for lane in Lanes(round.with_slots) {
            let cut = self.unrolling.cut(round.runs[lane].steps);
            parts.iter_mut().zip(cut).for_each(|(part, steps)| part[lane] = steps);
        }
        let mut done = [0u64; WARP];
        let [mut col, mut val, mut x] = [Array::Col, Array::Val, Array::X]
            .map(|array| self.new_request(array, Direction::Load));
        for lengths in &parts {
            let mut active = round.with_slots;
            for step in 0u64.. {
                // Lanes that have left the loop do not rejoin it.
                for lane in Lanes(active).filter(|&lane| step >= lengths[lane]) {
                    active &= !(1 << lane);
                }
                if active == 0 {
                    break;
                }
                sink.step(StepKind::Loop(number));
                number += 1;
                col.clear();
                val.clear();
                x.clear();
                for lane in Lanes(active) {
                    let access = round.runs[lane].access(self.a, done[lane] + step);
                    sink.lane(lane, access);
                    col.set(lane, access.slot);
                    val.set(lane, access.slot);
                    let column = u64::from(self.col[access.slot as usize]);
                    if self.kept.is_none_or(|kept| column >= kept) {
                        x.set(lane, column);
                    }
                }
                sink.request(&col);
                sink.request(&val);
                if x.active != 0 {
                    sink.request(&x);
                }
            }
            Lanes(round.with_slots).for_each(|lane| done[lane] += lengths[lane]);
        }
        number
    }
}

/// What the lanes of a warp process side by side: one row per lane, or one row for all.
struct Round {
    runs: [StridedSlots; WARP],
    /// Lanes that have a row.
    with_row: u32,
    /// Lanes that have a slot to read.
    with_slots: u32,
}

impl Round {
    /// The row of a lane in [`with_row`](Self::with_row).
    fn row(&self, lane: usize) -> usize {
        self.runs[lane].row.unwrap_or_default()
    }
}

/// The rounds of a warp, one after another: several if a thread has a hack of rows.
enum Rounds<'a, T> {
    /// Lane 0's slots, from which those of the other lanes follow.
    Shared(ThreadSlots<'a, T>),
    /// The slots of each lane.
    Own(Box<[ThreadSlots<'a, T>; WARP]>),
}

impl<'a, T: Scalar> Rounds<'a, T> {
    fn new(pass: &RowPass<'a, T>, warp: u64) -> Self {
        let runs = |lane: usize| {
            pass.kernel.thread_slots(pass.a, pass.cut, Pass::Rows, warp * LANES + lane as u64)
        };
        match pass.warp_a_row {
            true => Self::Shared(runs(0)),
            false => Self::Own(Box::new(std::array::from_fn(runs))),
        }
    }

    fn next(&mut self) -> Option<Round> {
        let (runs, with_row) = match self {
            Self::Shared(runs) => {
                let run = runs.next()?;
                (std::array::from_fn(|lane| run.of_lane(lane as u64)), u32::MAX)
            }
            Self::Own(lanes) => {
                let next: [Option<StridedSlots>; WARP] =
                    std::array::from_fn(|lane| lanes[lane].next());
                let any = next.iter().flatten().next().copied()?;
                let mask = |mask, (lane, run): (usize, &Option<StridedSlots>)| {
                    mask | u32::from(run.is_some()) << lane
                };
                (next.map(|run| run.unwrap_or(any)), next.iter().enumerate().fold(0, mask))
            }
        };
        let slots = |mask, lane: usize| mask | u32::from(runs[lane].steps > 0) << lane;
        let with_slots = with_row & (0..WARP).fold(0, slots);
        Some(Round { runs, with_row, with_slots })
    }
}
