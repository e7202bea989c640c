//! Each kernel on shapes that break kernels, with the serial SpMV of each column as the expected result.

use super::*;
use crate::gate::Reference;
use crate::spmv::simd::{Level, Vectorised};
use crate::spmv::{self, RowParts, SlotParts};
use sparsescope_matrix::matrix::{Csr, Hll, HllLayout, Order, Real, transposed};
use sparsescope_matrix::memory::MemoryLimit;
use sparsescope_record::Verdict;

/// Odd and even numbers of columns, below, at and above whole vectors and tiles of every level.
const COLUMNS: [usize; 17] = [1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 33, 64, 67, 128, 131];

fn matrix<T: Real>(
    (rows, cols): (usize, usize),
    places: impl Iterator<Item = (usize, usize)>,
) -> Csr<T> {
    let value = |i: usize, j: usize| T::rounded(1.0 / (1 + (3 * i + 7 * j) % 101) as f64 - 0.2);
    let entries: Vec<_> = places.map(|(i, j)| (i, j, value(i, j))).collect();
    Csr::from_triplets(rows, cols, &entries).unwrap()
}

/// No rows, no columns, empty rows between others, one dense row, one dense column, more columns than rows.
fn matrices<T: Real>() -> Vec<Csr<T>> {
    let scattered = |rows: usize, cols: usize| {
        (0..rows).flat_map(move |i| (0..i * i % 7).map(move |j| (i, (i * 5 + j * 11) % cols)))
    };
    vec![
        matrix((0, 3), std::iter::empty()),
        matrix((3, 0), std::iter::empty()),
        matrix((90, 61), scattered(90, 61)),
        matrix((40, 50), scattered(40, 50).chain((0..50).map(|j| (17, j)))),
        matrix((60, 40), scattered(60, 40).chain((0..60).map(|i| (i, 9)))),
        matrix((5, 300), scattered(5, 300).chain([(4, 299)])),
    ]
}

/// X of k columns, stored by rows.
fn block<T: Real>(n: usize, k: usize) -> Vec<T> {
    (0..n * k).map(|e| T::rounded(0.3 - (e * 29 % 613) as f64 / 37.0)).collect()
}

/// Column j of a block of k columns.
fn column<T: Real>(block: &[T], k: usize, j: usize) -> Vec<T> {
    block.iter().skip(j).step_by(k).copied().collect()
}

fn bits<T: Real>(y: &[T]) -> Vec<u64> {
    y.iter().map(|&y| f64::to_bits(y.into())).collect()
}

#[test]
fn each_column_has_the_bits_of_the_serial_spmv_for_any_number_of_workers() {
    for a in matrices::<f64>() {
        for k in COLUMNS {
            let x = block::<f64>(a.cols(), k);
            let mut y = vec![f64::NAN; a.rows() * k];
            serial(&a, k, &x, &mut y);
            for j in 0..k {
                let mut expected = vec![0.0; a.rows()];
                spmv::csr::serial(&a, spmv::Unscaled, &column(&x, k, j), &mut expected);
                assert_eq!(bits(&column(&y, k, j)), bits(&expected), "column {j} of {k}");
            }
            for workers in [1, 3, 8] {
                for split in [
                    RowParts::equal_rows(a.rows(), workers),
                    RowParts::equal_entries(a.row_ptr(), workers),
                ] {
                    let mut found = vec![f64::NAN; y.len()];
                    parts(&a, &split, k, &x, &mut found);
                    assert_eq!(bits(&found), bits(&y), "{k} columns, {workers} workers");
                }
            }
        }
    }
}

fn by_columns_has_the_bits_of_serial<T: Real>() {
    for a in matrices::<T>() {
        for k in COLUMNS {
            let x = block::<T>(a.cols(), k);
            let mut expected = vec![T::NAN; a.rows() * k];
            serial(&a, k, &x, &mut expected);
            let (x, expected) = (transposed(&x, k), transposed(&expected, k));
            for workers in 1..=5 {
                let split = RowParts::equal_entries(a.row_ptr(), workers);
                let mut found = vec![T::NAN; expected.len()];
                columns(&a, &split, k, &x, &mut found);
                assert_eq!(bits(&found), bits(&expected), "{k} columns, {workers} workers");
            }
        }
    }
}

#[test]
fn by_columns_every_element_has_the_bits_of_the_serial_product_for_any_number_of_workers() {
    by_columns_has_the_bits_of_serial::<f64>();
    by_columns_has_the_bits_of_serial::<f32>();
}

/// `product` fills Y for a number of workers; each column must pass its check, and the bits must not depend on that
/// number.
fn passes<T: Real>(columns: &[Reference], what: &str, product: impl Fn(usize, &mut [T])) {
    let k = columns.len();
    let rows = columns.first().map_or(0, |first| first.y().len());
    let mut first = None;
    for workers in [1, 3, 8] {
        let mut y = vec![T::NAN; rows * k];
        product(workers, &mut y);
        for (j, reference) in columns.iter().enumerate() {
            let check = reference.check(&column(&y, k, j));
            assert_eq!(check.verdict, Verdict::Pass, "{what}, column {j}: {:?}", check.reason);
        }
        let y = bits(&y);
        assert_eq!(*first.get_or_insert(y.clone()), y, "{what} with {workers} workers");
    }
}

fn vectors_pass<T: Vectorised>() {
    let sorted = HllLayout { hack_size: 8, order: Order::RowMajor, sigma: 32, spill: Some(5) };
    let layouts = [HllLayout::plain(4, Order::RowMajor), sorted];
    for a in matrices::<T>() {
        for k in COLUMNS {
            let x = block::<T>(a.cols(), k);
            let reference = |j: usize| Reference::new(&a, &column(&x, k, j));
            let columns: Vec<Reference> = (0..k).map(reference).collect();
            for level in Level::ALL.into_iter().filter(|level| level.is_here()) {
                let what = format!("{} {k} columns", level.as_str());
                passes::<T>(&columns, &what, |workers, y| {
                    simd(&a, level, &RowParts::equal_entries(a.row_ptr(), workers), k, &x, y);
                });
                for layout in layouts {
                    let hacks = Hll::arranged(&a, layout, MemoryLimit::unlimited()).unwrap();
                    passes::<T>(&columns, &format!("{what} in HLL"), |workers, y| {
                        hll(&hacks, level, &SlotParts::new(&hacks, workers), k, &x, y);
                    });
                }
            }
        }
    }
}

#[test]
fn vectors_of_f64_pass_the_check_at_every_level_and_do_not_depend_on_workers() {
    vectors_pass::<f64>();
}

#[test]
fn vectors_of_f32_pass_the_check_at_every_level_and_do_not_depend_on_workers() {
    vectors_pass::<f32>();
}

#[test]
fn vectors_are_shorter_where_columns_would_leave_half_of_them_empty() {
    for level in Level::ALL.into_iter().filter(|level| level.is_here()) {
        assert_eq!(level_for::<f32>(level, 16), level);
    }
    if Level::Avx512.is_here() {
        let of = |k: usize| level_for::<f64>(Level::Avx512, k);
        assert_eq!([1, 2, 4, 5].map(of), [Level::Avx2, Level::Avx2, Level::Avx2, Level::Avx512]);
    }
}

#[test]
#[should_panic(expected = "X has k elements per column of A")]
fn an_x_of_another_size_is_refused() {
    let a = matrix::<f64>((2, 2), [(0, 0)].into_iter());
    serial(&a, 3, &[1.0; 5], &mut [0.0; 6]);
}
