//! y = A·x in compact CSR, in vectors whose lanes are neighbouring nonzeros of a row.

use std::ops::Range;

use super::lookup::{Bytes, Few, Lookup, Plain, Shorts, is_first_in_line, with_values};
use crate::spmv::simd::{Decode, Level, Loop, Vectorised, run};
use crate::spmv::{RowParts, Scaling, Store, check_sizes, each_own_part};
use sparsescope_matrix::matrix::{Coded, CompactCsr, Offset, WIDE, prefetch};
use sparsescope_matrix::with_offsets;

/// Prefetch distance for differences and values, in nonzeros.
const STREAMS: usize = 512;

/// Independent sums of a long row, so that an addition need not wait for the previous one.
const SUMS: usize = 4;

/// How `cpu/csr/compact` traverses a matrix: the instruction set, and the rows of each worker.
#[derive(Clone, Debug)]
pub struct CsrShares {
    level: Level,
    parts: RowParts,
}

impl CsrShares {
    /// Divides the rows among `workers`, for vectors up to those of `level`.
    pub fn new<T: Vectorised>(a: &CompactCsr<T>, workers: usize, level: Level) -> Self {
        let parts = RowParts::equal_entries(a.row_ptr(), workers);
        Self { level: level.for_columns(a.cols()), parts }
    }

    /// The instruction set that it is for.
    pub fn level(&self) -> Level {
        self.level
    }

    /// Number of parts that have work.
    pub fn parts(&self) -> usize {
        self.parts.len()
    }
}

/// Contiguous parts of about equal nonzeros, one per worker. Each row is computed in vectors of neighbouring
/// nonzeros, the last one masked, whose lanes are added at the end: the same sums as `cpu/csr/simd` where
/// that goes row by row. The result is bitwise identical for any number of workers.
///
/// x has n elements, y has m; panics otherwise.
pub fn csr<T: Vectorised>(
    a: &CompactCsr<T>,
    shares: &CsrShares,
    store: Option<Scaling<T>>,
    x: &[T],
    y: &mut [T],
) {
    check_sizes(a.rows(), a.cols(), x, y);
    let level = shares.level.for_columns(a.cols());
    each_own_part(shares.parts.split(y), |(rows, y)| run(level, Part { a, x, rows, store, y }));
}

/// The work of one worker. x has one element per column, y one per row of the part.
struct Part<'a, T, S> {
    a: &'a CompactCsr<T>,
    x: &'a [T],
    rows: Range<usize>,
    store: S,
    y: &'a mut [T],
}

impl<T: Vectorised, S: Store<T>> Loop<T> for Part<'_, T, S> {
    type Output = ();

    #[inline(always)]
    unsafe fn run<L: Decode<Value = T>>(mut self) {
        let a = self.a;
        // SAFETY: guaranteed by the caller.
        unsafe {
            with_values!(a.values(), L, |values| {
                with_offsets!(a.row_ptr(), |row_ptr| self.rows::<L, _, _>(row_ptr, values))
            });
        }
    }
}

impl<T: Vectorised, S: Store<T>> Part<'_, T, S> {
    /// # Safety
    /// The CPU supports the instructions, and offsets and values are those of the matrix.
    #[inline(always)]
    unsafe fn rows<L: Decode<Value = T>, V: Lookup<L>, O: Offset>(
        &mut self,
        row_ptr: &[O],
        values: V,
    ) {
        let (x, low) = (self.x.as_ptr(), self.a.low().as_ptr());
        let mut high = self.a.high().as_ptr().wrapping_add(self.a.wide_before(self.rows.start));
        let mut from = row_ptr[self.rows.start].index();
        let ends = &row_ptr[self.rows.start + 1..=self.rows.end];
        let starts = &self.a.start()[self.rows.clone()];
        for ((end, &start), y) in ends.iter().zip(starts).zip(self.y.iter_mut()) {
            let to = end.index();
            // SAFETY: the row's differences and values lie in these ranges, its columns are below cols, which
            // is the length of x, and the upper halves of a wide row follow those of the previous wide row.
            // The level accepts the columns.
            let sum = unsafe {
                match start {
                    WIDE => {
                        let sum = wide::<L, V>(x, (low, high), values, from..to);
                        high = high.wrapping_add(to - from);
                        sum
                    }
                    _ => narrow::<L, V>(x, (low, start), values, from..to),
                }
            };
            self.store.put(y, sum);
            from = to;
        }
    }
}

/// Prefetches what is needed after the `g`-th of neighbouring vectors, which begins at nonzero k.
#[inline(always)]
fn ask_ahead<L: Decode, V: Lookup<L>>(low: *const u16, values: V, k: usize, g: usize) {
    if is_first_in_line::<L>(g, size_of::<u16>()) {
        prefetch(low.wrapping_add(k + STREAMS));
    }
    if V::is_first(g) {
        values.ask_for(k + STREAMS);
    }
}

/// Returns the sum over a row of 16-bit differences.
///
/// # Safety
/// The nonzeros have differences and values, and x has elements at their columns, which the level accepts.
#[inline(always)]
unsafe fn narrow<L: Decode, V: Lookup<L>>(
    x: *const L::Value,
    (low, start): (*const u16, u32),
    values: V,
    entries: Range<usize>,
) -> L::Value {
    // SAFETY: guaranteed by the caller.
    unsafe {
        let mut sums = [L::zero(); SUMS];
        let mut column = L::column(start);
        let mut k = entries.start;
        while k + SUMS * L::LANES <= entries.end {
            for (g, sum) in sums.iter_mut().enumerate() {
                ask_ahead(low, values, k, g);
                let (x, next) = L::along(x, column, low.add(k));
                *sum = L::mul_add(values.at(k), x, *sum);
                column = next;
                k += L::LANES;
            }
        }
        let mut sum = L::add(L::add(sums[0], sums[1]), L::add(sums[2], sums[3]));
        while k + L::LANES <= entries.end {
            let (x, next) = L::along(x, column, low.add(k));
            sum = L::mul_add(values.at(k), x, sum);
            column = next;
            k += L::LANES;
        }
        if k < entries.end {
            let n = entries.end - k;
            let x = L::along_first(x, column, low.add(k), n);
            sum = L::mul_add(values.first(k, n), x, sum);
        }
        L::sum(sum)
    }
}

/// Returns the sum over a row of column halves.
///
/// # Safety
/// As for 16-bit differences; `high` begins with the row's upper halves.
#[inline(always)]
unsafe fn wide<L: Decode, V: Lookup<L>>(
    x: *const L::Value,
    (low, high): (*const u16, *const u16),
    values: V,
    entries: Range<usize>,
) -> L::Value {
    // SAFETY: guaranteed by the caller.
    unsafe {
        let mut sums = [L::zero(); SUMS];
        let (mut k, mut high) = (entries.start, high);
        while k + SUMS * L::LANES <= entries.end {
            for (g, sum) in sums.iter_mut().enumerate() {
                ask_ahead(low, values, k, g);
                *sum = L::mul_add(values.at(k), L::halves(x, low.add(k), high), *sum);
                high = high.wrapping_add(L::LANES);
                k += L::LANES;
            }
        }
        let mut sum = L::add(L::add(sums[0], sums[1]), L::add(sums[2], sums[3]));
        while k + L::LANES <= entries.end {
            sum = L::mul_add(values.at(k), L::halves(x, low.add(k), high), sum);
            high = high.wrapping_add(L::LANES);
            k += L::LANES;
        }
        if k < entries.end {
            let n = entries.end - k;
            let x = L::halves_first(x, low.add(k), high, n);
            sum = L::mul_add(values.first(k, n), x, sum);
        }
        L::sum(sum)
    }
}
