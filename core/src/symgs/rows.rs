//! The rows of a matrix one after the other in the order in which a sweep visits them, so that it
//! reads them as one stream.

use std::ops::Range;

use crate::parallel::*;

use super::Diagonal;
use crate::matrix::{Csr, OffsetWidth, Real, RowPtr};
use crate::memory::zeroed;

/// In which order the entries of a row are subtracted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Columns {
    /// As in the matrix.
    AsInMatrix,
    /// By the places of their elements: as in the matrix renumbered.
    ByPlace,
}

/// Rows in an order of their own, their columns the places of x's elements in the vectors. What lies
/// on either side of the diagonal is kept apart, since a sweep may need one side only.
#[derive(Clone, Debug)]
pub(super) struct OrderedRows<T> {
    before: Side<T>,
    after: Side<T>,
    diagonal: Vec<T>,
    /// Place of the element that each row computes, no two the same; absent where that of row k is k.
    place: Option<Vec<u32>>,
}

/// The entries of all rows on one side of the diagonal.
#[derive(Clone, Debug)]
pub(super) struct Side<T> {
    ptr: RowPtr,
    /// Place of the element that each entry is multiplied with; below the number of rows.
    col: Vec<u32>,
    val: Vec<T>,
}

/// Rows filled at a time by one worker.
const CHUNK: usize = 4096;

impl<T: Real> OrderedRows<T> {
    /// Bytes of the rows of `a` at most.
    pub(super) fn bytes_for(a: &Csr<T>) -> u128 {
        let (n, entries) = (a.rows() as u128, (a.nnz() - a.rows()) as u128);
        let offset = OffsetWidth::of(entries as u64).bytes() as u128;
        2 * offset * (n + 1) + entries * (4 + T::BYTES as u128) + n * (4 + T::BYTES as u128)
    }

    /// Row `order[k]` of `a` becomes row k; element i of x lies at `places[i]`.
    pub(super) fn new(
        a: &Csr<T>,
        diagonal: &Diagonal,
        order: &[u32],
        places: &[u32],
        columns: Columns,
    ) -> Self {
        let source = Source { a, diagonal, places, columns };
        let on_diagonal = |i: usize| a.row_range(i).start + diagonal.before()[i] as usize;
        let same =
            order.par_iter().zip(0..order.len()).all(|(&i, k)| places[i as usize] as usize == k);
        Self {
            before: Side::new(&source, Half::Before, order),
            after: Side::new(&source, Half::After, order),
            diagonal: order.par_iter().map(|&i| a.val()[on_diagonal(i as usize)]).collect(),
            place: (!same).then(|| order.par_iter().map(|&i| places[i as usize]).collect()),
        }
    }

    /// Entries before the diagonals, in the matrix or by place.
    pub(super) fn before(&self) -> &Side<T> {
        &self.before
    }

    /// Entries after the diagonals.
    pub(super) fn after(&self) -> &Side<T> {
        &self.after
    }

    /// The diagonal.
    pub(super) fn diagonal(&self) -> &[T] {
        &self.diagonal
    }

    /// Entries of the rows before row `k`, without the diagonal. Panics when there are fewer rows.
    pub(super) fn entries_before(&self, k: usize) -> usize {
        self.before.ptr.get(k) + self.after.ptr.get(k)
    }

    /// Place of the element that row `k` computes.
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
        sides[0] + sides[1] + T::BYTES as u64 * self.diagonal.len() as u64 + place
    }
}

/// A side of the diagonal.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Half {
    Before,
    After,
}

impl Half {
    fn holds(self, place: u32, own: u32) -> bool {
        match self {
            Self::Before => place < own,
            Self::After => place > own,
        }
    }
}

/// Where ordered rows come from.
struct Source<'a, T> {
    a: &'a Csr<T>,
    diagonal: &'a Diagonal,
    places: &'a [u32],
    columns: Columns,
}

impl<T: Real> Source<'_, T> {
    /// The entries of row `i` that may be on a side: no others, where they stay as in the matrix.
    fn candidates(&self, i: usize, half: Half) -> Range<usize> {
        let Range { start, end } = self.a.row_range(i);
        let diagonal = start + self.diagonal.before()[i] as usize;
        match (self.columns, half) {
            (Columns::AsInMatrix, Half::Before) => start..diagonal,
            (Columns::AsInMatrix, Half::After) => diagonal + 1..end,
            (Columns::ByPlace, _) => start..end,
        }
    }

    fn len(&self, i: usize, half: Half) -> usize {
        let candidates = self.candidates(i, half);
        match self.columns {
            Columns::AsInMatrix => candidates.len(),
            Columns::ByPlace => {
                let places = self.a.col()[candidates].iter().map(|&c| self.places[c as usize]);
                places.filter(|&place| half.holds(place, self.places[i])).count()
            }
        }
    }

    /// Puts places and values of the entries of row `i` on one side into `row`.
    fn entries(&self, i: usize, half: Half, row: &mut Vec<(u32, T)>) {
        let candidates = self.candidates(i, half);
        let (col, val) = (&self.a.col()[candidates.clone()], &self.a.val()[candidates]);
        let entries = col.iter().zip(val);
        row.clear();
        row.extend(entries.map(|(&c, &v)| (self.places[c as usize], v)));
        if self.columns == Columns::ByPlace {
            let own = self.places[i];
            row.retain(|&(place, _)| half.holds(place, own));
            row.sort_unstable_by_key(|&(place, _)| place);
        }
    }
}

impl<T: Real> Side<T> {
    /// One side of the rows, row `order[k]` as row k.
    fn new(source: &Source<'_, T>, half: Half, order: &[u32]) -> Self {
        let lengths: Vec<u32> =
            order.par_iter().map(|&i| source.len(i as usize, half) as u32).collect();
        let ptr = RowPtr::from_lengths(lengths.iter().map(|&length| length as usize));
        drop(lengths);
        let entries = ptr.get(order.len());
        let (mut col, mut val) = (zeroed(0u32, entries), zeroed(T::ZERO, entries));
        let (mut cols_left, mut vals_left) = (col.as_mut_slice(), val.as_mut_slice());
        let mut chunks = Vec::with_capacity(order.len().div_ceil(CHUNK));
        for (c, order) in order.chunks(CHUNK).enumerate() {
            let length = ptr.get(c * CHUNK + order.len()) - ptr.get(c * CHUNK);
            let (cols, rest) = std::mem::take(&mut cols_left).split_at_mut(length);
            cols_left = rest;
            let (vals, rest) = std::mem::take(&mut vals_left).split_at_mut(length);
            vals_left = rest;
            chunks.push((order, cols, vals));
        }
        chunks.into_par_iter().for_each(|(order, cols, vals)| {
            let mut slots = cols.iter_mut().zip(vals);
            let mut row = Vec::new();
            for &i in order {
                source.entries(i as usize, half, &mut row);
                for (&entry, (col, val)) in row.iter().zip(slots.by_ref()) {
                    (*col, *val) = entry;
                }
            }
        });
        Self { ptr, col, val }
    }

    /// Where the entries of each row begin.
    pub(super) fn ptr(&self) -> &RowPtr {
        &self.ptr
    }

    /// Places and values of some entries.
    #[inline(always)]
    pub(super) fn entries(&self, range: Range<usize>) -> (&[u32], &[T]) {
        (&self.col[range.clone()], &self.val[range])
    }

    fn bytes(&self) -> u64 {
        self.ptr.bytes() + (4 + T::BYTES as u64) * self.col.len() as u64
    }
}
