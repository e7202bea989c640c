//! The memory requests of a warp that processes a block row: `bsr.cu`, load by load.

use super::array::Array;
use super::asking::ask;
use super::pass::{FormatPass, WARP};
use super::step::{Sink, StepKind};
use sparsescope_matrix::matrix::{Bsr, Scalar};

/// SpMV over block rows.
pub(super) type BlockRowPass<'a, T> = FormatPass<'a, T, Bsr<T>>;

impl<T: Scalar> BlockRowPass<'_, T> {
    /// Reports all that a warp does to `sink`; returns how many of its threads have columns of
    /// blocks.
    pub(super) fn warp(&self, warp: u64, sink: &mut impl Sink) -> u64 {
        let runs = self.runs(warp);
        let Some(busy) = runs.iter().rposition(Option::is_some).map(|last| last + 1) else {
            return 0;
        };
        sink.step(StepKind::Start);
        self.ask.same(Array::RowPtr, u32::MAX, warp, sink);
        self.ask.same(Array::RowPtr, u32::MAX, warp + 1, sink);
        let (edge, steps) = (self.a.block() as u64, runs.iter().flatten().map(|run| run.steps));
        let mut slots = [None; WARP];
        for step in 0..steps.max().unwrap_or(0) {
            sink.step(StepKind::Loop(step));
            for (lane, (slot, run)) in slots.iter_mut().zip(&runs).enumerate() {
                let run = run.as_ref().filter(|run| step < run.steps);
                *slot = run.map(|run| run.access(self.ask.0, step).slot);
                if let Some(run) = run {
                    sink.lane(lane, run.access(self.ask.0, step));
                }
            }
            let block = |slot: u64| slot / (edge * edge);
            ask(self.ask.load(Array::Col), |lane| slots[lane].map(block), sink);
            ask(self.ask.load(Array::Val), |lane| slots[lane], sink);
            // The last block may extend past the last column.
            let column = |slot: u64| {
                let first = u64::from(self.a.col()[block(slot) as usize]) * edge;
                Some(first + slot % edge).filter(|&column| column < self.a.cols() as u64)
            };
            ask(self.ask.load(Array::X), |lane| slots[lane].and_then(column), sink);
        }
        sink.step(StepKind::End);
        // The first of the lanes that share a row holds its first column.
        let row = |lane: usize| {
            let run = runs[lane].filter(|run| run.first() == 0)?;
            run.row.filter(|&row| row < self.a.rows()).map(|row| row as u64)
        };
        ask(self.ask.store(Array::Y), row, sink);
        busy as u64
    }
}
