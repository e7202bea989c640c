//! How a GPU kernel divides a rectangular matrix whose rows, where they are near each other, have nonzeros in nearby
//! columns, so that a block finds its part of x in shared memory: bands of rows, and tiles of whole rows.

use std::ops::Range;

use super::grid::LANES;
use sparsescope_matrix::matrix::{Csr, Scalar};

/// How blocks work on bands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BandShape {
    /// Threads per block.
    pub threads: u32,
    /// Nonzeros per lane of the warp that takes a tile.
    pub items: u32,
}

/// Nonzeros per row from which tiles are larger.
const LONG_ROWS: usize = 32;

/// Minimum nonzeros of a matrix: others take as long as a launch.
const LEAST_ENTRIES: usize = 1 << 20;

/// Maximum bytes of shared memory: those of a block of the GPU that the limits were measured on.
const MOST_BYTES: usize = 227 << 10;

/// Maximum elements of x that all blocks load, per nonzero in a tile.
const MOST_KEPT: usize = 2;

/// Ranges of columns begin at multiples of this number, so that elements can be copied several at a time.
const STEP: usize = 64;

/// The rows of a block, in order: its tiles, and the columns whose elements of x it keeps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Band {
    /// Two ranges of columns in order, the second or both empty.
    pub kept: [Range<u32>; 2],
    /// Its tiles.
    pub tiles: Range<u32>,
    /// Its share of the parts of long rows.
    pub parts: Range<u32>,
}

/// Whole rows. A warp takes them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BandTile {
    /// Its first nonzero.
    pub entry: u32,
    /// Number of nonzeros.
    pub entries: u32,
    /// Its first row.
    pub row: u32,
    /// Number of rows.
    pub rows: u32,
}

/// A part of a row that is longer than a tile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LongPart {
    /// Its first nonzero.
    pub entry: u32,
    /// Number of nonzeros.
    pub entries: u32,
    /// Its row.
    pub row: u32,
    /// The first part of that row.
    pub first: u32,
    /// Number of parts of that row.
    pub count: u32,
}

/// The bands of a CSR matrix.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bands {
    /// How blocks work.
    pub shape: BandShape,
    /// A band per block.
    pub bands: Vec<Band>,
    /// Tiles, band by band.
    pub tiles: Vec<BandTile>,
    /// The parts of long rows, row by row.
    pub parts: Vec<LongPart>,
    /// Maximum elements of x that a block keeps.
    pub width: usize,
}

impl BandShape {
    /// The shapes that have kernels: for short rows and for longer ones.
    pub const ALL: [Self; 2] = [Self::of(4), Self::of(8)];

    const fn of(items: u32) -> Self {
        Self { threads: 1024, items }
    }

    /// Maximum nonzeros of a tile.
    pub fn entries(self) -> usize {
        LANES as usize * self.items as usize
    }

    /// Number of nonzeros in tiles: those that are not in long rows.
    pub fn in_tiles<T: Scalar>(self, a: &Csr<T>) -> usize {
        (0..a.rows()).map(|row| a.row_len(row)).filter(|&length| length <= self.entries()).sum()
    }

    /// Products that a block keeps: one per thread and item.
    pub fn products(self) -> usize {
        self.threads as usize * self.items as usize
    }
}

impl Bands {
    /// Blocks on an H100 or H200, one per multiprocessor.
    pub const USUAL: usize = 132;

    /// The bands of a matrix, one per block, if they suit it on a device whose blocks have up to this many bytes of
    /// shared memory: the matrix is rectangular, the part of x of each band fits, and loading these parts takes far
    /// fewer requests than loading an element for each nonzero.
    pub fn suiting<T: Scalar>(a: &Csr<T>, blocks: usize, shared_bytes: usize) -> Option<Self> {
        if a.rows() == a.cols() || a.nnz() < LEAST_ENTRIES || u32::try_from(a.nnz()).is_err() {
            return None;
        }
        let [short, long] = BandShape::ALL;
        let shape = if a.nnz() / LONG_ROWS < a.rows() { short } else { long };
        let values = shared_bytes.min(MOST_BYTES) / T::BYTES;
        // Columns are counted from the first one that is kept, in 16 bits.
        let most = values.checked_sub(shape.products())?.min(1 << 16);
        let in_tiles = shape.in_tiles(a);
        // Nonzeros of long rows load x from memory, each its own element.
        let suits = 2 * in_tiles >= a.nnz();
        suits.then(|| Self::new(a, shape, blocks, (most, MOST_KEPT * in_tiles))).flatten()
    }

    /// Bands of about the same number of nonzeros. `None` as soon as one would keep more than `most` elements of x,
    /// or all together more than `most_of_all`. Rows and nonzeros are counted in 32 bits.
    fn new<T: Scalar>(
        a: &Csr<T>,
        shape: BandShape,
        blocks: usize,
        (most, most_of_all): (usize, usize),
    ) -> Option<Self> {
        let (bands, tiles, parts) = (Vec::with_capacity(blocks), Vec::new(), Vec::new());
        let mut all = Self { shape, bands, tiles, parts, width: 0 };
        let mut used = vec![false; a.cols().div_ceil(STEP)];
        let mut kept_by_all = 0;
        for bounds in bounds(a, shape.entries(), blocks).windows(2) {
            let rows = bounds[0]..bounds[1];
            let kept = all.columns_of(a, rows.clone(), &mut used);
            let width: usize = kept.iter().map(Range::len).sum();
            kept_by_all += width;
            if width > most || kept_by_all > most_of_all {
                return None;
            }
            all.width = all.width.max(width);
            let first = all.tiles.len() as u32;
            all.add_tiles(a, rows);
            let tiles = first..all.tiles.len() as u32;
            all.bands.push(Band { kept, tiles, parts: 0..0 });
        }
        for row in 0..a.rows() {
            all.add_parts(a, row);
        }
        let (parts, blocks) = (all.parts.len(), all.bands.len());
        for (band, b) in all.bands.iter_mut().zip(0..) {
            let share = |b: usize| (parts as u64 * b as u64 / blocks as u64) as u32;
            band.parts = share(b)..share(b + 1);
        }
        Some(all)
    }

    /// The columns of these rows, without long ones: all between the first and the last but the widest gap.
    fn columns_of<T: Scalar>(
        &self,
        a: &Csr<T>,
        rows: Range<usize>,
        used: &mut [bool],
    ) -> [Range<u32>; 2] {
        used.fill(false);
        for row in rows.filter(|&row| a.row_len(row) <= self.shape.entries()) {
            for &column in a.row(row).0 {
                used[column as usize / STEP] = true;
            }
        }
        let Some(first) = used.iter().position(|&is| is) else { return [0..0, 0..0] };
        let end = used.iter().rposition(|&is| is).map_or(first, |last| last + 1);
        let (mut gap, mut begin) = (end..end, first);
        for step in (first..end).filter(|&step| used[step]) {
            if step - begin > gap.len() {
                gap = begin..step;
            }
            begin = step + 1;
        }
        let column = |step: usize| (step * STEP).min(a.cols()) as u32;
        [column(first)..column(gap.start), column(gap.end)..column(end)]
    }

    /// Adds the tiles of these rows, without long ones.
    fn add_tiles<T: Scalar>(&mut self, a: &Csr<T>, rows: Range<usize>) {
        let most = self.shape.entries();
        let mut row = rows.start;
        while row < rows.end {
            let (first, entry) = (row, a.row_ptr().get(row));
            while row < rows.end && row - first < most && a.row_ptr().get(row + 1) - entry <= most {
                row += 1;
            }
            if row == first {
                row += 1;
                continue;
            }
            self.tiles.push(BandTile {
                entry: entry as u32,
                entries: (a.row_ptr().get(row) - entry) as u32,
                row: first as u32,
                rows: (row - first) as u32,
            });
        }
    }

    /// Adds the parts of a row, if it is long.
    fn add_parts<T: Scalar>(&mut self, a: &Csr<T>, row: usize) {
        let (range, most) = (a.row_ptr().range(row), self.shape.entries());
        if range.len() <= most {
            return;
        }
        let (first, count) = (self.parts.len() as u32, range.len().div_ceil(most) as u32);
        let parts = range.clone().step_by(most).map(|entry| LongPart {
            entry: entry as u32,
            entries: most.min(range.end - entry) as u32,
            row: row as u32,
            first,
            count,
        });
        self.parts.extend(parts);
    }

    /// For each nonzero in a tile, the place of its element of x among those that its block keeps.
    pub fn near<T: Scalar>(&self, a: &Csr<T>) -> Vec<u16> {
        let mut near = vec![0; a.nnz()];
        for band in &self.bands {
            let [one, two] = &band.kept;
            for tile in &self.tiles[band.tiles.start as usize..band.tiles.end as usize] {
                let slots = tile.entry as usize..tile.entry as usize + tile.entries as usize;
                for (place, &column) in near[slots.clone()].iter_mut().zip(&a.col()[slots]) {
                    let kept = match one.contains(&column) {
                        true => column - one.start,
                        false => column - two.start + one.len() as u32,
                    };
                    *place = kept as u16;
                }
            }
        }
        near
    }

    /// For each row in a tile, where it ends there.
    pub fn ends<T: Scalar>(&self, a: &Csr<T>) -> Vec<u16> {
        let mut ends = vec![0; a.rows()];
        for tile in &self.tiles {
            let rows = tile.row as usize..tile.row as usize + tile.rows as usize;
            for (row, end) in rows.clone().zip(&mut ends[rows]) {
                *end = (a.row_ptr().get(row + 1) - tile.entry as usize) as u16;
            }
        }
        ends
    }
}

/// The first row of each band, and the number of rows. A row costs as much as two nonzeros; long ones are shared by
/// all blocks.
fn bounds<T: Scalar>(a: &Csr<T>, most: usize, blocks: usize) -> Vec<usize> {
    let cost = |row: usize| match a.row_len(row) {
        length if length <= most => length as u64 + 2,
        _ => 0,
    };
    let total: u64 = (0..a.rows()).map(cost).sum();
    let (mut bounds, mut done) = (vec![0], 0);
    for row in 0..a.rows() {
        done += cost(row);
        while bounds.len() < blocks && done * blocks as u64 >= total * bounds.len() as u64 {
            bounds.push(row + 1);
        }
    }
    bounds.resize(blocks + 1, a.rows());
    bounds
}

#[cfg(test)]
mod tests {
    use super::*;
    use sparsescope_matrix::matrix::RowPtr;

    /// Tiles of 32 nonzeros.
    const SMALL: BandShape = BandShape { threads: 32, items: 1 };

    /// Rows with these columns.
    fn made(cols: usize, rows: &[Vec<usize>]) -> Csr {
        let entries = rows.iter().enumerate();
        let entries = entries.flat_map(|(i, row)| row.iter().map(move |&j| (i, j, 1.0)));
        Csr::from_triplets(rows.len(), cols, &entries.collect::<Vec<_>>()).unwrap()
    }

    #[test]
    fn a_band_keeps_its_columns_without_the_widest_gap() {
        let a = made(1000, &[vec![70, 140], vec![5, 500, 999], (0..40).collect()]);
        let bands = Bands::new(&a, SMALL, 1, (552, 552)).unwrap();
        // Columns 512 to 959 are the widest gap.
        let band = Band { kept: [0..512, 960..1000], tiles: 0..1, parts: 0..2 };
        assert_eq!((bands.bands.as_slice(), bands.width), ([band].as_slice(), 552));
        assert_eq!(bands.tiles, [BandTile { entry: 0, entries: 5, row: 0, rows: 2 }]);
        let part = |entry, entries| LongPart { entry, entries, row: 2, first: 0, count: 2 };
        assert_eq!(bands.parts, [part(5, 32), part(37, 8)]);
        assert_eq!(SMALL.in_tiles(&a), 5);
        assert_eq!(bands.near(&a)[..5], [70, 140, 5, 500, 512 + 39]);
        assert_eq!(bands.ends(&a), [2, 5, 0]);
        assert_eq!(Bands::new(&a, SMALL, 1, (551, 552)), None);
        assert_eq!(Bands::new(&a, SMALL, 1, (552, 551)), None);
    }

    #[test]
    fn every_nonzero_is_in_one_tile_or_part_and_its_element_of_x_is_kept() {
        let length = |i: usize| if i % 50 == 7 { 90 } else { i * i % 9 };
        let rows: Vec<Vec<usize>> =
            (0..400).map(|i| (0..length(i)).map(|k| (2 * i + 11 * k) % 1203).collect()).collect();
        let a = made(1203, &rows);
        for blocks in [1, 3, 40, 700] {
            let bands = Bands::new(&a, SMALL, blocks, (1203, usize::MAX)).unwrap();
            assert_eq!(bands.bands.len(), blocks);
            let (near, ends) = (bands.near(&a), bands.ends(&a));
            let (mut seen, mut rows, mut parts) = (vec![0; a.nnz()], vec![0; a.rows()], 0);
            for band in &bands.bands {
                let [one, two] = band.kept.clone();
                let kept: Vec<u32> = one.chain(two).collect();
                for tile in &bands.tiles[band.tiles.start as usize..band.tiles.end as usize] {
                    let mut begin = 0;
                    for row in tile.row as usize..(tile.row + tile.rows) as usize {
                        rows[row] += 1;
                        let range = a.row_ptr().range(row);
                        assert_eq!(range.start, tile.entry as usize + begin);
                        begin = usize::from(ends[row]);
                        assert_eq!(range.end, tile.entry as usize + begin);
                        for k in range {
                            seen[k] += 1;
                            assert_eq!(kept[usize::from(near[k])], a.col()[k]);
                        }
                    }
                    assert!(begin == tile.entries as usize && begin <= SMALL.entries());
                }
                assert_eq!(band.parts.start, parts);
                parts = band.parts.end;
            }
            assert_eq!(parts as usize, bands.parts.len());
            for part in &bands.parts {
                rows[part.row as usize] +=
                    usize::from(part.entry as usize == a.row_ptr().get(part.row as usize));
                (part.entry..part.entry + part.entries).for_each(|k| seen[k as usize] += 1);
            }
            assert!(seen.iter().chain(&rows).all(|&count| count == 1), "{blocks} blocks");
        }
    }

    #[test]
    fn bands_suit_rectangles_of_nearby_columns_that_shared_memory_holds() {
        // Rows of 8 nonzeros, `far` columns apart.
        let made = |rows: usize, cols: usize, far: usize| -> Csr {
            let row_ptr = RowPtr::from_lengths((0..rows).map(|_| 8));
            let last = (cols - 8 * far) as u64;
            let first = |i: usize| (i as u64 * last / rows as u64) as usize;
            let col = (0..rows).flat_map(|i| (0..8).map(move |k| (first(i) + k * far) as u32));
            let col: Vec<u32> = col.collect();
            let val = vec![1.0; col.len()];
            Csr::try_new(rows, cols, row_ptr, col, val).unwrap()
        };
        let suits = |a: &Csr, bytes| Bands::suiting(a, Bands::USUAL, bytes).is_some();
        let near = made(1 << 17, 1 << 18, 100);
        assert!(suits(&near, usize::MAX));
        // 4096 products, and fewer elements of x than the 2700 columns of a band.
        assert!(!suits(&near, (4096 + 1000) * 8) && !suits(&near, 1000));
        assert!(!suits(&made(1 << 17, 1 << 17, 100), usize::MAX), "square");
        assert!(!suits(&made(1 << 16, 1 << 18, 100), usize::MAX), "few nonzeros");
        // 35,000 columns in each band.
        assert!(!suits(&made(1 << 17, 1 << 18, 5000), usize::MAX));
    }
}
