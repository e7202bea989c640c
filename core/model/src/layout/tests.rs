//! The model against brute force on random matrices.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use proptest::prelude::*;

use super::*;
use crate::kernel::parameters::SPILL;
use crate::kernel::{
    Allowed, Format, FormatParams, KernelDescriptor, LANES, Mapping, kernel, kernels,
};
use sparsescope_matrix::matrix::{AnyFormat, Csr, FormatSpec, HllLayout, Order};
use sparsescope_matrix::memory::MemoryLimit;
use sparsescope_record::Operation;

pub(super) fn on_grid() -> impl Iterator<Item = &'static KernelDescriptor> {
    kernels(Operation::Spmv).iter().filter(|k| matches!(k.mapping, Mapping::Grid(_)))
}

pub(super) fn built(a: &Csr, spec: FormatSpec) -> AnyFormat {
    spec.build(&Arc::new(a.clone()), MemoryLimit::unlimited()).unwrap()
}

pub(super) fn for_kernel(a: &Csr, kernel: &KernelDescriptor, hack_size: usize) -> AnyFormat {
    let (hyb_width, min_fill) = (Some(2), Some(0));
    let is_compact = kernel.format() == Some(Format::HllCompact);
    let hack_size = if is_compact { 32 } else { hack_size };
    let params = FormatParams { hack_size, hyb_width, min_fill, ..FormatParams::default() };
    built(a, kernel.format().unwrap().with(&params))
}

pub(super) fn all_steps(schedule: &Schedule, launch: usize, warp: u64) -> Vec<Step> {
    schedule.warp(launch, warp, 0..usize::MAX)
}

/// The kernel's format with rows sorted and spilled, if the kernel accepts that.
fn sorted_for(a: &Csr, kernel: &KernelDescriptor, hack_size: usize) -> Option<AnyFormat> {
    let takes = kernel.allowed(SPILL.id()) == Some(Allowed::Any);
    let (sigma, spill) = (16, Some(8));
    let params = FormatParams { hack_size, sigma, spill, ..FormatParams::default() };
    takes.then(|| built(a, kernel.format().unwrap().with(&params)))
}

/// A matrix of up to 150 rows of any length, some long and many empty.
fn matrices() -> impl Strategy<Value = Csr> {
    (0usize..150, 1usize..300, any::<u64>()).prop_map(|(rows, cols, seed)| {
        let mut state = seed | 1;
        let mut next = move || {
            // xorshift64: any distribution will do.
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state
        };
        let mut triplets = Vec::new();
        for i in 0..rows {
            let len = match next() % 8 {
                0 => 0,
                1 => next() as usize % (cols + 1),
                _ => next() as usize % cols.clamp(1, 9),
            };
            triplets.extend((0..len).map(|_| (i, next() as usize % cols, 1.0)));
        }
        Csr::from_triplets(rows, cols, &triplets).unwrap()
    })
}

#[test]
fn four_values_of_a_lane_are_loaded_in_pieces_of_up_to_16_bytes() {
    // One hack, four distinct values per row: codes would take more bytes.
    let row = |i: usize| (0..4).map(move |j| (i, i + j, (4 * i + j) as f64));
    let a = Csr::from_triplets(32, 35, &(0..32).flat_map(row).collect::<Vec<_>>()).unwrap();
    let kernel = kernel("cuda/hll/compact").unwrap();
    let format = for_kernel(&a, kernel, 32);
    let found = [8, 4, 2].map(|bytes| {
        let schedule = Schedule::new(kernel, &format, 32, Loops::AsWritten).unwrap();
        let loads = Traffic::of(&schedule.storing(bytes)).array(Array::Val).unwrap().loads;
        (loads.requests, loads.sectors, loads.useful_bytes)
    });
    // Each of the two loads of f64 takes half of every sector.
    assert_eq!(found, [(2, 64, 1024), (1, 16, 512), (1, 8, 256)]);
}

/// Requests, sectors, lines, useful bytes and idle lanes of each array of each launch, separately
/// for loads and stores (`true`).
type Totals = BTreeMap<(usize, Array, bool), (u64, u64, u64, u64, u64)>;

/// What a schedule requests, computed without [`Request::counts`] from sets of byte addresses.
fn brute_force(schedule: &Schedule) -> Totals {
    let mut all = BTreeMap::new();
    let base = |array| schedule.arrays().iter().find(|i| i.array == array).unwrap().base;
    for (l, launch) in schedule.launches().iter().enumerate() {
        for warp in 0..launch.warps {
            for request in all_steps(schedule, l, warp).iter().flat_map(|s| &s.requests) {
                let width = request.width();
                let offsets: Vec<u64> = (0..32).filter_map(|lane| request.offset(lane)).collect();
                let bytes: HashSet<u64> = offsets
                    .iter()
                    .flat_map(|o| (0..width).map(move |b| o + b))
                    .map(|o| base(request.array) + o)
                    .collect();
                let sectors: HashSet<u64> = bytes.iter().map(|b| b / 32).collect();
                let lines: HashSet<u64> = bytes.iter().map(|b| b / 128).collect();
                let is_store = request.direction == Direction::Store;
                let sum = all.entry((l, request.array, is_store)).or_insert((0, 0, 0, 0, 0));
                sum.0 += 1;
                sum.1 += sectors.len() as u64;
                sum.2 += lines.len() as u64;
                sum.3 += bytes.len() as u64;
                sum.4 += 32 - offsets.len() as u64;
            }
        }
    }
    all
}

fn totals(traffic: &Traffic) -> Totals {
    let mut all = BTreeMap::new();
    for (l, launch) in traffic.launches.iter().enumerate() {
        for a in &launch.arrays {
            for (counts, is_store) in [(a.loads, false), (a.stores, true)] {
                if counts.requests > 0 {
                    let Counts { requests, sectors, lines, useful_bytes, idle_lanes, .. } = counts;
                    let sum = (requests, sectors, lines, useful_bytes, idle_lanes);
                    all.insert((l, a.array, is_store), sum);
                }
            }
        }
    }
    all
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, ..ProptestConfig::default() })]

    #[test]
    #[cfg_attr(target_family = "wasm", ignore = "starts threads")]
    fn totals_are_the_sums_over_all_steps_of_all_warps(
        a in matrices(),
        hack in prop::sample::select(vec![4usize, 32, 64]),
        block in prop::sample::select(vec![32u32, 96, 128]),
        loops in prop::sample::select(vec![Loops::AsWritten, Loops::AsCompiled]),
    ) {
        for kernel in on_grid() {
            let sorted = sorted_for(&a, kernel, hack);
            for format in [for_kernel(&a, kernel, hack)].into_iter().chain(sorted) {
                let schedule = Schedule::new(kernel, &format, block, loops).unwrap();
                let traffic = Traffic::of(&schedule);
                prop_assert_eq!(totals(&traffic), brute_force(&schedule), "{}", kernel.id);
                let pool = rayon::ThreadPoolBuilder::new().num_threads(3).build().unwrap();
                prop_assert_eq!(&pool.install(|| Traffic::of(&schedule)), &traffic);
            }
        }
    }

    #[test]
    fn lanes_read_what_their_threads_read_and_inside_the_arrays(
        a in matrices(),
        loops in prop::sample::select(vec![Loops::AsWritten, Loops::AsCompiled]),
    ) {
        let formats = |kernel: &'static KernelDescriptor| {
            let all = [for_kernel(&a, kernel, 8)].into_iter().chain(sorted_for(&a, kernel, 8));
            all.map(move |format| (kernel, format))
        };
        for (kernel, format) in on_grid().flat_map(formats) {
            let schedule = Schedule::new(kernel, &format, 64, loops).unwrap();
            for (l, launch) in schedule.launches().iter().enumerate() {
                if launch.kind == LaunchKind::Carry {
                    continue;
                }
                // The tail of HYB has its own launch, that of HLL does not.
                let in_tail = |w: &(usize, u64, bool)| {
                    w.2 == (launch.kind == LaunchKind::Spans && l > 0)
                        || matches!(format, AnyFormat::Hll(_))
                };
                for warp in 0..launch.warps {
                    let steps = all_steps(&schedule, l, warp);
                    prop_assert_eq!(steps.len(), schedule.steps(l, warp));
                    for lane in 0..LANES {
                        let read: Vec<_> = steps
                            .iter()
                            .filter_map(|s| s.lanes[lane as usize])
                            .map(|w| (w.row, w.slot, w.in_tail))
                            .collect();
                        let expected: Vec<_> = kernel
                            .accesses(&format, schedule.cut(), warp * LANES + lane)
                            .into_iter()
                            .map(|w| (w.row, w.slot, w.in_tail))
                            .filter(in_tail)
                            .collect();
                        prop_assert_eq!(read, expected, "{} lane {}", kernel.id, lane);
                    }
                    for request in steps.iter().flat_map(|s| &s.requests) {
                        let info = schedule.arrays().iter().find(|i| i.array == request.array);
                        let len = info.unwrap().len;
                        let last = (0..32).map(|lane| request.elements(lane).end).max();
                        prop_assert!(last.unwrap() <= len, "{} {request:?}", kernel.id);
                    }
                }
            }
        }
    }

    #[test]
    fn every_slot_holds_what_the_arrays_hold_and_every_entry_is_found(
        a in matrices(),
        spec in prop::sample::select(vec![
            FormatSpec::Coo,
            FormatSpec::Csr,
            FormatSpec::Ell { order: Order::RowMajor },
            FormatSpec::Ell { order: Order::ColumnMajor },
            FormatSpec::Hyb { width: Some(3), order: Order::ColumnMajor },
            FormatSpec::Hll(HllLayout::plain(8, Order::RowMajor)),
            FormatSpec::Hll(HllLayout::plain(8, Order::ColumnMajor)),
            FormatSpec::Hll(HllLayout { sigma: 16, spill: Some(20), ..HllLayout::plain(4, Order::ColumnMajor) }),
        ]),
    ) {
        let format = built(&a, spec);
        let slots = Slots::new(&format).unwrap();
        let map = slots.map(MemoryLimit::unlimited()).unwrap();
        let mut found = Vec::new();
        for (main, list) in [(true, &map.main), (false, &map.tail)] {
            for (k, slot) in list.iter().enumerate() {
                prop_assert_eq!(slot.index, k as u64);
                if let Held::Entry { row, col, val } = slot.held {
                    found.push((row, col, val));
                    let (c, v) = match main {
                        true => (Array::Col, Array::Val),
                        false => (Array::TailCol, Array::TailVal),
                    };
                    let places = slots.places(row, col as usize);
                    for array in [c, v] {
                        let here = Place { array, index: slot.index };
                        prop_assert!(places.contains(&here));
                    }
                    let (x, y) = (u64::from(col), row as u64);
                    let vectors = [(Array::X, x), (Array::Y, y)];
                    for (array, index) in vectors {
                        let here = Place { array, index };
                        prop_assert!(places.contains(&here));
                    }
                    for place in places {
                        prop_assert!(place.index < slots.array(place.array).unwrap().len);
                    }
                }
            }
        }
        found.sort_by_key(|&(row, col, _)| (row, col));
        let stored: Vec<_> = (0..a.rows())
            .flat_map(|i| a.row(i).0.iter().zip(a.row(i).1).map(move |(&c, &v)| (i, c, v)))
            .collect();
        prop_assert_eq!(found, stored);
        let size = spec.size(&a).unwrap();
        prop_assert_eq!((map.main.len() + map.tail.len()) as u64, size.slots);
        prop_assert_eq!(map.padding(), map.main.len() + map.tail.len() - a.nnz());
        for i in 0..a.rows().min(20) {
            for j in 0..a.cols().min(20) {
                let is_stored = a.row(i).0.contains(&(j as u32));
                prop_assert_eq!(!slots.places(i, j).is_empty(), is_stored);
            }
        }
    }
}
