//! Tests of the kernels on compact formats.

use super::*;
use crate::spmv::simd::{self, CsrPlan, Decode, HllPlan, Level, Loop, Tuning, Vectorised, run};
use sparsescope_matrix::matrix::{
    CompactCsr, CompactHll, Csr, HACK_SIZES, Hll, HllLayout, Order, Real, ValueCoding,
};
use sparsescope_matrix::memory::MemoryLimit;

/// 301 × 140 000: rows of 0 to 40 nonzeros, most of them near each other, some far away; `distinct`
/// values.
fn matrix<T: Real>(distinct: usize) -> Csr<T> {
    let mut state = 7u64;
    let mut next = |below: usize| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % below
    };
    let mut entries = Vec::new();
    for i in 0..301usize {
        let length = if i % 9 == 0 { 0 } else { next(40) };
        for j in 0..length {
            let far = if i > 200 && next(3) == 0 { 139_000 } else { 0 };
            let value = 1.0 / (1.0 + next(distinct) as f64) - 0.3;
            entries.push((i, far + i + 7 * j + next(7), T::rounded(value)));
        }
    }
    Csr::from_triplets(301, 140_000, &entries).unwrap()
}

fn vector<T: Real>(n: usize) -> Vec<T> {
    (0..n).map(|j| T::rounded(0.1 + (j % 977) as f64 / 7.0)).collect()
}

/// a·b + c as the level's vectors compute it.
struct Terms<'a, T>(&'a [(T, T)]);

impl<T: Vectorised> Loop<T> for Terms<'_, T> {
    type Output = T;

    /// In order, in the first lane.
    unsafe fn run<L: Decode<Value = T>>(self) -> T {
        // SAFETY: guaranteed by the caller.
        unsafe {
            let sum = self
                .0
                .iter()
                .fold(L::zero(), |sum, &(a, x)| L::mul_add(L::splat(a), L::splat(x), sum));
            L::to_array(sum)[0]
        }
    }
}

fn levels() -> impl Iterator<Item = Level> {
    Level::ALL.into_iter().filter(|level| level.is_here())
}

fn bits<T: Real>(y: &[T]) -> Vec<u128> {
    y.iter().map(|y| y.bits()).collect()
}

fn terms<T: Real>(a: &Csr<T>, row: usize, x: &[T]) -> Vec<(T, T)> {
    let (col, val) = a.row(row);
    col.iter().zip(val).map(|(&c, &v)| (v, x[c as usize])).collect()
}

const CODINGS: [(ValueCoding, usize); 7] = [
    (ValueCoding::Plain, 100),
    (ValueCoding::Byte, 3),
    (ValueCoding::Byte, 4),
    (ValueCoding::Byte, 8),
    (ValueCoding::Byte, 16),
    (ValueCoding::Byte, 256),
    (ValueCoding::Short, 5_000),
];

fn each_row_of_hacks_is_summed_in_order<T: Vectorised>() {
    for (coding, distinct) in CODINGS {
        let a = matrix::<T>(distinct);
        let x = vector::<T>(a.cols());
        for size in HACK_SIZES {
            for (sigma, spill) in [(1, None), (50, None), (16, Some(25))] {
                let layout = HllLayout { hack_size: size, order: Order::ColumnMajor, sigma, spill };
                let limit = MemoryLimit::unlimited();
                let compact = CompactHll::from_csr(&a, layout, coding, limit).unwrap();
                let lines = compact.base().len();
                assert!(compact.wide_lines() > 0 && (size > 32 || compact.wide_lines() < lines));
                for (level, workers) in levels().flat_map(|level| [(level, 1), (level, 5)]) {
                    for near_bytes in [0, u64::MAX] {
                        let shares = HllShares::new(&compact, workers, level, near_bytes);
                        let mut y = vec![T::NAN; a.rows()];
                        hll(&compact, &shares, None, &x, &mut y);
                        let order = compact.row_order();
                        let kept = order.in_blocks()..order.rows();
                        let mut expected: Vec<T> = (0..a.rows())
                            .map(|i| run(shares.level(), Terms(&terms(&a, i, &x))))
                            .collect();
                        for p in kept {
                            // Separate rows are those of the plain format's kernels.
                            let (row, (col, val)) = (order.row_at(p), a.row(order.row_at(p)));
                            // SAFETY: x has one element per column.
                            let slots = unsafe { crate::spmv::dot::Slots::new(col, val, &x) };
                            expected[row] = slots.in_lanes();
                        }
                        assert_eq!(bits(&y), bits(&expected), "{coding:?} {size} {level:?}");
                        let plain = Hll::arranged(&a, layout, limit).unwrap();
                        let tuning = Tuning::new::<T>(a.cols(), plain.col(), level, near_bytes);
                        simd::hll(&plain, &HllPlan::new(&plain, workers, tuning), None, &x, &mut y);
                        assert_eq!(bits(&y), bits(&expected), "hll/simd {size} {level:?}");
                    }
                }
            }
        }
    }
}

#[test]
fn rows_of_hacks_have_the_bits_of_hll_simd_summed_in_order() {
    each_row_of_hacks_is_summed_in_order::<f64>();
    each_row_of_hacks_is_summed_in_order::<f32>();
}

fn rows_have_the_bits_of_csr_simd<T: Vectorised>() {
    for (coding, distinct) in CODINGS {
        let a = matrix::<T>(distinct);
        let x = vector::<T>(a.cols());
        let compact = CompactCsr::from_csr(&a, coding, MemoryLimit::unlimited()).unwrap();
        assert!(compact.wide_rows() > 0 && compact.wide_rows() < 150);
        for (level, workers) in levels().flat_map(|level| [(level, 1), (level, 5)]) {
            let mut y = vec![T::NAN; a.rows()];
            csr(&compact, &CsrShares::new(&compact, workers, level), None, &x, &mut y);
            let row_by_row =
                Tuning { stream: u32::MAX, ..Tuning::new::<T>(a.cols(), a.col(), level, u64::MAX) };
            let mut expected = vec![T::NAN; a.rows()];
            simd::csr(&a, &CsrPlan::new(&a, workers, row_by_row), None, &x, &mut expected);
            assert_eq!(bits(&y), bits(&expected), "{coding:?} {level:?}");
        }
    }
}

#[test]
fn rows_have_the_bits_of_csr_simd_row_by_row() {
    rows_have_the_bits_of_csr_simd::<f64>();
    rows_have_the_bits_of_csr_simd::<f32>();
}

#[test]
fn an_infinite_x_reaches_only_the_rows_that_hold_its_column() {
    // Padding lies in the line's first column, and the first columns of other lines are infinite.
    let entries = [(0, 0, 1.0), (0, 3, 1.0), (1, 1, 1.0), (2, 2, 1.0), (2, 5, 1.0), (2, 7, 2.0)];
    let a = Csr::from_triplets(5, 9, &entries).unwrap();
    let x = [1.0, 2.0, 3.0, f64::INFINITY, 1.0, 4.0, 1.0, f64::NAN, f64::INFINITY];
    let limit = MemoryLimit::unlimited();
    for level in levels() {
        let check = |y: &[f64]| {
            assert_eq!((y[0], y[1], y[3], y[4]), (f64::INFINITY, 2.0, 0.0, 0.0));
            assert!(y[2].is_nan());
        };
        let mut y = [f64::NAN; 5];
        let layout = HllLayout::plain(8, Order::ColumnMajor);
        let compact = CompactHll::from_csr(&a, layout, ValueCoding::Auto, limit).unwrap();
        hll(&compact, &HllShares::new(&compact, 2, level, 0), None, &x, &mut y);
        check(&y);
        let mut y = [f64::NAN; 5];
        let compact = CompactCsr::from_csr(&a, ValueCoding::Auto, limit).unwrap();
        csr(&compact, &CsrShares::new(&compact, 2, level), None, &x, &mut y);
        check(&y);
    }
}
