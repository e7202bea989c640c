//! The memory requests of a warp whose threads walk the diagonals of their rows: `dia.cu`, load by
//! load.

use super::array::Array;
use super::asking::{ask, ask_of, first_lanes};
use super::pass::{FormatPass, WARP};
use super::step::{Sink, StepKind};
use crate::kernel::{LANES, StridedSlots};
use sparsescope_matrix::matrix::{Dia, Scalar};

/// SpMV over diagonals.
pub(super) type DiagonalPass<'a, T> = FormatPass<'a, T, Dia<T>>;

impl<T: Scalar> DiagonalPass<'_, T> {
    /// Reports all that a warp does to `sink`; returns how many of its threads have a row.
    pub(super) fn warp(&self, warp: u64, sink: &mut impl Sink) -> u64 {
        let first = warp * LANES;
        let with_row = first_lanes((self.a.rows() as u64).saturating_sub(first));
        if with_row == 0 {
            return 0;
        }
        let runs = self.runs(warp);
        for (number, &offset) in (0..).zip(self.a.offsets()) {
            sink.step(StepKind::Loop(number));
            self.ask.same(Array::Offsets, with_row, number, sink);
            // Lanes whose rows the diagonal does not cross load nothing from it.
            let slot = |lane: usize| {
                let run: &StridedSlots = runs[lane].as_ref()?;
                let step = number.checked_sub(run.first()).filter(|&step| step < run.steps)?;
                Some(run.access(self.ask.0, step))
            };
            let mut val = self.ask.load(Array::Val);
            for lane in 0..WARP {
                if let Some(access) = slot(lane) {
                    sink.lane(lane, access);
                    val.set(lane, access.slot);
                }
            }
            if val.active != 0 {
                sink.request(&val);
            }
            let crossed = |lane: &usize| val.active >> lane & 1 == 1;
            let column = |lane: usize| (first as i64 + lane as i64).checked_add(offset);
            let column = |lane: usize| column(lane).filter(|_| crossed(&lane)).map(|c| c as u64);
            ask(self.ask.load(Array::X), column, sink);
        }
        sink.step(StepKind::End);
        ask_of(self.ask.store(Array::Y), with_row, |lane| first + lane as u64, sink);
        u64::from(with_row.count_ones())
    }
}
