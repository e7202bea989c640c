//! The steps and the memory traffic of Y = A·X, where X and Y have several columns and are stored by rows.

use super::array::Array;
use super::asking::ask;
use super::request::{Counts, Direction, Request};
use super::step::{Sink, Step, StepKind};
use super::traffic::ArrayTraffic;
use crate::kernel::{Access, LANES, columns_per_thread};
use sparsescope_matrix::matrix::{Csr, Scalar};

/// The kernel whose steps [`columns_steps`] returns.
pub const COLUMNS_KERNEL: &str = "cuda/spmm/row-split";

/// What each warp of `cuda/spmm/row-split` does with k columns, step by step: adjacent lanes take adjacent columns of X,
/// row after row, so that lanes with the same row request the same nonzero. The loop over the nonzeros is as written.
///
/// k is at least 1; panics otherwise.
pub fn columns_steps<T: Scalar>(a: &Csr<T>, k: usize) -> Vec<Vec<Step>> {
    assert!(k > 0, "X has at least one column");
    let together = columns_per_thread(k, T::BYTES);
    // Threads of a row.
    let packs = k / together;
    let (threads, lanes) = (a.rows() * packs, LANES as usize);
    let load = |array, bytes: usize| Request::new(array, Direction::Load, bytes as u32);
    let of_row_ptr = load(Array::RowPtr, a.row_ptr().width().bytes());
    let of_col = load(Array::Col, size_of::<u32>());
    let of_val = load(Array::Val, T::BYTES);
    let of_x = load(Array::X, T::BYTES).of(together as u32);
    let of_y = Request::new(Array::Y, Direction::Store, T::BYTES as u32).of(together as u32);
    let warp = |first: usize| {
        // The row and pack of each lane.
        let place = |lane: usize| {
            let thread = first + lane;
            (thread < threads).then_some((thread / packs, thread % packs))
        };
        let longest = (0..lanes).filter_map(place).map(|(row, _)| a.row_range(row).len()).max();
        let mut steps: Vec<Step> = Vec::new();
        steps.step(StepKind::Start);
        ask(of_row_ptr, |lane| Some(place(lane)?.0 as u64), &mut steps);
        ask(of_row_ptr, |lane| Some(place(lane)?.0 as u64 + 1), &mut steps);
        for number in 0..longest.unwrap_or(0) {
            // What a lane works on, and the element of X that it needs.
            let work = |lane: usize| {
                let (row, pack) = place(lane)?;
                let slot = a.row_range(row).nth(number)?;
                let work = Access { step: number as u64, row, slot: slot as u64, in_tail: false };
                Some((work, (a.col()[slot] as usize * packs + pack) as u64))
            };
            steps.step(StepKind::Loop(number as u64));
            for lane in 0..lanes {
                if let Some((work, _)) = work(lane) {
                    steps.lane(lane, work);
                }
            }
            ask(of_col, |lane| Some(work(lane)?.0.slot), &mut steps);
            ask(of_val, |lane| Some(work(lane)?.0.slot), &mut steps);
            ask(of_x, |lane| Some(work(lane)?.1), &mut steps);
        }
        steps.step(StepKind::End);
        let result = |lane: usize| place(lane).map(|(row, pack)| (row * packs + pack) as u64);
        ask(of_y, result, &mut steps);
        steps
    };
    (0..threads).step_by(lanes).map(warp).collect()
}

/// The traffic of these steps, array by array in the order of [`Array::ALL`].
pub fn columns_traffic(warps: &[Vec<Step>]) -> Vec<ArrayTraffic> {
    let arrays = [Array::RowPtr, Array::Col, Array::Val, Array::X, Array::Y];
    let of_array = |array: Array| {
        let sum = |direction: Direction| {
            let requests = warps.iter().flatten().flat_map(|step| &step.requests);
            let of = requests.filter(|of| of.array == array && of.direction == direction);
            of.map(Request::counts).sum::<Counts>()
        };
        ArrayTraffic { array, loads: sum(Direction::Load), stores: sum(Direction::Store) }
    };
    arrays.map(of_array).to_vec()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::kernel::kernel;
    use crate::layout::{Loops, Schedule, Traffic};
    use sparsescope_matrix::matrix::AnyFormat;

    #[test]
    fn one_column_takes_the_steps_of_one_thread_per_row() {
        // 70 rows of 1 to 5 nonzeros, in three warps.
        let of_row = |i: usize| (0..1 + i * i % 5).map(move |j| (i, (i * 7 + j * 11) % 61, 1.0));
        let entries: Vec<_> = (0..70).flat_map(of_row).collect();
        let a = Arc::new(Csr::from_triplets(70, 61, &entries).unwrap());
        let thread_per_row = kernel("cuda/csr/thread-per-row").unwrap();
        let format = AnyFormat::Csr(Arc::clone(&a));
        let schedule = Schedule::new(thread_per_row, &format, 64, Loops::AsWritten).unwrap();
        let steps = columns_steps(&a, 1);
        assert_eq!(columns_traffic(&steps), Traffic::of(&schedule).arrays());
        let shown = |step: &Step| {
            let of_lanes = |of: &Request| (0..32).map(|lane| of.elements(lane)).collect::<Vec<_>>();
            let requests = step.requests.iter().map(|of| (of.array, of.direction, of_lanes(of)));
            (step.kind, step.lanes, requests.collect::<Vec<_>>())
        };
        assert_eq!(steps.len(), 3);
        for (warp, steps) in (0..).zip(&steps) {
            let expected = schedule.warp(0, warp, 0..schedule.steps(0, warp));
            assert_eq!(steps.len(), expected.len(), "warp {warp}");
            for (step, expected) in steps.iter().zip(&expected) {
                assert_eq!(shown(step), shown(expected), "warp {warp}");
            }
        }
    }

    #[test]
    fn rows_of_x_fill_sectors_and_the_matrix_is_read_once_for_all_columns_of_a_warp() {
        // 8 rows of 4 adjacent nonzeros, each in a column of its own. Values of a row have 32 bytes, one sector.
        let entries: Vec<_> = (0..32usize).map(|e| (e / 4, e, 1.0)).collect();
        let a = Csr::from_triplets(8, 32, &entries).unwrap();
        let found = |k: usize, array: Array| {
            let traffic = columns_traffic(&columns_steps(&a, k));
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
