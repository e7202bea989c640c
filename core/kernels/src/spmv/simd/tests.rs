//! Tests of the vectors and of the vectorised kernels, at each level that the CPU supports.

use std::io::Write;
use std::sync::Once;

use super::lanes::{Arrays, MOST_LANES};
use super::*;
use crate::gate::Reference;
use crate::spmv::{RowParts, bsr, dia};
use sparsescope_matrix::matrix::{Bsr, Csr, Dia, HACK_SIZES, Hll, HllLayout, Order, Real};
use sparsescope_matrix::memory::MemoryLimit;
use sparsescope_record::Verdict;

/// The supported levels; prints which are not supported.
fn levels() -> Vec<Level> {
    let (here, absent): (Vec<_>, Vec<_>) = Level::ALL.into_iter().partition(|l| l.is_here());
    static SAID: Once = Once::new();
    SAID.call_once(|| {
        let absent: Vec<&str> = absent.iter().map(|level| level.as_str()).collect();
        let line = format!("kernels in vectors not tested here: {}\n", absent.join(", "));
        // The test harness would capture the output of `eprintln!`.
        let written = std::io::stderr().write_all(line.as_bytes());
        assert!(written.is_ok(), "standard error is closed, and a skip must be seen");
    });
    here
}

/// Rows of these lengths in 6007 columns, with columns far apart and distinct values within a row.
fn matrix<T: Real>(lengths: impl IntoIterator<Item = usize>) -> Csr<T> {
    let mut entries = Vec::new();
    let mut rows = 0;
    for (i, length) in lengths.into_iter().enumerate() {
        rows = i + 1;
        let value = |j: usize| T::rounded(1.0 / (1 + (i + 7 * j) % 6101) as f64 - 0.2);
        entries.extend((0..length).map(|j| (i, (i * 31 + j * 1009) % 6007, value(j))));
    }
    Csr::from_triplets(rows, 6007, &entries).unwrap()
}

/// Matrices with pieces of every kind.
fn matrices<T: Real>() -> Vec<Csr<T>> {
    vec![
        matrix([]),
        matrix([0; 300]),
        // Short rows without gaps, then with gaps, equal ones, and some between rows of several pieces.
        matrix((0..700).map(|i| 1 + i * i % 5)),
        matrix((0..523).map(|i| i % 3 * (i % 7))),
        matrix([64; 70].into_iter().chain((0..90).map(|i| i * i % 83))),
        matrix([3, 0, 5999, 0, 0, 2, 4096, 4097, 1]),
        // Every length up to a few vectors and beyond.
        matrix(0..150),
    ]
}

fn vector<T: Real>(n: usize) -> Vec<T> {
    (0..n).map(|j| T::rounded(0.3 - (j % 613) as f64 / 37.0)).collect()
}

fn bits<T: Real>(y: &[T]) -> Vec<u64> {
    y.iter().map(|&y| f64::to_bits(y.into())).collect()
}

/// `product` fills y for a number of workers; the result must pass the check and not depend on that number.
fn passes<T: Real>(a: &Csr<T>, x: &[T], what: &str, product: impl Fn(usize, &mut [T])) {
    let reference = Reference::new(a, x);
    let mut first = None;
    for workers in [1, 3, 8] {
        let mut y = vec![T::NAN; a.rows()];
        product(workers, &mut y);
        let check = reference.check(&y);
        assert_eq!(check.verdict, Verdict::Pass, "{what}: {:?}", check.reason);
        let y = bits(&y);
        assert_eq!(*first.get_or_insert(y.clone()), y, "{what} with {workers} workers");
    }
}

fn csr_passes_in_every_way<T: Vectorised>() {
    for a in matrices::<T>() {
        let x = vector::<T>(a.cols());
        for level in levels() {
            let usual = Tuning::new::<T>(a.cols(), a.col(), level, u64::MAX);
            let ways = [usual, Tuning { stream: 0, ..usual }, Tuning { stream: u32::MAX, ..usual }];
            for tuning in ways.into_iter().flat_map(|w| [w, Tuning { ahead: 64, ..w }]) {
                let [stream, rows, _] = CsrPlan::new(&a, 3, tuning).census();
                assert!(tuning.stream != 0 || a.nnz() == 0 || stream > 0, "{tuning:?}");
                assert!(tuning.stream != u32::MAX || stream == 0 && (a.rows() == 0 || rows > 0));
                passes(&a, &x, &format!("{tuning:?}"), |workers, y| {
                    csr(&a, &CsrPlan::new(&a, workers, tuning), None, &x, y);
                });
            }
        }
    }
}

#[test]
fn csr_passes_the_gate_in_every_way_with_the_same_bits_for_any_workers() {
    csr_passes_in_every_way::<f64>();
    csr_passes_in_every_way::<f32>();
}

fn hll_passes_in_every_layout<T: Vectorised>() {
    for a in matrices::<T>() {
        let x = vector::<T>(a.cols());
        for hack_size in HACK_SIZES {
            for (sigma, spill) in [(1, None), (64, Some(100))] {
                let layout = HllLayout { hack_size, order: Order::ColumnMajor, sigma, spill };
                let hll = Hll::arranged(&a, layout, MemoryLimit::unlimited()).unwrap();
                for (level, near) in levels().into_iter().flat_map(|l| [(l, u64::MAX), (l, 0)]) {
                    let tuning = Tuning::new::<T>(a.cols(), hll.col(), level, near);
                    passes(&a, &x, &format!("{layout:?} {tuning:?}"), |workers, y| {
                        super::hll(&hll, &HllPlan::new(&hll, workers, tuning), None, &x, y);
                    });
                }
            }
        }
    }
}

#[test]
fn hll_passes_the_gate_in_every_layout_with_the_same_bits_for_any_workers() {
    hll_passes_in_every_layout::<f64>();
    hll_passes_in_every_layout::<f32>();
}

fn blocks_and_diagonals_pass<T: Vectorised>() {
    // Diagonals that begin and end anywhere, over more rows than a tile and with more columns than rows.
    for (rows, cols) in [(2500, 2600), (40, 9), (9, 40)] {
        let diagonals = [-2400i64, -30, -8, -7, -1, 0, 1, 2, 5, 33, 2550];
        let inside = |i: usize| move |d: &i64| (0..cols as i64).contains(&(i as i64 + d));
        let entries = (0..rows).flat_map(|i| {
            let columns = diagonals.into_iter().filter(inside(i));
            columns.map(move |d| (i, (i as i64 + d) as usize, T::rounded(0.7 - d as f64 / 9.0)))
        });
        let a = Csr::from_triplets(rows, cols, &entries.collect::<Vec<_>>()).unwrap();
        let x = vector::<T>(cols);
        for level in levels() {
            let by_diagonals = Dia::from_csr(&a, 0, MemoryLimit::unlimited()).unwrap();
            passes(&a, &x, &format!("diagonals {level:?}"), |workers, y| {
                let parts = RowParts::equal_rows(rows, workers);
                dia::parts(&by_diagonals, level, &parts, None, &x, y);
            });
            for block in 2..=8 {
                let blocks = Bsr::from_csr(&a, block, MemoryLimit::unlimited()).unwrap();
                passes(&a, &x, &format!("blocks of {block} {level:?}"), |workers, y| {
                    let parts = RowParts::equal_block_rows(rows, block, workers);
                    bsr::parts(&blocks, level, &parts, None, &x, y);
                });
            }
        }
    }
}

#[test]
fn blocks_of_every_size_and_diagonals_pass_the_gate_at_every_level() {
    blocks_and_diagonals_pass::<f64>();
    blocks_and_diagonals_pass::<f32>();
}

#[test]
fn an_infinite_x_reaches_only_the_rows_that_hold_its_column() {
    // Neighbours in a vector, in a hack, and before and after the end of a row.
    let lengths: Vec<usize> = (0..200).map(|i| 1 + i % 4).collect();
    let a = matrix::<f64>(lengths);
    let mut x = vector::<f64>(a.cols());
    // Columns used by padding: the last column of a short row, and the first one.
    let (shortest, first) = (a.row(4).0[0] as usize, 0);
    (x[shortest], x[first]) = (f64::INFINITY, f64::NAN);
    for level in levels() {
        let usual = Tuning::new::<f64>(a.cols(), a.col(), level, 0);
        for tuning in [Tuning { stream: 0, ..usual }, Tuning { stream: u32::MAX, ..usual }] {
            passes(&a, &x, &format!("{tuning:?}"), |workers, y| {
                csr(&a, &CsrPlan::new(&a, workers, tuning), None, &x, y);
            });
        }
        let layout = HllLayout { sigma: 16, ..HllLayout::plain(8, Order::ColumnMajor) };
        let hll = Hll::arranged(&a, layout, MemoryLimit::unlimited()).unwrap();
        passes(&a, &x, &format!("hll {level:?}"), |workers, y| {
            super::hll(&hll, &HllPlan::new(&hll, workers, usual), None, &x, y);
        });
    }
}

#[test]
#[should_panic(expected = "the plan is of this matrix")]
fn a_plan_of_another_csr_matrix_is_refused() {
    let (a, other) = (matrix::<f64>([4, 4]), matrix::<f64>([4, 5]));
    let tuning = Tuning::new::<f64>(a.cols(), a.col(), Level::Portable, 0);
    csr(&a, &CsrPlan::new(&other, 1, tuning), None, &vector(6007), &mut [0.0; 2]);
}

#[test]
#[should_panic(expected = "the plan is of this matrix")]
fn a_plan_of_rows_elsewhere_is_refused() {
    // The same number of rows and nonzeros, divided differently among pieces.
    let (a, other) = (matrix::<f64>([5000, 9, 9]), matrix::<f64>([9, 9, 5000]));
    let tuning = Tuning::new::<f64>(a.cols(), a.col(), Level::Portable, 0);
    csr(&a, &CsrPlan::new(&other, 1, tuning), None, &vector(6007), &mut [0.0; 3]);
}

#[test]
#[should_panic(expected = "the plan is of this matrix")]
fn a_plan_of_another_hll_matrix_is_refused() {
    let a = matrix::<f64>([4; 32]);
    let of = |hack| Hll::from_csr(&a, hack, Order::ColumnMajor, MemoryLimit::unlimited()).unwrap();
    let tuning = Tuning::new::<f64>(a.cols(), a.col(), Level::Portable, 0);
    hll(&of(4), &HllPlan::new(&of(32), 1, tuning), None, &vector(6007), &mut [0.0; 32]);
}

/// Compares every method of a level's vectors with arrays.
struct Methods;

impl<T: Vectorised> Loop<T> for Methods {
    type Output = ();

    unsafe fn run<L: Lanes<Value = T>>(self) {
        let n = L::LANES;
        assert!(n.is_power_of_two() && n <= MOST_LANES);
        let value = |k: usize| T::rounded(k as f64);
        let from: [T; MOST_LANES] = std::array::from_fn(|k| value(3 * k + 1));
        let col: [u32; MOST_LANES] = std::array::from_fn(|k| (k as u32 * 5 + 2) % 16);
        let lengths: [u32; MOST_LANES] = std::array::from_fn(|k| (k as u32 * 7) % 5);
        let expected = |lane: &dyn Fn(usize) -> T| -> Vec<T> { (0..n).map(lane).collect() };
        // SAFETY: the CPU supports the instructions; arrays have as many elements as the widest vector, and
        // columns lie in `from`.
        unsafe {
            let lanes = |v: L::Vector| L::to_array(v)[..n].to_vec();
            let v = L::load(from.as_ptr());
            assert_eq!(lanes(L::zero()), expected(&|_| T::ZERO));
            assert_eq!(lanes(L::splat(from[2])), expected(&|_| from[2]));
            assert_eq!(lanes(v), from[..n]);
            let x = from.as_ptr();
            assert_eq!(lanes(L::gather(x, col.as_ptr())), expected(&|k| from[col[k] as usize]));
            assert_eq!(lanes(L::last(v)), expected(&|_| from[n - 1]));
            assert_eq!(L::sum(v), value((0..n).map(|k| 3 * k + 1).sum()));
            let two = L::splat(value(2));
            assert_eq!(lanes(L::add(v, two)), expected(&|k| value(3 * k + 3)));
            assert_eq!(lanes(L::mul(v, two)), expected(&|k| value(6 * k + 2)));
            assert_eq!(lanes(L::mul_add(v, two, v)), expected(&|k| value(9 * k + 3)));
            let infinite = L::splat(value(1) / T::ZERO);
            for count in 0..=n {
                let some = |k: usize, value: T| if k < count { value } else { T::ZERO };
                let first = L::load_first(from.as_ptr(), count);
                assert_eq!(lanes(first), expected(&|k| some(k, from[k])));
                let mut to = [T::ZERO; MOST_LANES];
                L::store_first(to.as_mut_ptr(), v, count);
                assert_eq!(to[..n], expected(&|k| some(k, from[k])));
                if count > 0 {
                    let gathered = L::gather_first(x, col.as_ptr(), count);
                    assert_eq!(lanes(gathered), expected(&|k| some(k, from[col[k] as usize])));
                }
            }
            for j in 0..5 {
                let sum = L::mul_add_above((v, infinite), two, lengths.as_ptr(), j);
                let above = |k: usize| if lengths[k] > j { value(1) / T::ZERO } else { value(2) };
                assert_eq!(lanes(sum), expected(&above), "above {j}");
            }
            for set in 0..=L::ALL {
                let holds = |k: usize| set >> k & 1 == 1;
                let begins = |k: usize| (0..k).rev().find(|&k| holds(k)).map_or(0, |k| k + 1);
                let segment = |k: usize| value((begins(k)..=k).map(|k| 3 * k + 1).sum());
                assert_eq!(lanes(L::segments(v, set)), expected(&segment), "{set:b}");
                let added = |k: usize| if holds(k) { from[k] + value(2) } else { from[k] };
                assert_eq!(lanes(L::add_in(v, two, set)), expected(&added), "{set:b}");
                let only = |k: usize| if holds(k) { value(1) / T::ZERO } else { from[k] };
                assert_eq!(lanes(L::add_in(v, infinite, set)), expected(&only), "{set:b}");
                let held: Vec<usize> = (0..n).filter(|&k| holds(k)).collect();
                let compressed = lanes(L::compress(v, set));
                assert_eq!(
                    compressed[..held.len()],
                    held.iter().map(|&k| from[k]).collect::<Vec<_>>()
                );
                let place = |k: usize| held.iter().position(|&held| held == k);
                let spread = |k: usize| place(k).map_or(T::ZERO, |at| from[at]);
                assert_eq!(lanes(L::expand(v, set)), expected(&spread), "{set:b}");
            }
        }
    }
}

#[test]
fn vectors_do_what_arrays_do() {
    for level in levels() {
        run::<f64, _>(level, Methods);
        run::<f32, _>(level, Methods);
    }
    assert_eq!(Level::Portable.lanes::<f64>(), <Arrays<f64> as Lanes>::LANES);
}

#[test]
fn the_widest_level_that_fits_is_found() {
    assert!(Level::Portable.is_here() && Level::of_machine().is_here());
    assert_eq!(Level::of_machine(), levels()[0]);
    for level in levels() {
        assert_eq!(level.for_columns(usize::MAX), Level::Portable);
        assert_eq!(level.for_columns(i32::MAX as usize), level);
        assert!(4 % level.filled_by::<f64>(4).lanes::<f64>() == 0);
        assert!(4 % level.filled_by::<f32>(4).lanes::<f32>() == 0);
    }
}
