//! The rows of a matrix stored in the order in which a sweep visits them, so that it reads them as one
//! stream.

use std::ops::Range;

use sparsescope_matrix::parallel::*;

use super::Diagonal;
use super::steps::{Sharing, Step, Steps};
use sparsescope_matrix::matrix::{Csr, Offset, OffsetWidth, Real, RowPtr, prefetch};
use sparsescope_matrix::memory::zeroed;
use sparsescope_matrix::with_offsets;

/// The order in which the nonzeros of a row are subtracted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Columns {
    /// As in the matrix.
    AsInMatrix,
    /// By the places of their elements: as in the renumbered matrix.
    ByPlace,
}

/// Rows in an order of their own; their columns are the places of x's elements in the vectors. The two sides
/// of the diagonal are stored separately, since a sweep may need only one of them.
#[derive(Clone, Debug)]
pub(super) struct OrderedRows<T> {
    before: Side<T>,
    after: Side<T>,
    diagonal: Vec<T>,
    /// Place of the element that each row computes, all distinct; absent if that of row k is k.
    place: Option<Vec<u32>>,
    steps: Steps,
}

/// The nonzeros of all rows on one side of the diagonal. In a step that is
/// [`independent`](Step::independent), every [`LANES`] rows, counted from its first, form a block: first come
/// the nonzeros that all of its rows have (the first of each row, then the second of each, and so on), then
/// the rest of each row. This way the sums of a block wait neither for one another nor for their own
/// nonzeros.
#[derive(Clone, Debug)]
pub(super) struct Side<T> {
    ptr: RowPtr,
    /// Place of the element that each nonzero is multiplied with; below the number of rows.
    col: Vec<u32>,
    val: Vec<T>,
}

/// Number of rows per block.
pub(super) const LANES: usize = 8;

/// Where the nonzeros of N rows lie: a block, or one row.
#[derive(Clone, Copy, Debug)]
pub(super) struct Block<const N: usize> {
    /// Start of each row, as if each row's nonzeros were contiguous.
    starts: [usize; N],
    /// End of each row.
    ends: [usize; N],
    /// Number of nonzeros that every row has.
    pub(super) common: usize,
}

impl<const N: usize> Block<N> {
    /// The N rows from row `k`.
    #[inline(always)]
    pub(super) fn new(ptr: &RowPtr, k: usize) -> Self {
        let (mut starts, mut ends) = ([0; N], [0; N]);
        with_offsets!(ptr, |ptr| {
            let ptr = &ptr[k..=k + N];
            for lane in 0..N {
                (starts[lane], ends[lane]) = (ptr[lane].index(), ptr[lane + 1].index());
            }
        });
        let lengths = starts.iter().zip(&ends).map(|(start, end)| end - start);
        let common = lengths.fold(usize::MAX, usize::min);
        Self { starts, ends, common }
    }

    /// The nonzeros that all rows have, interleaved N by N.
    #[inline(always)]
    pub(super) fn together(&self) -> Range<usize> {
        self.starts[0]..self.starts[0] + N * self.common
    }

    /// All nonzeros.
    #[inline(always)]
    pub(super) fn all(&self) -> Range<usize> {
        self.starts[0]..self.ends[N - 1]
    }

    /// The remaining nonzeros of a row.
    #[inline(always)]
    pub(super) fn rest(&self, lane: usize) -> Range<usize> {
        let (start, end) = (self.starts[lane], self.ends[lane]);
        start + (N - lane) * self.common..end + (N - lane - 1) * self.common
    }
}

impl<T: Real> OrderedRows<T> {
    /// Maximum bytes that storing the rows of `a` in order takes.
    pub(super) fn bytes_for(a: &Csr<T>) -> u128 {
        let (n, entries) = (a.rows() as u128, (a.nnz() - a.rows()) as u128);
        let offset = OffsetWidth::of(entries as u64).bytes() as u128;
        2 * offset * (n + 1) + entries * (4 + T::BYTES as u128) + n * (12 + T::BYTES as u128)
    }

    /// Row `order[k]` of `a` becomes row k, and computes element `place[k]`, or k if `place` is absent.
    pub(super) fn new(
        source: &Source<'_, T>,
        order: &[u32],
        place: Option<Vec<u32>>,
        groups: &[u32],
        sharing: Sharing,
    ) -> Self {
        let mut lengths = zeroed([0u32; 2], order.len());
        lengths.par_chunks_mut(CHUNK).enumerate().for_each(|(chunk, lengths)| {
            let rows = chunk * CHUNK..chunk * CHUNK + lengths.len();
            source.visit(order, rows.clone(), |k, i| lengths[k - rows.start] = source.lengths(i));
        });
        let [before, after] = [0, 1].map(|side| Side::new(lengths.iter().map(|l| l[side])));
        drop(lengths);
        let entries_before = |k| before.ptr.get(k) + after.ptr.get(k);
        let steps = Steps::new(groups, entries_before, sharing);
        let diagonal = zeroed(T::ZERO, order.len());
        let mut rows = Self { before, after, diagonal, place, steps };
        rows.fill(source, order);
        rows
    }

    /// Nonzeros before the diagonals, in the matrix or by place.
    pub(super) fn before(&self) -> &Side<T> {
        &self.before
    }

    /// Nonzeros after the diagonals.
    pub(super) fn after(&self) -> &Side<T> {
        &self.after
    }

    /// The diagonal.
    pub(super) fn diagonal(&self) -> &[T] {
        &self.diagonal
    }

    /// The units of work for a worker.
    pub(super) fn steps(&self) -> &Steps {
        &self.steps
    }

    /// Returns the place of the element that row `k` computes.
    #[inline(always)]
    pub(super) fn place(&self, k: usize) -> usize {
        match &self.place {
            Some(place) => place[k] as usize,
            None => k,
        }
    }

    /// Bytes of the arrays.
    pub(super) fn bytes(&self) -> u64 {
        let place = self.place.as_ref().map_or(0, |place| 4 * place.len() as u64);
        let sides = [&self.before, &self.after].map(Side::bytes);
        let diagonal = T::BYTES as u64 * self.diagonal.len() as u64;
        sides[0] + sides[1] + diagonal + place + self.steps.bytes()
    }

    fn fill(&mut self, source: &Source<'_, T>, order: &[u32]) {
        let Self { before, after, diagonal, steps, .. } = self;
        let (mut before, mut after) = (before.parts(), after.parts());
        let mut diagonal = diagonal.as_mut_slice();
        let mut pieces = Vec::new();
        for Step { rows, independent, .. } in steps.steps() {
            for start in rows.clone().step_by(CHUNK) {
                let rows = start..rows.end.min(start + CHUNK);
                let (diagonal, sides) = (
                    diagonal.split_off_mut(..rows.len()).expect("a value a row"), // invariant
                    [before.split_off(&rows), after.split_off(&rows)],
                );
                pieces.push((rows, *independent, diagonal, sides));
            }
        }
        pieces.into_par_iter().for_each(|(rows, independent, diagonal, mut sides)| {
            let first = rows.start;
            let blocks = if independent { rows.len() / LANES * LANES } else { 0 };
            let mut row = Vec::new();
            source.visit(order, rows, |k, i| {
                let at = source.entries(i, &mut row);
                diagonal[k - first] = row[at].1;
                for (side, entries) in sides.iter_mut().zip([&row[..at], &row[at + 1..]]) {
                    if k - first < blocks {
                        side.put::<LANES>((k - first) % LANES, k, entries);
                    } else {
                        side.put::<1>(0, k, entries);
                    }
                }
            });
        });
    }
}

/// The source of ordered rows; element i of x lies at `places[i]`.
pub(super) struct Source<'a, T> {
    pub(super) a: &'a Csr<T>,
    pub(super) diagonal: &'a Diagonal,
    pub(super) places: &'a [u32],
    pub(super) columns: Columns,
}

/// Rows processed at a time by one worker.
const CHUNK: usize = 512 * LANES;

/// Prefetch distance in rows, per stage: first the data that leads to a row's nonzeros, then the nonzeros,
/// then what they lead to.
const AHEAD: usize = 8;

/// Nonzeros of a row that are prefetched; the hardware prefetcher handles the rest.
const FIRST: usize = 64;

impl<T: Real> Source<'_, T> {
    /// Calls `each` with k and row `order[k]` for all of `rows`, which are scattered in memory.
    fn visit(&self, order: &[u32], rows: Range<usize>, mut each: impl FnMut(usize, usize)) {
        let Self { a, diagonal, places, .. } = self;
        let (col, val) = (a.col().as_ptr(), a.val().as_ptr());
        let ahead = |k: usize| order.get(k).map(|&i| i as usize);
        let first = |i: usize| a.row_range(i).take(FIRST);
        for k in rows {
            if let Some(i) = ahead(k + 3 * AHEAD) {
                with_offsets!(a.row_ptr(), |ptr| prefetch(&ptr[i]));
                prefetch(&diagonal.before()[i]);
            }
            if let Some(i) = ahead(k + 2 * AHEAD) {
                for e in first(i).step_by(8) {
                    prefetch(col.wrapping_add(e));
                    prefetch(val.wrapping_add(e));
                }
            }
            if let Some(i) = ahead(k + AHEAD) {
                first(i).for_each(|e| prefetch(&places[a.col()[e] as usize]));
            }
            each(k, order[k] as usize);
        }
    }

    /// Returns the number of nonzeros of row `i` on either side.
    fn lengths(&self, i: usize) -> [u32; 2] {
        let before = match self.columns {
            Columns::AsInMatrix => self.diagonal.before()[i],
            Columns::ByPlace => {
                let own = self.places[i];
                let is_before = |c: &&u32| self.places[**c as usize] < own;
                self.a.row(i).0.iter().filter(is_before).count() as u32
            }
        };
        [before, self.a.row_len(i) as u32 - 1 - before]
    }

    /// Puts places and values of row `i` into `row`, and returns the index of the diagonal.
    fn entries(&self, i: usize, row: &mut Vec<(u32, T)>) -> usize {
        let (col, val) = self.a.row(i);
        row.clear();
        row.extend(col.iter().zip(val).map(|(&c, &v)| (self.places[c as usize], v)));
        match self.columns {
            Columns::AsInMatrix => self.diagonal.before()[i] as usize,
            Columns::ByPlace => {
                row.sort_unstable_by_key(|&(place, _)| place);
                row.partition_point(|&(place, _)| place < self.places[i])
            }
        }
    }
}

impl<T: Real> Side<T> {
    /// Returns rows of these lengths, with nonzeros still to be filled in.
    fn new(lengths: impl ExactSizeIterator<Item = u32> + Clone) -> Self {
        let ptr = RowPtr::from_lengths(lengths.map(|length| length as usize));
        let entries = ptr.get(ptr.len() - 1);
        Self { ptr, col: zeroed(0, entries), val: zeroed(T::ZERO, entries) }
    }

    /// All nonzeros, to be split among workers.
    fn parts(&mut self) -> Part<'_, T> {
        Part { ptr: &self.ptr, col: &mut self.col, val: &mut self.val, start: 0 }
    }

    /// Where the nonzeros of each row would begin if they were contiguous.
    pub(super) fn ptr(&self) -> &RowPtr {
        &self.ptr
    }

    /// Places and values of some nonzeros.
    #[inline(always)]
    pub(super) fn entries(&self, range: Range<usize>) -> (&[u32], &[T]) {
        (&self.col[range.clone()], &self.val[range])
    }

    fn bytes(&self) -> u64 {
        self.ptr.bytes() + (4 + T::BYTES as u64) * self.col.len() as u64
    }
}

/// The nonzeros of neighbouring rows, from `start` on.
struct Part<'a, T> {
    ptr: &'a RowPtr,
    col: &'a mut [u32],
    val: &'a mut [T],
    start: usize,
}

impl<'a, T: Real> Part<'a, T> {
    /// Splits off the first rows.
    fn split_off(&mut self, rows: &Range<usize>) -> Part<'a, T> {
        let (start, end) = (self.start, self.ptr.get(rows.end));
        self.start = end;
        let all = "the entries of all rows"; // invariant
        Part {
            ptr: self.ptr,
            col: self.col.split_off_mut(..end - start).expect(all),
            val: self.val.split_off_mut(..end - start).expect(all),
            start,
        }
    }

    /// Stores the nonzeros of row `k` at their positions among those of N rows, of which it is number `lane`.
    fn put<const N: usize>(&mut self, lane: usize, k: usize, entries: &[(u32, T)]) {
        let block = Block::<N>::new(self.ptr, k - lane);
        let (together, rest) = (block.together(), block.rest(lane));
        let (common, left) = entries.split_at(together.len() / N);
        let mut slot = together.start - self.start + lane;
        for &entry in common {
            (self.col[slot], self.val[slot]) = entry;
            slot += N;
        }
        for (slot, &entry) in (rest.start - self.start..).zip(left) {
            (self.col[slot], self.val[slot]) = entry;
        }
    }
}
