//! How the rows or nonzeros of a matrix are divided among workers. A partition is computed once per matrix
//! and number of workers; kernels only follow it.

use std::ops::Range;

use sparsescope_matrix::matrix::{Csr, Hll, HllShape, RowPtr, Scalar};
use sparsescope_matrix::parallel::*;

/// Contiguous, disjoint, ascending row ranges that cover all rows; none is empty unless there are no rows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RowParts {
    /// Part p holds rows `bounds[p]..bounds[p + 1]`.
    bounds: Vec<usize>,
}

impl RowParts {
    /// Returns parts of equally many rows (they differ by at most one): OpenMP's `schedule(static)`.
    pub fn equal_rows(rows: usize, parts: usize) -> Self {
        Self::from_bounds((0..=parts).map(|p| (rows as u128 * p as u128 / parts as u128) as usize))
    }

    /// Returns parts of equally many block rows (they differ by at most one), each block `block` rows high.
    pub fn equal_block_rows(rows: usize, block: usize, parts: usize) -> Self {
        let block_rows = Self::equal_rows(rows.div_ceil(block), parts);
        Self::from_bounds(block_rows.bounds.into_iter().map(|bound| rows.min(bound * block)))
    }

    /// Returns parts of about `nnz / parts` nonzeros each: part p starts at the first row that begins at or
    /// after its share (the Tor Vergata paper's `matrix_partition`). Rows longer than a share absorb the
    /// neighbouring parts, so that fewer than requested may remain.
    pub fn equal_entries(row_ptr: &RowPtr, parts: usize) -> Self {
        let rows = row_ptr.len() - 1;
        let nnz = row_ptr.get(rows) as u128;
        Self::from_bounds((0..=parts).map(|p| match p {
            0 => 0,
            p if p == parts => rows,
            p => {
                let target = (nnz * p as u128 / parts as u128) as usize;
                row_ptr.partition_point(|offset| offset < target).min(rows)
            }
        }))
    }

    fn from_bounds(bounds: impl Iterator<Item = usize>) -> Self {
        let mut bounds: Vec<usize> = bounds.collect();
        bounds.dedup();
        Self { bounds }
    }

    /// Number of parts.
    pub fn len(&self) -> usize {
        self.bounds.len() - 1
    }

    /// Whether there is no part because there are no rows.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The parts in order.
    pub fn iter(&self) -> impl Iterator<Item = Range<usize>> + '_ {
        self.bounds.windows(2).map(|w| w[0]..w[1])
    }

    /// Returns each part with its rows of `y`. Panics unless `y` has one element per row.
    pub fn split<'y, T>(&self, y: &'y mut [T]) -> Vec<(Range<usize>, &'y mut [T])> {
        self.split_wide(1, y)
    }

    /// The same for a Y of k columns, stored by rows. Panics unless it has k elements per row.
    pub fn split_wide<'y, T>(
        &self,
        k: usize,
        mut y: &'y mut [T],
    ) -> Vec<(Range<usize>, &'y mut [T])> {
        assert_eq!(y.len(), k * self.bounds[self.len()], "y has one element a row and column");
        self.iter()
            .map(|rows| {
                let (part, rest) = std::mem::take(&mut y).split_at_mut(k * rows.len());
                y = rest;
                (rows, part)
            })
            .collect()
    }
}

/// A point on the merge path of a CSR matrix: the rows finished and the nonzeros consumed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MergePoint {
    /// Rows finished before this point.
    pub row: usize,
    /// Nonzeros consumed before this point.
    pub entry: usize,
}

/// Equal pieces of the merge path of row ends and nonzeros (Merrill and Garland, SC 2016): each piece has the
/// same number of finished rows plus consumed nonzeros, whatever the row lengths.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MergePath {
    /// Piece p runs from `points[p]` to `points[p + 1]`.
    points: Vec<MergePoint>,
}

impl MergePath {
    /// Divides the path into `parts` pieces that differ by at most one step.
    pub fn new(row_ptr: &RowPtr, parts: usize) -> Self {
        let rows = row_ptr.len() - 1;
        let steps = rows as u128 + row_ptr.get(rows) as u128;
        let points = (0..=parts)
            .map(|p| Self::point(row_ptr, rows, (steps * p as u128 / parts as u128) as usize))
            .collect();
        Self { points }
    }

    /// Divides the path into pieces of `steps` steps, the last of which may be shorter; none if there are no rows.
    /// Panics if `steps` is 0.
    pub fn in_steps(row_ptr: &RowPtr, steps: usize) -> Self {
        let rows = row_ptr.len() - 1;
        let all = rows + row_ptr.get(rows);
        let points = (0..all.div_ceil(steps) + 1).into_par_iter();
        Self { points: points.map(|p| Self::point(row_ptr, rows, all.min(p * steps))).collect() }
    }

    /// Returns the point after `diagonal` steps: a row is finished once all its nonzeros are consumed and one
    /// more step is taken.
    fn point(row_ptr: &RowPtr, rows: usize, diagonal: usize) -> MergePoint {
        // The number of rows r whose end row_ptr[r + 1] plus its own step r + 1 lies within the diagonal;
        // row_ptr[r + 1] + r + 1 is strictly increasing, so binary search finds it.
        let (mut low, mut high) = (0, rows.min(diagonal));
        while low < high {
            let middle = low + (high - low) / 2;
            if row_ptr.get(middle + 1) + middle < diagonal {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        MergePoint { row: low, entry: diagonal - low }
    }

    /// Number of pieces.
    pub fn len(&self) -> usize {
        self.points.len() - 1
    }

    /// Whether there is no piece.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Start and end of each piece in order.
    pub fn iter(&self) -> impl Iterator<Item = (MergePoint, MergePoint)> + '_ {
        self.points.windows(2).map(|w| (w[0], w[1]))
    }
}

/// Hacks in chunks that shrink towards the end, handed to whichever worker is free: OpenMP's
/// `schedule(guided)`. The chunks do not depend on timing; only which worker takes them does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GuidedChunks {
    hacks: Vec<Range<usize>>,
    rows: RowParts,
}

impl GuidedChunks {
    /// Each chunk is the remainder divided by the number of workers, rounded up, and at least 1 hack.
    pub fn new(shape: &HllShape, workers: usize) -> Self {
        let mut hacks = Vec::new();
        let mut next = 0;
        while next < shape.hacks() {
            let chunk = (shape.hacks() - next).div_ceil(workers);
            hacks.push(next..next + chunk);
            next += chunk;
        }
        let first_row = |chunk: &Range<usize>| chunk.start * shape.hack_size();
        let bounds = hacks.iter().map(first_row).chain([shape.rows()]);
        let rows = RowParts::from_bounds(bounds);
        Self { hacks, rows }
    }

    /// The chunks in the order in which they are handed out.
    pub fn hacks(&self) -> &[Range<usize>] {
        &self.hacks
    }

    /// The rows of each chunk.
    pub fn rows(&self) -> &RowParts {
        &self.rows
    }
}

/// Contiguous parts of an HLL matrix with about equally many slots plus rows: neighbouring hacks, and after
/// the last of them the separately stored rows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SlotParts {
    /// Part p is hacks and separate rows `bounds[p]..bounds[p + 1]`, where hacks are numbered first.
    bounds: Vec<usize>,
    hacks: usize,
    /// The first position of each part, and the number of rows.
    positions: RowParts,
}

impl SlotParts {
    /// Divides the matrix into at most `parts` parts; none is empty unless there are no rows.
    pub fn new<T: Scalar>(a: &Hll<T>, parts: usize) -> Self {
        Self::of(a.shape(), a.tail(), parts)
    }

    /// The same for hacks of this shape and these separate rows.
    pub fn of<T: Scalar>(shape: &HllShape, tail: &Csr<T>, parts: usize) -> Self {
        let (hacks, in_hacks) = (shape.hacks(), shape.rows());
        let position = |piece: usize| match piece.checked_sub(hacks) {
            None => piece * shape.hack_size(),
            Some(k) => in_hacks + k,
        };
        let steps_before = |piece: usize| {
            let slots = shape.offsets()[piece.min(hacks)] as u128;
            let entries = tail.row_ptr().get(piece.saturating_sub(hacks)) as u128;
            slots + entries + position(piece) as u128
        };
        let pieces = hacks + tail.rows();
        let all = steps_before(pieces);
        let mut bounds: Vec<usize> = (0..=parts)
            .map(|p| {
                first_that(pieces, |piece| steps_before(piece) * parts as u128 >= all * p as u128)
            })
            .collect();
        bounds.dedup();
        let positions = RowParts::from_bounds(bounds.iter().map(|&piece| position(piece)));
        Self { bounds, hacks, positions }
    }

    /// Number of parts.
    pub fn len(&self) -> usize {
        self.bounds.len() - 1
    }

    /// Whether there is no part because there are no rows.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The positions of each part.
    pub fn positions(&self) -> &RowParts {
        &self.positions
    }

    /// The hacks and the separate rows of each part.
    pub fn iter(&self) -> impl Iterator<Item = (Range<usize>, Range<usize>)> + '_ {
        let hacks = self.hacks;
        self.bounds.windows(2).map(move |w| {
            let apart = w[0].max(hacks) - hacks..w[1].max(hacks) - hacks;
            (w[0].min(hacks)..w[1].min(hacks), apart)
        })
    }
}

/// Returns the first of 0..=n for which `is_past` holds, which is false up to some number and true from there
/// on; n if none below does.
pub(super) fn first_that(n: usize, is_past: impl Fn(usize) -> bool) -> usize {
    let (mut low, mut high) = (0, n);
    while low < high {
        let middle = low + (high - low) / 2;
        if is_past(middle) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    low
}

#[cfg(test)]
mod tests {
    use super::*;
    use sparsescope_matrix::matrix::Order;

    fn ptr(lengths: &[usize]) -> RowPtr {
        RowPtr::from_lengths(lengths.iter().copied())
    }

    #[test]
    fn equal_rows_differ_by_at_most_one() {
        let parts: Vec<_> = RowParts::equal_rows(10, 4).iter().collect();
        assert_eq!(parts, [0..2, 2..5, 5..7, 7..10]);
        assert_eq!(RowParts::equal_rows(2, 8).len(), 2);
        assert_eq!(RowParts::equal_rows(0, 3).len(), 0);
        let blocks: Vec<_> = RowParts::equal_block_rows(10, 3, 2).iter().collect();
        assert_eq!(blocks, [0..6, 6..10]);
    }

    #[test]
    fn equal_entries_balance_entries_and_report_fewer_parts_when_rows_are_long() {
        let even: Vec<_> = RowParts::equal_entries(&ptr(&[1, 1, 4, 1, 1]), 2).iter().collect();
        assert_eq!(even, [0..3, 3..5]);
        let dense_row = RowParts::equal_entries(&ptr(&[1, 100, 1]), 4);
        assert_eq!(dense_row.len(), 2);
        let empty = RowParts::equal_entries(&ptr(&[0, 0, 0]), 3);
        assert_eq!(
            empty.iter().last().map(|r| r.end),
            Some(3),
            "rows without entries stay covered"
        );
    }

    #[test]
    fn merge_pieces_have_equal_steps_even_across_one_dense_row() {
        let row_ptr = ptr(&[0, 1000, 0, 3, 1]);
        let path = MergePath::new(&row_ptr, 7);
        let steps: Vec<usize> =
            path.iter().map(|(a, b)| (b.row - a.row) + (b.entry - a.entry)).collect();
        assert_eq!(steps.iter().sum::<usize>(), 5 + 1004);
        assert!(steps.iter().max().unwrap() - steps.iter().min().unwrap() <= 1, "{steps:?}");
        for (_, p) in path.iter() {
            assert!(p.row == 5 || row_ptr.get(p.row) <= p.entry, "{p:?} starts before its row");
            assert!(p.row == 5 || p.entry <= row_ptr.get(p.row + 1), "{p:?} is past its row");
        }
        let last = path.iter().last().unwrap().1;
        assert_eq!(last, MergePoint { row: 5, entry: 1004 });
    }

    #[test]
    fn pieces_of_given_steps_have_them_and_the_last_ends_the_path() {
        let row_ptr = ptr(&[0, 10, 0, 3, 1]);
        let point = |row, entry| MergePoint { row, entry };
        // Row 1 ends at step 12: one for the end of row 0, ten nonzeros, and its own end.
        let expected = [point(0, 0), point(1, 7), point(3, 13), point(5, 14)];
        let path = MergePath::in_steps(&row_ptr, 8);
        assert_eq!(path.points, expected);
        assert_eq!(MergePath::in_steps(&row_ptr, 19).points, [expected[0], expected[3]]);
        assert!(MergePath::in_steps(&ptr(&[]), 8).is_empty());
    }

    #[test]
    fn guided_chunks_shrink_and_cover_every_hack_once() {
        let shape = HllShape::new((0..4001u32).map(|_| 3), 4, Order::RowMajor).unwrap();
        let chunks = GuidedChunks::new(&shape, 2);
        let sizes: Vec<usize> = chunks.hacks().iter().map(ExactSizeIterator::len).collect();
        assert_eq!(&sizes[..4], [501, 250, 125, 63]);
        assert_eq!(sizes.iter().sum::<usize>(), 1001);
        assert_eq!(sizes.last(), Some(&1));
        assert_eq!(chunks.rows().len(), sizes.len());
        assert_eq!(chunks.rows().iter().last().unwrap().end, 4001);
    }
}
