//! How GPU kernels divide a matrix with uneven rows: tiles of nonzeros, and lanes per row.

use super::grid::LANES;
use sparsescope_matrix::matrix::RowPtr;

/// Threads per block, and nonzeros per thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TileShape {
    /// Threads.
    pub threads: u32,
    /// Nonzeros per thread.
    pub items: u32,
}

impl TileShape {
    /// The shapes that have kernels.
    pub const ALL: [Self; 5] =
        [Self::of(128, 4), Self::of(128, 6), Self::of(256, 4), Self::of(512, 4), Self::SEGMENTED];

    /// Threads add up adjacent nonzeros, whatever their rows, and pass on what they have of a row
    /// that continues.
    const SEGMENTED: Self = Self::of(256, 6);

    const fn of(threads: u32, items: u32) -> Self {
        Self { threads, items }
    }

    /// The shape for rows with these offsets: larger tiles for longer rows, since whole rows have
    /// to fit; larger blocks if some rows are far longer than the others. With few nonzeros, segments
    /// instead wherever lanes that share each row would be uneven.
    pub fn suiting(row_ptr: &RowPtr) -> Self {
        let [small, long, uneven, most_uneven, segmented] = Self::ALL;
        let rows = row_ptr.len() - 1;
        let longest = (0..rows).map(|i| row_ptr.range(i).len()).max().unwrap_or(0);
        let entries = row_ptr.get(rows);
        let mean = entries as f64 / rows.max(1) as f64;
        let times = longest as f64 / mean.max(1.0);
        match () {
            () if mean >= SHORT_ROWS && times > MOST_UNEVEN => most_uneven,
            () if entries <= FEW_ENTRIES && !LaneShape::suits(rows, entries, longest) => segmented,
            () if mean < SHORT_ROWS => small,
            () if times > UNEVEN => uneven,
            () if mean < LONG_ROWS => small,
            () => long,
        }
    }

    /// Maximum number of nonzeros per tile.
    pub fn entries(self) -> u32 {
        self.threads * self.items
    }

    /// Whether threads add up adjacent nonzeros, whatever their rows.
    pub fn is_segmented(self) -> bool {
        self == Self::SEGMENTED
    }

    /// Lanes that sum and store a row of a tile of `rows` rows: as many as there are threads for, up
    /// to a warp. In segments, one stores it.
    pub fn lanes(self, rows: u32) -> u32 {
        let mut lanes = 1;
        if self.is_segmented() {
            return lanes;
        }
        while lanes < LANES as u32 && rows.saturating_mul(2 * lanes) <= self.threads {
            lanes *= 2;
        }
        lanes
    }

    /// Maximum nonzeros of a row that its `lanes` lanes sum. In the largest tiles, a whole warp sums
    /// each longer row.
    pub(crate) fn most_of_lanes(self, lanes: u32) -> u64 {
        let entries = match self == Self::ALL[3] && u64::from(lanes) < LANES {
            true => MOST_PER_LANE * lanes,
            false => self.entries(),
        };
        entries.into()
    }
}

/// Nonzeros of a row per lane up to which its lanes sum it in the largest tiles.
pub const MOST_PER_LANE: u32 = 16;

/// Nonzeros up to which uneven rows are summed in segments, and even ones may be shared by lanes: with
/// more, latency matters less.
const FEW_ENTRIES: usize = 4 << 20;

/// Ratio of the longest row to the mean up to which lanes may share each row: those of a far longer row
/// would run alone in the end.
const FAR_LONGER: f64 = 8.0;

/// Nonzeros per row below which tiles are small, however long the longest row is.
const SHORT_ROWS: f64 = 8.0;

/// Nonzeros per row from which tiles are larger.
const LONG_ROWS: f64 = 16.0;

/// Ratio of the longest row to the mean above which blocks are larger, and above which they are
/// largest.
const UNEVEN: f64 = 32.0;
const MOST_UNEVEN: f64 = 1024.0;

/// A tile: whole rows, or a part of a row that is longer than a tile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tile {
    /// Its first row.
    pub row: u32,
    /// The number of the part of that row; absent if the tile holds whole rows.
    pub part: Option<u32>,
    /// Its first nonzero.
    pub entry: u64,
}

/// The tiles of a CSR matrix, in the order of its nonzeros.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tiles {
    shape: TileShape,
    /// The last element is where the next tile would start.
    tiles: Vec<Tile>,
}

impl Tiles {
    /// Tiles of as many whole rows as fit, at most as many rows as a tile holds nonzeros. Longer
    /// rows are split into parts, one tile each, that share it with no other row. Rows are counted
    /// in 32 bits.
    pub fn new(row_ptr: &RowPtr, shape: TileShape) -> Self {
        let (rows, most) = (row_ptr.len() - 1, shape.entries() as usize);
        let entries = row_ptr.get(rows);
        let mut tiles = Vec::with_capacity(entries / most + entries / (4 * most) + 2);
        let tile = |row: usize, part: Option<u32>, entry: usize| Tile {
            row: row as u32,
            part,
            entry: entry as u64,
        };
        let (mut row, mut begin) = (0, 0);
        while row < rows {
            let end = row_ptr.get(row + 1);
            if end - begin > most {
                let parts = (begin..end).step_by(most).zip(0..);
                tiles.extend(parts.map(|(entry, part)| tile(row, Some(part), entry)));
                (row, begin) = (row + 1, end);
                continue;
            }
            tiles.push(tile(row, None, begin));
            let first = row;
            while row < rows && row - first < most && row_ptr.get(row + 1) - begin <= most {
                row += 1;
            }
            begin = row_ptr.get(row);
        }
        tiles.push(tile(rows, None, entries));
        Self { shape, tiles }
    }

    /// Threads per block and nonzeros per thread.
    pub fn shape(&self) -> TileShape {
        self.shape
    }

    /// Number of tiles.
    pub fn count(&self) -> usize {
        self.tiles.len() - 1
    }

    /// Whether a row is split into parts.
    pub fn has_parts(&self) -> bool {
        self.tiles.iter().any(|tile| tile.part.is_some())
    }

    /// The tiles, followed by where the next would start: the number of rows and of nonzeros.
    pub fn with_end(&self) -> &[Tile] {
        &self.tiles
    }
}

/// Lanes that share a row of CSR, and nonzeros that each has in flight.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LaneShape {
    /// Lanes.
    pub lanes: u32,
    /// Nonzeros in flight per lane.
    pub in_flight: u32,
}

impl LaneShape {
    /// The shapes that have kernels.
    pub const ALL: [Self; 5] =
        [Self::of(2, 4), Self::of(4, 4), Self::of(8, 6), Self::of(16, 6), Self::of(32, 6)];

    /// Threads per block.
    pub const THREADS: u32 = 128;

    const fn of(lanes: u32, in_flight: u32) -> Self {
        Self { lanes, in_flight }
    }

    /// Whether lanes that share each row may be the fastest for a matrix with this many rows and
    /// nonzeros and a longest row of this length.
    pub fn suits(rows: usize, entries: usize, longest: usize) -> bool {
        let mean = entries as f64 / rows.max(1) as f64;
        entries <= FEW_ENTRIES && longest as f64 <= FAR_LONGER * mean
    }

    /// The shape for a matrix with this many rows and nonzeros: the fewest lanes that have one and a
    /// half times the mean row in flight.
    pub fn suiting(rows: u64, entries: u64) -> Self {
        let at_once = |shape: &Self| u64::from(shape.lanes * shape.in_flight);
        let is_enough = |shape: &Self| 2 * at_once(shape) * rows >= 3 * entries;
        Self::ALL.into_iter().find(is_enough).unwrap_or(Self::ALL[4])
    }
}

/// Threads that keep a large GPU busy; with fewer rows, several lanes share a row.
const BUSY: u64 = 3 << 16;

/// Minimum number of slots per lane if several share a row.
const LEAST_SLOTS: u64 = 4;

/// Maximum number of lanes per row.
const MOST_LANES: u64 = LANES / 4;

/// Number of lanes that share a row of column-major HLL with this many rows and slots in hacks: 1,
/// 2, 4 or 8.
pub fn lanes_a_row(rows: u64, slots: u64) -> u32 {
    let mean = slots / rows.max(1);
    let mut lanes = 1;
    while lanes < MOST_LANES && rows * lanes < BUSY && mean >= 2 * lanes * LEAST_SLOTS {
        lanes *= 2;
    }
    lanes as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Tiles of four nonzeros.
    const FOUR: TileShape = TileShape { threads: 2, items: 2 };

    fn tiles(lengths: &[usize]) -> Vec<(u32, Option<u32>, u64)> {
        let row_ptr = RowPtr::from_lengths(lengths.iter().copied());
        let tiles = Tiles::new(&row_ptr, FOUR);
        assert_eq!(tiles.count() + 1, tiles.with_end().len());
        tiles.with_end().iter().map(|t| (t.row, t.part, t.entry)).collect()
    }

    #[test]
    fn tiles_hold_whole_rows_or_a_part_of_one() {
        assert_eq!(tiles(&[]), [(0, None, 0)]);
        assert_eq!(tiles(&[2, 2, 1]), [(0, None, 0), (2, None, 4), (3, None, 5)]);
        // An empty row before a long one is in a tile without nonzeros.
        let long = [(0, None, 0), (1, Some(0), 0), (1, Some(1), 4), (1, Some(2), 8)];
        assert_eq!(tiles(&[0, 9, 0, 4])[..4], long);
        assert_eq!(tiles(&[0, 9, 0, 4])[4..], [(2, None, 9), (4, None, 13)]);
        // At most as many rows as nonzeros.
        assert_eq!(tiles(&[0; 6]), [(0, None, 0), (4, None, 0), (6, None, 0)]);
    }

    #[test]
    fn rows_of_a_tile_have_as_many_lanes_as_there_are_threads_for() {
        let lanes = [1, 4, 5, 64, 65, 512].map(|rows| TileShape::of(128, 4).lanes(rows));
        assert_eq!(lanes, [32, 32, 16, 2, 1, 1]);
        assert_eq!(TileShape::SEGMENTED.lanes(1), 1);
    }

    #[test]
    fn blocks_are_larger_the_more_uneven_rows_are() {
        // Rows of a few nonzeros, and a longer one.
        let shape = |rows: usize, short: usize, longest: usize| {
            let lengths = (0..rows).map(|i| if i == 500 { longest } else { short });
            let TileShape { threads, items } = TileShape::suiting(&RowPtr::from_lengths(lengths));
            (threads, items)
        };
        let many = |short: usize, longest: usize| shape(1_000_000, short, longest);
        assert_eq!([many(9, 250), many(19, 250)], [(128, 4), (128, 6)]);
        assert_eq!([many(9, 500), many(19, 15_000)], [(256, 4), (256, 4)]);
        assert_eq!([many(9, 50_000), many(5, 50_000)], [(512, 4), (128, 4)]);
        // With few nonzeros, segments from a row of more than eight times the mean on.
        let few = |short: usize, longest: usize| shape(5000, short, longest);
        assert_eq!([few(9, 72), few(19, 152)], [(128, 4), (128, 6)]);
        assert_eq!([few(2, 60), few(9, 73), few(9, 500), few(19, 500)], [(256, 6); 4]);
        assert_eq!([few(9, 50_000), few(0, 0)], [(512, 4), (128, 4)]);
    }

    #[test]
    fn every_entry_and_every_row_lies_in_one_tile() {
        let lengths: Vec<usize> = (0..500).map(|i| i * i % 7 * (i % 3)).collect();
        let all = tiles(&lengths);
        assert!(all.windows(2).all(|t| t[1].2 - t[0].2 <= 4 && t[0].0 <= t[1].0));
        let whole = all.windows(2).filter(|t| t[0].1.is_none()).map(|t| t[1].0 - t[0].0);
        let in_parts = all.iter().filter(|t| t.1 == Some(0)).count() as u32;
        assert_eq!(whole.sum::<u32>() + in_parts, 500);
    }

    #[test]
    fn rows_of_csr_have_the_fewest_lanes_with_one_and_a_half_rows_in_flight() {
        let lanes = [0, 5, 6, 10, 11, 32, 33, 64, 65, 1000]
            .map(|mean| LaneShape::suiting(1000, 1000 * mean).lanes);
        assert_eq!(lanes, [2, 2, 4, 4, 8, 8, 16, 16, 32, 32]);
        assert_eq!(LaneShape::suiting(0, 0), LaneShape::ALL[0]);
    }

    #[test]
    fn few_long_rows_are_shared_by_lanes_and_many_or_short_ones_are_not() {
        assert_eq!(lanes_a_row(1 << 22, 27 << 22), 1);
        assert_eq!(lanes_a_row(50_000, 50_000 * 40), 4);
        assert_eq!(lanes_a_row(50_000, 50_000 * 7), 1);
        assert_eq!(lanes_a_row(1_000, 1_000_000), 8);
        assert_eq!(lanes_a_row(0, 0), 1);
    }
}
