//! The memory traffic of Y = A·X, where X and Y have several columns and are stored by rows.

use super::array::Array;
use super::request::{Counts, Direction, Request};
use super::traffic::ArrayTraffic;
use crate::kernel::{LANES, columns_per_thread};
use sparsescope_matrix::matrix::{Csr, Scalar};

/// The kernel whose traffic [`columns_traffic`] counts.
pub const COLUMNS_KERNEL: &str = "cuda/spmm/row-split";

/// The traffic of `cuda/spmm/row-split` with k columns, array by array in the order of [`Array::ALL`]: adjacent lanes
/// take adjacent columns of X, row after row, so that lanes with the same row request the same nonzero. The loop over
/// the nonzeros is counted as written.
///
/// k is at least 1; panics otherwise.
pub fn columns_traffic<T: Scalar>(a: &Csr<T>, k: usize) -> Vec<ArrayTraffic> {
    assert!(k > 0, "X has at least one column");
    let together = columns_per_thread(k, T::BYTES);
    // Threads of a row.
    let packs = k / together;
    let (threads, lanes) = (a.rows() * packs, LANES as usize);
    let offset_bytes = a.row_ptr().width().bytes();
    let (loads, stores) = (Direction::Load, Direction::Store);
    let [mut row_ptr, mut col, mut val, mut x, mut y] = [Counts::default(); 5];
    for first in (0..threads).step_by(lanes) {
        // The row and pack of each lane.
        let warp = || {
            (first..threads.min(first + lanes)).map(move |thread| (thread / packs, thread % packs))
        };
        let of_row = Request::new(Array::RowPtr, loads, offset_bytes as u32);
        row_ptr += counts(of_row, warp().map(|(row, _)| Some(row)));
        row_ptr += counts(of_row, warp().map(|(row, _)| Some(row + 1)));
        let longest = warp().map(|(row, _)| a.row_range(row).len()).max().unwrap_or(0);
        for step in 0..longest {
            let slot = |row: usize| a.row_range(row).nth(step);
            let of_col = Request::new(Array::Col, loads, size_of::<u32>() as u32);
            col += counts(of_col, warp().map(|(row, _)| slot(row)));
            let of_val = Request::new(Array::Val, loads, T::BYTES as u32);
            val += counts(of_val, warp().map(|(row, _)| slot(row)));
            let of_x = Request::new(Array::X, loads, T::BYTES as u32).of(together as u32);
            let element = |(row, pack): (usize, usize)| {
                slot(row).map(|slot| a.col()[slot] as usize * packs + pack)
            };
            x += counts(of_x, warp().map(element));
        }
        let of_y = Request::new(Array::Y, stores, T::BYTES as u32).of(together as u32);
        y += counts(of_y, warp().map(|(row, pack)| Some(row * packs + pack)));
    }
    let loaded = |array, loads| ArrayTraffic { array, loads, stores: Counts::default() };
    vec![
        loaded(Array::RowPtr, row_ptr),
        loaded(Array::Col, col),
        loaded(Array::Val, val),
        loaded(Array::X, x),
        ArrayTraffic { array: Array::Y, loads: Counts::default(), stores: y },
    ]
}

/// The counts of a request in which each lane has one of these indices, or none.
fn counts(mut request: Request, lanes: impl Iterator<Item = Option<usize>>) -> Counts {
    for (lane, index) in lanes.enumerate() {
        if let Some(index) = index {
            request.set(lane, index as u64);
        }
    }
    request.counts()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::kernel::kernel;
    use crate::layout::{Loops, Schedule, Traffic};
    use sparsescope_matrix::matrix::AnyFormat;

    #[test]
    fn one_column_moves_what_one_thread_per_row_moves() {
        // 70 rows of 1 to 5 nonzeros, in three warps.
        let of_row = |i: usize| (0..1 + i * i % 5).map(move |j| (i, (i * 7 + j * 11) % 61, 1.0));
        let entries: Vec<_> = (0..70).flat_map(of_row).collect();
        let a = Arc::new(Csr::from_triplets(70, 61, &entries).unwrap());
        let thread_per_row = kernel("cuda/csr/thread-per-row").unwrap();
        let format = AnyFormat::Csr(Arc::clone(&a));
        let schedule = Schedule::new(thread_per_row, &format, 64, Loops::AsWritten).unwrap();
        assert_eq!(columns_traffic(&a, 1), Traffic::of(&schedule).arrays());
    }

    #[test]
    fn rows_of_x_fill_sectors_and_the_matrix_is_read_once_for_all_columns_of_a_warp() {
        // 8 rows of 4 adjacent nonzeros, each in a column of its own. Values of a row have 32 bytes, one sector.
        let entries: Vec<_> = (0..32usize).map(|e| (e / 4, e, 1.0)).collect();
        let a = Csr::from_triplets(8, 32, &entries).unwrap();
        let found = |k: usize, array: Array| {
            let traffic = columns_traffic(&a, k);
            let of = *traffic.iter().find(|of| of.array == array).unwrap();
            (of.loads.sectors + of.stores.sectors, of.loads.efficiency())
        };
        // One sector per row and nonzero, whatever the lanes that share it.
        assert_eq!([1, 4, 8, 32, 64].map(|k| found(k, Array::Val).0), [32; 5]);
        // 128 columns, two per lane, take two warps per row.
        assert_eq!(found(128, Array::Val).0, 64);
        // Columns of two rows share a sector, if both are in the warp.
        assert_eq!([1, 4, 8, 32, 64].map(|k| found(k, Array::Col).0), [16, 16, 16, 16, 32]);
        // With one column, a quarter of each sector; else 8·k bytes per nonzero, all of them used.
        assert_eq!(found(1, Array::X), (32, Some(0.25)));
        assert_eq!([4, 8, 32].map(|k| found(k, Array::X)), [32, 64, 256].map(|n| (n, Some(1.0))));
        // 8 rows of 8·k bytes.
        assert_eq!([4, 8, 32].map(|k| found(k, Array::Y).0), [8, 16, 64]);
    }
}
