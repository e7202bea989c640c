//! Expected time of an SpMV on a GPU, before anything is built or timed, from the structure of the matrix and
//! the copy bandwidth of the device.
//!
//! An SpMV takes as long as the slowest of several overlapping parts: moving its memory, passing the sectors
//! of the matrix and x through the L2 cache, and a fixed cost per row. Each cost is given in bytes: those
//! that the device could copy in that time. The constants were fitted to SpMVs measured on an H200,
//! except those of `cuda/csr/lanes`, which are estimates; `docs/gpu-products.md` has the measurements and the errors of the fit.

use super::candidate::{ADAPTIVE, BY_LANES, Candidate};
use super::part::part;
use sparsescope_matrix::matrix::{Csr, Precision, Scalar};
use sparsescope_model::kernel::parameters::{BSR_BLOCK, SIGMA, SPILL};
use sparsescope_model::kernel::{Bands, Format, WindowShape};

/// Seconds of the shortest SpMV: a kernel launch, and the latency of a few dependent loads.
const SHORTEST_S: f64 = 2.6e-6;

/// Bytes of a sector, the smallest unit of a cache transfer.
const SECTOR: u64 = 32;

/// Rows whose loads of x share an L1 cache.
const ROWS_TOGETHER: usize = 32;

/// Nonzeros after which they no longer share it.
const ENTRIES_TOGETHER: usize = 1024;

/// Seconds per nonzero in a row that has a block to itself.
const LONG_ROW_S: f64 = 1e-9;

/// Properties of a GPU that determine the time of its SpMVs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GpuTraits {
    /// Bytes per second of a memory copy; `None` if they were not measured.
    pub copy: Option<f64>,
    /// Number of multiprocessors.
    pub multiprocessors: usize,
    /// Maximum bytes of shared memory of a block.
    pub shared_bytes: usize,
}

/// Properties of a matrix that determine the time of its SpMVs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Traits {
    rows: f64,
    entries: f64,
    longest: f64,
    /// Bytes per value of plain compact formats.
    value: f64,
    /// Sectors of x requested per nonzero, when neighbouring rows run together.
    gather: f64,
    /// Slots per nonzero when rows are padded to multiples of four.
    in_fours: f64,
    /// Whether `cuda/csr/adaptive` keeps parts of x in shared memory that belong to windows of columns.
    in_windows: bool,
    /// Whether it keeps those that belong to bands of rows.
    in_bands: bool,
}

impl Traits {
    /// Computes the traits of a matrix on this GPU; samples evenly spread rows of a large one.
    pub fn of<T: Scalar>(a: &Csr<T>, gpu: GpuTraits) -> Self {
        let GpuTraits { multiprocessors, shared_bytes, .. } = gpu;
        let part = part(a);
        let sample = part.as_ref().unwrap_or(a);
        let in_windows = WindowShape::suiting(a, shared_bytes).is_some();
        let each = |count: u64| count as f64 / sample.nnz().max(1) as f64;
        let lengths = (0..sample.rows()).map(|i| sample.row_len(i) as u64);
        Self {
            rows: a.rows() as f64,
            entries: a.nnz() as f64,
            longest: a.max_row_len() as f64,
            value: T::BYTES as f64,
            gather: each(sectors_of_x(sample)),
            in_fours: each(lengths.map(|length| length.next_multiple_of(4)).sum()),
            in_windows,
            in_bands: !in_windows && Bands::suiting(a, multiprocessors, shared_bytes).is_some(),
        }
    }

    /// Those of the matrix with its values as a precision stores them.
    pub fn storing(self, precision: Precision) -> Self {
        Self { value: precision.values().bytes() as f64, ..self }
    }
}

/// Sectors of x that the rows request; those shared in an L1 cache count once.
fn sectors_of_x<T: Scalar>(a: &Csr<T>) -> u64 {
    let in_sector = (SECTOR as usize / T::BYTES) as u32;
    let (mut all, mut met) = (0, Vec::with_capacity(ENTRIES_TOGETHER));
    let mut rows = 0;
    for i in 0..a.rows() {
        let (columns, _) = a.row(i);
        met.extend(columns.iter().map(|column| column / in_sector));
        rows += 1;
        if rows == ROWS_TOGETHER || met.len() >= ENTRIES_TOGETHER || i + 1 == a.rows() {
            // A longer row no longer shares sectors with itself.
            for chunk in met.chunks_mut(ENTRIES_TOGETHER) {
                chunk.sort_unstable();
                all += chunk.chunk_by(|one, other| one == other).count() as u64;
            }
            met.clear();
            rows = 0;
        }
    }
    all
}

/// Costs of a kernel, in bytes of a memory copy.
struct Price {
    /// Fraction of the copy bandwidth that it reaches.
    share: f64,
    /// Cost per sector through the L2 cache.
    sector: f64,
    /// Minimum sectors of x per nonzero: sorted rows have other neighbours.
    gather: f64,
    /// Sectors per row: sorted rows write y, and read their position, at scattered addresses.
    scattered: f64,
    /// Cost per row.
    row: f64,
    /// Cost per slot.
    slot: f64,
}

/// Prices of kernels that load consecutive rows.
const PLAIN: Price =
    Price { share: 0.98, sector: 22.8, gather: 0.0, scattered: 0.0, row: 40.0, slot: 0.0 };

/// Fraction of the bandwidth that blocks of 2 × 2 to 8 × 8 reach. The last was not measured: it divides a
/// warp as 4 × 4 does.
const OF_BLOCKS: [f64; 7] = [0.66, 0.45, 0.84, 0.51, 0.73, 0.48, 0.84];

/// Fraction of the bandwidth that blocks with a part of x in shared memory reach.
const IN_WINDOWS: f64 = 0.7;

/// The same where they keep the part of a band of rows: counted in bytes of CSR, but columns are read in 16 bits.
const IN_BANDS: f64 = 1.0;

/// Expected seconds per SpMV with this kernel, on a device that copies `copy` bytes per second.
pub fn expected_s(candidate: &Candidate, traits: &Traits, copy: f64) -> f64 {
    let Candidate { kernel, parameters, minimal_bytes, .. } = candidate;
    let sorts = parameters.get(&SIGMA) > 1;
    let &Traits { rows, entries, longest, .. } = traits;
    let mut bytes = *minimal_bytes as f64;
    let slots = entries * traits.in_fours;
    let in_windows = kernel.id == ADAPTIVE && traits.in_windows;
    let in_bands = kernel.id == ADAPTIVE && traits.in_bands;
    let price = match kernel.format() {
        _ if in_windows => Price { share: IN_WINDOWS, row: 0.0, ..PLAIN },
        _ if in_bands => Price { share: IN_BANDS, row: 0.0, ..PLAIN },
        _ if kernel.id == ADAPTIVE => Price { share: 0.86, sector: 24.5, row: 0.0, ..PLAIN },
        _ if kernel.id == BY_LANES => Price { share: 0.9, sector: 24.5, row: 0.0, ..PLAIN },
        Some(Format::Bsr) => {
            let edge = parameters.get(&BSR_BLOCK).unwrap_or(2);
            let share = OF_BLOCKS.get(edge.saturating_sub(2)).copied();
            Price { share: share.unwrap_or(0.45), row: 0.0, ..PLAIN }
        }
        Some(Format::HllCompact) => {
            let gather = if sorts { 0.2 } else { 0.0 };
            if candidate.is_coded {
                Price { share: 1.0, gather, row: 24.0, slot: 4.7, ..PLAIN }
            } else {
                // Plain values are padded to fours, too, each with 16 bits of a column.
                bytes += (traits.value + 2.0) * (slots - entries) + 8.6 * rows;
                Price { share: 1.0, gather, row: 0.0, ..PLAIN }
            }
        }
        Some(Format::Dia) => Price { share: 1.0, ..PLAIN },
        _ if sorts => Price { gather: 0.5, scattered: 2.0, ..PLAIN },
        _ => PLAIN,
    };
    let gather = if in_windows || in_bands { 0.0 } else { traits.gather.max(price.gather) };
    let sectors = bytes / SECTOR as f64 + entries * gather;
    let sectors = sectors + rows * price.scattered;
    let worked = price.row * rows + price.slot * slots;
    let most = (bytes / price.share).max(price.sector * sectors).max(worked);
    let alone = match parameters.get(&SPILL) {
        Some(_) => LONG_ROW_S * longest,
        None => 0.0,
    };
    SHORTEST_S + (most / copy).max(alone)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::choosing::on_gpu;
    use sparsescope_matrix::matrix::RowPtr;

    /// Bytes per second of a copy on an H200.
    const COPY: f64 = 4.3e12;

    /// Its blocks may have 227 KiB of shared memory.
    const GPU: GpuTraits =
        GpuTraits { copy: Some(COPY), multiprocessors: Bands::USUAL, shared_bytes: 227 << 10 };

    fn made(m: usize, n: usize, columns: impl Fn(usize) -> Vec<usize>) -> Csr {
        let row = |i: usize| columns(i).into_iter().map(move |j| (i, j, 1.0 + (i * 7 + j) as f64));
        Csr::from_triplets(m, n, &(0..m).flat_map(row).collect::<Vec<_>>()).unwrap()
    }

    /// The kernel with the shortest expected time.
    fn named(a: &Csr, compact: bool) -> &'static str {
        let found = on_gpu(a, compact, Precision::F64, GPU);
        let times: Vec<f64> = found.iter().map(|one| one.expected_s.unwrap()).collect();
        assert!(times.is_sorted() && times.iter().all(|s| *s >= SHORTEST_S && s.is_finite()));
        found[0].kernel.id
    }

    #[test]
    fn the_structure_names_the_kernel() {
        let band = made(60_000, 60_000, |i| (i.max(2) - 2..(i + 3).min(60_000)).collect());
        assert_eq!(named(&band, false), "cuda/dia/thread-per-row");
        let far =
            |k: usize| move |i: usize| (0..k).map(|s| (i * 97 + s * 15_013) % 60_000).collect();
        assert_eq!(named(&made(60_000, 60_000, far(24)), false), "cuda/hll/column-major");
        // Sorting rows costs nothing where x is accessed at random anyway.
        let uneven = made(60_000, 60_000, |i| far(1 + i % 61)(i));
        assert_eq!(named(&uneven, false), "cuda/hll/sigma");
        let near = |longest: usize| {
            let length = move |i: usize| if i == 9 { longest } else { 1 + i % 61 };
            made(60_000, 60_000, move |i| (i..(i + length(i)).min(60_000)).collect())
        };
        assert_eq!(named(&near(10), false), BY_LANES);
        assert_eq!(named(&near(600), false), ADAPTIVE);
        let one = Csr::from_triplets(60_000, 9, &[(5, 5, 1.0)]).unwrap();
        for a in [made(0, 0, |_| Vec::new()), made(3, 3, |_| Vec::new()), one] {
            named(&a, true);
        }
    }

    #[test]
    fn neighbours_share_sectors_and_long_rows_do_not_meet_themselves() {
        let gather = |a: &Csr| Traits::of(a, GPU).gather;
        // 32 rows have 8 sectors; every nonzero has its own; 1024 of 4000 columns are consecutive.
        assert_eq!(gather(&made(64, 64, |i| vec![i])), 0.25);
        assert_eq!(gather(&made(64, 640, |i| vec![i * 10])), 1.0);
        assert_eq!(gather(&made(1, 4096, |_| (0..4096).collect())), 0.25);
        assert_eq!(Traits::of(&made(8, 8, |_| (0..5).collect()), GPU).in_fours, 1.6);
        assert_eq!(gather(&made(0, 0, |_| Vec::new())), 0.0);
    }

    #[test]
    fn windows_are_expected_only_where_a_block_has_memory_for_them() {
        // Every second column; x has 128 KiB.
        let (rows, each) = (512, 8192);
        let row_ptr = RowPtr::from_lengths((0..rows).map(|_| each));
        let col: Vec<u32> = (0..rows * each).map(|k| (2 * (k % each)) as u32).collect();
        let val = vec![1.0; col.len()];
        let a = Csr::try_new(rows, 2 * each, row_ptr, col, val).unwrap();
        let expected = |shared_bytes| Traits::of(&a, GpuTraits { shared_bytes, ..GPU }).in_windows;
        assert_eq!([GPU.shared_bytes, 64 << 10].map(expected), [true, false]);
    }

    #[test]
    fn bands_are_expected_only_where_blocks_are_enough() {
        // Eight nonzeros per row, two columns on from those of the row before.
        let (rows, cols) = (1 << 17, 1 << 18);
        let row_ptr = RowPtr::from_lengths((0..rows).map(|_| 8));
        let first = |i: usize| 2 * i.min(rows - 400);
        let col = (0..rows).flat_map(|i| (0..8).map(move |k| (first(i) + 100 * k) as u32));
        let col: Vec<u32> = col.collect();
        let val = vec![1.0; col.len()];
        let a = Csr::try_new(rows, cols, row_ptr, col, val).unwrap();
        let expected =
            |multiprocessors| Traits::of(&a, GpuTraits { multiprocessors, ..GPU }).in_bands;
        // 232,448 bytes hold 24,960 elements beside 4096 products: a thirteenth of the columns, not half.
        assert_eq!([132, 13, 2].map(expected), [true, true, false]);
    }

    #[test]
    fn more_bytes_take_longer_and_a_faster_device_less_long() {
        let a = made(60_000, 60_000, |i| (i.max(9) - 9..(i + 9).min(60_000)).collect());
        let traits = Traits::of(&a, GPU);
        for candidate in on_gpu(&a, true, Precision::F64, GpuTraits { copy: None, ..GPU }) {
            assert_eq!(candidate.expected_s, None);
            let more =
                Candidate { minimal_bytes: 50 * candidate.minimal_bytes, ..candidate.clone() };
            let [few, many, fast] = [(&candidate, COPY), (&more, COPY), (&candidate, 2.0 * COPY)]
                .map(|(candidate, copy)| expected_s(candidate, &traits, copy));
            assert!(fast < few && few < many, "{}", candidate.kernel.id);
        }
    }
}
