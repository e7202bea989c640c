//! Compressed sparse rows (CSR): the format that readers build, that every format converts from and
//! that every result is checked against. Names in the papers: `IRP`/`iat` = `row_ptr`, `JA`/`ja` =
//! `col`, `AS`/`coef` = `val`.

use std::ops::Range;

use crate::parallel::*;

use super::copied::copied;
use super::{FormatError, RowPtr, Scalar, SlotLayout};
use crate::memory::zeroed;

/// An m × n matrix in CSR: the nonzeros of row i are `col[row_ptr[i]..row_ptr[i+1]]` and the same
/// range of `val`, columns strictly ascending.
///
/// `nnz` counts stored nonzeros, explicit zeros included.
///
/// ```
/// use sparsescope_matrix::matrix::Csr;
/// let a = Csr::from_triplets(2, 3, &[(0, 1, 5.0), (1, 0, 1.0), (1, 2, 2.0)])?;
/// assert_eq!(a.row(1), (&[0u32, 2][..], &[1.0, 2.0][..]));
/// # Ok::<(), sparsescope_matrix::matrix::FormatError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Csr<T = f64> {
    rows: usize,
    cols: usize,
    row_ptr: RowPtr,
    col: Vec<u32>,
    val: Vec<T>,
}

impl<T: Scalar> Csr<T> {
    /// Takes the three arrays after checking that `row_ptr` has `rows + 1` ascending offsets from
    /// 0 to `col.len() == val.len()` and that the columns of each row ascend strictly below `cols`.
    pub fn try_new(
        rows: usize,
        cols: usize,
        row_ptr: RowPtr,
        col: Vec<u32>,
        val: Vec<T>,
    ) -> Result<Self, FormatError> {
        check_dimensions(rows, cols)?;
        check_len("row_ptr", row_ptr.len(), rows + 1)?;
        check_len("val", val.len(), col.len())?;
        check_offsets("row_ptr", &row_ptr, col.len())?;
        let row = |i: usize| &col[row_ptr.range(i)];
        match (0..rows).into_par_iter().find_first(|&i| !is_row(row(i), cols)) {
            Some(i) => Err(why_no_row(i, row(i), cols)),
            None => Ok(Self { rows, cols, row_ptr, col, val }),
        }
    }

    /// Builds a matrix with the row lengths of `row_ptr`; `fill(row, columns, values)` writes each
    /// row. Rows are filled in parallel, piece by piece, and checked as in
    /// [`try_new`](Self::try_new).
    pub(crate) fn filled(
        rows: usize,
        cols: usize,
        row_ptr: RowPtr,
        fill: impl Fn(usize, &mut [u32], &mut [T]) + Sync,
    ) -> Result<Self, FormatError> {
        check_dimensions(rows, cols)?;
        check_len("row_ptr", row_ptr.len(), rows + 1)?;
        let nnz = row_ptr.get(rows);
        check_offsets("row_ptr", &row_ptr, nnz)?;
        let (mut col, mut val) = (zeroed(0u32, nnz), zeroed(T::ZERO, nnz));
        let mut pieces = Vec::new();
        let (mut free_col, mut free_val) = (&mut col[..], &mut val[..]);
        for rows in row_ptr.pieces(ENTRIES_PER_PIECE) {
            let count = row_ptr.get(rows.end) - row_ptr.get(rows.start);
            let col = free_col.split_off_mut(..count).unwrap_or_default();
            let val = free_val.split_off_mut(..count).unwrap_or_default();
            pieces.push((rows, col, val));
        }
        let bad = pieces.into_par_iter().find_map_first(|(rows, mut col, mut val)| {
            for i in rows {
                let length = row_ptr.range(i).len();
                let row_col = col.split_off_mut(..length).unwrap_or_default();
                let row_val = val.split_off_mut(..length).unwrap_or_default();
                fill(i, row_col, row_val);
                if !is_row(row_col, cols) {
                    return Some(why_no_row(i, row_col, cols));
                }
            }
            None
        });
        match bad {
            Some(error) => Err(error),
            None => Ok(Self { rows, cols, row_ptr, col, val }),
        }
    }

    /// Builds a matrix from `(row, col, value)` in any order; duplicates are summed in the given
    /// order.
    pub fn from_triplets(
        rows: usize,
        cols: usize,
        triplets: &[(usize, usize, T)],
    ) -> Result<Self, FormatError> {
        check_dimensions(rows, cols)?;
        for &(r, c, _) in triplets {
            if r >= rows {
                return Err(FormatError::RowOutOfRange { row: r as u64, rows });
            }
            if c >= cols {
                return Err(FormatError::ColumnOutOfRange { row: r, col: c as u64, cols });
            }
        }
        let mut order: Vec<usize> = (0..triplets.len()).collect();
        order.sort_by_key(|&k| (triplets[k].0, triplets[k].1));
        let mut lengths = vec![0usize; rows];
        let mut col: Vec<u32> = Vec::with_capacity(triplets.len());
        let mut val: Vec<T> = Vec::with_capacity(triplets.len());
        let mut previous = None;
        for k in order {
            let (r, c, v) = triplets[k];
            if previous == Some((r, c)) {
                if let Some(last) = val.last_mut() {
                    *last += v;
                }
            } else {
                lengths[r] += 1;
                col.push(c as u32);
                val.push(v);
            }
            previous = Some((r, c));
        }
        Self::try_new(rows, cols, RowPtr::from_lengths(lengths.into_iter()), col, val)
    }

    /// Number of rows m.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Number of columns n.
    pub fn cols(&self) -> usize {
        self.cols
    }

    /// Number of stored nonzeros.
    pub fn nnz(&self) -> usize {
        self.col.len()
    }

    /// The `rows + 1` row offsets.
    pub fn row_ptr(&self) -> &RowPtr {
        &self.row_ptr
    }

    /// Column of every nonzero, row by row.
    pub fn col(&self) -> &[u32] {
        &self.col
    }

    /// Value of every nonzero, row by row.
    pub fn val(&self) -> &[T] {
        &self.val
    }

    /// The three arrays: row offsets, columns and values.
    pub fn into_arrays(self) -> (RowPtr, Vec<u32>, Vec<T>) {
        (self.row_ptr, self.col, self.val)
    }

    /// The range of row `i`'s nonzeros in [`col`](Self::col) and [`val`](Self::val).
    /// Panics when `i >= rows`.
    #[inline]
    pub fn row_range(&self, i: usize) -> Range<usize> {
        self.row_ptr.range(i)
    }

    /// Number of nonzeros of row `i`. Panics when `i >= rows`.
    #[inline]
    pub fn row_len(&self, i: usize) -> usize {
        self.row_range(i).len()
    }

    /// Columns and values of row `i`. Panics when `i >= rows`.
    #[inline]
    pub fn row(&self, i: usize) -> (&[u32], &[T]) {
        let range = self.row_range(i);
        (&self.col[range.clone()], &self.val[range])
    }

    /// Length of the longest row; 0 without rows.
    pub fn max_row_len(&self) -> usize {
        (0..self.rows).into_par_iter().map(|i| self.row_len(i)).max().unwrap_or(0)
    }

    /// Bytes of the three arrays.
    pub fn bytes(&self) -> u64 {
        self.row_ptr.bytes() + self.nnz() as u64 * (4 + T::BYTES as u64)
    }

    /// Minimum bytes that one SpMV moves: the three arrays, y and x once each.
    pub fn minimal_bytes(&self) -> u64 {
        self.bytes() + T::BYTES as u64 * (self.rows + self.cols) as u64
    }

    /// The same structure with each value mapped.
    pub fn map<U: Scalar>(&self, f: impl Fn(T) -> U + Sync) -> Csr<U> {
        const CHUNK: usize = 1 << 16;
        let mut val = zeroed(U::ZERO, self.nnz());
        val.par_chunks_mut(CHUNK).zip(self.val.par_chunks(CHUNK)).for_each(|(val, from)| {
            for (val, &from) in val.iter_mut().zip(from) {
                *val = f(from);
            }
        });
        let row_ptr = match &self.row_ptr {
            RowPtr::Narrow(offsets) => RowPtr::Narrow(copied(offsets)),
            RowPtr::Wide(offsets) => RowPtr::Wide(copied(offsets)),
        };
        Csr { rows: self.rows, cols: self.cols, row_ptr, col: copied(&self.col), val }
    }

    /// Bytes that [`transpose`](Self::transpose) allocates.
    pub fn transpose_bytes(&self) -> u128 {
        // For each column its offset, and while it is filled where its next nonzero goes.
        16 * (self.cols as u128 + 1) + self.nnz() as u128 * (4 + T::BYTES) as u128
    }

    /// The n × m transpose (values not conjugated): count, prefix sum, scatter.
    pub fn transpose(&self) -> Self {
        let mut next = vec![0usize; self.cols];
        for &c in &self.col {
            next[c as usize] += 1;
        }
        let row_ptr = RowPtr::from_lengths(next.iter().copied());
        for (c, next) in next.iter_mut().enumerate() {
            *next = row_ptr.get(c);
        }
        let mut col = vec![0u32; self.nnz()];
        let mut val = vec![T::ZERO; self.nnz()];
        for i in 0..self.rows {
            for k in self.row_range(i) {
                let slot = &mut next[self.col[k] as usize];
                col[*slot] = i as u32;
                val[*slot] = self.val[k];
                *slot += 1;
            }
        }
        Self { rows: self.cols, cols: self.rows, row_ptr, col, val }
    }
}

/// Slot k is nonzero k in row-major order, as in COO.
impl<T: Scalar> SlotLayout for Csr<T> {
    fn slots(&self) -> u64 {
        self.nnz() as u64
    }

    fn row_slots(&self, row: usize) -> usize {
        self.row_len(row)
    }

    fn slot(&self, row: usize, j: usize) -> u64 {
        (self.row_range(row).start + j) as u64
    }
}

/// Nonzeros of the rows that are filled at a time: they stay in the L2 cache.
const ENTRIES_PER_PIECE: usize = 1 << 14;

/// Whether these are valid columns of a row: ascending, all below `cols`.
fn is_row(columns: &[u32], cols: usize) -> bool {
    // No early exit: the CPU compares several pairs at once.
    let ascending = columns.windows(2).fold(true, |so_far, w| so_far & (w[0] < w[1]));
    ascending && columns.last().is_none_or(|&c| (c as usize) < cols)
}

/// The error for a row that fails [`is_row`].
fn why_no_row(row: usize, columns: &[u32], cols: usize) -> FormatError {
    match columns.iter().find(|&&c| c as usize >= cols) {
        Some(&c) => FormatError::ColumnOutOfRange { row, col: u64::from(c), cols },
        None => FormatError::ColumnsNotAscending { row },
    }
}

/// Checks that rows and columns can be numbered with `u32`.
pub(crate) fn check_dimensions(rows: usize, cols: usize) -> Result<(), FormatError> {
    if rows as u64 > u64::from(u32::MAX) || cols as u64 > u64::from(u32::MAX) {
        return Err(FormatError::DimensionTooLarge { rows: rows as u64, cols: cols as u64 });
    }
    Ok(())
}

pub(crate) fn check_len(
    array: &'static str,
    found: usize,
    expected: usize,
) -> Result<(), FormatError> {
    if found == expected {
        Ok(())
    } else {
        Err(FormatError::Length { array, expected: expected as u64, found: found as u64 })
    }
}

/// Checks that offsets start at 0, never descend and end at `end`.
pub(crate) fn check_offsets(
    array: &'static str,
    offsets: &RowPtr,
    end: usize,
) -> Result<(), FormatError> {
    if offsets.get(0) != 0 || offsets.get(offsets.len() - 1) != end {
        return Err(FormatError::OffsetEnds { array, end: end as u64 });
    }
    let descent =
        (1..offsets.len()).into_par_iter().find_first(|&k| offsets.get(k) < offsets.get(k - 1));
    match descent {
        Some(at) => Err(FormatError::OffsetsDescend { array, at }),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tor_vergata_example_has_the_arrays_of_the_paper() {
        let a = crate::matrix::examples::five_by_five();
        assert_eq!(a.row_ptr(), &RowPtr::Narrow(vec![0, 2, 4, 6, 8, 10]));
        assert_eq!(a.col(), [0, 1, 1, 2, 1, 2, 2, 3, 3, 4]);
        assert_eq!(a.val(), [3.0, 4.0, 5.0, 1.0, 1.0, 2.0, 2.0, 3.0, 1.0, 6.0]);
    }

    #[test]
    fn the_thesis_example_has_the_arrays_of_the_thesis() {
        let a = crate::matrix::examples::four_by_four();
        assert_eq!(a.row_ptr(), &RowPtr::Narrow(vec![0, 2, 4, 7, 9]));
        assert_eq!(a.col(), [0, 1, 1, 2, 0, 2, 3, 1, 3]);
        assert_eq!(a.val(), [1.0, 7.0, 2.0, 8.0, 5.0, 3.0, 9.0, 6.0, 4.0]);
    }

    #[test]
    fn duplicates_are_summed_in_the_order_given() {
        let triplets = [(0, 0, 1e16), (0, 0, 1.0), (0, 0, -1e16)];
        let a = Csr::from_triplets(1, 1, &triplets).unwrap();
        assert_eq!(a.val(), [(1e16 + 1.0) - 1e16]);
    }

    #[test]
    fn arrays_that_do_not_describe_a_matrix_are_refused() {
        let ptr = |p: &[u32]| RowPtr::Narrow(p.to_vec());
        let build = |rows, cols, p: &[u32], c: &[u32]| {
            Csr::try_new(rows, cols, ptr(p), c.to_vec(), vec![1.0; c.len()]).unwrap_err()
        };
        assert!(matches!(build(2, 2, &[0, 1], &[0]), FormatError::Length { .. }));
        assert!(matches!(build(2, 2, &[0, 1, 3], &[0, 1]), FormatError::OffsetEnds { .. }));
        assert!(matches!(build(2, 2, &[1, 1, 1], &[0]), FormatError::OffsetEnds { .. }));
        assert!(matches!(
            build(3, 2, &[0, 2, 1, 2], &[0, 1]),
            FormatError::OffsetsDescend { at: 2, .. }
        ));
        assert!(matches!(build(1, 2, &[0, 1], &[2]), FormatError::ColumnOutOfRange { col: 2, .. }));
        assert!(matches!(
            build(1, 2, &[0, 2], &[1, 1]),
            FormatError::ColumnsNotAscending { row: 0 }
        ));
    }

    #[test]
    fn transposing_twice_gives_the_matrix_back() {
        let a = crate::matrix::examples::four_by_four();
        assert_eq!(a.transpose().transpose(), a);
        assert_eq!(a.transpose().row(1), (&[0u32, 1, 3][..], &[7.0, 2.0, 6.0][..]));
    }
}
