//! Coordinate format (COO): row, column and value of every nonzero, row by row.

use crate::parallel::*;

use super::copied::copied;
use super::csr::{check_dimensions, check_len};
use super::{Csr, FormatError, Offset, OffsetWidth, RowPtr, Scalar};
use crate::memory::{MemoryLimit, zeroed};

/// An m × n matrix as `nnz` coordinates in row-major order, columns ascending in each row, without
/// duplicates.
#[derive(Clone, Debug, PartialEq)]
pub struct Coo<T = f64> {
    rows: usize,
    cols: usize,
    row: Vec<u32>,
    col: Vec<u32>,
    val: Vec<T>,
}

impl<T: Scalar> Coo<T> {
    /// Takes the arrays after checking lengths, ranges and order.
    pub fn try_new(
        rows: usize,
        cols: usize,
        row: Vec<u32>,
        col: Vec<u32>,
        val: Vec<T>,
    ) -> Result<Self, FormatError> {
        check_dimensions(rows, cols)?;
        check_len("col", col.len(), row.len())?;
        check_len("val", val.len(), row.len())?;
        if let Some(&r) = row.iter().find(|&&r| r as usize >= rows) {
            return Err(FormatError::RowOutOfRange { row: u64::from(r), rows });
        }
        if let Some(k) = col.iter().position(|&c| c as usize >= cols) {
            let (row, col) = (row[k] as usize, u64::from(col[k]));
            return Err(FormatError::ColumnOutOfRange { row, col, cols });
        }
        let at = |k: usize| (row[k], col[k]);
        if let Some(k) = (1..row.len()).find(|&k| at(k - 1) >= at(k)) {
            return Err(FormatError::Invariant(format!(
                "coordinate {k} (0-based) is not in row-major order"
            )));
        }
        Ok(Self { rows, cols, row, col, val })
    }

    /// Bytes that [`from_csr`](Self::from_csr) will allocate.
    pub fn bytes_needed(a: &Csr<T>) -> u128 {
        a.nnz() as u128 * (8 + T::BYTES as u128)
    }

    /// The same nonzeros, with the row of each stored explicitly.
    pub fn from_csr(a: &Csr<T>, limit: MemoryLimit) -> Result<Self, FormatError> {
        limit.check(format!("COO of {} nonzeros", a.nnz()), Self::bytes_needed(a))?;
        Ok(Self {
            rows: a.rows(),
            cols: a.cols(),
            row: expand_rows(a),
            col: copied(a.col()),
            val: copied(a.val()),
        })
    }

    /// Takes over the nonzeros of a matrix that is no longer needed.
    pub(super) fn from_rows(a: Csr<T>) -> Self {
        let (rows, cols, row) = (a.rows(), a.cols(), expand_rows(&a));
        let (_, col, val) = a.into_arrays();
        Self { rows, cols, row, col, val }
    }

    /// Converts back to CSR.
    pub fn to_csr(&self) -> Csr<T> {
        let row_ptr = self.row_offsets();
        Csr::try_new(self.rows, self.cols, row_ptr, copied(&self.col), copied(&self.val))
            .expect("row-major coordinates without repeats are CSR's order") // invariant
    }

    /// Row offsets: offset i is the number of nonzeros in the rows before i.
    pub(super) fn row_offsets(&self) -> RowPtr {
        match OffsetWidth::of(self.nnz() as u64) {
            OffsetWidth::Narrow => RowPtr::Narrow(offsets_of(&self.row, zeroed(0, self.rows + 1))),
            OffsetWidth::Wide => RowPtr::Wide(offsets_of(&self.row, zeroed(0, self.rows + 1))),
        }
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
        self.val.len()
    }

    /// Row of each nonzero.
    pub fn row(&self) -> &[u32] {
        &self.row
    }

    /// Column of each nonzero.
    pub fn col(&self) -> &[u32] {
        &self.col
    }

    /// Value of each nonzero.
    pub fn val(&self) -> &[T] {
        &self.val
    }

    /// Bytes of the three arrays.
    pub fn bytes(&self) -> u64 {
        self.nnz() as u64 * (8 + T::BYTES as u64)
    }

    /// Minimum bytes that one SpMV moves: the arrays, y and x once each.
    pub fn minimal_bytes(&self) -> u64 {
        self.bytes() + T::BYTES as u64 * (self.rows + self.cols) as u64
    }
}

/// Fills `offsets`, which has one element more than there are rows, from the ascending rows of all
/// nonzeros.
fn offsets_of<O: Offset>(row: &[u32], mut offsets: Vec<O>) -> Vec<O> {
    const CHUNK: usize = 1 << 12;
    offsets.par_chunks_mut(CHUNK).enumerate().for_each(|(c, chunk)| {
        let first = c * CHUNK;
        let mut k = row.partition_point(|&r| (r as usize) < first);
        for (i, offset) in (first..).zip(chunk) {
            k += row[k..].iter().take_while(|&&r| (r as usize) < i).count();
            *offset = O::from_index(k);
        }
    });
    offsets
}

/// The row of every nonzero of `a`, filled in parallel.
fn expand_rows<T: Scalar>(a: &Csr<T>) -> Vec<u32> {
    let mut row = zeroed(0u32, a.nnz());
    const CHUNK: usize = 1 << 16;
    row.par_chunks_mut(CHUNK).enumerate().for_each(|(c, chunk)| {
        let first = c * CHUNK;
        // The row of nonzero `first`: the last row that starts at or before it.
        let mut i = a.row_ptr().partition_point(|offset| offset <= first) - 1;
        let mut end = a.row_range(i).end;
        for (k, slot) in (first..).zip(chunk) {
            while k >= end {
                i += 1;
                end = a.row_range(i).end;
            }
            *slot = i as u32;
        }
    });
    row
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matrix::examples;

    #[test]
    fn the_thesis_example_has_the_rows_of_the_thesis() {
        let a = Coo::from_csr(&examples::four_by_four(), MemoryLimit::unlimited()).unwrap();
        assert_eq!(a.row(), [0, 0, 1, 1, 2, 2, 2, 3, 3]);
        assert_eq!(a.col(), [0, 1, 1, 2, 0, 2, 3, 1, 3]);
        assert_eq!(a.val(), [1.0, 7.0, 2.0, 8.0, 5.0, 3.0, 9.0, 6.0, 4.0]);
        assert_eq!(a.minimal_bytes(), 16 * 9 + 8 * 4 + 8 * 4);
    }

    #[test]
    fn rows_are_expanded_across_chunks_and_empty_rows() {
        let triplets: Vec<(usize, usize, f64)> =
            (0..200_000).map(|k| (3 * (k / 70_000) + 1, k % 70_000, 1.0)).collect();
        let a = Csr::from_triplets(10, 70_000, &triplets).unwrap();
        let coo = Coo::from_csr(&a, MemoryLimit::unlimited()).unwrap();
        assert!(coo.row().iter().zip(&triplets).all(|(&r, t)| r as usize == t.0));
        assert_eq!(coo.to_csr(), a);
    }

    #[test]
    fn coordinates_out_of_order_or_range_are_refused() {
        let new = |row: &[u32], col: &[u32]| {
            Coo::try_new(2, 2, row.to_vec(), col.to_vec(), vec![1.0; row.len()]).unwrap_err()
        };
        assert!(matches!(new(&[0, 0], &[1, 0]), FormatError::Invariant(_)));
        assert!(matches!(new(&[0, 0], &[1, 1]), FormatError::Invariant(_)));
        assert!(matches!(new(&[2], &[0]), FormatError::RowOutOfRange { row: 2, .. }));
        assert!(matches!(new(&[0], &[2]), FormatError::ColumnOutOfRange { col: 2, .. }));
        assert!(matches!(new(&[0], &[]), FormatError::Length { array: "col", .. }));
    }
}
