//! The loop over the rows of a step: one sweep's arithmetic.

use super::Direction;
use super::rows::{Block, LANES, OrderedRows, Side};
use super::steps::Step;
use super::vector::Shared;
use sparsescope_matrix::matrix::{Real, prefetch_later};

/// The formula that updates a row's element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Update {
    /// `(x_i − Σ_j a_ij·x_j + d_i·x_i) / d_i`.
    Smooth,
    /// `(b_i − Σ_{j≠i} a_ij·x_j) / d_i`; stores the sum before the diagonal.
    Solve,
    /// `(b_i − Σ_{j<i} a_ij·x_j) / d_i`; stores the sum.
    SolveLower,
    /// `(s_i − Σ_{j>i} a_ij·x_j) / d_i`, where s_i is the stored sum. This is `Solve` in the backward sweep:
    /// before the diagonal it would read the values that the forward sweep has computed, in the same order.
    Finish,
    /// `(d_i·x_i − Σ_{j>i} a_ij·x_j) / d_i`.
    SolveUpper,
}

/// One sweep over ordered rows.
#[derive(Clone, Copy)]
pub(super) struct Pass<'a, T> {
    pub(super) rows: &'a OrderedRows<T>,
    /// Whether the steps, and the rows in each, run from the last to the first.
    pub(super) reversed: bool,
    /// Number of steps to skip at the beginning.
    pub(super) skipped: usize,
    pub(super) update: Update,
    pub(super) sweep: Direction,
    /// The right-hand side, one element per row.
    pub(super) b: &'a [T],
    /// Sums before the diagonal, one element per row; empty if the updates neither store nor need them.
    pub(super) sums: Shared<T>,
    /// Values before the sweep.
    pub(super) old: Shared<T>,
    /// Values after the sweep; may be the same vector, if no row is visited before all rows that read its old
    /// value.
    pub(super) new: Shared<T>,
}

impl<T: Real> Pass<'_, T> {
    fn steps(&self) -> &[Step] {
        self.rows.steps().steps()
    }

    /// Number of steps.
    pub(super) fn len(&self) -> usize {
        self.steps().len() - self.skipped
    }

    /// Index of the step executed at this turn.
    fn step(&self, turn: usize) -> usize {
        let place = self.skipped + turn;
        if self.reversed { self.steps().len() - 1 - place } else { place }
    }

    /// Number of turns that must be done before `turn`: all of the groups before its own.
    pub(super) fn needs(&self, turn: usize) -> usize {
        let group = &self.steps()[self.step(turn)].group;
        let before = if self.reversed { self.steps().len() - group.end } else { group.start };
        before - self.skipped
    }

    /// Processes the rows of one turn.
    ///
    /// # Safety
    /// Vectors and `b` have one element per row and are alive; every turn that this one needs is done; no
    /// turn is done twice, and the rows of turns that run at the same time read no element that one of them
    /// writes, except in the vector `old` if it differs from `new`.
    pub(super) unsafe fn run(&self, turn: usize) {
        let Step { rows, independent, .. } = &self.steps()[self.step(turn)];
        let blocks = if *independent { rows.len() / LANES } else { 0 };
        let (first, single) = (rows.start, rows.start + blocks * LANES..rows.end);
        // SAFETY: guaranteed by the caller; the rows of an independent step may be processed in any
        // order, and so those of a block together.
        let one = |k| unsafe { self.update::<1>(k) };
        // SAFETY: as above.
        let block = |b| unsafe { self.update::<LANES>(first + b * LANES) };
        if self.reversed {
            single.rev().for_each(one);
            (0..blocks).rev().for_each(block);
        } else {
            (0..blocks).for_each(block);
            single.for_each(one);
        }
    }

    /// Computes the elements of N rows from `k`.
    ///
    /// # Safety
    /// As for the vectors' `get` and `put`, at the places of the rows and of all their nonzeros.
    #[inline(always)]
    unsafe fn update<const N: usize>(&self, k: usize) {
        let (x_before, x_after) = match self.sweep {
            Direction::Forward => (self.new, self.old),
            Direction::Backward => (self.old, self.new),
        };
        let ahead = if self.reversed { -AHEAD } else { AHEAD };
        let places: [usize; N] = std::array::from_fn(|lane| self.rows.place(k + lane));
        let d: [T; N] = std::array::from_fn(|lane| self.rows.diagonal()[k + lane]);
        // SAFETY: guaranteed by the caller.
        let of = |x: Shared<T>| unsafe { places.map(|place| x.get(place)) };
        let put = |x: Shared<T>, values: [T; N]| {
            for (place, value) in places.into_iter().zip(values) {
                // SAFETY: guaranteed by the caller.
                unsafe { x.put(place, value) };
            }
        };
        let each = |f: fn(T, T) -> T, a: [T; N], b: [T; N]| -> [T; N] {
            std::array::from_fn(|lane| f(a[lane], b[lane]))
        };
        // All updates share one loop over each side, which takes long to compile.
        let mut product = [T::ZERO; N];
        let mut sums = match self.update {
            Update::Smooth => {
                let own = of(self.old);
                product = each(|d, own| d * own, d, own);
                own
            }
            Update::Solve | Update::SolveLower => places.map(|place| self.b[place]),
            Update::Finish => of(self.sums),
            Update::SolveUpper => each(|d, own| d * own, d, of(self.old)),
        };
        if !matches!(self.update, Update::Finish | Update::SolveUpper) {
            // SAFETY: guaranteed by the caller.
            sums = unsafe { less(sums, self.rows.before(), k, x_before, ahead) };
        }
        match self.update {
            Update::Smooth => sums = each(|sum, product| sum - product, sums, product),
            Update::Solve | Update::SolveLower => put(self.sums, sums),
            Update::Finish | Update::SolveUpper => {}
        }
        if self.update != Update::SolveLower {
            // SAFETY: guaranteed by the caller.
            sums = unsafe { less(sums, self.rows.after(), k, x_after, ahead) };
        }
        if self.update == Update::Smooth {
            sums = each(|sum, product| sum + product, sums, product);
        }
        put(self.new, each(|sum, d| sum / d, sums, d));
    }
}

/// Prefetch distance in nonzeros, for rows to come. The hardware prefetcher is too late for rows of a few
/// dozen nonzeros.
const AHEAD: isize = 512;

/// Values that are certain to reach into the next cache line.
const LINE: usize = 8;

/// Returns the sums of N rows from `k` minus the products of their nonzeros, each row in order; prefetches as
/// many nonzeros, `ahead` further on.
///
/// # Safety
/// As for the vector's `get`, at the places of all nonzeros.
#[inline(always)]
unsafe fn less<T: Real, const N: usize>(
    mut sums: [T; N],
    side: &Side<T>,
    k: usize,
    x: Shared<T>,
    ahead: isize,
) -> [T; N] {
    let block = Block::<N>::new(side.ptr(), k);
    let all = block.all();
    let (col, val) = side.entries(all.clone());
    for e in (0..col.len() as isize).step_by(LINE) {
        prefetch_later(col.as_ptr().wrapping_offset(ahead + e));
        prefetch_later(val.as_ptr().wrapping_offset(ahead + e));
    }
    let (col, val) = side.entries(block.together());
    for (col, val) in col.as_chunks::<N>().0.iter().zip(val.as_chunks::<N>().0) {
        for lane in 0..N {
            // SAFETY: guaranteed by the caller.
            sums[lane] = sums[lane] - val[lane] * unsafe { x.get(col[lane] as usize) };
        }
    }
    if all.len() > N * block.common {
        for (lane, sum) in sums.iter_mut().enumerate() {
            let (col, val) = side.entries(block.rest(lane));
            for (&c, &v) in col.iter().zip(val) {
                // SAFETY: guaranteed by the caller.
                *sum = *sum - v * unsafe { x.get(c as usize) };
            }
        }
    }
    sums
}
