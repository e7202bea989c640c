//! The rows of a matrix one after the other in the order in which a sweep visits them, so that it
//! reads them as one stream.

use std::ops::Range;

use crate::parallel::*;

use super::Diagonal;
use crate::matrix::{Csr, OffsetWidth, Real, RowPtr};

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
        let is_before = |i: usize, c: u32| match columns {
            Columns::AsInMatrix => (c as usize) < i,
            Columns::ByPlace => places[c as usize] < places[i],
        };
        let entry = |i: usize| a.row_range(i).start + diagonal.before()[i] as usize;
        let place = (!order.iter().enumerate().all(|(k, &i)| places[i as usize] as usize == k))
            .then(|| order.iter().map(|&i| places[i as usize]).collect());
        Self {
            before: Side::new(a, order, places, columns, is_before),
            after: Side::new(a, order, places, columns, |i, c| c as usize != i && !is_before(i, c)),
            diagonal: order.par_iter().map(|&i| a.val()[entry(i as usize)]).collect(),
            place,
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

impl<T: Real> Side<T> {
    /// The entries (i, c) of `a` that are on this side, row `order[k]` as row k.
    fn new(
        a: &Csr<T>,
        order: &[u32],
        places: &[u32],
        columns: Columns,
        is_here: impl Fn(usize, u32) -> bool + Sync,
    ) -> Self {
        let mut lengths = vec![0u32; order.len()];
        lengths.par_chunks_mut(CHUNK).zip(order.par_chunks(CHUNK)).for_each(|(lengths, order)| {
            for (length, &i) in lengths.iter_mut().zip(order) {
                let here = a.row(i as usize).0.iter().filter(|&&c| is_here(i as usize, c));
                *length = here.count() as u32;
            }
        });
        let ptr = RowPtr::from_lengths(lengths.iter().map(|&length| length as usize));
        drop(lengths);
        let entries = ptr.get(order.len());
        let (mut col, mut val) = (vec![0u32; entries], vec![T::ZERO; entries]);
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
                let (col, val) = a.row(i as usize);
                let here = col.iter().zip(val).filter(|&(&c, _)| is_here(i as usize, c));
                row.clear();
                row.extend(here.map(|(&c, &v)| (places[c as usize], v)));
                if columns == Columns::ByPlace {
                    row.sort_unstable_by_key(|&(place, _)| place);
                }
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
