//! Rows of Y in vectors whose lanes are columns of X.

use std::ops::Range;

use crate::spmv::simd::{Lanes, Level, Vectorised};

/// Bytes of a cache line.
const LINE: usize = 64;

/// The level used for k columns: `level`, or the next one below if they would leave half of each vector empty.
pub fn level_for<T: Vectorised>(level: Level, k: usize) -> Level {
    level.of_at_most::<T>(2 * k - 1)
}

/// Most adjacent rows with the same columns that are computed at once.
pub(super) const MOST_ROWS: usize = 3;

/// Whether a vector is as long as a cache line, as in AVX-512.
#[inline(always)]
const fn is_line<L: Lanes>() -> bool {
    L::LANES * size_of::<L::Value>() == LINE
}

/// Whether registers hold that many sums together with values and a vector of X.
#[inline(always)]
const fn fit<L: Lanes>(sums: usize) -> bool {
    sums <= if is_line::<L>() { 24 } else { 12 }
}

/// Slots of adjacent rows with the same columns.
#[derive(Clone, Copy)]
pub(super) struct Slots<'a, T> {
    pub(super) col: &'a [u32],
    /// The values of each row follow those of the previous one.
    pub(super) val: &'a [T],
    /// 1 to [`MOST_ROWS`].
    pub(super) rows: usize,
    /// The elements of Y in these rows.
    pub(super) y: *mut T,
}

impl<T> Slots<'_, T> {
    /// Row r of the k columns of Y alone.
    ///
    /// # Safety
    /// There is a value for each column and row, and k elements of Y for each row.
    #[inline(always)]
    unsafe fn row(self, r: usize, k: usize) -> Self {
        // SAFETY: guaranteed by the caller.
        unsafe {
            let val = self.val.get_unchecked(r * self.col.len()..);
            Self { val, rows: 1, y: self.y.add(r * k), ..self }
        }
    }
}

/// X, whose rows have k elements.
#[derive(Clone, Copy)]
pub(super) struct Block<T> {
    x: *const T,
    k: usize,
    /// The first cache line that begins in a row of X begins with this element of it. 0 if that differs from row to
    /// row, or if vectors are shorter than a line.
    skew: usize,
}

impl<T> Block<T> {
    #[inline(always)]
    pub(super) fn new<L: Lanes<Value = T>>(x: &[T], k: usize) -> Self {
        let bytes = size_of::<T>();
        let skewed = is_line::<L>() && (k * bytes).is_multiple_of(LINE);
        let skew = if skewed { x.as_ptr().addr().wrapping_neg() % LINE / bytes } else { 0 };
        Self { x: x.as_ptr(), k, skew }
    }
}

/// Rows of a matrix.
pub(super) trait Source<T> {
    /// Their numbers.
    fn rows(&self) -> Range<usize>;

    /// The slots of a row, and perhaps of the next ones.
    fn slots(&self, i: usize) -> Slots<'_, T>;
}

/// Writes Σ val\[e\]·X\[col\[e\]\] into some rows of Y.
///
/// # Safety
/// X has k elements at k times each column, there is a value for each column and row, and k elements of Y for each row.
/// The CPU supports the instructions.
#[inline(always)]
pub(super) unsafe fn multiply<L: Lanes, S: Source<L::Value>>(source: &S, x: Block<L::Value>) {
    let mut first = 0;
    // SAFETY: guaranteed by the caller; a tile lies within the k columns.
    unsafe {
        while first + 8 * L::LANES <= x.k {
            tiles::<L, S, 8, 1>(source, x, first);
            first += 8 * L::LANES;
        }
        if first + 4 * L::LANES <= x.k {
            tiles::<L, S, 4, 1>(source, x, first);
            first += 4 * L::LANES;
        }
        if first + 2 * L::LANES <= x.k {
            tiles::<L, S, 2, 1>(source, x, first);
            first += 2 * L::LANES;
        }
        if first + L::LANES <= x.k {
            tiles::<L, S, 1, 4>(source, x, first);
            first += L::LANES;
        }
        if first < x.k {
            rest::<L, S>(source, x, first);
        }
    }
}

/// The sums of G vectors of columns, from `first` on, each in U parts.
///
/// # Safety
/// As for [`multiply`], and that many columns follow `first`.
#[inline(always)]
unsafe fn tiles<L: Lanes, S: Source<L::Value>, const G: usize, const U: usize>(
    source: &S,
    x: Block<L::Value>,
    first: usize,
) {
    let Range { start: mut next, end } = source.rows();
    while next < end {
        let slots = source.slots(next);
        next += slots.rows;
        // SAFETY: guaranteed by the caller.
        unsafe {
            match slots.rows {
                2 if fit::<L>(2 * G) => either::<L, G, U, 2>(slots, x, first),
                3 if fit::<L>(3 * G) => either::<L, G, U, 3>(slots, x, first),
                rows => {
                    for r in 0..rows {
                        either::<L, G, U, 1>(slots.row(r, x.k), x, first);
                    }
                }
            }
        }
    }
}

/// The same for the R rows of slots. Where a line begins within each row of X, each vector from its start would lie in
/// two lines. Of several vectors, all but the last begin with a line instead.
///
/// # Safety
/// As for [`tiles`].
#[inline(always)]
unsafe fn either<L: Lanes, const G: usize, const U: usize, const R: usize>(
    slots: Slots<'_, L::Value>,
    x: Block<L::Value>,
    first: usize,
) {
    // SAFETY: guaranteed by the caller.
    unsafe {
        if is_line::<L>() && G > 1 && x.skew > 0 {
            tile::<L, G, U, R, true>(slots, x, first);
        } else {
            tile::<L, G, U, R, false>(slots, x, first);
        }
    }
}

/// The same with vectors that begin with a line if they are skewed.
///
/// # Safety
/// As for [`tiles`].
#[inline(always)]
unsafe fn tile<L: Lanes, const G: usize, const U: usize, const R: usize, const SKEWED: bool>(
    slots: Slots<'_, L::Value>,
    x: Block<L::Value>,
    first: usize,
) {
    let skew = if SKEWED { x.skew } else { 0 };
    let n = slots.col.len();
    // SAFETY: guaranteed by the caller.
    unsafe {
        let mut sums = [[[L::zero(); R]; G]; U];
        let mut e = 0;
        while e + U <= n {
            for (u, sums) in sums.iter_mut().enumerate() {
                let from = x.x.add(*slots.col.get_unchecked(e + u) as usize * x.k + first);
                add::<L, G, R, SKEWED>(slots.val.as_ptr().add(e + u), n, from, skew, sums);
            }
            e += U;
        }
        while e < n {
            let from = x.x.add(*slots.col.get_unchecked(e) as usize * x.k + first);
            add::<L, G, R, SKEWED>(slots.val.as_ptr().add(e), n, from, skew, &mut sums[0]);
            e += 1;
        }
        let mut total = sums[0];
        for part in &sums[1..] {
            for (total, &part) in total.iter_mut().flatten().zip(part.iter().flatten()) {
                *total = L::add(*total, part);
            }
        }
        for (g, sums) in total.iter().enumerate() {
            for (r, &sum) in sums.iter().enumerate() {
                let to = slots.y.add(r * x.k + first);
                let at = to.add(g * L::LANES + skew);
                if SKEWED && g + 1 == G {
                    L::store_both(at, sum, L::LANES - skew, to);
                } else {
                    L::store(at, sum);
                }
            }
        }
    }
}

/// Adds the products of a column's R values, which are n apart, with G vectors of X.
///
/// # Safety
/// The values can be read, and as many elements as the vectors have from `from` on.
#[inline(always)]
unsafe fn add<L: Lanes, const G: usize, const R: usize, const SKEWED: bool>(
    val: *const L::Value,
    n: usize,
    from: *const L::Value,
    skew: usize,
    sums: &mut [[L::Vector; R]; G],
) {
    // SAFETY: guaranteed by the caller.
    unsafe {
        let mut v = [L::zero(); R];
        for (r, v) in v.iter_mut().enumerate() {
            *v = L::splat(*val.add(r * n));
        }
        for (g, sums) in sums.iter_mut().enumerate() {
            let at = from.add(g * L::LANES + skew);
            let x = if SKEWED && g + 1 == G {
                L::load_both(at, L::LANES - skew, from)
            } else {
                L::load(at)
            };
            for (sum, &v) in sums.iter_mut().zip(&v) {
                *sum = L::mul_add(v, x, *sum);
            }
        }
    }
}

/// The sums of the columns from `first` on, which do not fill a vector.
///
/// # Safety
/// As for [`multiply`], and at least one column follows `first`, but fewer than a vector has lanes.
#[inline(always)]
unsafe fn rest<L: Lanes, S: Source<L::Value>>(source: &S, x: Block<L::Value>, first: usize) {
    let n = x.k - first;
    let Range { start: mut next, end } = source.rows();
    while next < end {
        let group = source.slots(next);
        next += group.rows;
        for r in 0..group.rows {
            // SAFETY: guaranteed by the caller.
            unsafe {
                let slots = group.row(r, x.k);
                let mut sum = L::zero();
                for (&c, &v) in slots.col.iter().zip(slots.val) {
                    let from = x.x.add(c as usize * x.k + first);
                    sum = L::mul_add(L::splat(v), L::load_first(from, n), sum);
                }
                L::store_first(slots.y.add(first), sum, n);
            }
        }
    }
}
