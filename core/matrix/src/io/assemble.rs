//! Builds CSR from nonzeros in file order in two passes. The first counts the nonzeros of each row,
//! the second puts each in its place, so that only the matrix is kept in memory. One thread owns each
//! row and takes its nonzeros in file order: the result, sums of duplicates included, does not depend
//! on the number of threads.

use crate::parallel::*;

use super::IoError;
use super::parts::{Buckets, Dealt, Parts};
use crate::matrix::{Csr, OffsetWidth, RowPtr, Scalar};
use crate::memory::{MemoryLimit, zeroed};

/// A nonzero as given in a file, 0-based, its indices in range.
#[derive(Clone, Copy)]
pub(super) struct Entry<T> {
    pub(super) row: u32,
    pub(super) col: u32,
    pub(super) val: T,
}

/// A matrix and the number of nonzeros merged into others at the same position.
#[derive(Debug)]
pub(super) struct Assembled<T> {
    pub(super) matrix: Csr<T>,
    pub(super) merged: usize,
}

/// Number of nonzeros of each row, after the first pass; element k + 1 is for row k.
pub(super) struct Counts {
    rows: usize,
    counts: RowPtr,
}

/// The arrays of the matrix between the passes.
pub(super) struct Arrays<T> {
    rows: usize,
    cols: usize,
    /// Before the second pass the place of the next nonzero of each row; after it, the end of the row.
    pub(super) row_ptr: RowPtr,
    pub(super) col: Vec<u32>,
    pub(super) val: Vec<T>,
}

impl Counts {
    /// Counts for rows without nonzeros so far; there will be at most `most` nonzeros.
    pub(super) fn new(rows: usize, most: u64, limit: MemoryLimit) -> Result<Self, IoError> {
        let width = OffsetWidth::of(most);
        limit.check("the matrix", (rows as u128 + 1) * width.bytes() as u128)?;
        let counts = match width {
            OffsetWidth::Narrow => RowPtr::Narrow(zeroed(0, rows + 1)),
            OffsetWidth::Wide => RowPtr::Wide(zeroed(0, rows + 1)),
        };
        Ok(Self { rows, counts })
    }

    /// The counts of each block of rows.
    pub(super) fn dealt(&mut self, parts: Parts) -> Dealt<Places<'_>> {
        parts.deal(blocks(self.rows, Places::after_first(&mut self.counts)))
    }

    /// Adds a nonzero to a row of a block.
    #[cfg_attr(not(target_family = "wasm"), inline(always))]
    pub(super) fn add(block: &mut Places<'_>, row: usize) {
        block.next(row);
    }

    /// Adds a nonzero to a row.
    pub(super) fn count(&mut self, row: u32) {
        let _ = Places::after_first(&mut self.counts).next(row as usize);
    }

    /// Allocates memory for the counted nonzeros. Fails when that exceeds `limit`.
    pub(super) fn into_arrays<T: Scalar>(
        mut self,
        cols: usize,
        limit: MemoryLimit,
    ) -> Result<Arrays<T>, IoError> {
        let entries = match &mut self.counts {
            RowPtr::Narrow(counts) => scan(counts),
            RowPtr::Wide(counts) => scan(counts),
        };
        self.with_room(cols, entries, limit)
    }

    /// Allocates memory for this many nonzeros, even if none was counted. Fails when that exceeds `limit`.
    pub(super) fn with_room<T: Scalar>(
        self,
        cols: usize,
        entries: u64,
        limit: MemoryLimit,
    ) -> Result<Arrays<T>, IoError> {
        let Self { rows, counts: row_ptr } = self;
        let bytes = u128::from(entries) * (4 + T::BYTES as u128) + u128::from(row_ptr.bytes());
        limit.check("the matrix", bytes)?;
        let entries = entries as usize;
        let (col, val) = (zeroed(0u32, entries), zeroed(T::ZERO, entries));
        Ok(Arrays { rows, cols, row_ptr, col, val })
    }
}

/// Replaces the counts by the beginning of each row; returns their sum.
fn scan<O: Copy + Into<u64> + TryFrom<u64>>(counts: &mut [O]) -> u64 {
    let mut sum = 0;
    for count in counts.iter_mut().skip(1) {
        let begin = sum;
        sum += (*count).into();
        // A sum never exceeds the number of nonzeros, for which the width was chosen.
        *count = O::try_from(begin).unwrap_or(*count);
    }
    sum
}

/// Counts, or places of the next nonzeros, of some rows.
pub(super) enum Places<'a> {
    Narrow(&'a mut [u32]),
    Wide(&'a mut [u64]),
}

impl<'a> Places<'a> {
    pub(super) fn after_first(array: &'a mut RowPtr) -> Self {
        match array {
            RowPtr::Narrow(array) => Self::Narrow(array.get_mut(1..).unwrap_or_default()),
            RowPtr::Wide(array) => Self::Wide(array.get_mut(1..).unwrap_or_default()),
        }
    }

    pub(super) fn split_off(&mut self, count: usize) -> Self {
        match self {
            Self::Narrow(rows) => Self::Narrow(rows.split_off_mut(..count).unwrap_or_default()),
            Self::Wide(rows) => Self::Wide(rows.split_off_mut(..count).unwrap_or_default()),
        }
    }

    /// Returns the number of a row and increments it.
    #[cfg_attr(not(target_family = "wasm"), inline(always))]
    fn next(&mut self, row: usize) -> Option<usize> {
        match self {
            Self::Narrow(rows) => {
                let slot = rows.get_mut(row)?;
                *slot = slot.wrapping_add(1);
                Some(slot.wrapping_sub(1) as usize)
            }
            Self::Wide(rows) => {
                let slot = rows.get_mut(row)?;
                *slot = slot.wrapping_add(1);
                Some(slot.wrapping_sub(1) as usize)
            }
        }
    }
}

/// Splits the places into blocks of rows.
fn blocks(rows: usize, mut places: Places<'_>) -> impl Iterator<Item = Places<'_>> {
    let mut first = 0;
    std::iter::from_fn(move || {
        let count = Parts::block_len(rows, first);
        first += count;
        (count > 0).then(|| places.split_off(count))
    })
}

/// Where the nonzeros of a block of rows go.
pub(super) struct Block<'a, T> {
    next: Places<'a>,
    first_slot: usize,
    col: &'a mut [u32],
    val: &'a mut [T],
}

impl<T: Scalar> Block<'_, T> {
    /// Appends a nonzero to those of its row. A nonzero for which there is no space is dropped, as
    /// happens when a file changes while it is read.
    #[cfg_attr(not(target_family = "wasm"), inline(always))]
    pub(super) fn put(&mut self, row: usize, entry: Entry<T>) {
        let Some(slot) = self.next.next(row) else { return };
        let slot = slot.wrapping_sub(self.first_slot);
        if let (Some(col), Some(val)) = (self.col.get_mut(slot), self.val.get_mut(slot)) {
            *col = entry.col;
            *val = entry.val;
        }
    }
}

impl<T: Scalar> Arrays<T> {
    /// The blocks of rows with their parts of the arrays, which are filled by nonzeros in any order.
    pub(super) fn dealt(&mut self, parts: Parts) -> Dealt<Block<'_, T>> {
        let (rows, entries) = (self.rows, self.col.len());
        let mut ends = Vec::with_capacity(rows.div_ceil(Parts::block_len(rows, 0).max(1)));
        let mut first = 0;
        while first < rows {
            first += Parts::block_len(rows, first);
            // Element k + 1 holds the beginning of row k, so that the end of a block is one element
            // further.
            ends.push(if first < rows { self.row_ptr.get(first + 1) } else { entries });
        }
        let (mut col, mut val) = (&mut self.col[..], &mut self.val[..]);
        let mut first_slot = 0;
        let places = blocks(rows, Places::after_first(&mut self.row_ptr));
        parts.deal(places.zip(ends).map(move |(next, end)| {
            let count = end - first_slot;
            let col = col.split_off_mut(..count).unwrap_or_default();
            let val = val.split_off_mut(..count).unwrap_or_default();
            let block = Block { next, first_slot, col, val };
            first_slot = end;
            block
        }))
    }

    /// Distributes nonzeros to the blocks of their rows.
    pub(super) fn put(blocks: &mut Dealt<Block<'_, T>>, stretches: &[&Buckets<Entry<T>>]) {
        blocks.hand_out(stretches, |entry| entry.row, |block, row, entry| block.put(row, entry));
    }

    /// Appends a nonzero to those of its row, as [`Block::put`] does.
    pub(super) fn append(&mut self, entry: Entry<T>) {
        let next = Places::after_first(&mut self.row_ptr).next(entry.row as usize);
        let Some(slot) = next else { return };
        if let (Some(col), Some(val)) = (self.col.get_mut(slot), self.val.get_mut(slot)) {
            *col = entry.col;
            *val = entry.val;
        }
    }

    /// The matrix, columns ascending in each row, duplicates summed in file order.
    pub(super) fn into_csr(mut self) -> Result<Assembled<T>, IoError> {
        let entries = self.col.len();
        self.check_whole()?;
        let shortened = self.sort_rows();
        if !shortened.is_empty() {
            let kept = match &mut self.row_ptr {
                RowPtr::Narrow(ends) => close_gaps(ends, &shortened, &mut self.col, &mut self.val),
                RowPtr::Wide(ends) => close_gaps(ends, &shortened, &mut self.col, &mut self.val),
            };
            self.col.truncate(kept);
            self.val.truncate(kept);
        }
        let Self { rows, cols, row_ptr, col, val } = self;
        let row_ptr = match row_ptr {
            RowPtr::Wide(offsets) => RowPtr::from_offsets(offsets),
            narrow => narrow,
        };
        let merged = entries - col.len();
        Ok(Assembled { matrix: Csr::try_new(rows, cols, row_ptr, col, val)?, merged })
    }

    /// Fails when the second pass did not find the nonzeros that the first counted.
    fn check_whole(&self) -> Result<(), IoError> {
        let end = self.row_ptr.get(self.rows);
        let descends = |row: &usize| self.row_ptr.get(row + 1) < self.row_ptr.get(*row);
        if end == self.col.len() && (0..self.rows).into_par_iter().find_first(descends).is_none() {
            return Ok(());
        }
        let error = std::io::Error::other("it changed while being read");
        Err(IoError::System { doing: "read the file", error })
    }

    /// Sorts each row whose columns do not ascend and sums its duplicates. Returns the rows that
    /// became shorter, ascending, with the number of nonzeros left at their front.
    fn sort_rows(&mut self) -> Vec<(usize, usize)> {
        let row_ptr = &self.row_ptr;
        let (mut col, mut val) = (&mut self.col[..], &mut self.val[..]);
        let mut pieces = Vec::new();
        for rows in row_ptr.pieces(1 << 16) {
            let count = row_ptr.get(rows.end).saturating_sub(row_ptr.get(rows.start));
            let col = col.split_off_mut(..count).unwrap_or_default();
            let val = val.split_off_mut(..count).unwrap_or_default();
            pieces.push((rows, col, val));
        }
        let sorted = pieces.into_par_iter().map(|(rows, mut col, mut val)| {
            let mut shortened = Vec::new();
            let mut scratch = Vec::new();
            for row in rows {
                let length = row_ptr.range(row).len();
                let row_col = col.split_off_mut(..length).unwrap_or_default();
                let row_val = val.split_off_mut(..length).unwrap_or_default();
                if !row_col.is_sorted_by(|a, b| a < b) {
                    let kept = sort_and_sum(row_col, row_val, &mut scratch);
                    if kept < length {
                        shortened.push((row, kept));
                    }
                }
            }
            shortened
        });
        let shortened: Vec<Vec<_>> = sorted.collect();
        shortened.into_iter().flatten().collect()
    }
}

/// Sorts a row by column and sums duplicates in file order; returns the number of nonzeros left at the
/// front.
fn sort_and_sum<T: Scalar>(col: &mut [u32], val: &mut [T], row: &mut Vec<(u32, T)>) -> usize {
    row.clear();
    row.extend(col.iter().copied().zip(val.iter().copied()));
    row.sort_by_key(|&(c, _)| c);
    row.dedup_by(|later, first| {
        let same = later.0 == first.0;
        if same {
            first.1 += later.1;
        }
        same
    });
    for ((c, v), &(sorted_c, sorted_v)) in col.iter_mut().zip(val.iter_mut()).zip(row.iter()) {
        *c = sorted_c;
        *v = sorted_v;
    }
    row.len()
}

/// Moves the remaining nonzeros of each row to the front of the arrays; returns their number.
fn close_gaps<T: Scalar, O: Copy + Into<u64> + TryFrom<u64>>(
    ends: &mut [O],
    shortened: &[(usize, usize)],
    col: &mut [u32],
    val: &mut [T],
) -> usize {
    let mut shortened = shortened.iter().peekable();
    let (mut from, mut to) = (0usize, 0usize);
    for (row, end) in ends.iter_mut().skip(1).enumerate() {
        let next = (*end).into() as usize;
        let kept = match shortened.next_if(|(shorter, _)| *shorter == row) {
            Some(&(_, kept)) => kept,
            None => next - from,
        };
        col.copy_within(from..from + kept, to);
        val.copy_within(from..from + kept, to);
        from = next;
        to += kept;
        // An offset that moves to the front still fits.
        *end = O::try_from(to as u64).unwrap_or(*end);
    }
    to
}
