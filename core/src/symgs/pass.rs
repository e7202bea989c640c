//! The loop over the rows of a step: one sweep's arithmetic.

use std::ops::Range;

use super::Sweep;
use super::rows::OrderedRows;
use super::steps::Steps;
use super::vector::Shared;
use crate::matrix::{Offset, Real};
use crate::with_offsets;

/// What becomes of a row's element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Update {
    /// `(x_i − Σ_j a_ij·x_j + d_i·x_i) / d_i`.
    Smooth,
    /// `(b_i − Σ_{j≠i} a_ij·x_j) / d_i`.
    Solve,
    /// `(b_i − Σ_{j<i} a_ij·x_j) / d_i`.
    SolveLower,
    /// `(d_i·x_i − Σ_{j>i} a_ij·x_j) / d_i`.
    SolveUpper,
}

/// One sweep over ordered rows.
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
        with_offsets!(self.rows.parts(), |parts| self.each(rows, |k| {
            // SAFETY: the caller's promise.
            unsafe { self.row(parts, k).update(self.update, self.b) };
        }));
    }

    #[inline(always)]
    fn each(&self, rows: Range<usize>, visit: impl Fn(usize)) {
        if self.reversed { rows.rev().for_each(visit) } else { rows.for_each(visit) }
    }

    #[inline(always)]
    fn row<O: Offset>(&self, parts: &[O], k: usize) -> Row<'_, T> {
        let (start, middle, end) =
            (parts[2 * k].index(), parts[2 * k + 1].index(), parts[2 * k + 2].index());
        let (col, val) = self.rows.entries();
        let (before, after) = match self.sweep {
            Sweep::Forward => (self.new, self.old),
            Sweep::Backward => (self.old, self.new),
        };
        Row {
            place: self.rows.place(k),
            diagonal: self.rows.diagonal()[k],
            before: Entries { col: &col[start..middle], val: &val[start..middle], x: before },
            after: Entries { col: &col[middle..end], val: &val[middle..end], x: after },
            old: self.old,
            new: self.new,
        }
    }
}

/// A row with the vectors that its entries are multiplied with.
struct Row<'a, T> {
    place: usize,
    diagonal: T,
    before: Entries<'a, T>,
    after: Entries<'a, T>,
    old: Shared<T>,
    new: Shared<T>,
}

impl<T: Real> Row<'_, T> {
    /// Computes the row's element.
    ///
    /// # Safety
    /// As for the vectors' `get`, of the places of all entries and in `old` the row's own, and `put`
    /// of the row's own in `new`.
    #[inline(always)]
    unsafe fn update(self, update: Update, b: &[T]) {
        let (place, d) = (self.place, self.diagonal);
        // SAFETY: the caller's promise.
        unsafe {
            let sum = match update {
                Update::Smooth => {
                    let own = self.old.get(place);
                    let sum = self.before.subtracted_from(own) - d * own;
                    self.after.subtracted_from(sum) + d * own
                }
                Update::Solve => self.after.subtracted_from(self.before.subtracted_from(b[place])),
                Update::SolveLower => self.before.subtracted_from(b[place]),
                Update::SolveUpper => self.after.subtracted_from(d * self.old.get(place)),
            };
            self.new.put(place, sum / d);
        }
    }
}

/// Some entries of a row.
struct Entries<'a, T> {
    col: &'a [u32],
    val: &'a [T],
    x: Shared<T>,
}

impl<T: Real> Entries<'_, T> {
    /// The sum less their products, one after the other.
    ///
    /// # Safety
    /// As for the vector's `get`, of the places of all entries.
    #[inline(always)]
    unsafe fn subtracted_from(&self, sum: T) -> T {
        let entries = self.col.iter().zip(self.val);
        // SAFETY: the caller's promise.
        entries.fold(sum, |sum, (&c, &v)| sum - v * unsafe { self.x.get(c as usize) })
    }
}
