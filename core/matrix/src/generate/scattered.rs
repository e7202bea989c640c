//! Matrices without a grid: random, banded, diagonal, and one dense row.

use super::assemble::Rule;
use super::random::{RowRandom, distinct};

/// `row` different columns per row, uniform over all n: the worst case for caches.
pub(super) struct Uniform {
    pub(super) m: usize,
    pub(super) n: usize,
    pub(super) row: usize,
    pub(super) seed: u64,
}

impl Rule for Uniform {
    fn rows(&self) -> usize {
        self.m
    }
    fn cols(&self) -> usize {
        self.n
    }
    fn most_entries(&self) -> u128 {
        self.m as u128 * self.row as u128
    }
    fn row_len(&self, _: usize) -> Option<usize> {
        Some(self.row)
    }
    fn row(&self, i: usize, row: &mut Vec<(u32, f64)>) {
        let mut random = RowRandom::new(self.seed, i);
        let mut columns = Vec::with_capacity(self.row);
        distinct(&mut columns, self.row, self.n, || random.below(self.n));
        row.extend(columns.into_iter().map(|column| (column, random.unit() - 0.5)));
    }
}

/// The diagonal and `row` − 1 more nonzeros per row, at most `half` away from it. Like af23560 or a
/// circuit after a bandwidth-reducing ordering.
pub(super) struct Banded {
    pub(super) m: usize,
    pub(super) half: usize,
    pub(super) row: usize,
    pub(super) seed: u64,
}

impl Rule for Banded {
    fn rows(&self) -> usize {
        self.m
    }
    fn most_entries(&self) -> u128 {
        self.m as u128 * self.row as u128
    }
    fn row(&self, i: usize, row: &mut Vec<(u32, f64)>) {
        let first = i.saturating_sub(self.half);
        let width = (i + self.half + 1).min(self.m) - first;
        let mut random = RowRandom::new(self.seed, i);
        // Columns relative to the left end of the window; the diagonal comes first.
        let mut columns = vec![(i - first) as u32];
        distinct(&mut columns, self.row, width, || random.below(width));
        row.extend(columns.into_iter().map(|column| {
            let column = first + column as usize;
            let value = if column == i { self.row as f64 } else { random.unit() - 0.5 };
            (column as u32, value)
        }));
    }
}

/// One nonzero per row, on the diagonal, from 1 to 2. Like a mass matrix (bcsstm22).
pub(super) struct Diagonal {
    pub(super) m: usize,
    pub(super) seed: u64,
}

impl Rule for Diagonal {
    fn rows(&self) -> usize {
        self.m
    }
    fn most_entries(&self) -> u128 {
        self.m as u128
    }
    fn row_len(&self, _: usize) -> Option<usize> {
        Some(1)
    }
    fn row(&self, i: usize, row: &mut Vec<(u32, f64)>) {
        row.push((i as u32, 1.0 + RowRandom::new(self.seed, i).unit()));
    }
}

/// Tridiagonal (−1, 2, −1) with one full row in the middle: shows the effect of one dense row on
/// ELLPACK and on an even distribution of rows. Like an arrow matrix.
pub(super) struct DenseRow(pub(super) usize);

impl Rule for DenseRow {
    fn rows(&self) -> usize {
        self.0
    }
    fn most_entries(&self) -> u128 {
        4 * self.0 as u128
    }
    fn row(&self, i: usize, row: &mut Vec<(u32, f64)>) {
        let value = |j: usize| if i == j { 2.0 } else { -1.0 };
        let columns = match i == self.0 / 2 {
            true => 0..self.0,
            false => i.saturating_sub(1)..(i + 2).min(self.0),
        };
        row.extend(columns.map(|j| (j as u32, value(j))));
    }
}
