//! The shares of CPU threads against their steps, and against counts by hand.

use std::collections::HashSet;

use super::tests::built;
use super::*;
use crate::kernel::{DeviceKind, FormatParams, KernelDescriptor, kernel, kernels, row_steps};
use sparsescope_matrix::matrix::{AnyFormat, Csr, FormatSpec, HllLayout, Order, examples};
use sparsescope_record::Operation;

/// 203 × 90 with one dense row and empty ones.
fn matrix() -> Csr {
    let rows = (0..203usize)
        .flat_map(|i| (0..i * 5 % 11).map(move |j| (i, (i * 7 + j * 13) % 90, 1.0 + j as f64)));
    let dense = (0..90).map(|j| (71, j, 2.0));
    Csr::from_triplets(203, 90, &rows.chain(dense).collect::<Vec<_>>()).unwrap()
}

fn modelled() -> impl Iterator<Item = &'static KernelDescriptor> {
    kernels(Operation::Spmv).iter().filter(|k| k.device == DeviceKind::Cpu && k.model.is_some())
}

#[test]
fn shares_take_every_slot_once_and_their_lines_are_those_of_their_steps() {
    let a = matrix();
    let params = FormatParams { hack_size: 8, hyb_width: Some(3), ..FormatParams::default() };
    for kernel in modelled() {
        let spec = kernel.format().unwrap().with(&params);
        let format = built(&a, spec);
        for workers in [1, 3, 7] {
            let traffic = CpuTraffic::of(kernel, &format, workers).unwrap();
            let mut places = HashSet::new();
            let mut taken = 0;
            for (k, share) in traffic.shares().iter().enumerate() {
                let steps = traffic.steps(k, 0..u64::MAX);
                assert_eq!(steps.len() as u64, share.steps);
                taken += steps.len();
                let mut lines: HashSet<(Array, u64)> = HashSet::new();
                for step in &steps {
                    let rows = &share.share.rows;
                    assert!(rows.contains(&step.row), "{} {rows:?}", kernel.id);
                    places.insert(step.val);
                    lines.insert((step.col.array, step.col.index * 4 / 64));
                    lines.insert((step.val.array, step.val.index * 8 / 64));
                    lines.insert((Array::X, step.x.index * 8 / 64));
                }
                let all: HashSet<(Array, u64)> = traffic
                    .places(k, share.steps)
                    .iter()
                    .map(|place| {
                        let of = traffic.arrays().iter().find(|info| info.array == place.array);
                        let bytes = u64::from(of.unwrap().element_bytes);
                        (place.array, place.index * bytes / CACHE_LINE)
                    })
                    .collect();
                assert_eq!(all.len() as u64, share.total_lines(), "{}", kernel.id);
                for &(array, touched) in &share.lines {
                    let found = lines.iter().filter(|(of, _)| *of == array).count() as u64;
                    let in_steps = [Array::Col, Array::Val, Array::TailCol, Array::TailVal];
                    if in_steps.contains(&array) || array == Array::X {
                        assert_eq!(found, touched, "{} {array:?}", kernel.id);
                    }
                }
            }
            let slots = match kernel.needs.finite_x {
                true => spec.size(&a).unwrap().slots,
                // Padding is skipped.
                false => a.nnz() as u64,
            };
            assert_eq!((taken as u64, places.len() as u64), (slots, slots), "{}", kernel.id);
            assert!(traffic.imbalance().unwrap() >= 1.0);
        }
    }
}

#[test]
fn a_share_reads_its_rows_as_row_steps_tells() {
    let a = matrix();
    let layout = HllLayout { sigma: 32, spill: Some(9), ..HllLayout::plain(8, Order::RowMajor) };
    let format = built(&a, FormatSpec::Hll(layout));
    let AnyFormat::Hll(hll) = &format else { panic!("HLL") };
    let serial = kernel("cpu/hll/serial").unwrap();
    let traffic = CpuTraffic::of(serial, &format, 1).unwrap();
    let read: Vec<(u32, f64)> = traffic
        .steps(0, 0..u64::MAX)
        .iter()
        .map(|step| {
            let val = match step.val.array {
                Array::TailVal => hll.tail().val(),
                _ => hll.val(),
            };
            (step.x.index as u32, val[step.val.index as usize])
        })
        .collect();
    let expected: Vec<_> = (0..203).flat_map(|p| row_steps(&format, p)).collect();
    assert_eq!(read, expected);
    assert_eq!(traffic.steps(0, 5..8).len(), 3);
    assert!(traffic.steps(1, 0..9).is_empty());
}

#[test]
fn lines_of_the_papers_example_counted_by_hand() {
    // 24 rows of two nonzeros in columns i and i + 1.
    let triplets: Vec<_> = (0..24).flat_map(|i| [(i, i, 1.0), (i, i + 1, 1.0)]).collect();
    let a = built(&Csr::from_triplets(24, 25, &triplets).unwrap(), FormatSpec::Csr);
    let of = |id: &str, workers| CpuTraffic::of(kernel(id).unwrap(), &a, workers).unwrap();
    let serial = of("cpu/csr/serial", 1);
    // 25 offsets, 48 columns, 48 values, 25 and 24 elements of the vectors.
    let expected =
        [(Array::RowPtr, 2), (Array::Col, 3), (Array::Val, 6), (Array::X, 4), (Array::Y, 3)];
    assert_eq!(serial.shares()[0].lines, expected);
    assert_eq!((serial.shares()[0].total_lines(), serial.shares()[0].bytes()), (18, 18 * 64));
    // Rows 12 to 23: both workers touch the middle cache line of columns and of y.
    let halves = of("cpu/csr/rows", 2);
    let second =
        [(Array::RowPtr, 2), (Array::Col, 2), (Array::Val, 3), (Array::X, 3), (Array::Y, 2)];
    assert_eq!(halves.shares()[1].lines, second);
    assert_eq!(halves.imbalance(), Some(1.0));
    // One row of 48 nonzeros: two pieces share it, and only the second finishes it.
    let one: Vec<_> = (0..48).map(|j| (0, j, 1.0)).collect();
    let one = built(&Csr::from_triplets(1, 48, &one).unwrap(), FormatSpec::Csr);
    let merge = CpuTraffic::of(kernel("cpu/csr/merge").unwrap(), &one, 2).unwrap();
    let offsets = |k: usize| merge.shares()[k].lines.iter().any(|l| l.0 == Array::RowPtr);
    assert_eq!((offsets(0), offsets(1)), (false, true));
    assert_eq!(merge.shares().iter().map(|s| s.steps).collect::<Vec<_>>(), [24, 24]);
}

#[test]
fn what_has_no_model_is_refused() {
    let a = built(&examples::five_by_five(), FormatSpec::Csr);
    let fails = |id: &str, workers| {
        CpuTraffic::of(kernel(id).unwrap(), &a, workers).unwrap_err().to_string()
    };
    assert!(fails("cpu/csr/serial", 0).contains("at least 1"));
    assert!(fails("cpu/ell/rows", 1).contains("reads ell, not csr"));
    assert!(fails("cuda/csr/thread-per-row", 1).contains("CPU threads"));
    assert!(fails("cpu/csr/transposed", 1).contains("CPU threads"));
}

#[test]
fn what_a_thread_has_touched_grows_with_its_steps() {
    let a = AnyFormat::Csr(std::sync::Arc::new(examples::five_by_five()));
    let traffic = CpuTraffic::of(kernel("cpu/csr/serial").unwrap(), &a, 1).unwrap();
    let named = |steps| -> Vec<(Array, u64)> {
        traffic.places(0, steps).iter().map(|place| (place.array, place.index)).collect()
    };
    let start = [(Array::RowPtr, 0), (Array::RowPtr, 1)];
    assert_eq!(named(0), start);
    let first = [(Array::Col, 0), (Array::Val, 0), (Array::X, 0)];
    assert_eq!(named(1), [&start[..], &first].concat());
    // The second nonzero ends row 0: its sum is stored and the next row's pointers are read.
    let next = [(Array::Y, 0), (Array::RowPtr, 1), (Array::RowPtr, 2)];
    let second = [(Array::Col, 1), (Array::Val, 1), (Array::X, 1)];
    assert_eq!(named(2), [&start[..], &first, &second, &next].concat());
    assert_eq!(traffic.places(1, 2), []);
}
