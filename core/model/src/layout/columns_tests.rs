//! The traffic of SpMM, from arithmetic.

use std::sync::Arc;

use super::{
    Array, ArrayTraffic, Counts, Loops, Request, Schedule, Step, Traffic, columns_steps,
    columns_traffic,
};
use crate::kernel::{columns_of_row_split, columns_per_thread, kernel};
use sparsescope_matrix::matrix::{AnyFormat, Csr, FormatSpec, HllLayout, Order};
use sparsescope_matrix::memory::MemoryLimit;

fn csr(rows: usize, cols: usize, entries: &[(usize, usize, f64)]) -> AnyFormat {
    AnyFormat::Csr(Arc::new(Csr::from_triplets(rows, cols, entries).unwrap()))
}

fn in_format(a: &AnyFormat, spec: FormatSpec) -> AnyFormat {
    let AnyFormat::Csr(a) = a else { panic!("CSR") };
    spec.build(a, MemoryLimit::unlimited()).unwrap()
}

fn blocks(edge: usize) -> FormatSpec {
    FormatSpec::Bsr { block: Some(edge), min_fill: 0 }
}

fn hacks(size: usize, sigma: usize) -> FormatSpec {
    FormatSpec::Hll(HllLayout { sigma, ..HllLayout::plain(size, Order::ColumnMajor) })
}

fn traffic(id: &str, a: &AnyFormat, k: usize) -> Vec<ArrayTraffic> {
    columns_traffic(kernel(id).unwrap(), a, k).unwrap()
}

/// Loads and stores of an array.
fn found(id: &str, a: &AnyFormat, k: usize, array: Array) -> [Counts; 2] {
    let all = traffic(id, a, k);
    let of = all.iter().find(|of| of.array == array);
    of.map_or([Counts::default(); 2], |of| [of.loads, of.stores])
}

/// 69 rows of 1 to 5 nonzeros and one of 2000.
fn uneven() -> AnyFormat {
    let of_row = |i: usize| (0..1 + i * i % 5).map(move |j| (i, (i * 7 + j * 11) % 61, 1.0));
    let long = (0..2000).map(|j| (40, j, 1.0));
    let entries: Vec<_> = (0..70).filter(|&i| i != 40).flat_map(of_row).chain(long).collect();
    csr(70, 2000, &entries)
}

#[test]
fn one_column_takes_the_steps_of_one_thread_per_row() {
    let a = uneven();
    let thread_per_row = kernel("cuda/csr/thread-per-row").unwrap();
    let schedule = Schedule::new(thread_per_row, &a, 64, Loops::AsWritten).unwrap();
    assert_eq!(traffic("cuda/spmm/row-split", &a, 1), Traffic::of(&schedule).arrays());
    let AnyFormat::Csr(a) = &a else { panic!("CSR") };
    let steps = columns_steps(a, 1);
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
    let a = csr(8, 32, &entries);
    let found = |k: usize, array: Array| {
        let [loads, stores] = found("cuda/spmm/row-split", &a, k, array);
        (loads.sectors + stores.sectors, loads.efficiency())
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

#[test]
fn every_thread_asks_for_each_of_its_values_once_and_x_for_all_columns() {
    let a = uneven();
    let AnyFormat::Csr(of) = &a else { panic!("CSR") };
    let nnz = of.nnz() as u64;
    for k in [1, 3, 8, 16, 33, 64] {
        for (id, a) in [
            ("cuda/spmm/row-split", a.clone()),
            ("cuda/spmm/merge", a.clone()),
            ("cuda/spmm/hll", in_format(&a, hacks(32, 1))),
            ("cuda/spmm/hll", in_format(&a, hacks(32, 64))),
        ] {
            let each = match id {
                "cuda/spmm/row-split" => columns_of_row_split(k, 8),
                _ => columns_per_thread(k, 8),
            };
            let packs = (k / each) as u64;
            let asked = |array| found(id, &a, k, array).map(|of| of.asked_bytes);
            assert_eq!(asked(Array::Val), [8 * nnz * packs, 0], "{id} {k}");
            assert_eq!(asked(Array::Col), [4 * nnz * packs, 0], "{id} {k}");
            assert_eq!(asked(Array::X), [8 * nnz * k as u64, 0], "{id} {k}");
            // Rows that are cut between blocks are loaded and stored again.
            let [loads, stores] = asked(Array::Y);
            assert_eq!(stores - loads, 8 * 70 * k as u64, "{id} {k}");
            assert_eq!(loads > 0, id == "cuda/spmm/merge" && k >= 8, "{id} {k}");
        }
    }
}

#[test]
fn blocks_are_read_whole_and_a_row_of_x_once_for_all_of_their_rows() {
    // A full 2 × 2 block and one nonzero in a block that extends past the last column.
    let entries = [(0, 0, 1.0), (0, 1, 1.0), (1, 0, 1.0), (1, 1, 1.0), (2, 4, 1.0)];
    let a = in_format(&csr(3, 5, &entries), blocks(2));
    let asked = |array| found("cuda/spmm/bsr", &a, 8, array).map(|of| of.asked_bytes);
    // Two blocks of 4 values and one column index, for each of 8 threads.
    assert_eq!((asked(Array::Val), asked(Array::Col)), ([8 * 8 * 8, 0], [4 * 2 * 8, 0]));
    // Three columns of A, as the fourth does not exist; three rows of Y.
    assert_eq!((asked(Array::X), asked(Array::Y)), ([8 * 3 * 8, 0], [0, 8 * 3 * 8]));
    // 3 × 3 blocks have values one by one: with 8 columns a warp has 4 block rows, whose values are 72 bytes
    // apart, and takes 9 loads.
    let dense: Vec<_> = (0..36).map(|e| (e / 3, e % 3, 1.0)).collect();
    let a = in_format(&csr(12, 3, &dense), blocks(3));
    let [loads, _] = found("cuda/spmm/bsr", &a, 8, Array::Val);
    assert_eq!((loads.requests, loads.sectors, loads.useful_bytes), (9, 9 * 4, 8 * 36));
    // Each row of X has 64 bytes, the same for all four.
    assert_eq!(found("cuda/spmm/bsr", &a, 8, Array::X)[0].sectors, 3 * 2);
}

#[test]
fn adjacent_rows_of_hacks_share_sectors() {
    // 32 rows of 2 nonzeros: with 8 columns a warp has 4 rows, whose slots are adjacent in a step.
    let entries: Vec<_> = (0..64).map(|e| (e / 2, e, 1.0)).collect();
    let a = csr(32, 64, &entries);
    let hacks = in_format(&a, hacks(32, 1));
    let sectors = |id, a: &AnyFormat, array| found(id, a, 8, array)[0].sectors;
    // 4 values of 8 bytes are one sector in each of 2 steps of 8 warps; 4 rows of 2 values are two sectors.
    assert_eq!(sectors("cuda/spmm/hll", &hacks, Array::Val), 16);
    assert_eq!(sectors("cuda/spmm/row-split", &a, Array::Val), 32);
}

#[test]
fn pieces_of_one_row_each_move_what_row_split_moves_besides_their_bounds() {
    // 63 nonzeros and the end of a row are the 64 steps of a piece; 8 threads take a piece, as a row.
    let entries: Vec<_> = (0..63 * 40).map(|e| (e / 63, e * 7 % 97, 1.0)).collect();
    let a = csr(40, 97, &entries);
    for array in [Array::Col, Array::Val, Array::X, Array::Y] {
        let [split, merge] =
            ["cuda/spmm/row-split", "cuda/spmm/merge"].map(|id| found(id, &a, 16, array));
        assert_eq!(split, merge, "{array:?}");
    }
    // Two of three blocks leave a carry, which is zero and not added.
    let [loads, stores] = found("cuda/spmm/merge", &a, 16, Array::CarrySum);
    assert_eq!((loads.asked_bytes, stores.asked_bytes), (0, 2 * 128));
}

#[test]
fn a_row_over_several_blocks_leaves_a_carry_in_each_but_the_last() {
    // 8 columns: 16 pieces of 64 steps per block. 3073 steps are 48 pieces and one step, in 4 blocks, and the row
    // ends in the last.
    let entries: Vec<_> = (0..3072).map(|j| (0, j, 1.0)).collect();
    let a = csr(1, 3072, &entries);
    let [loads, stores] = found("cuda/spmm/merge", &a, 8, Array::CarrySum);
    assert_eq!((loads.asked_bytes, stores.asked_bytes), (3 * 64, 3 * 64));
    // The last block stores its part, to which the carries are added.
    let [loads, stores] = found("cuda/spmm/merge", &a, 8, Array::Y);
    assert_eq!((loads.asked_bytes, stores.asked_bytes), (64, 2 * 64));
}

#[test]
fn other_kernels_and_formats_have_no_traffic() {
    let a = uneven();
    let of = |id: &str, a: &AnyFormat| columns_traffic(kernel(id).unwrap(), a, 8).is_some();
    assert!(!of("cpu/spmm/simd", &a) && !of("wgpu/spmm/row-split", &a));
    assert!(!of("cuda/spmm/bsr", &a) && !of("cuda/spmm/row-split", &in_format(&a, hacks(32, 1))));
}
