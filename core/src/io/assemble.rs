//! Entries in file order become CSR: count, prefix sum, scatter. Each of a few threads owns a
//! range of rows and walks all entries in file order, so that the result, sums of duplicates
//! included, does not depend on the number of threads.

use crate::parallel::*;

use super::{IoError, Symmetry};
use crate::matrix::{Csr, OffsetWidth, RowPtr, Scalar};
use crate::memory::MemoryLimit;
use crate::memory::zeroed;
use crate::pace::Pace;

/// Entries as they stand in a file, 0-based, every index in range.
pub(super) struct Triplets<T> {
    pub(super) rows: usize,
    pub(super) cols: usize,
    pub(super) row: Vec<u32>,
    pub(super) col: Vec<u32>,
    pub(super) val: Vec<T>,
}

/// A matrix and how many entries were merged into others at the same position.
#[derive(Debug)]
pub(super) struct Assembled<T> {
    pub(super) matrix: Csr<T>,
    pub(super) merged: usize,
}

/// Every thread walks all entries: beyond this many, the walk costs more than the sharing saves.
const MAX_PARTS: usize = 8;

impl<T: Scalar> Triplets<T> {
    fn len(&self) -> usize {
        self.val.len()
    }

    fn bytes_per_entry() -> u128 {
        8 + T::BYTES as u128
    }

    /// Whether (row, col) ascends strictly: the arrays are those of CSR already.
    fn is_row_major(&self) -> bool {
        let (row, col) = (&self.row, &self.col);
        let ascends = |(r, c): (&[u32], &[u32])| match (r, c) {
            (&[r0, r1], &[c0, c1]) => (r0, c0) < (r1, c1),
            _ => true,
        };
        row.par_windows(2).zip(col.par_windows(2)).with_min_len(1 << 14).all(ascends)
    }

    /// Calls `place(row, col, value)` for each entry in file order, the mirrored one right after
    /// its original; the diagonal is not mirrored.
    #[inline(always)]
    fn for_each(&self, symmetry: Symmetry, mut place: impl FnMut(u32, u32, T)) {
        let entries = self.row.iter().zip(&self.col).zip(&self.val);
        if symmetry == Symmetry::General {
            entries.for_each(|((&r, &c), &v)| place(r, c, v));
            return;
        }
        for ((&r, &c), &v) in entries {
            place(r, c, v);
            if r != c {
                let mirrored = match symmetry {
                    Symmetry::General | Symmetry::Symmetric => v,
                    Symmetry::SkewSymmetric => -v,
                    Symmetry::Hermitian => v.conj(),
                };
                place(c, r, mirrored);
            }
        }
    }

    /// The matrix, expanded by `symmetry`, columns ascending in each row, duplicates summed in
    /// file order. Fails before allocating what exceeds `limit`, these entries counted in.
    pub(super) async fn into_csr(
        self,
        symmetry: Symmetry,
        limit: MemoryLimit,
        pace: Pace,
    ) -> Result<Assembled<T>, IoError> {
        let expansion = if symmetry == Symmetry::General { 1 } else { 2 };
        let entries = self.len() as u128 * expansion;
        let offset_bytes = OffsetWidth::of(u64::try_from(entries).unwrap_or(u64::MAX)).bytes();
        let row_bytes = self.rows as u128 * (8 + offset_bytes as u128);
        let staged = self.len() as u128 * Self::bytes_per_entry();
        if symmetry == Symmetry::General && self.is_row_major() {
            limit.check("the matrix", staged + row_bytes)?;
            return self.row_major_into_csr();
        }
        let csr = entries * (4 + T::BYTES as u128);
        limit.check("the matrix", staged + csr + row_bytes + self.rows as u128 * 8)?;
        self.scatter_into_csr(symmetry, pace).await
    }

    fn row_major_into_csr(self) -> Result<Assembled<T>, IoError> {
        let mut lengths = vec![0usize; self.rows];
        let mut unread = self.row.as_slice();
        while let Some(&row) = unread.first() {
            let length = unread.iter().take_while(|&&r| r == row).count();
            if let Some(slot) = lengths.get_mut(row as usize) {
                *slot = length;
            }
            unread = unread.get(length..).unwrap_or_default();
        }
        let row_ptr = RowPtr::from_lengths(lengths.into_iter());
        let matrix = Csr::try_new(self.rows, self.cols, row_ptr, self.col, self.val)?;
        Ok(Assembled { matrix, merged: 0 })
    }

    async fn scatter_into_csr(
        self,
        symmetry: Symmetry,
        pace: Pace,
    ) -> Result<Assembled<T>, IoError> {
        let lengths = self.expanded_row_lengths(symmetry);
        pace.rest().await;
        let mut kept = lengths.clone();
        let total: usize = lengths.iter().sum();
        let mut col = zeroed(0u32, total);
        let mut val = zeroed(T::ZERO, total);
        RowPart::split(&lengths, &mut kept, &mut col, &mut val)
            .into_par_iter()
            .for_each(|part| part.fill(&self, symmetry));
        pace.rest().await;
        let (rows, cols) = (self.rows, self.cols);
        drop(self);
        let merged = total - kept.iter().sum::<usize>();
        if merged > 0 {
            close_gaps(&lengths, &kept, &mut col, &mut val);
        }
        let row_ptr = RowPtr::from_lengths(kept.into_iter());
        Ok(Assembled { matrix: Csr::try_new(rows, cols, row_ptr, col, val)?, merged })
    }

    /// Entries of each row before duplicates are summed.
    fn expanded_row_lengths(&self, symmetry: Symmetry) -> Vec<usize> {
        let mut lengths = vec![0usize; self.rows];
        let rows_per_part = self.rows.div_ceil(parts(self.len())).max(1);
        lengths.par_chunks_mut(rows_per_part).enumerate().for_each(|(k, lengths)| {
            let first_row = k * rows_per_part;
            self.for_each(symmetry, |row, _, _| {
                if let Some(length) = lengths.get_mut((row as usize).wrapping_sub(first_row)) {
                    *length += 1;
                }
            });
        });
        lengths
    }
}

/// Threads worth starting for `entries` entries.
fn parts(entries: usize) -> usize {
    const SMALL: usize = 1 << 14;
    if entries < SMALL { 1 } else { crate::parallel::current_num_threads().clamp(1, MAX_PARTS) }
}

/// A range of rows and the stretch of the CSR arrays that they fill.
struct RowPart<'a, T> {
    first_row: usize,
    lengths: &'a [usize],
    kept: &'a mut [usize],
    col: &'a mut [u32],
    val: &'a mut [T],
}

impl<'a, T: Scalar> RowPart<'a, T> {
    /// Cuts the arrays into contiguous parts of about the same number of entries.
    fn split(
        lengths: &'a [usize],
        mut kept: &'a mut [usize],
        mut col: &'a mut [u32],
        mut val: &'a mut [T],
    ) -> Vec<Self> {
        let target = col.len().div_ceil(parts(col.len())).max(1);
        let mut cut = Vec::new();
        let mut first_row = 0;
        while first_row < lengths.len() {
            let unassigned = lengths.get(first_row..).unwrap_or_default();
            let mut entries = 0;
            let mut rows = 0;
            for length in unassigned {
                if entries >= target {
                    break;
                }
                entries += length;
                rows += 1;
            }
            let (part_kept, rest) = kept.split_at_mut(rows);
            kept = rest;
            let (part_col, rest) = col.split_at_mut(entries);
            col = rest;
            let (part_val, rest) = val.split_at_mut(entries);
            val = rest;
            let lengths = unassigned.get(..rows).unwrap_or_default();
            cut.push(Self { first_row, lengths, kept: part_kept, col: part_col, val: part_val });
            first_row += rows;
        }
        cut
    }

    /// Scatters the entries of these rows, then sorts and sums each row where that is needed.
    fn fill(self, entries: &Triplets<T>, symmetry: Symmetry) {
        let Self { first_row, lengths, kept, col, val } = self;
        let mut next: Vec<usize> = lengths
            .iter()
            .scan(0, |start, length| {
                let this = *start;
                *start += length;
                Some(this)
            })
            .collect();
        entries.for_each(symmetry, |r, c, v| {
            let Some(slot) = next.get_mut((r as usize).wrapping_sub(first_row)) else { return };
            if let (Some(col), Some(val)) = (col.get_mut(*slot), val.get_mut(*slot)) {
                *col = c;
                *val = v;
            }
            *slot += 1;
        });
        let mut scratch = Vec::new();
        let (mut col, mut val) = (col, val);
        for (length, kept) in lengths.iter().zip(kept) {
            let (row_col, rest) = col.split_at_mut(*length);
            col = rest;
            let (row_val, rest) = val.split_at_mut(*length);
            val = rest;
            if !row_col.is_sorted_by(|a, b| a < b) {
                *kept = sort_and_sum(row_col, row_val, &mut scratch);
            }
        }
    }
}

/// Sorts a row by column and sums duplicates in the order in which they stand; returns how many
/// entries remain at the front.
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

/// Moves the entries that each row kept to the front of the arrays, and cuts the rest off.
fn close_gaps<T: Scalar>(lengths: &[usize], kept: &[usize], col: &mut Vec<u32>, val: &mut Vec<T>) {
    let (mut from, mut to) = (0, 0);
    for (length, kept) in lengths.iter().zip(kept) {
        col.copy_within(from..from + kept, to);
        val.copy_within(from..from + kept, to);
        from += length;
        to += kept;
    }
    col.truncate(to);
    val.truncate(to);
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::pace::at_once;

    fn triplets(rows: usize, cols: usize, entries: &[(u32, u32, f64)]) -> Triplets<f64> {
        Triplets {
            rows,
            cols,
            row: entries.iter().map(|e| e.0).collect(),
            col: entries.iter().map(|e| e.1).collect(),
            val: entries.iter().map(|e| e.2).collect(),
        }
    }

    fn assemble(t: Triplets<f64>, symmetry: Symmetry) -> Assembled<f64> {
        at_once(t.into_csr(symmetry, MemoryLimit::unlimited(), Pace::AtOnce)).unwrap()
    }

    #[test]
    fn duplicates_are_summed_in_file_order_whatever_lies_between() {
        // In any other order than this one the three sum to 0 or 1e16.
        let t =
            triplets(2, 2, &[(0, 1, 1e16), (1, 0, 5.0), (0, 1, 1.0), (0, 0, 2.0), (0, 1, -1e16)]);
        let a = assemble(t, Symmetry::General);
        assert_eq!(a.merged, 2);
        assert_eq!(a.matrix.row(0), (&[0u32, 1][..], &[2.0, (1e16 + 1.0) - 1e16][..]));
        assert_eq!(a.matrix.row(1), (&[0u32][..], &[5.0][..]));
    }

    #[test]
    fn the_thread_count_does_not_change_one_bit() {
        let rows = 300u32;
        let entries: Vec<(u32, u32, f64)> = (0..60_000u32)
            .map(|k| (k.wrapping_mul(2_654_435_761) % rows, k * k % 97, 1.0 / f64::from(k + 1)))
            .collect();
        let build = |threads| {
            rayon::ThreadPoolBuilder::new()
                .num_threads(threads)
                .build()
                .unwrap()
                .install(|| assemble(triplets(300, 300, &entries), Symmetry::Symmetric).matrix)
        };
        let one = build(1);
        assert_eq!(one, build(2));
        assert_eq!(one, build(7));
    }

    #[test]
    fn a_matrix_over_the_limit_is_refused_before_allocating() {
        let t = triplets(4_000_000_000, 1, &[(0, 0, 1.0)]);
        let error =
            at_once(t.into_csr(Symmetry::General, MemoryLimit::bytes(1 << 30), Pace::AtOnce))
                .unwrap_err();
        // 12 bytes a row (counter and offset) and 16 for the entry.
        assert!(error.to_string().contains("needs 48000000016 bytes (48.0 GB)"), "{error}");
    }

    proptest! {
        #[test]
        fn any_entries_give_the_matrix_of_the_plain_constructor(
            entries in prop::collection::vec((0u32..9, 0u32..7, -3i8..4), 0..120),
        ) {
            let floats: Vec<_> = entries.iter().map(|&(r, c, v)| (r, c, f64::from(v))).collect();
            let plain: Vec<_> =
                floats.iter().map(|&(r, c, v)| (r as usize, c as usize, v)).collect();
            let expected = Csr::from_triplets(9, 7, &plain).unwrap();
            let found = assemble(triplets(9, 7, &floats), Symmetry::General);
            prop_assert_eq!(found.merged, entries.len() - expected.nnz());
            prop_assert_eq!(found.matrix, expected);
        }
    }
}
