//! CSR in small pieces that do not depend on the number of workers.

use std::ops::Range;

use super::partition::{MergePoint, first_that};
use sparsescope_matrix::matrix::RowPtr;

/// Contiguous pieces of a CSR matrix, each consisting of whole rows or a part of one long row, and their
/// assignment to workers. Piece boundaries depend on the matrix alone, so that whatever is computed piece by
/// piece is bitwise identical for any number of workers. A small matrix has smaller pieces, so that many
/// workers have even shares of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pieces {
    /// Piece p runs from `points[p]` to `points[p + 1]`.
    points: Vec<MergePoint>,
    /// Worker w has pieces `bounds[w]..bounds[w + 1]`.
    bounds: Vec<usize>,
}

impl Pieces {
    /// Maximum number of rows per piece.
    pub const ROWS: usize = 256;

    /// Number of nonzeros from which a matrix is large: 256 pieces of the maximum size.
    const LARGE: usize = 1 << 20;

    /// Maximum number of nonzeros per piece of a matrix with `nnz`: a longer row is cut into pieces of its own.
    fn most_entries(nnz: usize) -> usize {
        if nnz < Self::LARGE { 1024 } else { 4096 }
    }

    /// Cuts the matrix into pieces, divided into at most `workers` parts with about equally many nonzeros
    /// plus rows.
    pub fn new(row_ptr: &RowPtr, workers: usize) -> Self {
        let rows = row_ptr.len() - 1;
        let most_entries = Self::most_entries(row_ptr.get(rows));
        let mut at = MergePoint { row: 0, entry: 0 };
        let mut points = vec![at];
        while at.row < rows {
            let most = (rows - at.row).min(Self::ROWS);
            let fits = |more: usize| row_ptr.get(at.row + more) <= at.entry + most_entries;
            let whole = first_that(most, |more| !fits(more + 1));
            let next = match whole {
                0 if row_ptr.get(at.row + 1) > at.entry + most_entries => {
                    MergePoint { row: at.row, entry: at.entry + most_entries }
                }
                // Every piece of a long row, including the last, holds only that row.
                _ if at.entry > row_ptr.get(at.row) => {
                    MergePoint { row: at.row + 1, entry: row_ptr.get(at.row + 1) }
                }
                whole => MergePoint { row: at.row + whole, entry: row_ptr.get(at.row + whole) },
            };
            points.push(next);
            at = next;
        }
        let steps = |piece: usize| (points[piece].row + points[piece].entry) as u128;
        let last = points.len() - 1;
        let share = |w: usize| steps(last) * w as u128;
        let mut bounds: Vec<usize> = (0..=workers)
            .map(|w| first_that(last, |piece| steps(piece) * workers as u128 >= share(w)))
            .collect();
        bounds.dedup();
        Self { points, bounds }
    }

    /// Start and end of all pieces: piece p runs from the p-th point to the next.
    pub fn points(&self) -> &[MergePoint] {
        &self.points
    }

    /// Number of pieces.
    pub fn pieces(&self) -> usize {
        self.points.len() - 1
    }

    /// Number of non-empty parts; fewer than workers if there are fewer pieces.
    pub fn parts(&self) -> usize {
        self.bounds.len() - 1
    }

    /// The pieces of each part.
    pub fn iter(&self) -> impl Iterator<Item = Range<usize>> + '_ {
        self.bounds.windows(2).map(|w| w[0]..w[1])
    }

    /// Start and end of each part.
    pub fn ends(&self) -> impl Iterator<Item = (MergePoint, MergePoint)> + '_ {
        self.iter().map(|pieces| (self.points[pieces.start], self.points[pieces.end]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ptr(lengths: &[usize]) -> RowPtr {
        RowPtr::from_lengths(lengths.iter().copied())
    }

    #[test]
    fn pieces_cover_all_rows_and_entries_and_cut_only_long_rows() {
        let lengths: Vec<usize> =
            (0..3000).map(|i| if i == 700 { 30_000 } else { i * i % 53 }).collect();
        let row_ptr = ptr(&lengths);
        let pieces = Pieces::new(&row_ptr, 3);
        let points = pieces.points();
        assert_eq!(points.first(), Some(&MergePoint { row: 0, entry: 0 }));
        assert_eq!(points.last(), Some(&MergePoint { row: 3000, entry: row_ptr.get(3000) }));
        for pair in points.windows(2) {
            let (from, to) = (pair[0], pair[1]);
            assert!(to.row - from.row <= Pieces::ROWS && to.entry - from.entry <= 1024);
            assert!(to.row > from.row || to.entry > from.entry, "{from:?} goes on");
            let is_cut = row_ptr.get(from.row) != from.entry || row_ptr.get(to.row) != to.entry;
            assert!(!is_cut || from.row == 700 && to.row <= 701, "{from:?} to {to:?}");
        }
        assert_eq!(points.iter().filter(|p| p.row == 700).count(), 30_000 / 1024 + 1);
    }

    #[test]
    fn pieces_do_not_depend_on_workers_whose_shares_are_even() {
        let row_ptr = ptr(&(0..5000).map(|i| 3 + i % 17).collect::<Vec<_>>());
        let alone = Pieces::new(&row_ptr, 1);
        for workers in [2, 3, 8] {
            let pieces = Pieces::new(&row_ptr, workers);
            assert_eq!(pieces.points(), alone.points());
            assert_eq!(pieces.parts(), workers);
            let steps: Vec<usize> =
                pieces.ends().map(|(a, b)| b.row - a.row + b.entry - a.entry).collect();
            let most = Pieces::ROWS + 1024;
            assert!(steps.iter().max().unwrap() - steps.iter().min().unwrap() <= 2 * most);
            assert_eq!(steps.iter().sum::<usize>(), 5000 + row_ptr.get(5000));
        }
    }

    #[test]
    fn without_rows_there_is_no_piece_and_few_rows_make_few_parts() {
        assert_eq!(Pieces::new(&ptr(&[]), 3).parts(), 0);
        assert_eq!(Pieces::new(&ptr(&[0, 0, 0]), 3).parts(), 1);
        let dense = Pieces::new(&ptr(&[20_000]), 4);
        assert_eq!((dense.pieces(), dense.parts()), (20, 4));
    }

    #[test]
    fn a_small_matrix_has_smaller_pieces_so_that_16_shares_are_even() {
        // 21 nonzeros per row: pieces of 48 rows.
        let pieces = Pieces::new(&ptr(&[21; 4800]), 16);
        assert_eq!((pieces.pieces(), pieces.parts()), (100, 16));
        let steps = pieces.ends().map(|(a, b)| b.row - a.row + b.entry - a.entry);
        // A share exceeds the mean by less than a piece, 48 rows and 1008 nonzeros.
        assert!(steps.max().unwrap() < 4800 * 22 / 16 + 48 * 22);
        // 2^20 nonzeros, in pieces of 4096, and a row less.
        assert_eq!(Pieces::new(&ptr(&[64; 1 << 14]), 16).pieces(), 256);
        assert_eq!(Pieces::new(&ptr(&[64; (1 << 14) - 1]), 16).pieces(), 1024);
    }
}
