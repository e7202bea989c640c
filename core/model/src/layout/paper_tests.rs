//! The model against the papers' small matrices, step by step, and against counts by hand.

use std::sync::Arc;

use super::tests::{all_steps, built, for_kernel, on_grid};
use super::*;
use crate::kernel::{Cut, Pass, kernel, row_steps};
use sparsescope_matrix::matrix::{AnyFormat, Csr, FormatSpec, HllLayout, Order, RowPtr, examples};
use sparsescope_matrix::memory::MemoryLimit;

fn held_by_sorted_rows() -> AnyFormat {
    let layout = HllLayout { sigma: 4, ..HllLayout::plain(4, Order::RowMajor) };
    built(&examples::four_by_four(), FormatSpec::Hll(layout))
}

#[test]
fn an_entry_lights_up_all_its_places() {
    let place = |array: Array, index: u64| Place { array, index };
    let a = examples::four_by_four();
    // Nonzero (2, 3), value 9: the last of row 2.
    let of = |spec: FormatSpec| Slots::new(&built(&a, spec)).unwrap().places(2, 3);
    use Array::{Col, MaxNzr, Offsets, Row, RowLen, RowOf, RowPtr, TailCol, TailRow, TailVal};
    use Array::{Val, X, Y};
    let vectors = [place(X, 3), place(Y, 2)];
    let with = |places: &[Place]| [places, &vectors[..]].concat();
    assert_eq!(of(FormatSpec::Coo), with(&[place(Row, 6), place(Col, 6), place(Val, 6)]));
    let csr = [place(RowPtr, 2), place(RowPtr, 3), place(Col, 6), place(Val, 6)];
    assert_eq!(of(FormatSpec::Csr), with(&csr));
    // Column-major, three slots per row: slot 2 of row 2 is 2·4 + 2.
    let ell = [place(RowLen, 2), place(Col, 10), place(Val, 10)];
    assert_eq!(of(FormatSpec::Ell { order: Order::ColumnMajor }), with(&ell));
    let tail = [place(TailRow, 0), place(TailCol, 0), place(TailVal, 0)];
    assert_eq!(of(FormatSpec::Hyb { width: Some(2), order: Order::RowMajor }), with(&tail));
    // Sorted by length, row 2 is first.
    let hll = [
        place(RowLen, 0),
        place(Offsets, 0),
        place(MaxNzr, 0),
        place(RowOf, 0),
        place(Col, 2),
        place(Val, 2),
    ];
    assert_eq!(Slots::new(&held_by_sorted_rows()).unwrap().places(2, 3), with(&hll));
}

#[test]
fn padding_tells_the_row_that_it_pads() {
    let slots = Slots::new(&held_by_sorted_rows()).unwrap();
    let map = slots.map(MemoryLimit::unlimited()).unwrap();
    // Rows 2, 0, 1, 3 of 3, 2, 2, 2 nonzeros in three slots each.
    let padded: Vec<_> = map
        .main
        .iter()
        .filter_map(|slot| match slot.held {
            Held::Padding { row, col } => Some((slot.index, row, col)),
            Held::Entry { .. } => None,
        })
        .collect();
    assert_eq!(padded, [(5, Some(0), 1), (8, Some(1), 2), (11, Some(3), 3)]);
    // Column-major hacks of 4 hold 8 rows, 5 of which exist.
    let layout = HllLayout::plain(4, Order::ColumnMajor);
    let five = built(&examples::five_by_five(), FormatSpec::Hll(layout));
    let map = Slots::new(&five).unwrap().map(MemoryLimit::unlimited()).unwrap();
    let beyond = map.main.iter().filter(|s| matches!(s.held, Held::Padding { row: None, .. }));
    assert_eq!((map.main.len(), map.padding(), beyond.count()), (16, 6, 6));
    assert!(Slots::new(&five).unwrap().map(MemoryLimit::bytes(10)).is_err());
}

/// The slots of `val` that each lane reads in each step of a warp's loop.
fn loop_slots(id: &str, a: &Csr, launch: usize, warp: u64) -> Vec<Vec<Option<u64>>> {
    let kernel = kernel(id).unwrap();
    let format = for_kernel(a, kernel, 4);
    let schedule = Schedule::new(kernel, &format, 32, Loops::AsWritten).unwrap();
    let steps = all_steps(&schedule, launch, warp);
    let in_loop = steps.iter().filter(|s| matches!(s.kind, StepKind::Loop(_)));
    in_loop
        .map(|step| {
            let val = |r: &&Request| matches!(r.array, Array::Val | Array::TailVal);
            let request = step.requests.iter().find(val).unwrap();
            let mut lanes: Vec<_> = (0..32).map(|lane| request.element(lane)).collect();
            let used = lanes.iter().rposition(Option::is_some).map_or(0, |last| last + 1);
            lanes.truncate(used);
            lanes
        })
        .collect()
}

fn some(slots: &[u64]) -> Vec<Option<u64>> {
    slots.iter().map(|&s| Some(s)).collect()
}

#[test]
fn the_cranfield_papers_tables_with_the_right_row_pointers() {
    let a = examples::five_by_five();
    let offsets: Vec<u64> = a.row_ptr().iter().collect();
    assert_eq!(offsets, [0, 2, 4, 6, 8, 10]);
    // Scalar kernel: steps 0 and 1 only, two slots apart from lane to lane.
    let scalar = loop_slots("cuda/csr/thread-per-row", &a, 0, 0);
    assert_eq!(scalar, [some(&[0, 2, 4, 6, 8]), some(&[1, 3, 5, 7, 9])]);
    // Vector kernel: a warp reads the two slots of its row at once.
    for row in 0..5 {
        let vector = loop_slots("cuda/csr/vector-mining", &a, 0, row);
        assert_eq!(vector, [some(&[2 * row, 2 * row + 1])]);
    }
    // ELLPACK has no padding here and is read like CSR.
    assert_eq!(loop_slots("cuda/ell/thread-per-row", &a, 0, 0), scalar);
    let column_major = loop_slots("cuda/ell/column-major", &a, 0, 0);
    assert_eq!(column_major, [some(&[0, 1, 2, 3, 4]), some(&[5, 6, 7, 8, 9])]);
}

#[test]
fn the_theses_example_step_for_step() {
    let a = examples::four_by_four();
    let scalar = loop_slots("cuda/csr/thread-per-row", &a, 0, 0);
    let last = vec![None, None, Some(6)];
    assert_eq!(scalar, [some(&[0, 2, 4, 7]), some(&[1, 3, 5, 8]), last]);
    // Padding is multiplied: every lane takes three steps.
    let ell = loop_slots("cuda/ell/thread-per-row", &a, 0, 0);
    assert_eq!(ell, [some(&[0, 3, 6, 9]), some(&[1, 4, 7, 10]), some(&[2, 5, 8, 11])]);
    // One hack of four rows: the same slots, taken by one thread one after another.
    assert_eq!(loop_slots("cuda/hll/thread-per-row", &a, 0, 0), ell);
    let by_hack = loop_slots("cuda/hll/thread-per-hack", &a, 0, 0);
    assert_eq!(by_hack, (0..12).map(|slot| some(&[slot])).collect::<Vec<_>>());
    // HYB: two slots per row, then the one nonzero left.
    let hyb = loop_slots("cuda/hyb/ell-coo", &a, 0, 0);
    assert_eq!(hyb, [some(&[0, 1, 2, 3]), some(&[4, 5, 6, 7])]);
    assert_eq!(loop_slots("cuda/hyb/ell-coo", &a, 1, 0), [some(&[0])]);
    assert_eq!(loop_slots("cuda/coo/segmented", &a, 0, 0), [some(&[0, 1, 2, 3, 4, 5, 6, 7, 8])]);
}

#[test]
fn values_and_columns_of_the_steps_are_those_of_row_steps() {
    let a = examples::four_by_four();
    let kernel = kernel("cuda/hll/thread-per-row").unwrap();
    let format = for_kernel(&a, kernel, 4);
    let AnyFormat::Hll(hll) = &format else { panic!("HLL") };
    let schedule = Schedule::new(kernel, &format, 32, Loops::AsCompiled).unwrap();
    let steps = all_steps(&schedule, 0, 0);
    for row in 0..4 {
        let read: Vec<(u32, f64)> = steps
            .iter()
            .filter_map(|s| s.lanes[row])
            .map(|w| (hll.col()[w.slot as usize], hll.val()[w.slot as usize]))
            .collect();
        assert_eq!(read, row_steps(&format, row));
    }
}

#[test]
fn requests_of_the_scalar_kernel_counted_by_hand() {
    // 64 rows of 4 nonzeros in columns 0 to 3: two warps.
    let triplets: Vec<_> = (0..64).flat_map(|i| (0..4).map(move |j| (i, j, 1.0))).collect();
    let a = Csr::from_triplets(64, 4, &triplets).unwrap();
    let of = |id: &str| {
        let kernel = kernel(id).unwrap();
        let format = for_kernel(&a, kernel, 32);
        Traffic::of(&Schedule::new(kernel, &format, 64, Loops::AsCompiled).unwrap())
    };
    let sectors = |t: &Traffic, array| t.array(array).map(|a| (a.loads.requests, a.loads.sectors));
    let scalar = of("cuda/csr/thread-per-row");
    // 32 offsets of 4 bytes: 4 sectors, and 5 from the second one on; twice.
    assert_eq!(sectors(&scalar, Array::RowPtr), Some((4, 18)));
    // A row has 16 bytes of columns and 32 of values: two rows per sector, one row per sector.
    assert_eq!(sectors(&scalar, Array::Col), Some((8, 128)));
    assert_eq!(sectors(&scalar, Array::Val), Some((8, 256)));
    assert_eq!(sectors(&scalar, Array::X), Some((8, 8)));
    assert_eq!(scalar.array(Array::Y).unwrap().stores.sectors, 16);
    assert_eq!(scalar.loads().sectors, 18 + 128 + 256 + 8);
    assert_eq!(scalar.moved_bytes(), 32 * (18 + 128 + 256 + 8 + 16));
    assert_eq!((scalar.idle_share(), scalar.launches[0].busy_threads), (Some(0.0), 64));
    let columns = of("cuda/ell/column-major");
    assert_eq!(sectors(&columns, Array::RowLen), Some((2, 8)));
    assert_eq!(sectors(&columns, Array::Val), Some((8, 64)));
    assert_eq!(columns.array(Array::Val).unwrap().loads.efficiency(), Some(1.0));
    // One warp per row: four of 32 lanes work; only these load the offset.
    let warps = of("cuda/hll/warp-per-row");
    assert_eq!(sectors(&warps, Array::Val), Some((64, 64)));
    assert_eq!(warps.array(Array::Offsets).unwrap().loads.idle_lanes, 64 * 28);
    assert_eq!(warps.array(Array::MaxNzr).unwrap().loads.idle_lanes, 0);
    assert_eq!(warps.idle_share(), Some(28.0 / 32.0));
    // One thread takes each of the two hacks.
    let hacks = of("cuda/hll/thread-per-hack");
    assert_eq!(hacks.launches[0].busy_threads, 2);
    assert_eq!(sectors(&hacks, Array::Offsets), Some((32, 32)));
    // All of x is in shared memory: one warp loads it once per block.
    assert_eq!(sectors(&of("cuda/hll/shared-x"), Array::X), Some((1, 1)));
}

#[test]
fn unrolling_parts_lanes_whose_rows_differ() {
    // Row 0 has 5 nonzeros, row 1 has 3. As compiled, lane 0 takes one step beside lane 1 and then
    // four on its own, lane 1 two more of the three.
    let triplets = [(0, 5), (1, 3)].map(|(i, n)| (0..n).map(move |j| (i, j, 1.0)));
    let a = Csr::from_triplets(2, 5, &triplets.into_iter().flatten().collect::<Vec<_>>()).unwrap();
    let kernel = kernel("cuda/csr/thread-per-row").unwrap();
    let format = for_kernel(&a, kernel, 32);
    let slots = |loops| -> Vec<[Option<u64>; 2]> {
        let schedule = Schedule::new(kernel, &format, 32, loops).unwrap();
        let steps = all_steps(&schedule, 0, 0);
        let in_loop = steps.iter().filter(|s| matches!(s.kind, StepKind::Loop(_)));
        in_loop.map(|s| [0, 1].map(|lane| s.lanes[lane].map(|w| w.slot))).collect()
    };
    let written = [[Some(0), Some(5)], [Some(1), Some(6)], [Some(2), Some(7)]];
    let alone = |slots: &[u64]| slots.iter().map(|&s| [Some(s), None]).collect::<Vec<_>>();
    assert_eq!(slots(Loops::AsWritten), [&written[..], &alone(&[3, 4])].concat());
    let rest = [[Some(0), Some(5)], [None, Some(6)], [None, Some(7)]];
    assert_eq!(slots(Loops::AsCompiled), [&rest[..], &alone(&[1, 2, 3, 4])].concat());
}

#[test]
fn spans_load_y_and_hand_over_shared_rows() {
    // One row of 1 100 nonzeros: three spans, two of which carry their sums over.
    let triplets: Vec<_> = (0..1100).map(|j| (0, j, 1.0)).collect();
    let a = Csr::from_triplets(1, 1100, &triplets).unwrap();
    let kernel = kernel("cuda/coo/segmented").unwrap();
    let format = for_kernel(&a, kernel, 32);
    let schedule = Schedule::new(kernel, &format, 32, Loops::AsCompiled).unwrap();
    let kinds: Vec<_> = schedule.launches().iter().map(|l| (l.kind, l.warps)).collect();
    assert_eq!(kinds, [(LaunchKind::Spans, 3), (LaunchKind::Carry, 3)]);
    let traffic = Traffic::of(&schedule);
    let [spans, carry] = &traffic.launches[..] else { panic!("two launches") };
    let of = |launch: &LaunchTraffic, array| {
        let found = launch.arrays.iter().find(|a| a.array == array);
        found.map_or((0, 0), |a| (a.loads.requests, a.stores.requests))
    };
    // 35 steps, and the two adjacent rows at the start of each span after the first.
    assert_eq!(of(spans, Array::Row), (35 + 4, 0));
    assert_eq!(of(spans, Array::CarryRow), (0, 3));
    assert_eq!(of(spans, Array::CarrySum), (0, 2));
    assert_eq!(of(spans, Array::Y), (1, 1));
    // Every span loads its row; the second adds for both, the third returns after a look back.
    assert_eq!(of(carry, Array::CarryRow), (3 + 2 + 1, 0));
    assert_eq!(of(carry, Array::CarrySum), (1, 0));
    assert_eq!(of(carry, Array::Y), (1, 1));
    assert_eq!(carry.loop_steps, 0);
    assert_eq!(spans.loop_steps, 35);
}

#[test]
fn what_has_no_model_is_refused_with_a_sentence() {
    let a = AnyFormat::Csr(Arc::new(examples::five_by_five()));
    let fails = |id: &str, a: &AnyFormat, block| {
        let kernel = kernel(id).unwrap();
        Schedule::new(kernel, a, block, Loops::AsCompiled).unwrap_err().to_string()
    };
    let scalar = "cuda/csr/thread-per-row";
    assert!(fails(scalar, &a, 48).contains("multiple of 32"));
    assert!(fails(scalar, &a, 0).starts_with("0 threads per block"));
    assert!(fails("cuda/hll/shared-x", &a, 32).contains("reads hll, not csr"));
    let sorted = fails("cuda/hll/thread-per-row", &held_by_sorted_rows(), 32);
    assert!(sorted.contains("not hll-sigma"), "{sorted}");
    assert!(fails("vendor/cusparse/csr-alg1", &a, 32).contains("cannot show how"));
    assert!(fails("cpu/csr/serial", &a, 32).contains("cannot show how"));
    let blocks = built(&examples::five_by_five(), FormatSpec::Bsr { block: Some(2), min_fill: 0 });
    assert!(Slots::new(&blocks).unwrap_err().to_string().contains("BSR"));
}

#[test]
fn a_matrix_without_rows_or_entries_has_no_traffic_of_slots() {
    for (rows, cols) in [(0, 0), (0, 5), (3, 0), (40, 7)] {
        let a = Csr::from_triplets(rows, cols, &[]).unwrap();
        for kernel in on_grid() {
            let format = for_kernel(&a, kernel, 32);
            let schedule = Schedule::new(kernel, &format, 64, Loops::AsCompiled).unwrap();
            let traffic = Traffic::of(&schedule);
            assert!(traffic.array(Array::Val).is_none(), "{}", kernel.id);
            assert_eq!(traffic.idle_share(), None);
            assert!(schedule.warp(9, 0, 0..9).is_empty());
        }
    }
    let scalar = kernel("cuda/csr/thread-per-row").unwrap();
    let a = AnyFormat::Csr(Arc::new(Csr::<f64>::from_triplets(3, 3, &[]).unwrap()));
    let cut = Cut::new(scalar, &a, 64).unwrap();
    assert!(scalar.thread_slots(&a, &cut, Pass::Rows, 3).next().is_none());
    assert_eq!(scalar.thread_slots(&a, &cut, Pass::Rows, 2).next().unwrap().steps, 0);
}

#[test]
fn a_warp_sums_and_stores_the_long_rows_of_the_largest_tiles_one_by_one() {
    // The longest row has more than 1024 times the mean of about 19. The first tile has 197 rows,
    // with two lanes each.
    let length = |i: usize| match i {
        0 => 33,
        3 => 259,
        500 => 50_000,
        _ => 9,
    };
    let row_ptr = RowPtr::from_lengths((0..5000).map(length));
    let col: Vec<u32> = (0..5000).flat_map(|i| 0..length(i) as u32).collect();
    let val = vec![1.0; col.len()];
    let a = Csr::try_new(5000, 50_000, row_ptr, col, val).unwrap();
    let adaptive = kernel("cuda/csr/adaptive").unwrap();
    let schedule =
        Schedule::new(adaptive, &AnyFormat::Csr(Arc::new(a)), 32, Loops::AsWritten).unwrap();
    assert_eq!(schedule.launches()[0].block, 512);
    let steps = all_steps(&schedule, 0, 0);
    let requests = steps.iter().flat_map(|step| &step.requests);
    let stores = requests.filter(|r| r.array == Array::Y && r.direction == Direction::Store);
    let stores: Vec<_> = stores.map(|r| (r.active.count_ones(), r.element(0))).collect();
    assert_eq!(stores, [(1, Some(0)), (1, Some(3)), (14, None)]);
}

#[test]
fn threads_of_a_segmented_tile_read_the_ends_of_rows_and_store_one_after_the_other() {
    let length = |i: usize| if i == 0 { 40 } else { 2 };
    let row_ptr = RowPtr::from_lengths((0..300).map(length));
    let col: Vec<u32> = (0..300).flat_map(|i| 0..length(i) as u32).collect();
    let val = vec![1.0; col.len()];
    let a = Csr::try_new(300, 40, row_ptr, col, val).unwrap();
    let adaptive = kernel("cuda/csr/adaptive").unwrap();
    let schedule =
        Schedule::new(adaptive, &AnyFormat::Csr(Arc::new(a)), 32, Loops::AsWritten).unwrap();
    assert_eq!((schedule.launches()[0].block, schedule.launches()[0].blocks), (256, 1));
    let steps = all_steps(&schedule, 0, 0);
    let of = |array: Array| {
        let requests = steps.iter().flat_map(|step| &step.requests);
        let requests = requests.filter(move |request| request.array == array);
        requests.map(|r| (r.active.count_ones(), r.element(0))).collect::<Vec<_>>()
    };
    assert_eq!(of(Array::RowPtr), [(32, Some(1)), (32, Some(257))]);
    assert_eq!(of(Array::Y), [(32, Some(0)), (32, Some(256))]);
}

#[test]
fn lanes_of_a_row_of_csr_read_adjacent_nonzeros_and_the_first_one_stores() {
    // Two rows of eight nonzeros: four lanes each, two steps.
    let row_ptr = RowPtr::from_lengths([8; 2].into_iter());
    let col = (0..16).map(|k| k % 8).collect();
    let a = Csr::try_new(2, 8, row_ptr, col, vec![1.0; 16]).unwrap();
    let lanes = kernel("cuda/csr/lanes").unwrap();
    let schedule =
        Schedule::new(lanes, &AnyFormat::Csr(Arc::new(a)), 32, Loops::AsWritten).unwrap();
    assert_eq!((schedule.launches()[0].block, schedule.launches()[0].blocks), (128, 1));
    let steps = all_steps(&schedule, 0, 0);
    assert_eq!(steps.len(), 4, "the offsets, two steps, the sums");
    let slots = |step: &Step| step.lanes.iter().flatten().map(|lane| lane.slot).collect::<Vec<_>>();
    assert_eq!(slots(&steps[1]), [0, 1, 2, 3, 8, 9, 10, 11]);
    assert_eq!(slots(&steps[2]), [4, 5, 6, 7, 12, 13, 14, 15]);
    let y = &steps[3].requests[0];
    assert_eq!((y.active, y.element(0), y.element(4)), (0b1_0001, Some(0), Some(1)));
}
