//! How a GPU kernel divides a matrix with long rows, so that a block finds its part of x in shared
//! memory: windows of columns, groups of rows, and pieces of rows.

use std::ops::Range;

use super::grid::LANES;
use sparsescope_matrix::matrix::{Csr, Scalar};

/// How blocks work on windows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WindowShape {
    /// Threads per block.
    pub threads: u32,
    /// Lanes that add up a piece.
    pub lanes: u32,
    /// Bytes of x that a block keeps in shared memory.
    pub bytes: usize,
    /// Nonzeros per block: fewer do not repay the loads of x.
    pub entries: usize,
    /// Minimum nonzeros of a row in a window, on average.
    least: usize,
}

/// Maximum nonzeros of a piece: 16 per lane.
const MOST_OF_PIECE: usize = 16 * LANES as usize;

/// Minimum nonzeros of a matrix, and minimum blocks per window if all rows were in one group.
const LEAST_ENTRIES: usize = 4 << 20;
const LEAST_BLOCKS: usize = 4;

/// Maximum rows of a group, whose sums one block adds up.
const MOST_ROWS: usize = 4096;

/// Nonzeros of a row in a window, or a part of them. A warp adds them up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece {
    /// Its first nonzero.
    pub entry: u64,
    /// Number of nonzeros.
    pub length: u32,
    /// Where its sum goes: the pieces of a row are next to each other, in the order of its columns.
    pub place: u32,
}

/// The work of a block: pieces of rows of one group in one window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WindowBlock {
    /// The first column of its window.
    pub column: u32,
    /// Its first piece; the next block's first piece follows its last one.
    pub piece: u32,
    /// Its group of rows.
    pub group: u32,
}

/// The windows of a CSR matrix.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Windows {
    /// Columns of a window.
    pub width: usize,
    /// Pieces, block by block.
    pub pieces: Vec<Piece>,
    /// Blocks, group by group, and in a group from left to right.
    pub blocks: Vec<WindowBlock>,
    /// The first row of each group, and the number of its blocks.
    pub groups: Vec<(u32, u32)>,
    /// The first place of each row, and the number of pieces.
    pub part_ptr: Vec<u32>,
}

impl WindowShape {
    /// The shapes that have kernels: two blocks per multiprocessor for long pieces, and the largest
    /// window of a recent GPU for shorter ones.
    pub const ALL: [Self; 2] = [
        Self { threads: 512, lanes: 32, bytes: 96 << 10, entries: 16 << 10, least: 64 },
        Self { threads: 1024, lanes: 16, bytes: 220 << 10, entries: 64 << 10, least: 24 },
    ];

    /// The first shape that suits a matrix, on a device whose blocks have up to this many bytes of
    /// shared memory: x does not fit into one window, and loading its parts takes far fewer requests
    /// than loading an element for each nonzero.
    pub fn suiting<T: Scalar>(a: &Csr<T>, shared_bytes: usize) -> Option<Self> {
        let suits = |shape: &Self| {
            let width = shape.width::<T>();
            a.cols() > width
                && shape.bytes <= shared_bytes
                && a.nnz() / a.cols().div_ceil(width) >= LEAST_BLOCKS * shape.entries
                && is_dense(a, width, shape.least)
        };
        Self::ALL.into_iter().find(|shape| a.nnz() >= LEAST_ENTRIES && suits(shape))
    }

    /// Columns of a window.
    pub fn width<T: Scalar>(self) -> usize {
        self.bytes / T::BYTES
    }
}

impl Windows {
    /// Windows of `width` columns, at least 1, whose blocks have about `entries` nonzeros, at least
    /// 1. `None` if there are more pieces than 32 bits count. Rows are counted in 32 bits.
    pub fn new<T: Scalar>(a: &Csr<T>, width: usize, entries: usize) -> Option<Self> {
        let mut all = Self { width, part_ptr: vec![0], ..Self::default() };
        let mut of_window = vec![Vec::new(); a.cols().div_ceil(width)];
        let mut row = 0;
        while row < a.rows() {
            let first = row;
            let (mut met, mut left, mut right) = (0, usize::MAX, 0);
            // Full once the windows between its first and its last column have enough each.
            let is_full = |met: usize, left: usize, right: usize| {
                met >= entries * right.saturating_sub(left).max(1)
            };
            while row < a.rows() && row - first < MOST_ROWS && !is_full(met, left, right) {
                let columns = a.row(row).0;
                let begin = a.row_ptr().range(row).start;
                let mut place = *all.part_ptr.last()?;
                for (window, range) in windows_of(columns, width) {
                    (left, right) = (left.min(window), right.max(window + 1));
                    for from in range.clone().step_by(MOST_OF_PIECE) {
                        let length = MOST_OF_PIECE.min(range.end - from) as u32;
                        let entry = (begin + from) as u64;
                        of_window.get_mut(window)?.push(Piece { entry, length, place });
                        place = place.checked_add(1)?;
                    }
                }
                all.part_ptr.push(place);
                met += columns.len();
                row += 1;
            }
            all.add_group(first as u32, &mut of_window, entries);
        }
        Some(all)
    }

    /// Adds the blocks of a group that starts with row `first`, and empties the windows.
    fn add_group(&mut self, first: u32, of_window: &mut [Vec<Piece>], entries: usize) {
        let (group, before) = (self.groups.len() as u32, self.blocks.len());
        for (window, pieces) in of_window.iter_mut().enumerate() {
            let all: usize = pieces.iter().map(|piece| piece.length as usize).sum();
            let share = all.div_ceil((all / entries).max(1));
            let mut left = 0;
            for piece in pieces.drain(..) {
                if left == 0 {
                    self.add_block(window, group);
                    left = share;
                }
                left = left.saturating_sub(piece.length as usize);
                self.pieces.push(piece);
            }
        }
        if self.blocks.len() == before {
            // Empty rows have a sum, too.
            self.add_block(0, group);
        }
        self.groups.push((first, (self.blocks.len() - before) as u32));
    }

    fn add_block(&mut self, window: usize, group: u32) {
        let (column, piece) = ((window * self.width) as u32, self.pieces.len() as u32);
        self.blocks.push(WindowBlock { column, piece, group });
    }
}

/// The windows in which a row has nonzeros, and where in the row they are.
fn windows_of(columns: &[u32], width: usize) -> impl Iterator<Item = (usize, Range<usize>)> {
    let mut begin = 0;
    std::iter::from_fn(move || {
        let window = *columns.get(begin)? as usize / width;
        let rest = columns.get(begin..)?;
        let count = rest.partition_point(|&column| column as usize / width == window);
        let range = begin..begin + count;
        begin = range.end;
        Some((window, range))
    })
}

/// Whether the rows of a matrix have at least this many nonzeros in each window that they meet, on
/// average.
fn is_dense<T: Scalar>(a: &Csr<T>, width: usize, least: usize) -> bool {
    let most = a.nnz() / least;
    // Short rows are known without their columns.
    if (0..a.rows()).filter(|&i| !a.row_ptr().range(i).is_empty()).count() > most {
        return false;
    }
    let mut met = 0;
    (0..a.rows()).all(|i| {
        met += windows_of(a.row(i).0, width).count();
        met <= most
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use sparsescope_matrix::matrix::RowPtr;

    /// Rows with these columns.
    fn made(cols: usize, rows: &[&[usize]]) -> Csr {
        let entries = rows.iter().enumerate();
        let entries = entries.flat_map(|(i, row)| row.iter().map(move |&j| (i, j, 1.0)));
        Csr::from_triplets(rows.len(), cols, &entries.collect::<Vec<_>>()).unwrap()
    }

    #[test]
    fn pieces_are_in_the_order_of_blocks_and_their_sums_in_the_order_of_rows() {
        let a = made(10, &[&[0, 1, 4, 9], &[], &[3, 8]]);
        let windows = Windows::new(&a, 4, 100).unwrap();
        let piece = |entry, length, place| Piece { entry, length, place };
        assert_eq!(
            windows.pieces,
            [piece(0, 2, 0), piece(4, 1, 3), piece(2, 1, 1), piece(3, 1, 2), piece(5, 1, 4)]
        );
        let block = |column, piece| WindowBlock { column, piece, group: 0 };
        assert_eq!(windows.blocks, [block(0, 0), block(4, 2), block(8, 3)]);
        assert_eq!((windows.groups, windows.part_ptr), (vec![(0, 3)], vec![0, 3, 3, 5]));
        // 6 nonzeros in 5 windows of rows.
        assert!(is_dense(&a, 4, 1) && !is_dense(&a, 4, 2));
    }

    #[test]
    fn groups_end_once_their_blocks_are_full_and_long_rows_are_cut() {
        // Two windows, so that a group is full with 2 · 3 nonzeros.
        let row: &[usize] = &[0, 1, 5];
        let windows = Windows::new(&made(8, &[row; 5]), 4, 3).unwrap();
        assert_eq!(windows.groups, [(0, 2), (2, 2), (4, 2)]);
        let of: Vec<_> = windows.blocks.iter().map(|block| (block.group, block.piece)).collect();
        assert_eq!(of, [(0, 0), (0, 2), (1, 4), (1, 6), (2, 8), (2, 9)]);

        let long: Vec<usize> = (0..2 * MOST_OF_PIECE + 1).collect();
        let windows = Windows::new(&made(2000, &[&long]), 2000, MOST_OF_PIECE).unwrap();
        let lengths: Vec<_> = windows.pieces.iter().map(|piece| piece.length as usize).collect();
        assert_eq!(lengths, [MOST_OF_PIECE, MOST_OF_PIECE, 1]);
        // Two blocks of about 512 nonzeros, of whole pieces.
        assert_eq!((windows.groups, windows.blocks.len()), (vec![(0, 2)], 2));
    }

    #[test]
    fn every_nonzero_is_in_one_piece_of_its_row_and_in_the_window_of_its_block() {
        let rows: Vec<Vec<usize>> =
            (0..200usize).map(|i| (0..i * i % 90).map(|k| (i + 7 * k) % 631).collect()).collect();
        let a = made(631, &rows.iter().map(Vec::as_slice).collect::<Vec<_>>());
        for (width, entries) in [(631, 1), (100, 64), (7, 1000), (1, 10)] {
            let windows = Windows::new(&a, width, entries).unwrap();
            let mut seen = vec![false; a.nnz()];
            let mut places = vec![false; windows.pieces.len()];
            for (b, block) in windows.blocks.iter().enumerate() {
                let next = windows.blocks.get(b + 1);
                let end = next.map_or(windows.pieces.len(), |next| next.piece as usize);
                let inside = block.column as usize..block.column as usize + width;
                let first = windows.groups[block.group as usize].0 as usize;
                let next = windows.groups.get(block.group as usize + 1);
                let rows = first..next.map_or(a.rows(), |next| next.0 as usize);
                for piece in &windows.pieces[block.piece as usize..end] {
                    let row = a.row_ptr().segment_at(piece.entry as usize);
                    assert!(rows.contains(&row));
                    let of_row = windows.part_ptr[row]..windows.part_ptr[row + 1];
                    assert!(of_row.contains(&piece.place));
                    assert!(!std::mem::replace(&mut places[piece.place as usize], true));
                    let slots =
                        piece.entry as usize..(piece.entry + u64::from(piece.length)) as usize;
                    let of_row = a.row_ptr().range(row);
                    assert!(of_row.start <= slots.start && slots.end <= of_row.end);
                    assert!(a.col()[slots.clone()].iter().all(|&j| inside.contains(&(j as usize))));
                    assert!(!seen[slots.clone()].contains(&true));
                    seen[slots].fill(true);
                }
            }
            assert!(seen.iter().chain(&places).all(|&is| is), "{width} {entries}");
            let blocks: u32 = windows.groups.iter().map(|group| group.1).sum();
            assert_eq!(blocks as usize, windows.blocks.len());
        }
    }

    #[test]
    fn windows_suit_long_rows_if_x_does_not_fit_into_one() {
        // `each` nonzeros per row, at equal distances.
        let made = |nnz: usize, each: usize, cols: usize| -> Csr {
            let rows = nnz / each;
            let row_ptr = RowPtr::from_lengths((0..rows).map(|_| each));
            let row = |_| (0..each).map(move |k| (k * (cols / each)) as u32);
            let col: Vec<u32> = (0..rows).flat_map(row).collect();
            let val = vec![1.0; col.len()];
            Csr::try_new(rows, cols, row_ptr, col, val).unwrap()
        };
        let [small, large] = WindowShape::ALL;
        let (most, least) = (1 << 20, LEAST_ENTRIES);
        // 6144 and 2048 nonzeros in the two windows of f64; those of f32 have 24,576 columns.
        let long = made(least, 8192, 16_384);
        assert_eq!(WindowShape::suiting(&long, most), Some(small));
        assert_eq!(WindowShape::suiting(&long.map(|value| value as f32), most), None);
        assert_eq!(WindowShape::suiting(&made(least / 2, 8192, 16_384), most), None);
        assert_eq!(WindowShape::suiting(&long, small.bytes - 1), None);
        // Up to 28 and 12 nonzeros in windows of 28,160 and 12,288 columns.
        let shorter = made(2 * least, 128, 1 << 17);
        assert_eq!(WindowShape::suiting(&shorter, large.bytes), Some(large));
        assert_eq!(WindowShape::suiting(&shorter, large.bytes - 1), None);
        assert_eq!(WindowShape::suiting(&made(2 * least, 64, 1 << 17), most), None);
    }

    #[test]
    fn empty_rows_have_a_block_and_a_matrix_without_rows_has_none() {
        let windows = Windows::new(&made(0, &[&[], &[]]), 1, 1).unwrap();
        assert_eq!((windows.groups, windows.part_ptr), (vec![(0, 1)], vec![0, 0, 0]));
        assert_eq!(windows.blocks, [WindowBlock { column: 0, piece: 0, group: 0 }]);
        let windows = Windows::new(&made(5, &[]), 4, 1).unwrap();
        assert_eq!((windows.blocks.len(), windows.groups.len()), (0, 0));
    }
}
