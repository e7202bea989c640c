//! y = A·x in DIA; zeros on diagonals are multiplied.

use std::ops::Range;

use super::partition::RowParts;
use super::simd::{Lanes, Level, Loop, Vectorised, run};
use super::{Scaling, Store, check_sizes, each_own_part};
use sparsescope_matrix::matrix::{Dia, prefetch};

/// Rows per tile: their part of y stays in the L1 cache while all diagonals are added to it.
const ROWS_AT_A_TIME: usize = 1024;

/// Diagonals added in one pass over a tile.
const TOGETHER: usize = 4;

/// Prefetch distance for the values of a diagonal, in rows.
const AHEAD: usize = 256;

/// Equal contiguous parts of the rows, one per worker: one tile of rows at a time, four diagonals per pass,
/// in the level's vectors; with alpha and beta, the sums of a tile are complete before they reach y. The result is
/// bitwise identical for any number of workers.
///
/// x has n elements, y has m; panics otherwise.
pub fn parts<T: Vectorised>(
    a: &Dia<T>,
    level: Level,
    parts: &RowParts,
    store: Option<Scaling<T>>,
    x: &[T],
    y: &mut [T],
) {
    check_sizes(a.rows(), a.cols(), x, y);
    each_own_part(parts.split(y), |(rows, y)| run(level, Part { a, x, rows, store, y }));
}

/// The work of one worker: `y[k]` = row `rows.start + k` · x.
struct Part<'a, T, S> {
    a: &'a Dia<T>,
    x: &'a [T],
    rows: Range<usize>,
    store: S,
    y: &'a mut [T],
}

impl<T: Vectorised, S: Store<T>> Loop<T> for Part<'_, T, S> {
    type Output = ();

    #[inline(always)]
    unsafe fn run<L: Lanes<Value = T>>(self) {
        let Self { a, x, rows, store, y } = self;
        let firsts = rows.step_by(ROWS_AT_A_TIME);
        let mut tile = [T::ZERO; ROWS_AT_A_TIME];
        for (first, y) in firsts.zip(y.chunks_mut(ROWS_AT_A_TIME)) {
            let rows = first..first + y.len();
            let sums = match store.scaling() {
                None => &mut *y,
                Some(_) => &mut tile[..y.len()],
            };
            sums.fill(T::ZERO);
            for from in (0..a.offsets().len()).step_by(TOGETHER) {
                let diagonals = from..a.offsets().len().min(from + TOGETHER);
                // SAFETY: guaranteed by the caller.
                unsafe { add_diagonals::<L, T>((a, x), diagonals, rows.clone(), sums) };
            }
            if store.scaling().is_some() {
                store.put_all(y, &tile);
            }
        }
    }
}

/// Adds at most [`TOGETHER`] diagonals in some rows: together where all of them cross the matrix, one by one
/// elsewhere.
///
/// # Safety
/// The CPU supports the instructions.
#[inline(always)]
unsafe fn add_diagonals<L: Lanes<Value = T>, T: Vectorised>(
    (a, x): (&Dia<T>, &[T]),
    diagonals: Range<usize>,
    rows: Range<usize>,
    y: &mut [T],
) {
    let n = a.cols() as i64;
    // Rows in which a diagonal lies inside the matrix.
    let inside = |d: usize| {
        let offset = a.offsets()[d];
        let first = rows.start.max(usize::try_from(-offset).unwrap_or(0)).min(rows.end);
        first..rows.end.min(usize::try_from(n - offset).unwrap_or(0)).max(first)
    };
    let first = diagonals.clone().map(|d| inside(d).start).max().unwrap_or(rows.end);
    let end = diagonals.clone().map(|d| inside(d).end).min().unwrap_or(rows.start);
    let common = if first < end { first..end } else { rows.end..rows.end };
    let strip = |d: usize, rows: Range<usize>| Strip::of(a, x, d, rows);
    let d = diagonals.start;
    // SAFETY: guaranteed by the caller.
    unsafe {
        let y = &mut y[common.start - rows.start..common.end - rows.start];
        let c = || common.clone();
        match diagonals.len() {
            1 => add::<L, T, 1>([strip(d, c())], y),
            2 => add::<L, T, 2>([strip(d, c()), strip(d + 1, c())], y),
            3 => add::<L, T, 3>([strip(d, c()), strip(d + 1, c()), strip(d + 2, c())], y),
            _ => {
                let strips =
                    [strip(d, c()), strip(d + 1, c()), strip(d + 2, c()), strip(d + 3, c())];
                add::<L, T, TOGETHER>(strips, y);
            }
        }
    }
    for d in diagonals {
        let all = inside(d);
        let beside = [all.start..all.end.min(common.start), all.start.max(common.end)..all.end];
        for alone in beside.into_iter().filter(|alone| alone.start < alone.end) {
            let y = &mut y[alone.start - rows.start..alone.end - rows.start];
            // SAFETY: guaranteed by the caller.
            unsafe { add::<L, T, 1>([strip(d, alone)], y) };
        }
    }
}

/// A diagonal's values in some rows, and the elements of x that they multiply.
#[derive(Clone, Copy)]
struct Strip<'a, T> {
    val: &'a [T],
    x: &'a [T],
}

impl<'a, T: Vectorised> Strip<'a, T> {
    /// Panics when the diagonal leaves the matrix in one of the rows.
    #[inline(always)]
    fn of(a: &'a Dia<T>, x: &'a [T], d: usize, rows: Range<usize>) -> Self {
        if rows.is_empty() {
            return Self { val: &[], x: &[] };
        }
        let column = (rows.start as i64 + a.offsets()[d]) as usize;
        let val = &a.val()[d * a.rows() + rows.start..d * a.rows() + rows.end];
        Self { val, x: &x[column..column + rows.len()] }
    }
}

/// y[k] += Σ val[k]·x[k] of the strips, in their order. Panics if their length is not y's.
///
/// # Safety
/// The CPU supports the instructions.
#[inline(always)]
unsafe fn add<L: Lanes<Value = T>, T: Vectorised, const D: usize>(
    strips: [Strip<'_, T>; D],
    y: &mut [T],
) {
    for strip in &strips {
        assert!(strip.val.len() == y.len() && strip.x.len() == y.len(), "strips are as long as y");
    }
    let (len, y) = (y.len(), y.as_mut_ptr());
    let mut k = 0;
    // SAFETY: all have `len` elements; a full vector is read and written only where that many elements are
    // left, a partial one otherwise.
    unsafe {
        while k + L::LANES <= len {
            let mut sum = L::load(y.add(k));
            for strip in &strips {
                let val = strip.val.as_ptr().add(k);
                prefetch(val.wrapping_add(AHEAD));
                sum = L::mul_add(L::load(val), L::load(strip.x.as_ptr().add(k)), sum);
            }
            L::store(y.add(k), sum);
            k += L::LANES;
        }
        if k < len {
            let rest = len - k;
            let mut sum = L::load_first(y.add(k), rest);
            for strip in &strips {
                let val = L::load_first(strip.val.as_ptr().add(k), rest);
                sum = L::mul_add(val, L::load_first(strip.x.as_ptr().add(k), rest), sum);
            }
            L::store_first(y.add(k), sum, rest);
        }
    }
}
