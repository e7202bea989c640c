//! The dense system of a row or group: A restricted to the rows and columns of its pattern.

use crate::dense::{Factored, Packed};
use sparsescope_matrix::matrix::Csr;

use super::Cancelled;
use super::error::{FsaiError, Stop};
use super::workers::in_order;
use sparsescope_matrix::memory::{MemoryLimit, zeroed};

/// The lower triangle of a square matrix with its diagonal, read in place from CSR: at the beginning of each
/// row.
pub(super) struct Lower<'a> {
    a: &'a Csr,
    /// Nonzeros of each row up to the diagonal.
    len: Vec<u32>,
    /// Factor of the diagonal.
    on_diagonal: f64,
}

impl<'a> Lower<'a> {
    /// The lower triangle of A + `shift`·diag(A).
    pub(super) fn of(
        a: &'a Csr,
        shift: f64,
        limit: MemoryLimit,
        cancelled: &Cancelled<'_>,
    ) -> Result<Self, Stop> {
        const CHUNK: usize = 1 << 12;
        let (rows, cols) = (a.rows(), a.cols());
        if rows != cols {
            return Err(FsaiError::NotSquare { rows, cols }.into());
        }
        limit.check("the places of the diagonal", 4 * rows as u128)?;
        let mut len = zeroed(0u32, rows);
        let chunks = len.chunks_mut(CHUNK).enumerate();
        in_order(
            chunks,
            cancelled,
            || (),
            |(), (chunk, len)| {
                for (i, len) in (chunk * CHUNK..).zip(len) {
                    *len = a.row(i).0.partition_point(|&c| c as usize <= i) as u32;
                }
                Ok(())
            },
        )?;
        Ok(Self { a, len, on_diagonal: 1.0 + shift })
    }

    /// The whole matrix, both triangles, without the shift.
    pub(super) fn whole(&self) -> &'a Csr {
        self.a
    }

    /// Columns up to `i` in row `i`, and their values without the shift.
    #[inline(always)]
    pub(super) fn row(&self, i: usize) -> (&'a [u32], &'a [f64]) {
        let start = self.a.row_ptr().get(i);
        let end = start + self.len[i] as usize;
        (&self.a.col()[start..end], &self.a.val()[start..end])
    }

    /// The diagonal of row `i`, shifted; 0 if it is not stored.
    pub(super) fn diagonal(&self, i: usize) -> f64 {
        let (col, val) = self.row(i);
        match (col.last(), val.last()) {
            (Some(&c), Some(&v)) if c as usize == i => v * self.on_diagonal,
            _ => 0.0,
        }
    }

    pub(super) fn rows(&self) -> usize {
        self.a.rows()
    }
}

/// Work space of one thread for gathering and factoring systems.
pub(super) struct Solver<'l, 'a> {
    lower: &'l Lower<'a>,
    /// For each column of A, its place in a row of the packed system; 0 if it has none.
    places: Vec<u32>,
    packed: Packed,
}

impl<'l, 'a> Solver<'l, 'a> {
    pub(super) fn new(lower: &'l Lower<'a>) -> Self {
        Self { lower, places: zeroed(0, lower.rows()), packed: Packed::new() }
    }

    /// Bytes needed per thread for systems of up to `largest` rows.
    pub(super) fn bytes(rows: usize, largest: usize) -> u128 {
        4 * rows as u128 + Packed::bytes(largest)
    }

    /// Factors A restricted to these ascending rows and columns.
    pub(super) fn factor(&mut self, columns: &[u32], cancelled: &Cancelled<'_>) -> Factored {
        self.gather(columns);
        self.packed.factor(cancelled)
    }

    fn gather(&mut self, columns: &[u32]) {
        assert!(columns.is_sorted_by(|a, b| a < b), "columns ascend");
        self.packed.clear(columns.len());
        for (place, &c) in columns.iter().enumerate() {
            self.places[c as usize] = Packed::column(place) as u32;
        }
        let places = &self.places[..];
        for (place, &i) in columns.iter().enumerate() {
            let (col, val) = self.lower.row(i as usize);
            let row = self.packed.row_mut(place);
            for (&c, &v) in col.iter().zip(val) {
                // SAFETY: `c` is a column of the square matrix, and `places` has one number for each of its
                // rows. `c` is at most `i`, so its place, if it has one, is at most that of `i`, which lies
                // in the row; otherwise the place is 0, which also lies in the row.
                unsafe {
                    let at = *places.get_unchecked(c as usize) as usize;
                    debug_assert!(at < row.len());
                    *row.get_unchecked_mut(at) = v;
                }
            }
            row[Packed::column(place)] *= self.lower.on_diagonal;
        }
        for &c in columns {
            self.places[c as usize] = 0;
        }
    }

    /// Row `p` of the normalised inverse factor of the columns up to the p-th; needs their factors.
    pub(super) fn row(&mut self, p: usize) -> &[f64] {
        self.packed.normalised_row(p)
    }

    /// 1 over the last element of the unnormalised row `p`.
    pub(super) fn pivot(&self, p: usize) -> f64 {
        self.packed.pivot(p)
    }
}

/// A restricted to these ascending rows and columns, as a dense m × m row-major matrix: the system of a row
/// of G with this pattern. Missing entries are 0; only the lower triangle is read. Panics if a column is no
/// row of `a`.
pub fn dense_system(a: &Csr, columns: &[u32]) -> Vec<f64> {
    let m = columns.len();
    let mut dense = vec![0.0; m * m];
    for (p, &i) in columns.iter().enumerate() {
        let (col, val) = a.row(i as usize);
        for (q, c) in columns.iter().enumerate().take(p + 1) {
            if let Ok(at) = col.binary_search(c) {
                dense[p * m + q] = val[at];
                dense[q * m + p] = val[at];
            }
        }
    }
    dense
}
