//! Every kernel with alpha and beta.

use std::cell::RefCell;

use super::compact::{CsrShares, HllShares};
use super::hyb::HybParts;
use super::simd::{CsrPlan, HllPlan, Level, Tuning, Vectorised};
use super::transposed::TransposedPlan;
use super::*;
use crate::gate::Reference;
use crate::with_store;
use sparsescope_matrix::matrix::{
    Bsr, CompactCsr, CompactHll, Coo, Csr, Dia, Ellpack, Hll, HllLayout, Hyb, Order, Real,
    ValueCoding,
};
use sparsescope_matrix::memory::MemoryLimit;
use sparsescope_record::Verdict;

/// alpha and beta.
const SCALES: [(f64, f64); 5] = [(1.0, 0.0), (2.0, 0.0), (-0.5, 1.0), (1.0, -1.0), (0.0, 1.0)];

/// Rows of these lengths, with neighbouring columns from the number of the row on, and integers from 1 to 5.
fn matrix<T: Real>(cols: usize, lengths: impl IntoIterator<Item = usize>) -> Csr<T> {
    let mut entries = Vec::new();
    let mut rows = 0;
    for (i, length) in lengths.into_iter().enumerate() {
        rows = i + 1;
        let value = |j: usize| T::rounded((1 + (3 * i + j) % 5) as f64);
        entries.extend((0..length).map(|j| (i, (i + j) % cols, value(j))));
    }
    Csr::from_triplets(rows, cols, &entries).unwrap()
}

fn matrices<T: Real>() -> Vec<Csr<T>> {
    vec![
        matrix(5, []),
        matrix(5, [0; 40]),
        // More rows than columns, of every length up to several vectors.
        matrix(90, (0..180).map(|i| i / 2)),
        // Empty rows, and a dense one of several pieces.
        matrix(97, (0..523).map(|i| i % 3 * (i % 7))),
        matrix(6007, [3, 0, 6007, 0, 0, 2]),
        // A band, of several tiles of rows.
        matrix(2100, [3; 2100]),
        // Blocks of 4 × 4, and a part of one.
        matrix(64, (0..62).map(|i| 4 + 4 * (i / 4 % 2))),
    ]
}

/// x and y for a scaling.
type Kernel<'k, T> = &'k dyn Fn(Option<Scaling<T>>, &[T], &mut [T]);

/// Calls `check` with the name of each kernel and the kernel itself, bound to `a` for a number of workers.
fn each_kernel<T: Vectorised>(a: &Csr<T>, workers: usize, check: &dyn Fn(&str, Kernel<'_, T>)) {
    macro_rules! kernel {
        ($name:expr, |$store:ident, $x:ident, $y:ident| $product:expr) => {
            check($name, &|scaling, $x, $y| with_store!(scaling, |$store| $product))
        };
    }
    let limit = MemoryLimit::unlimited();
    let rows = RowParts::equal_rows(a.rows(), workers);
    let by_entries = RowParts::equal_entries(a.row_ptr(), workers);
    let path = MergePath::new(a.row_ptr(), workers);
    kernel!("csr/serial", |store, x, y| csr::serial(a, store, x, y));
    kernel!("csr/rows", |store, x, y| csr::parts(a, &rows, store, x, y));
    kernel!("csr/nnz", |store, x, y| csr::parts(a, &by_entries, store, x, y));
    kernel!("csr/merge", |store, x, y| csr::merge(a, &path, store, x, y));
    let turned = a.transpose();
    let [own_columns, own_sums] = TransposedPlan::both_ways(&turned, workers);
    kernel!("csr/transposed", |store, x, y| {
        transposed::csr(&turned, &own_columns, store, x, y);
    });
    kernel!("csr/transposed in sums", |store, x, y| {
        transposed::csr(&turned, &own_sums, store, x, y);
    });
    let coo = Coo::from_csr(a, limit).unwrap();
    kernel!("coo/serial", |store, x, y| coo::serial(&coo, store, x, y));
    let ell = Ellpack::from_csr(a, Order::RowMajor, limit).unwrap();
    kernel!("ell/serial", |store, x, y| ellpack::serial(&ell, store, x, y));
    kernel!("ell/rows", |store, x, y| ellpack::parts(&ell, &rows, store, x, y));
    for width in [0, 2] {
        let hyb = Hyb::from_csr(a, width, Order::RowMajor, limit).unwrap();
        let parts = HybParts::new(&hyb, workers);
        kernel!("hyb/serial", |store, x, y| hyb::serial(&hyb, store, x, y));
        kernel!("hyb/rows", |store, x, y| hyb::parts(&hyb, &parts, store, x, y));
    }
    for (sigma, spill) in [(1, None), (9, Some(20))] {
        let layout = HllLayout { sigma, spill, ..HllLayout::plain(8, Order::RowMajor) };
        let hll = Hll::arranged(a, layout, limit).unwrap();
        let chunks = GuidedChunks::new(hll.shape(), workers);
        kernel!("hll/serial", |store, x, y| hll::serial(&hll, store, x, y));
        kernel!("hll/guided", |store, x, y| hll::guided(&hll, &chunks, store, x, y));
    }
    for level in Level::ALL.into_iter().filter(|level| level.is_here()) {
        in_vectors(a, workers, level, check);
    }
}

/// The same for the kernels in vectors of a level.
fn in_vectors<T: Vectorised>(
    a: &Csr<T>,
    workers: usize,
    level: Level,
    check: &dyn Fn(&str, Kernel<'_, T>),
) {
    macro_rules! kernel {
        ($name:expr, |$store:ident, $x:ident, $y:ident| $product:expr) => {{
            let name = format!("{} {level:?}", $name);
            check(&name, &|$store, $x, $y| $product)
        }};
    }
    let limit = MemoryLimit::unlimited();
    let rows = RowParts::equal_rows(a.rows(), workers);
    let usual = Tuning::new::<T>(a.cols(), a.col(), level, u64::MAX);
    // Along all nonzeros, and row by row.
    for stream in [0, u32::MAX] {
        let plan = CsrPlan::new(a, workers, Tuning { stream, ..usual });
        kernel!("csr/simd", |store, x, y| simd::csr(a, &plan, store, x, y));
    }
    let compact = CompactCsr::from_csr(a, ValueCoding::Auto, limit).unwrap();
    let shares = CsrShares::new(&compact, workers, level);
    kernel!("csr/compact", |store, x, y| compact::csr(&compact, &shares, store, x, y));
    for (sigma, spill) in [(1, None), (9, Some(20))] {
        for hack_size in [8, 32] {
            let layout =
                HllLayout { sigma, spill, ..HllLayout::plain(hack_size, Order::ColumnMajor) };
            let hll = Hll::arranged(a, layout, limit).unwrap();
            let plan = HllPlan::new(&hll, workers, usual);
            kernel!("hll/simd", |store, x, y| simd::hll(&hll, &plan, store, x, y));
            let few = CompactHll::from_csr(a, layout, ValueCoding::Auto, limit).unwrap();
            let shares = HllShares::new(&few, workers, level, u64::MAX);
            kernel!("hll/compact", |store, x, y| compact::hll(&few, &shares, store, x, y));
        }
    }
    for block in 2..=8 {
        let blocks = Bsr::from_csr(a, block, limit).unwrap();
        let parts = RowParts::equal_block_rows(a.rows(), block, workers);
        kernel!("bsr/rows", |store, x, y| bsr::parts(&blocks, level, &parts, store, x, y));
    }
    let diagonals = Dia::from_csr(a, 0, limit).unwrap();
    kernel!("dia/rows", |store, x, y| dia::parts(&diagonals, level, &rows, store, x, y));
}

/// The terms are integers and their halves, so that sums are exact in any order. The elements before and after y stay.
fn each_result_is_exact<T: Vectorised>() {
    for a in matrices::<T>() {
        let x: Vec<T> = (0..a.cols()).map(|j| T::rounded((1 + j % 5) as f64)).collect();
        let product = |i: usize| -> f64 {
            let (col, val) = a.row(i);
            let factors = |(&c, &v): (&u32, &T)| -> (f64, f64) { (v.into(), x[c as usize].into()) };
            col.iter().zip(val).map(factors).map(|(v, x)| v * x).sum()
        };
        let products: Vec<f64> = (0..a.rows()).map(product).collect();
        for workers in [1, 3] {
            each_kernel(&a, workers, &|name, kernel| {
                for (alpha, beta) in SCALES {
                    // Without beta, y is not read.
                    let before =
                        |i: usize| if beta == 0.0 { f64::NAN } else { i as f64 % 7.0 - 3.0 };
                    let added = |i: usize| if beta == 0.0 { 0.0 } else { beta * before(i) };
                    let guard = 7.0;
                    let whole = [guard].into_iter().chain((0..a.rows()).map(before)).chain([guard]);
                    let mut whole: Vec<T> = whole.map(T::rounded).collect();
                    let scaling = Scaling { alpha: T::rounded(alpha), beta: T::rounded(beta) };
                    kernel(Some(scaling), &x, &mut whole[1..=a.rows()]);
                    let whole: Vec<f64> = whole.into_iter().map(Into::into).collect();
                    let [first, found @ .., last] = &whole[..] else { panic!("two guards") };
                    assert_eq!([*first, *last], [guard; 2], "{name} with {alpha}:{beta}");
                    let products = products.iter().enumerate();
                    let expected: Vec<f64> =
                        products.map(|(i, product)| alpha * product + added(i)).collect();
                    assert_eq!(found, expected, "{name} with {alpha}:{beta}, {workers} workers");
                }
            });
        }
    }
}

#[test]
fn every_kernel_scales_its_sums_and_adds_them_to_the_previous_y() {
    each_result_is_exact::<f64>();
    each_result_is_exact::<f32>();
}

#[test]
fn rounding_is_within_the_bound_of_the_check() {
    let (alpha, beta) = (0.37, -2.9);
    for a in matrices::<f32>() {
        let x: Vec<f32> = (0..a.cols()).map(|j| 0.1 + (j * 37 % 61) as f32).collect();
        let before: Vec<f32> = (0..a.rows()).map(|i| (i % 9) as f32 / 7.0 - 0.6).collect();
        let reference = Reference::scaled(&a, &x, (alpha, beta), &before);
        each_kernel(&a, 3, &|name, kernel| {
            let mut y = before.clone();
            kernel(Some(Scaling { alpha, beta }), &x, &mut y);
            let check = reference.check(&y);
            assert_eq!(check.verdict, Verdict::Pass, "{name}: {:?}", check.reason);
        });
    }
}

#[test]
fn an_alpha_of_1_and_a_beta_of_0_change_no_bit() {
    for a in matrices::<f64>() {
        // Not powers of two, so that sums depend on their order.
        let x: Vec<f64> = (0..a.cols()).map(|j| (1 + j % 5) as f64 / 3.0).collect();
        each_kernel(&a, 3, &|name, kernel| {
            let bits = |scaling| {
                let mut y = vec![f64::NAN; a.rows()];
                kernel(scaling, &x, &mut y);
                y.into_iter().map(f64::to_bits).collect::<Vec<_>>()
            };
            assert_eq!(bits(Some(Scaling { alpha: 1.0, beta: 0.0 })), bits(None), "{name}");
        });
    }
}

#[test]
fn with_beta_no_bit_depends_on_the_number_of_workers() {
    let scaling = Some(Scaling { alpha: 0.37, beta: -2.9 });
    for a in matrices::<f64>() {
        let x: Vec<f64> = (0..a.cols()).map(|j| (1 + j % 5) as f64 / 3.0).collect();
        let before: Vec<f64> = (0..a.rows()).map(|i| (i % 9) as f64 / 7.0 - 0.6).collect();
        let results = |workers: usize| {
            let results = RefCell::new(Vec::new());
            each_kernel(&a, workers, &|name, kernel| {
                let mut y = before.clone();
                kernel(scaling, &x, &mut y);
                let bits: Vec<u64> = y.into_iter().map(f64::to_bits).collect();
                results.borrow_mut().push((name.to_owned(), bits));
            });
            results.into_inner()
        };
        let one = results(1);
        for workers in [2, 5] {
            // Workers share elements of y there, and their parts are added in another order.
            let shared = ["csr/merge", "csr/transposed in sums"];
            let both = one.iter().zip(results(workers));
            for ((name, one), (_, more)) in
                both.filter(|((name, _), _)| !shared.contains(&name.as_str()))
            {
                assert!(*one == more, "{name} with {workers} workers");
            }
        }
    }
}
