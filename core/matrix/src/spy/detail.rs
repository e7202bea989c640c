//! Cells finer than those of the pyramid, counted from the matrix itself within a window.

use std::ops::Range;

use crate::parallel::*;

use crate::matrix::{Csr, Scalar};

/// Exact counts of a window: the cell at (r, c) of the window counts the nonzeros (i, j) with i ≫
/// shift = first row + r and j ≫ shift = first column + c.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Detail {
    shift: u32,
    rows: Range<usize>,
    cols: Range<usize>,
    counts: Vec<u64>,
}

impl Detail {
    /// Counts the nonzeros of `a` in cells of 2^shift rows and columns, for these rows and columns
    /// of cells (clipped to the matrix), in parallel on the ambient pool. Takes a binary search for
    /// each row of the matrix in the window, and 8 bytes per cell.
    pub fn of<T: Scalar>(a: &Csr<T>, shift: u32, rows: Range<usize>, cols: Range<usize>) -> Self {
        let cut = |cells: Range<usize>, n: usize| {
            let end = cells.end.min(n.div_ceil(1 << shift));
            cells.start.min(end)..end
        };
        let (rows, cols) = (cut(rows, a.rows()), cut(cols, a.cols()));
        let width = cols.len();
        let mut counts = vec![0; rows.len() * width];
        counts.par_chunks_mut(width.max(1)).zip(rows.clone()).for_each(|(line, r)| {
            for i in r << shift..a.rows().min((r + 1) << shift) {
                let row = a.row(i).0;
                let begin = row.partition_point(|&j| (j as usize) >> shift < cols.start);
                let inside = row.iter().skip(begin).map(|&j| (j as usize >> shift) - cols.start);
                for c in inside.take_while(|&c| c < width) {
                    if let Some(count) = line.get_mut(c) {
                        *count += 1;
                    }
                }
            }
        });
        Self { shift, rows, cols, counts }
    }

    /// A cell covers 2^shift rows and columns.
    pub fn shift(&self) -> u32 {
        self.shift
    }

    /// Rows of cells counted.
    pub fn rows(&self) -> Range<usize> {
        self.rows.clone()
    }

    /// Columns of cells counted.
    pub fn cols(&self) -> Range<usize> {
        self.cols.clone()
    }

    /// Counts of a row of cells, from the first column of the window; empty outside it.
    pub fn line(&self, row: usize) -> &[u64] {
        let width = self.cols.len();
        let line = row.checked_sub(self.rows.start).filter(|_| row < self.rows.end);
        line.and_then(|r| self.counts.get(r * width..(r + 1) * width)).unwrap_or(&[])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spy::Pyramid;

    fn scattered() -> Csr {
        let t: Vec<_> = (0..40_000usize).map(|k| (k * 7 % 9001, k * k % 8009, 1.0)).collect();
        Csr::from_triplets(9001, 8009, &t).unwrap()
    }

    #[test]
    fn at_a_level_of_the_pyramid_the_window_shows_the_same_counts() {
        let a = scattered();
        let pyramid = Pyramid::of(&a);
        for level in &pyramid.levels()[..3] {
            let (rows, cols) = (100..400.min(level.rows()), 37..level.cols() + 9);
            let detail = Detail::of(&a, level.shift(), rows.clone(), cols.clone());
            let mut line = vec![0; detail.cols().len()];
            for r in rows {
                level.line(r, cols.start, &mut line);
                assert_eq!(detail.line(r), line, "row {r} at shift {}", level.shift());
            }
        }
    }

    #[test]
    fn finer_cells_sum_to_those_above_them_and_outside_is_nothing() {
        let a = scattered();
        let pyramid = Pyramid::of(&a);
        let base = &pyramid.levels()[0];
        assert_eq!(base.shift(), 2);
        let detail = Detail::of(&a, 0, 400..800, 800..1200);
        for (r, c) in (100..200).flat_map(|r| (200..300).map(move |c| (r, c))) {
            let rows = (4 * r..4 * r + 4).map(|i| &detail.line(i)[4 * c - 800..4 * c - 796]);
            let sum: u64 = rows.flatten().sum();
            assert_eq!(sum, base.count(r, c));
        }
        assert!(detail.line(399).is_empty() && detail.line(800).is_empty());
        assert_eq!(Detail::of(&a, 0, 9_500..9_600, 0..10).rows(), 9001..9001);
    }
}
