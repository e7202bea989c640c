//! y = A'·x from the CSR arrays of A, without a copy of the transpose.

use std::ops::Range;
use std::sync::{Mutex, PoisonError};

use super::{RowParts, Store, check_sizes, each_own_part};
use sparsescope_matrix::matrix::{Csr, RowPtr, Scalar};
use sparsescope_matrix::memory::{MemoryError, MemoryLimit, zeroed};

/// How a number of threads share y = A'·x.
#[derive(Debug)]
pub struct TransposedPlan<T> {
    way: Way<T>,
    bytes: u64,
}

#[derive(Debug)]
enum Way<T> {
    /// Each thread has columns with about the same number of nonzeros, and of each row the nonzeros in them: by part of
    /// the rows, then by thread.
    OwnColumns { columns: RowParts, pieces: Vec<Vec<Vec<Piece>>> },
    /// Each thread has rows with about the same number of nonzeros. The first adds to y, the others to sums of their
    /// own, which are then added to y in order, each thread to some of the columns.
    OwnSums { rows: RowParts, columns: RowParts, sums: Mutex<Vec<T>> },
}

/// Bytes that a core may take from another one's caches at once: two lines.
const LINES: usize = 128;

/// Elements from the sums of a thread to those of the next one: whole lines, and a spare one, because the first sums
/// may begin within a line.
fn spacing(cols: usize, value_bytes: usize) -> usize {
    let line = LINES / value_bytes;
    cols.next_multiple_of(line) + line
}

/// Bytes of the sums of all threads but the first.
fn bytes_of_sums(others: usize, cols: usize, value_bytes: usize) -> u128 {
    others as u128 * spacing(cols, value_bytes) as u128 * value_bytes as u128
}

/// The nonzeros of a row in the columns of one thread.
#[derive(Clone, Copy, Debug)]
struct Piece {
    /// The first of them.
    start: usize,
    row: u32,
    len: u32,
}

/// Columns for each thread, and the pieces into which they cut the rows.
struct Cut {
    columns: RowParts,
    /// Number of pieces, by part of the rows, then by part of the columns.
    counts: Vec<Vec<usize>>,
    /// Most nonzeros plus pieces of a part of the columns.
    most: usize,
}

impl Cut {
    fn new<T: Scalar>(
        a: &Csr<T>,
        rows: &RowParts,
        threads: usize,
        limit: MemoryLimit,
    ) -> Result<Self, MemoryError> {
        // Lengths in 4 bytes, and offsets in up to 8.
        limit.check("the lengths of the columns", 12 * (a.cols() as u128 + 1))?;
        let mut lengths = vec![0u32; a.cols()];
        a.col().iter().for_each(|&c| lengths[c as usize] += 1);
        let offsets = RowPtr::from_lengths(lengths.iter().map(|&length| length as usize));
        let columns = RowParts::equal_entries(&offsets, threads);
        let ends = ends(&columns);
        let parts: Vec<_> = rows.iter().collect();
        let counts = each_own_part(parts, |rows| {
            let mut counts = vec![0; ends.len()];
            each_piece(a, rows, &ends, |part, _| counts[part] += 1);
            counts
        });
        let steps = |(part, columns): (usize, Range<usize>)| {
            let pieces: usize = counts.iter().map(|of_rows| of_rows[part]).sum();
            pieces + offsets.get(columns.end) - offsets.get(columns.start)
        };
        let most = columns.iter().enumerate().map(steps).max().unwrap_or(0);
        Ok(Self { columns, counts, most })
    }
}

fn ends(columns: &RowParts) -> Vec<usize> {
    columns.iter().map(|columns| columns.end).collect()
}

/// Calls `found` with each piece of some rows and the part of the columns that it is in, row by row.
fn each_piece<T: Scalar>(
    a: &Csr<T>,
    rows: Range<usize>,
    ends: &[usize],
    mut found: impl FnMut(usize, Piece),
) {
    for row in rows {
        let Range { mut start, end } = a.row_range(row);
        while start < end {
            let col = &a.col()[start..end];
            let part = ends.partition_point(|&end| end <= col[0] as usize);
            let len = col.partition_point(|&c| (c as usize) < ends[part]);
            found(part, Piece { start, row: row as u32, len: len as u32 });
            start += len;
        }
    }
}

/// The most bytes that a plan may need for vectors with values of `value_bytes`: those of the larger of its two ways,
/// because which one it takes is known only after a pass over A.
pub fn most_bytes(a: &Csr, threads: usize, value_bytes: usize) -> u128 {
    if threads <= 1 {
        return 0;
    }
    let pieces = (a.nnz() as u128).min(a.rows() as u128 * threads as u128);
    let of_pieces = pieces * size_of::<Piece>() as u128;
    of_pieces.max(bytes_of_sums(threads - 1, a.cols(), value_bytes))
}

impl<T: Scalar> TransposedPlan<T> {
    /// Chooses the way in which the busiest thread has fewer steps: nonzeros and pieces of rows in columns of its own;
    /// nonzeros, rows and elements of y in sums of its own, which pays off where A has few columns, or one with most of
    /// the nonzeros. Takes the other way if that one needs more than `limit`; fails, before allocating, if both do.
    pub fn new(a: &Csr<T>, threads: usize, limit: MemoryLimit) -> Result<Self, MemoryError> {
        let rows = RowParts::equal_entries(a.row_ptr(), threads);
        if threads <= 1 {
            return Self::own_sums(a, &rows, limit);
        }
        let Ok(cut) = Cut::new(a, &rows, threads, limit) else {
            return Self::own_sums(a, &rows, limit);
        };
        let steps = |rows: Range<usize>| {
            a.row_ptr().get(rows.end) - a.row_ptr().get(rows.start) + rows.len()
        };
        let most = rows.iter().map(steps).max().unwrap_or(0);
        let prefers_columns = cut.most < most + a.cols();
        let own_columns = || Self::own_columns(a, &rows, cut, limit);
        let own_sums = || Self::own_sums(a, &rows, limit);
        match prefers_columns {
            true => own_columns().or_else(|refused| own_sums().map_err(|_| refused)),
            false => own_sums().or_else(|refused| own_columns().map_err(|_| refused)),
        }
    }

    fn own_columns(
        a: &Csr<T>,
        rows: &RowParts,
        cut: Cut,
        limit: MemoryLimit,
    ) -> Result<Self, MemoryError> {
        let Cut { columns, counts, .. } = cut;
        let all: usize = counts.iter().flatten().sum();
        let bytes = all as u64 * size_of::<Piece>() as u64;
        limit.check("the pieces of rows for threads with columns of their own", bytes.into())?;
        let ends = ends(&columns);
        let parts: Vec<_> = rows.iter().zip(counts).collect();
        let pieces = each_own_part(parts, |(rows, counts)| {
            let mut pieces: Vec<Vec<Piece>> = counts.into_iter().map(Vec::with_capacity).collect();
            each_piece(a, rows, &ends, |part, piece| pieces[part].push(piece));
            pieces
        });
        Ok(Self { way: Way::OwnColumns { columns, pieces }, bytes })
    }

    fn own_sums(a: &Csr<T>, rows: &RowParts, limit: MemoryLimit) -> Result<Self, MemoryError> {
        let others = rows.len().saturating_sub(1);
        let bytes = bytes_of_sums(others, a.cols(), T::BYTES);
        limit.check("y for each further thread", bytes)?;
        let columns = RowParts::equal_rows(a.cols(), others + 1);
        let sums = Mutex::new(zeroed(T::ZERO, others * spacing(a.cols(), T::BYTES)));
        Ok(Self { way: Way::OwnSums { rows: rows.clone(), columns, sums }, bytes: bytes as u64 })
    }

    /// Both ways, whichever would be chosen.
    #[cfg(test)]
    pub(super) fn both_ways(a: &Csr<T>, threads: usize) -> [Self; 2] {
        let limit = MemoryLimit::unlimited();
        let rows = RowParts::equal_entries(a.row_ptr(), threads);
        let cut = Cut::new(a, &rows, threads, limit).expect("there is no limit");
        let own_columns = Self::own_columns(a, &rows, cut, limit);
        [own_columns, Self::own_sums(a, &rows, limit)].map(|plan| plan.expect("there is no limit"))
    }

    /// Number of parts that the nonzeros are in, one per thread.
    pub fn parts(&self) -> usize {
        match &self.way {
            Way::OwnColumns { columns, .. } => columns.len(),
            Way::OwnSums { rows, .. } => rows.len(),
        }
    }

    /// Bytes of the pieces of rows, or of the threads' sums.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }
}

/// Each thread adds the products of its nonzeros to their columns, in the order of the rows: in columns of its own, or
/// those of its own rows to sums of its own.
///
/// x has m elements, y has n; panics otherwise. The plan is that of `a`.
pub fn csr<T: Scalar>(
    a: &Csr<T>,
    plan: &TransposedPlan<T>,
    store: impl Store<T>,
    x: &[T],
    y: &mut [T],
) {
    check_sizes(a.cols(), a.rows(), x, y);
    match &plan.way {
        Way::OwnColumns { columns, pieces } => {
            let parts: Vec<_> = columns.split(y).into_iter().enumerate().collect();
            each_own_part(parts, |(part, (columns, y))| {
                store.begin(y);
                for of_rows in pieces {
                    for piece in &of_rows[part] {
                        let range = piece.start..piece.start + piece.len as usize;
                        let row = (&a.col()[range.clone()], &a.val()[range]);
                        add(row, columns.start, store, x[piece.row as usize], y);
                    }
                }
            });
        }
        Way::OwnSums { rows, columns, sums } => {
            if rows.is_empty() {
                return store.begin(y);
            }
            let mut sums = sums.lock().unwrap_or_else(PoisonError::into_inner);
            let spacing = spacing(a.cols(), T::BYTES);
            let own = sums.chunks_mut(spacing).map(|sums| &mut sums[..a.cols()]);
            let own = std::iter::once(&mut *y).chain(own);
            let parts: Vec<_> = rows.iter().zip(own).enumerate().collect();
            each_own_part(parts, |(part, (rows, y))| {
                match part {
                    0 => store.begin(y),
                    _ => y.fill(T::ZERO),
                }
                rows.for_each(|i| add(a.row(i), 0, store, x[i], y));
            });
            let sums = &sums[..];
            each_own_part(columns.split(y), |(columns, y)| {
                for sums in sums.chunks(spacing) {
                    y.iter_mut().zip(&sums[columns.clone()]).for_each(|(y, &sum)| *y += sum);
                }
            });
        }
    }
}

/// Adds val[k]·x to y[col[k] − first] for nonzeros of one row, times alpha if there is one.
#[inline(always)]
fn add<T: Scalar>(
    (col, val): (&[u32], &[T]),
    first: usize,
    store: impl Store<T>,
    x: T,
    y: &mut [T],
) {
    for (&c, &v) in col.iter().zip(val) {
        y[c as usize - first] += store.term(v * x);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spmv::{Scaling, Unscaled, csr as plain};

    /// Nonzeros where `is_there`, which are integers from 1 to 5.
    fn matrix(rows: usize, cols: usize, is_there: impl Fn(usize, usize) -> bool) -> Csr {
        let places = (0..rows).flat_map(|i| (0..cols).map(move |j| (i, j)));
        let all = places.filter(|&(i, j)| is_there(i, j));
        let all: Vec<_> = all.map(|(i, j)| (i, j, (1 + (3 * i + j) % 5) as f64)).collect();
        Csr::from_triplets(rows, cols, &all).unwrap()
    }

    fn plan(a: &Csr, threads: usize) -> TransposedPlan<f64> {
        TransposedPlan::new(a, threads, MemoryLimit::unlimited()).unwrap()
    }

    fn has_own_columns(plan: &TransposedPlan<f64>) -> bool {
        matches!(plan.way, Way::OwnColumns { .. })
    }

    fn band(i: usize, j: usize) -> bool {
        i.abs_diff(j) <= 1
    }

    #[test]
    fn any_number_of_threads_gives_the_product_and_writes_nothing_beside_it() {
        let scaling = Scaling { alpha: 2.0, beta: -1.0 };
        for a in [
            matrix(0, 0, |_, _| true),
            matrix(0, 5, |_, _| true),
            matrix(5, 0, |_, _| true),
            matrix(7, 9, |_, _| false),
            matrix(1, 300, |_, _| true),
            matrix(300, 1, |_, _| true),
            // A dense column beside others, and empty rows.
            matrix(60, 40, |i, j| i % 3 > 0 && (j == 7 || (i + j) % 11 == 0)),
            matrix(3, 200, |i, j| (i + j) % 2 == 0),
            matrix(200, 3, |i, j| (i + j) % 2 == 0),
            matrix(90, 90, band),
        ] {
            let x: Vec<f64> = (0..a.rows()).map(|i| (1 + i % 5) as f64).collect();
            let mut expected = vec![f64::NAN; a.cols()];
            plain::serial(&a.transpose(), Unscaled, &x, &mut expected);
            let scaled: Vec<f64> = expected.iter().map(|sum| 2.0 * sum - 3.0).collect();
            for threads in 1..=5 {
                let plan = plan(&a, threads);
                assert!(plan.parts() <= threads);
                let mut whole = vec![7.0; a.cols() + 2];
                let y = 1..=a.cols();
                whole[y.clone()].fill(f64::NAN);
                csr(&a, &plan, Unscaled, &x, &mut whole[y.clone()]);
                assert_eq!(whole[y.clone()], expected, "{threads} threads");
                whole[y.clone()].fill(3.0);
                csr(&a, &plan, scaling, &x, &mut whole[y.clone()]);
                assert_eq!(whole[y], scaled, "{threads} threads");
                assert_eq!([whole[0], whole[a.cols() + 1]], [7.0; 2], "{threads} threads");
            }
        }
    }

    #[test]
    #[cfg_attr(target_family = "wasm", ignore = "starts threads")]
    fn in_columns_of_their_own_threads_sum_in_the_order_of_the_transpose() {
        let a = matrix(80, 50, |i, j| (i * j + i) % 3 == 0);
        // Thirds, so that sums depend on their order.
        let x: Vec<f64> = (0..80).map(|i| (1 + i % 7) as f64 / 3.0).collect();
        let mut expected = vec![f64::NAN; 50];
        plain::serial(&a.transpose(), Unscaled, &x, &mut expected);
        for threads in 2..=5 {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let [own_columns, own_sums] = TransposedPlan::both_ways(&a, threads);
            let of = |plan: &TransposedPlan<f64>| {
                let mut y = vec![f64::NAN; 50];
                pool.install(|| csr(&a, plan, Unscaled, &x, &mut y));
                y
            };
            assert_eq!(of(&own_columns), expected);
            let sums = of(&own_sums);
            let is_near =
                |(&sum, &expected): (&f64, &f64)| (sum - expected).abs() < 1e-12 * expected;
            assert!(sums.iter().zip(&expected).all(is_near), "{sums:?}, expected {expected:?}");
            assert_eq!(of(&own_sums), sums, "the same sums every time");
        }
    }

    #[test]
    fn sums_of_their_own_are_for_few_columns_and_for_one_with_most_of_the_nonzeros() {
        assert!(has_own_columns(&plan(&matrix(400, 400, band), 4)));
        assert!(has_own_columns(&plan(&matrix(2, 500, |_, _| true), 4)));
        assert!(!has_own_columns(&plan(&matrix(500, 4, |_, _| true), 4)));
        assert!(!has_own_columns(&plan(&matrix(500, 500, |i, j| j == 0 || i == j), 4)));
    }

    #[test]
    fn a_plan_that_does_not_fit_is_refused_with_its_bytes() {
        let columns = matrix(500, 4, |_, _| true);
        // Three threads besides the first, each with four sums in the first of its two pairs of lines.
        assert_eq!(plan(&columns, 4).bytes(), 3 * 2 * 128);
        assert_eq!(plan(&columns, 1).bytes(), 0);
        let band = matrix(400, 400, band);
        // A piece per row, and one more for each of the two rows that reach over each of three bounds.
        assert_eq!(plan(&band, 4).bytes(), (400 + 2 * 3) * 16);
        for a in [columns, band] {
            let bytes = plan(&a, 4).bytes();
            let refused = TransposedPlan::new(&a, 4, MemoryLimit::bytes(bytes - 1)).unwrap_err();
            assert_eq!(refused.needed, bytes);
            assert!(bytes <= most_bytes(&a, 4, 8) as u64 && most_bytes(&a, 1, 8) == 0);
        }
    }

    #[test]
    fn the_other_way_is_taken_if_one_does_not_fit() {
        let dense_column = matrix(500, 500, |i, j| j == 0 || i == j);
        for (a, threads) in [(matrix(400, 400, band), 2), (dense_column, 8)] {
            let usual = plan(&a, threads);
            let limit = MemoryLimit::bytes(usual.bytes() - 1);
            let other = TransposedPlan::new(&a, threads, limit).unwrap();
            assert_ne!(has_own_columns(&other), has_own_columns(&usual));
            assert!(other.bytes() < usual.bytes());
        }
        // There is no room for the lengths of the columns; the sums of one part of the rows need none.
        let row = matrix(1, 300, |_, _| true);
        let limit = MemoryLimit::bytes(0);
        assert!(!has_own_columns(&TransposedPlan::new(&row, 2, limit).unwrap()));
    }
}
