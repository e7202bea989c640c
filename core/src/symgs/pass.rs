//! The loop over the rows of a step: one sweep's arithmetic.

use super::Sweep;
use super::rows::OrderedRows;
use super::steps::Steps;
use super::vector::Shared;
use crate::matrix::{Offset, Real, prefetch};
use crate::with_offsets;

/// What becomes of a row's element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Update {
    /// `(x_i − Σ_j a_ij·x_j + d_i·x_i) / d_i`.
    Smooth,
    /// `(b_i − Σ_{j≠i} a_ij·x_j) / d_i`; the sum before the diagonal is kept.
    Solve,
    /// `(b_i − Σ_{j<i} a_ij·x_j) / d_i`; the sum is kept.
    SolveLower,
    /// `(s_i − Σ_{j>i} a_ij·x_j) / d_i`, s_i the sum kept. This is `Solve` in the sweep back: it reads
    /// before the diagonal the values that the sweep before has made, in the same order.
    Finish,
    /// `(d_i·x_i − Σ_{j>i} a_ij·x_j) / d_i`.
    SolveUpper,
}

/// One sweep over ordered rows.
#[derive(Clone, Copy)]
pub(super) struct Pass<'a, T> {
    pub(super) rows: &'a OrderedRows<T>,
    pub(super) steps: &'a Steps,
    /// The steps, and the rows in each, from the last to the first.
    pub(super) reversed: bool,
    /// Steps left out at the beginning.
    pub(super) skipped: usize,
    pub(super) update: Update,
    pub(super) sweep: Sweep,
    /// The right-hand side, an element a row.
    pub(super) b: &'a [T],
    /// Sums before the diagonal, an element a row; none when the updates neither keep nor need them.
    pub(super) sums: Shared<T>,
    /// Values that the sweep finds.
    pub(super) old: Shared<T>,
    /// Values that it makes; may be the same vector, where no row is visited before all those that
    /// read its old value.
    pub(super) new: Shared<T>,
}

impl<T: Real> Pass<'_, T> {
    /// Number of steps.
    pub(super) fn len(&self) -> usize {
        self.steps.steps().len() - self.skipped
    }

    /// Place among the steps of the one that is done as number `turn`.
    fn step(&self, turn: usize) -> usize {
        let place = self.skipped + turn;
        if self.reversed { self.steps.steps().len() - 1 - place } else { place }
    }

    /// How many turns must be done before `turn`: all of the groups before its own.
    pub(super) fn needs(&self, turn: usize) -> usize {
        let group = &self.steps.steps()[self.step(turn)].group;
        let before = if self.reversed { self.steps.steps().len() - group.end } else { group.start };
        before - self.skipped
    }

    /// Does the rows of one turn.
    ///
    /// # Safety
    /// Vectors and `b` have an element a row and are alive; every turn that this one needs is done;
    /// no turn is done twice, and the rows of turns that are done at the same time read no element
    /// that one of them writes, but in the vector `old` where it is another than `new`.
    pub(super) unsafe fn run(&self, turn: usize) {
        let rows = self.steps.steps()[self.step(turn)].rows.clone();
        with_offsets!(self.rows.before().ptr(), |before| {
            with_offsets!(self.rows.after().ptr(), |after| {
                // SAFETY: the caller's promise.
                let update = |k| unsafe { self.row(before, after, k) };
                if self.reversed { rows.rev().for_each(update) } else { rows.for_each(update) }
            })
        });
    }

    /// Computes the element of row `k`, whose entries `before` and `after` delimit.
    ///
    /// # Safety
    /// As for the vectors' `get` and `put`, of the places of the row and of all its entries.
    #[inline(always)]
    unsafe fn row(&self, before: &[impl Offset], after: &[impl Offset], k: usize) {
        let (x_before, x_after) = match self.sweep {
            Sweep::Forward => (self.new, self.old),
            Sweep::Backward => (self.old, self.new),
        };
        let ahead = if self.reversed { -AHEAD } else { AHEAD };
        let less_before = |sum| {
            let range = before[k].index()..before[k + 1].index();
            // SAFETY: the caller's promise.
            unsafe { less(sum, self.rows.before().entries(range), x_before, ahead) }
        };
        let less_after = |sum| {
            let range = after[k].index()..after[k + 1].index();
            // SAFETY: the caller's promise.
            unsafe { less(sum, self.rows.after().entries(range), x_after, ahead) }
        };
        let (place, d) = (self.rows.place(k), self.rows.diagonal()[k]);
        // SAFETY: the caller's promise.
        unsafe {
            let sum = match self.update {
                Update::Smooth => {
                    let own = self.old.get(place);
                    less_after(less_before(own) - d * own) + d * own
                }
                Update::Solve => {
                    let sum = less_before(self.b[place]);
                    self.sums.put(place, sum);
                    less_after(sum)
                }
                Update::SolveLower => {
                    let sum = less_before(self.b[place]);
                    self.sums.put(place, sum);
                    sum
                }
                Update::Finish => less_after(self.sums.get(place)),
                Update::SolveUpper => less_after(d * self.old.get(place)),
            };
            self.new.put(place, sum / d);
        }
    }
}

/// How many entries ahead of a row the processor is asked for those of rows to come. What it foresees
/// by itself comes too late for rows of some dozens of entries.
const AHEAD: isize = 512;

/// `sum` less the products of some entries, one after the other; `ahead` entries further, as many
/// are asked for.
///
/// # Safety
/// As for the vector's `get`, of the places of all entries.
#[inline(always)]
unsafe fn less<T: Real>(sum: T, (col, val): (&[u32], &[T]), x: Shared<T>, ahead: isize) -> T {
    for e in (0..col.len() as isize).step_by(LINE) {
        prefetch(col.as_ptr().wrapping_offset(ahead + e));
        prefetch(val.as_ptr().wrapping_offset(ahead + e));
    }
    // SAFETY: the caller's promise.
    col.iter().zip(val).fold(sum, |sum, (&c, &v)| sum - v * unsafe { x.get(c as usize) })
}

/// Values that surely reach into the next cache line.
const LINE: usize = 8;
