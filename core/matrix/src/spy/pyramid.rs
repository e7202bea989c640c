//! The density pyramid: the exact number of nonzeros in each cell, from cells of a few rows and columns up to
//! one cell that covers the whole matrix.

use std::collections::BTreeMap;
use std::ops::Range;

use crate::parallel::*;

use crate::matrix::{Csr, RowPtr, Scalar};
use crate::pace::{Pace, at_once};

/// Cells along each edge of a tile.
pub const TILE: usize = 256;

/// The finest level has at most 2¹² cells along each edge.
const BASE_BITS: u32 = 12;

/// Rows of cells that a thread counts at a time; divides the height of a tile.
const LINES_TOGETHER: usize = 16;

/// Counts of a tile's cells, row by row.
pub(super) type Tile = Box<[u64]>;

/// One level: cell (r, c) counts the nonzeros (i, j) with i ≫ shift = r and j ≫ shift = c.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Level {
    shift: u32,
    rows: usize,
    cols: usize,
    /// Tiles that hold any nonzero, by row and column.
    tiles: BTreeMap<(usize, usize), Tile>,
}

/// All levels of a matrix, finest first; each coarser one sums 2 × 2 cells of the previous one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pyramid {
    rows: usize,
    cols: usize,
    entries: u64,
    levels: Vec<Level>,
}

impl Pyramid {
    /// Counts the nonzeros of `a` in one pass, in parallel on the ambient pool. The result does not depend on
    /// the number of threads.
    pub fn of<T: Scalar>(a: &Csr<T>) -> Self {
        at_once(Self::at(a, Pace::AtOnce))
    }

    /// The same as [`of`](Self::of), at a given pace.
    pub async fn at<T: Scalar>(a: &Csr<T>, pace: Pace) -> Self {
        let finest = Level::base(a, pace).await;
        Self::summed(a.rows(), a.cols(), finest, pace).await
    }

    /// Sums up the coarser levels of a matrix of `rows` × `cols`.
    pub(super) fn from_finest(rows: usize, cols: usize, finest: Level) -> Self {
        at_once(Self::summed(rows, cols, finest, Pace::AtOnce))
    }

    async fn summed(rows: usize, cols: usize, finest: Level, pace: Pace) -> Self {
        let entries = finest.total();
        let mut levels = vec![finest];
        while let Some(coarser) = levels.last().and_then(Level::coarser) {
            levels.push(coarser);
            pace.rest().await;
        }
        Self { rows, cols, entries, levels }
    }

    /// Returns the shift of the finest level of a matrix of this size.
    pub fn base_shift(rows: usize, cols: usize) -> u32 {
        let longest = rows.max(cols).max(1) as u64;
        longest.next_power_of_two().trailing_zeros().saturating_sub(BASE_BITS)
    }

    /// Rows of the matrix.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Columns of the matrix.
    pub fn cols(&self) -> usize {
        self.cols
    }

    /// Stored nonzeros of the matrix: the sum of every level.
    pub fn entries(&self) -> u64 {
        self.entries
    }

    /// The levels, finest first; the last one is a single cell.
    pub fn levels(&self) -> &[Level] {
        &self.levels
    }
}

impl Level {
    /// Returns a level of a matrix of `rows` × `cols` with no nonzeros yet.
    pub(super) fn empty(rows: usize, cols: usize, shift: u32) -> Self {
        let cells = |n: usize| n.div_ceil(1 << shift);
        Self { shift, rows: cells(rows), cols: cells(cols), tiles: BTreeMap::new() }
    }

    /// Counts the finest level of `a`. Bands of tile rows are counted in parallel.
    async fn base<T: Scalar>(a: &Csr<T>, pace: Pace) -> Self {
        let mut level = Self::empty(a.rows(), a.cols(), Pyramid::base_shift(a.rows(), a.cols()));
        let bands = level.rows.div_ceil(TILE);
        let together = if pace == Pace::AtOnce { bands.max(1) } else { 1 };
        let mut tiles = BTreeMap::new();
        for first in (0..bands).step_by(together) {
            let bands = first..bands.min(first + together);
            tiles.extend(level.count_bands((a.row_ptr(), a.col()), bands));
            pace.rest().await;
        }
        level.tiles = tiles;
        level
    }

    /// The tiles of some tile rows, which are counted in parallel. It knows the matrix by its pattern, row
    /// offsets and columns, and is so compiled once for values of any type.
    fn count_bands(
        &self,
        pattern: (&RowPtr, &[u32]),
        bands: Range<usize>,
    ) -> Vec<((usize, usize), Tile)> {
        let counted = bands.into_par_iter().map(|band| self.count_band(pattern, band));
        let counted: Vec<_> = counted.collect();
        counted.into_iter().flatten().collect()
    }

    /// The tiles of one tile row, whose rows of cells are counted in parallel.
    fn count_band(&self, pattern: (&RowPtr, &[u32]), band: usize) -> Vec<((usize, usize), Tile)> {
        let last = self.rows.min((band + 1) * TILE);
        let groups = (band * TILE..last).step_by(LINES_TOGETHER).collect::<Vec<_>>();
        let count =
            |&first: &usize| self.count_lines(pattern, first..last.min(first + LINES_TOGETHER));
        let counted: Vec<_> = groups.par_iter().map(count).collect();
        let mut tiles: Vec<Option<Tile>> = vec![None; self.cols.div_ceil(TILE)];
        for (group, pieces) in counted.into_iter().enumerate() {
            for (column, piece) in pieces {
                let Some(tile) = tiles.get_mut(column) else { continue };
                let tile = tile.get_or_insert_with(empty_tile);
                if let Some(lines) = tile.chunks_mut(LINES_TOGETHER * TILE).nth(group) {
                    lines.iter_mut().zip(&piece).for_each(|(to, &from)| *to = from);
                }
            }
        }
        let named = tiles.into_iter().enumerate();
        named.filter_map(|(column, tile)| Some(((band, column), tile?))).collect()
    }

    /// Counts some rows of cells of `a`: the tile columns that hold nonzeros, each with 256 counts per row of
    /// cells.
    fn count_lines(
        &self,
        (row_ptr, col): (&RowPtr, &[u32]),
        lines: Range<usize>,
    ) -> Vec<(usize, Vec<u64>)> {
        let rows_in_all = row_ptr.len() - 1;
        let mut pieces: Vec<Option<Vec<u64>>> = vec![None; self.cols.div_ceil(TILE)];
        // Half the size of the counts of tiles, so that a row of cells stays in the L1 cache.
        let mut line = vec![0u32; self.cols];
        for (k, r) in lines.clone().enumerate() {
            let rows = (r << self.shift).min(rows_in_all)..((r + 1) << self.shift).min(rows_in_all);
            let entries = row_ptr.get(rows.start)..row_ptr.get(rows.end);
            for columns in col.get(entries).unwrap_or_default().chunks(u32::MAX as usize) {
                for &column in columns {
                    if let Some(count) = line.get_mut(column as usize >> self.shift) {
                        *count += 1;
                    }
                }
                for (cells, piece) in line.chunks_mut(TILE).zip(&mut pieces) {
                    if cells.iter().any(|&count| count > 0) {
                        let piece = piece.get_or_insert_with(|| vec![0; lines.len() * TILE]);
                        let counts = piece.iter_mut().skip(k * TILE);
                        counts.zip(&*cells).for_each(|(to, &from)| *to += u64::from(from));
                        cells.fill(0);
                    }
                }
            }
        }
        let named = pieces.into_iter().enumerate();
        named.filter_map(|(column, piece)| Some((column, piece?))).collect()
    }

    /// The level with half as many cells along each edge; none above a single cell. Its tiles are summed in
    /// parallel.
    fn coarser(&self) -> Option<Self> {
        if self.rows <= 1 && self.cols <= 1 {
            return None;
        }
        let mut places: Vec<_> = self.tiles.keys().map(|&(r, c)| (r / 2, c / 2)).collect();
        places.sort_unstable();
        places.dedup();
        let tiles = places.par_iter().map(|&place| (place, self.summed_tile(place)));
        let tiles: Vec<_> = tiles.collect();
        let (rows, cols) = (self.rows.div_ceil(2), self.cols.div_ceil(2));
        Some(Self { shift: self.shift + 1, rows, cols, tiles: tiles.into_iter().collect() })
    }

    /// A tile of the next coarser level: each quadrant sums the cells of one tile, two by two.
    fn summed_tile(&self, (row, col): (usize, usize)) -> Tile {
        let mut sums = empty_tile();
        for (i, j) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
            let Some(tile) = self.tiles.get(&(2 * row + i, 2 * col + j)) else { continue };
            let (top, left) = (i * TILE / 2, j * TILE / 2);
            let lines = sums.chunks_exact_mut(TILE).skip(top);
            for (sums, pair) in lines.zip(tile.chunks_exact(2 * TILE)) {
                let (upper, lower) = pair.split_at(TILE);
                let cells = upper.chunks_exact(2).zip(lower.chunks_exact(2));
                for (sum, (upper, lower)) in sums.iter_mut().skip(left).zip(cells) {
                    *sum = upper.iter().chain(lower).sum();
                }
            }
        }
        sums
    }

    /// Adds to a cell, which must lie inside the level.
    pub(super) fn add(&mut self, row: usize, col: usize, count: u64) {
        let tile = self.tiles.entry((row / TILE, col / TILE)).or_insert_with(empty_tile);
        if let Some(cell) = tile.get_mut(row % TILE * TILE + col % TILE) {
            *cell += count;
        }
    }

    /// A cell covers 2^shift rows and columns.
    pub fn shift(&self) -> u32 {
        self.shift
    }

    /// Rows of cells.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Columns of cells.
    pub fn cols(&self) -> usize {
        self.cols
    }

    /// Nonzeros in a cell; 0 outside the level.
    pub fn count(&self, row: usize, col: usize) -> u64 {
        let tile = self.tiles.get(&(row / TILE, col / TILE));
        tile.and_then(|t| t.get(row % TILE * TILE + col % TILE)).copied().unwrap_or(0)
    }

    /// Writes the nonzero counts of cells `first..first + counts.len()` of a row of cells; 0 outside the
    /// level.
    pub fn line(&self, row: usize, first: usize, counts: &mut [u64]) {
        counts.fill(0);
        let end = first + counts.len();
        let tiles = (row / TILE, first / TILE)..(row / TILE, end.div_ceil(TILE));
        for (&(_, tile_col), tile) in self.tiles.range(tiles) {
            let (left, start) = (tile_col * TILE, row % TILE * TILE);
            let from = first.max(left);
            let cells = tile.get(start + from - left..start + end.min(left + TILE) - left);
            let to = counts.get_mut(from - first..);
            if let (Some(cells), Some(to)) = (cells, to) {
                to.iter_mut().zip(cells).for_each(|(to, from)| *to = *from);
            }
        }
    }

    /// Row and column of each tile that holds nonzeros, with its 256 × 256 counts row by row.
    pub fn tiles(&self) -> impl Iterator<Item = ((usize, usize), &[u64])> {
        self.tiles.iter().map(|(&place, counts)| (place, counts.as_ref()))
    }

    /// Row, column and count of each cell that holds nonzeros, tile by tile.
    pub fn cells(&self) -> impl Iterator<Item = (usize, usize, u64)> {
        self.tiles.iter().flat_map(|(&(tile_row, tile_col), counts)| {
            let filled = counts.iter().enumerate().filter(|&(_, &count)| count > 0);
            filled.map(move |(k, &count)| {
                (tile_row * TILE + k / TILE, tile_col * TILE + k % TILE, count)
            })
        })
    }

    /// Sum of all cells.
    pub fn total(&self) -> u64 {
        self.tiles.values().flat_map(|tile| tile.iter()).sum()
    }

    /// The largest count of a cell; 0 without nonzeros.
    pub fn max(&self) -> u64 {
        self.tiles.values().flat_map(|tile| tile.iter()).copied().max().unwrap_or(0)
    }

    /// Rows (or columns) of the matrix that cell row (or column) `cell` covers, where `n` is the total number
    /// of them.
    pub fn span(&self, cell: usize, n: usize) -> Range<usize> {
        let first = (cell << self.shift).min(n);
        first..n.min(first + (1 << self.shift))
    }
}

fn empty_tile() -> Tile {
    vec![0; TILE * TILE].into_boxed_slice()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Count of every filled cell, nonzero by nonzero.
    fn brute_force(a: &Csr, shift: u32) -> BTreeMap<(usize, usize), u64> {
        let mut cells = BTreeMap::new();
        for i in 0..a.rows() {
            for &j in a.row(i).0 {
                *cells.entry((i >> shift, j as usize >> shift)).or_insert(0) += 1;
            }
        }
        cells
    }

    fn check(a: &Csr) {
        let pyramid = Pyramid::of(a);
        assert_eq!(pyramid.entries(), a.nnz() as u64);
        let base_shift = Pyramid::base_shift(a.rows(), a.cols());
        for (shift, level) in (base_shift..).zip(pyramid.levels()) {
            assert_eq!(level.shift(), shift);
            assert_eq!(level.total(), a.nnz() as u64, "every level holds every entry");
            let cells: BTreeMap<_, _> = level.cells().map(|(r, c, n)| ((r, c), n)).collect();
            assert_eq!(cells, brute_force(a, shift));
            assert!(cells.iter().all(|(&(r, c), &n)| level.count(r, c) == n));
            assert_eq!(level.max(), cells.values().copied().max().unwrap_or(0));
        }
        let top = pyramid.levels().last().unwrap();
        assert!(top.rows() <= 1 && top.cols() <= 1);
        for pair in pyramid.levels().windows(2) {
            let [fine, coarse] = pair else { continue };
            for (r, c, n) in coarse.cells() {
                let children = [(0, 0), (0, 1), (1, 0), (1, 1)];
                let sum: u64 = children.iter().map(|(i, j)| fine.count(2 * r + i, 2 * c + j)).sum();
                assert_eq!(n, sum, "a cell is the sum of its four");
            }
        }
    }

    #[test]
    fn the_finest_level_has_at_most_4096_cells_along_an_edge() {
        let shifts = [(1, 1), (4096, 9), (4097, 9), (9, 8192), (8193, 1), (100_000_000, 1)]
            .map(|(m, n)| Pyramid::base_shift(m, n));
        assert_eq!(shifts, [0, 0, 1, 1, 2, 15]);
    }

    #[test]
    fn one_entry_among_a_hundred_million_columns_shows_at_every_zoom() {
        let n = 100_000_000;
        let a = Csr::from_triplets(10, n, &[(5, 77_777_777, 1.0)]).unwrap().transpose();
        let pyramid = Pyramid::of(&a);
        for level in pyramid.levels() {
            let (row, col) = (77_777_777 >> level.shift(), 5 >> level.shift());
            assert_eq!(level.cells().collect::<Vec<_>>(), [(row, col, 1)]);
            assert!(level.span(row, n).contains(&77_777_777));
        }
    }

    #[test]
    fn matrices_without_rows_or_entries_have_a_pyramid() {
        for (m, n) in [(0, 0), (0, 9), (9, 0), (1, 1), (5000, 3)] {
            check(&Csr::from_triplets(m, n, &[]).unwrap());
        }
    }

    #[test]
    #[cfg_attr(target_family = "wasm", ignore = "starts threads")]
    fn the_number_of_threads_makes_no_difference() {
        let t: Vec<_> = (0..40_000usize).map(|k| (k * 7 % 9001, k * k % 8009, 1.0)).collect();
        let a = Csr::from_triplets(9001, 8009, &t).unwrap();
        let with = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| Pyramid::of(&a))
        };
        assert_eq!(with(1), with(3));
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

        #[test]
        fn every_level_equals_counting_entry_by_entry(
            m in prop::sample::select(vec![1usize, 7, 255, 256, 257, 4095, 4096, 4097, 10_000]),
            n in prop::sample::select(vec![1usize, 7, 255, 256, 257, 4096, 4097, 20_000]),
            places in prop::collection::vec((0usize..10_000, 0usize..20_000), 0..200),
        ) {
            let t: Vec<_> = places.iter().map(|&(i, j)| (i % m, j % n, 1.0)).collect();
            check(&Csr::from_triplets(m, n, &t).unwrap());
        }
    }
}
