//! What a warp asks of the memory when it goes through rows or hacks: the kernels of `csr.cu`,
//! `ell.cu` and `hll.cu`, load by load.

use super::array::{Array, element_bytes};
use super::launch::kept_of_x;
use super::loops::{Loops, PARTS, Unrolling};
use super::request::{Direction, Request};
use super::schedule::{Sink, StepKind};
use crate::experiment::{GridMapping, KernelDescriptor, LANES, Mapping, Pass, Run, Runs};
use crate::matrix::AnyFormat;

const WARP: usize = LANES as usize;

/// A product whose rows are gone through.
pub(super) struct RowPass<'a> {
    kernel: &'static KernelDescriptor,
    a: &'a AnyFormat,
    loops: Loops,
    unrolling: Unrolling,
    block: u32,
    /// Elements of x that lie in shared memory.
    kept: Option<u64>,
    /// All lanes of a warp work on one row, whose sum lane 0 stores.
    warp_a_row: bool,
    col: &'a [u32],
}

impl<'a> RowPass<'a> {
    pub(super) fn new(
        kernel: &'static KernelDescriptor,
        a: &'a AnyFormat,
        block: u32,
        loops: Loops,
    ) -> Self {
        let col: &[u32] = match a {
            AnyFormat::Csr(a) => a.col(),
            AnyFormat::Ell(a) => a.col(),
            AnyFormat::Hyb(a) => a.ell().col(),
            AnyFormat::Hll(a) => a.col(),
            AnyFormat::Coo(_) | AnyFormat::Bsr(_) | AnyFormat::Dia(_) => &[],
        };
        let kept = (kernel.id == "cuda/hll/shared-x").then(|| kept_of_x(a, block));
        let warp_a_row = kernel.mapping == Mapping::Grid(GridMapping::WarpPerRow);
        let unrolling = Unrolling::of(kernel, loops);
        Self { kernel, a, loops, unrolling, block, kept, warp_a_row, col }
    }

    /// Tells `sink` all that a warp does; answers how many of its threads have a row or hack.
    pub(super) fn warp(&self, warp: u64, sink: &mut impl Sink) -> u64 {
        if let Some(kept) = self.kept {
            self.fill_shared(warp, kept, sink);
        }
        let first = warp * LANES;
        let mut lanes: [Runs<'_>; WARP] =
            std::array::from_fn(|l| self.kernel.runs(self.a, Pass::Rows, first + l as u64));
        let (mut busy, mut number) = (0, 0);
        for round in 0u64.. {
            let runs: [Option<Run>; WARP] = std::array::from_fn(|l| lanes[l].next());
            let with_row = runs.iter().flatten().count() as u64;
            if with_row == 0 {
                break;
            }
            busy = busy.max(with_row);
            sink.step(StepKind::Start);
            self.before_loop(&runs, round == 0, sink);
            number = self.inner_loop(&runs, number, sink);
            sink.step(StepKind::End);
            let mut y = self.new_request(Array::Y, Direction::Store);
            for (lane, row) in rows(&runs) {
                if !self.warp_a_row || lane == 0 {
                    y.set(lane, row as u64);
                }
            }
            sink.request(&y);
        }
        busy
    }

    fn new_request(&self, array: Array, direction: Direction) -> Request {
        Request::new(array, direction, element_bytes(self.a, array))
    }

    /// Each thread of a block, with a row or without, copies one element of x to shared memory.
    fn fill_shared(&self, warp: u64, kept: u64, sink: &mut impl Sink) {
        let first = warp * LANES % u64::from(self.block);
        let mut x = self.new_request(Array::X, Direction::Load);
        (first..kept.min(first + LANES)).for_each(|k| x.set((k - first) as usize, k));
        if x.active != 0 {
            sink.step(StepKind::Fill);
            sink.request(&x);
        }
    }

    /// What is loaded before the loop over a row's slots.
    fn before_loop(&self, runs: &[Option<Run>; WARP], first_round: bool, sink: &mut impl Sink) {
        let mut load = |array: Array, index: &dyn Fn(usize) -> usize, only_with_slots: bool| {
            let mut request = self.new_request(array, Direction::Load);
            for (lane, run) in runs.iter().enumerate() {
                let Some(run) = run else { continue };
                if let (Some(row), true) = (run.row, run.steps > 0 || !only_with_slots) {
                    request.set(lane, index(row) as u64);
                }
            }
            if request.active != 0 {
                sink.request(&request);
            }
        };
        match self.a {
            AnyFormat::Csr(_) => {
                load(Array::RowPtr, &|row| row, false);
                load(Array::RowPtr, &|row| row + 1, false);
            }
            AnyFormat::Ell(_) | AnyFormat::Hyb(_) if !self.kernel.needs_finite_x => {
                load(Array::RowLen, &|row| row, false);
            }
            AnyFormat::Hll(a) => {
                let hack = |row: usize| a.shape().hack_of(row);
                // A thread that goes through a hack keeps its width, but loads its offset again
                // for each row, since it has stored to y meanwhile.
                if first_round {
                    load(Array::MaxNzr, &hack, false);
                }
                let sunk = self.warp_a_row && self.loops == Loops::AsCompiled;
                load(Array::Offsets, &hack, sunk);
            }
            _ => {}
        }
    }

    /// The loop over the slots of one row a lane, part by part; answers the number of its last
    /// step plus one.
    fn inner_loop(&self, runs: &[Option<Run>; WARP], mut number: u64, sink: &mut impl Sink) -> u64 {
        let cuts = runs.map(|run| self.unrolling.cut(run.map_or(0, |run| run.steps)));
        let mut done = [0u64; WARP];
        for part in 0..PARTS {
            let longest = cuts.iter().map(|cut| cut[part]).max().unwrap_or(0);
            for step in 0..longest {
                sink.step(StepKind::Loop(number));
                number += 1;
                let mut col = self.new_request(Array::Col, Direction::Load);
                let mut val = self.new_request(Array::Val, Direction::Load);
                let mut x = self.new_request(Array::X, Direction::Load);
                for (lane, run) in runs.iter().enumerate() {
                    let Some(run) = run.as_ref().filter(|_| step < cuts[lane][part]) else {
                        continue;
                    };
                    let access = run.access(self.a, done[lane] + step);
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
            for (done, cut) in done.iter_mut().zip(&cuts) {
                *done += cut[part];
            }
        }
        number
    }
}

/// Lanes that have a row, and the row.
fn rows(runs: &[Option<Run>; WARP]) -> impl Iterator<Item = (usize, usize)> + '_ {
    runs.iter().enumerate().filter_map(|(lane, run)| Some((lane, run.as_ref()?.row?)))
}
