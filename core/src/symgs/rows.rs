//! The rows of a matrix one after the other in the order in which a sweep visits them, so that it
//! reads them as one stream.

use crate::matrix::{Csr, OffsetWidth, Real, RowPtr};
use crate::parallel::*;

use super::Diagonal;

/// In which order the entries of a row are subtracted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Columns {
    /// As in the matrix.
    AsInMatrix,
    /// By the places of their elements: as in the matrix renumbered.
    ByPlace,
}

/// Rows in an order of their own, their columns the places of x's elements in the vectors.
#[derive(Clone, Debug)]
pub(super) struct OrderedRows<T> {
    /// The entries of row k before the diagonal are segment 2k, those after it segment 2k + 1.
    parts: RowPtr,
    /// Place of the element that each entry is multiplied with; below the number of rows.
    col: Vec<u32>,
    val: Vec<T>,
    diagonal: Vec<T>,
    /// Place of the element that each row computes, no two the same; absent where that of row k is k.
    place: Option<Vec<u32>>,
}

/// Rows filled at a time by one worker.
const CHUNK: usize = 4096;

impl<T: Real> OrderedRows<T> {
    /// Bytes of the rows of `a`, with places and without.
    pub(super) fn bytes_for(a: &Csr<T>, with_place: bool) -> u128 {
        let (n, entries) = (a.rows() as u128, (a.nnz() - a.rows()) as u128);
        let offset = OffsetWidth::of(entries as u64).bytes() as u128;
        let value = T::BYTES as u128;
        offset * (2 * n + 1)
            + entries * (4 + value)
            + n * value
            + if with_place { 4 * n } else { 0 }
    }

    /// Row `order[k]` of `a` becomes row k; element i of x lies at `places[i]`.
    pub(super) fn new(
        a: &Csr<T>,
        diagonal: &Diagonal,
        order: &[u32],
        places: &[u32],
        columns: Columns,
    ) -> Self {
        let before = |i: usize| match columns {
            Columns::AsInMatrix => diagonal.before()[i] as usize,
            Columns::ByPlace => {
                a.row(i).0.iter().filter(|&&c| places[c as usize] < places[i]).count()
            }
        };
        let mut lengths = vec![[0u32; 2]; order.len()];
        lengths.par_chunks_mut(CHUNK).zip(order.par_chunks(CHUNK)).for_each(|(lengths, order)| {
            for (length, &i) in lengths.iter_mut().zip(order) {
                let before = before(i as usize);
                *length = [before, a.row_len(i as usize) - 1 - before].map(|l| l as u32);
            }
        });
        let parts = RowPtr::from_lengths(lengths.as_flattened().iter().map(|&l| l as usize));
        drop(lengths);
        let entries = a.nnz() - a.rows();
        let (mut col, mut val) = (vec![0u32; entries], vec![T::ZERO; entries]);
        let mut diagonals = vec![T::ZERO; order.len()];

        let (mut cols_left, mut vals_left) = (col.as_mut_slice(), val.as_mut_slice());
        let chunks = order.chunks(CHUNK).zip(diagonals.chunks_mut(CHUNK)).enumerate();
        let chunks: Vec<_> = chunks
            .map(|(c, (order, diagonals))| {
                let first = c * CHUNK;
                let end = parts.get(2 * (first + order.len()));
                let length = end - parts.get(2 * first);
                let (cols, rest) = std::mem::take(&mut cols_left).split_at_mut(length);
                cols_left = rest;
                let (vals, rest) = std::mem::take(&mut vals_left).split_at_mut(length);
                vals_left = rest;
                (order, diagonals, cols, vals)
            })
            .collect();
        chunks.into_par_iter().for_each(|(order, diagonals, cols, vals)| {
            let mut slots = cols.iter_mut().zip(vals);
            let mut row = Vec::new();
            for (&i, d) in order.iter().zip(diagonals) {
                let (col, val) = a.row(i as usize);
                row.clear();
                for (&c, &v) in col.iter().zip(val) {
                    if c == i {
                        *d = v;
                    } else {
                        row.push((places[c as usize], v));
                    }
                }
                if columns == Columns::ByPlace {
                    row.sort_unstable_by_key(|&(place, _)| place);
                }
                for (&entry, (col, val)) in row.iter().zip(slots.by_ref()) {
                    (*col, *val) = entry;
                }
            }
        });
        let in_place = order.par_iter().enumerate().all(|(k, &i)| places[i as usize] as usize == k);
        let place = (!in_place).then(|| order.par_iter().map(|&i| places[i as usize]).collect());
        Self { parts, col, val, diagonal: diagonals, place }
    }

    /// Where the entries of the rows lie: before the diagonal of row k segment 2k, after it segment
    /// 2k + 1.
    pub(super) fn parts(&self) -> &RowPtr {
        &self.parts
    }

    /// Places and values of all entries off the diagonal.
    pub(super) fn entries(&self) -> (&[u32], &[T]) {
        (&self.col, &self.val)
    }

    /// The diagonal.
    pub(super) fn diagonal(&self) -> &[T] {
        &self.diagonal
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
        let values = T::BYTES as u64 * (self.val.len() + self.diagonal.len()) as u64;
        self.parts.bytes() + 4 * self.col.len() as u64 + values + place
    }
}
