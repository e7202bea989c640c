//! y = A·x in CSR, in vectors.

use std::ops::Range;

use super::lanes::{Lanes, MOST_LANES};
use super::level::{Level, Loop, Vectorised, run};
use super::ways::{Tuning, Way, Ways};
use crate::spmv::{Checked, Pieces, Scaling, Store, each_own_part, scaled};
use sparsescope_matrix::matrix::{Csr, Offset, prefetch, prefetch_lines};
use sparsescope_matrix::with_offsets;

/// How `cpu/csr/simd` traverses a matrix: its pieces, how each is processed, and their workers. The former
/// two depend on the matrix and on the instruction set, never on the number of workers.
#[derive(Clone, Debug)]
pub struct CsrPlan {
    tuning: Tuning,
    pieces: Pieces,
    ways: Ways,
    of: [usize; 3],
}

/// Sizes that detect a plan of another matrix: rows, columns and nonzeros.
fn measures<T: Vectorised>(a: &Csr<T>) -> [usize; 3] {
    [a.rows(), a.cols(), a.nnz()]
}

impl CsrPlan {
    /// Plans for `workers` workers, on the ambient pool.
    pub fn new<T: Vectorised>(a: &Csr<T>, workers: usize, tuning: Tuning) -> Self {
        let level = tuning.level.for_columns(a.cols());
        let pieces = Pieces::new(a.row_ptr(), workers);
        let ways = Ways::new(a.row_ptr(), &pieces, level.lanes::<T>(), &tuning);
        Self { tuning: Tuning { level, ..tuning }, pieces, ways, of: measures(a) }
    }

    /// The instruction set that it is for.
    pub fn level(&self) -> Level {
        self.tuning.level
    }

    /// Number of parts that have work.
    pub fn parts(&self) -> usize {
        self.pieces.parts()
    }

    /// Number of pieces processed as a stream of nonzeros, row by row, and as a part of a row.
    pub fn census(&self) -> [usize; 3] {
        let count = |is: fn(&Way) -> bool| self.ways.of.iter().filter(|way| is(way)).count();
        let stream = count(|way| matches!(way, Way::Stream { .. } | Way::Gaps { .. }));
        [stream, count(|way| *way == Way::Rows), count(|way| *way == Way::Cut)]
    }
}

/// Neighbouring pieces per worker. Short rows are summed as a stream of nonzeros: one vector of products
/// after another, each cut where rows end by additions across lanes, so that no branch depends on where that
/// is. Longer rows have vectors of their own. If several workers share a long row, their sums are added in
/// the order of its parts: the result is bitwise identical for any number of workers.
///
/// x has n elements, y has m; panics otherwise, or if the plan belongs to another matrix.
pub fn csr<T: Vectorised>(
    a: &Csr<T>,
    plan: &CsrPlan,
    store: Option<Scaling<T>>,
    x: &[T],
    y: &mut [T],
) {
    let checked = Checked::<Csr<T>, T>::new(a, x, y);
    assert_eq!(plan.of, measures(a), "the plan is of this matrix");
    let mut rest = &mut *y;
    let parts: Vec<_> = plan
        .pieces
        .iter()
        .zip(plan.pieces.ends())
        .map(|(pieces, (from, to))| {
            let part = rest.split_off_mut(..to.row - from.row).unwrap_or_default();
            (pieces, part)
        })
        .collect();
    let cut = each_own_part(parts, |(pieces, y)| {
        run(plan.level(), Part { a: checked, plan, pieces, store, y })
    });
    let mut cut = cut.into_iter().flatten().peekable();
    while let Some((row, mut sum)) = cut.next() {
        while let Some((_, more)) = cut.next_if(|&(next, _)| next == row) {
            sum += more;
        }
        store.put(&mut y[row], sum);
    }
}

/// The work of one worker.
struct Part<'a, T, S> {
    a: Checked<'a, Csr<T>, T>,
    plan: &'a CsrPlan,
    pieces: Range<usize>,
    store: S,
    /// The rows completed by its pieces.
    y: &'a mut [T],
}

impl<T: Vectorised, S: Store<T>> Loop<T> for Part<'_, T, S> {
    /// Returns the sums of its pieces of long rows, in order.
    type Output = Vec<(usize, T)>;

    #[inline(always)]
    unsafe fn run<L: Lanes<Value = T>>(self) -> Vec<(usize, T)> {
        // SAFETY: guaranteed by the caller.
        unsafe {
            match self.plan.tuning.ahead {
                0 => self.pieces::<L, false>(),
                _ => self.pieces::<L, true>(),
            }
        }
    }
}

impl<T: Vectorised, S: Store<T>> Part<'_, T, S> {
    /// If `FAR`, prefetches x.
    #[inline(always)]
    unsafe fn pieces<L: Lanes<Value = T>, const FAR: bool>(self) -> Vec<(usize, T)> {
        let Self { a, plan, pieces, store, y } = self;
        let points = &plan.pieces.points()[pieces.start..=pieces.end];
        let Tuning { ahead, streams, .. } = plan.tuning;
        let mut cut = Vec::new();
        let mut sums = [T::ZERO; Pieces::ROWS + MOST_LANES];
        // Copied, so that all else is compiled once for both widths of offsets.
        let mut row_ends = [0; Pieces::ROWS];
        let mut y = y;
        for (ends, way) in points.windows(2).zip(&plan.ways.of[pieces]) {
            let (from, to) = (ends[0], ends[1]);
            let last = a.a().nnz();
            // Columns are read ahead only as far as they exist.
            let ahead = if to.entry + ahead <= last { ahead } else { 0 };
            let entries = |range: Range<usize>| Entries {
                col: a.a().col()[range.clone()].as_ptr(),
                val: a.a().val()[range.clone()].as_ptr(),
                x: a.x().as_ptr(),
                len: range.len(),
                ahead,
                streams,
            };
            let part = y.split_off_mut(..to.row - from.row).unwrap_or_default();
            // SAFETY: Csr holds only columns below cols, x has cols elements, and there are columns for
            // `ahead` nonzeros after any of the piece. The level accepts this number of columns. A stream
            // ends as many rows as are not empty, at most as many as a piece has.
            unsafe {
                match *way {
                    Way::Cut => cut.push((from.row, entries(from.entry..to.entry).sum::<L, FAR>())),
                    Way::Rows => {
                        let rows = from.row + 1..=to.row;
                        let row_ends = &mut row_ends[..part.len()];
                        with_offsets!(a.a().row_ptr(), |row_ptr| {
                            for (to, end) in row_ends.iter_mut().zip(&row_ptr[rows]) {
                                *to = end.index();
                            }
                        });
                        assert_eq!(row_ends.last(), Some(&to.entry), "the plan is of this matrix");
                        let mut start = from.entry;
                        for (&end, y) in row_ends.iter().zip(part) {
                            store.put(y, entries(start..end).sum::<L, FAR>());
                            start = end;
                        }
                    }
                    Way::Stream { ends } | Way::Gaps { ends, .. } => {
                        let ends = &plan.ways.ends[ends..];
                        entries(from.entry..to.entry).stream::<L, FAR>(ends, &mut sums);
                        match *way {
                            Way::Gaps { filled, .. } => {
                                let filled = &plan.ways.filled[filled..];
                                spread::<L, S>(&sums, filled, store, part);
                            }
                            _ => store.put_all(part, &sums),
                        }
                    }
                }
            }
        }
        cut
    }
}

/// Neighbouring nonzeros, and the x that they gather from.
#[derive(Clone, Copy)]
struct Entries<T> {
    col: *const u32,
    val: *const T,
    x: *const T,
    len: usize,
    /// Prefetch distance for x, in nonzeros.
    ahead: usize,
    /// Prefetch distance for values and columns, in nonzeros.
    streams: usize,
}

impl<T: Vectorised> Entries<T> {
    /// Prefetches the values and columns that are needed after the `vectors` vectors from k on.
    #[inline(always)]
    fn ask_ahead<L: Lanes<Value = T>>(self, k: usize, vectors: usize) {
        let (from, count) = (k + self.streams, vectors * L::LANES);
        prefetch_lines(self.val.wrapping_add(from), count);
        prefetch_lines(self.col.wrapping_add(from), count);
    }

    /// If `FAR`, prefetches the elements of x that are needed after the vector from k on.
    ///
    /// # Safety
    /// At least `ahead` columns and one vector of lanes follow k.
    #[inline(always)]
    unsafe fn ask_x<L: Lanes<Value = T>, const FAR: bool>(self, k: usize) {
        if FAR {
            for lane in 0..L::LANES {
                // SAFETY: guaranteed by the caller.
                let col = unsafe { *self.col.add(k + self.ahead + lane) };
                prefetch(self.x.wrapping_add(col as usize));
            }
        }
    }

    /// Returns the sum over all of them, in four vectors if there are many.
    ///
    /// # Safety
    /// The nonzeros and `ahead` columns after them can be read, x has an element for each column, the level
    /// accepts the columns, and the CPU supports its instructions.
    #[inline(always)]
    unsafe fn sum<L: Lanes<Value = T>, const FAR: bool>(self) -> T {
        // SAFETY: k counts nonzeros, and a full vector is read only where that many are left.
        unsafe {
            let Self { col, val, x, len, .. } = self;
            let mut sums = [L::zero(); 4];
            let mut k = 0;
            while k + 4 * L::LANES <= len {
                self.ask_ahead::<L>(k, 4);
                for sum in &mut sums {
                    self.ask_x::<L, FAR>(k);
                    *sum = L::mul_add(L::load(val.add(k)), L::gather(x, col.add(k)), *sum);
                    k += L::LANES;
                }
            }
            let mut sum = L::add(L::add(sums[0], sums[1]), L::add(sums[2], sums[3]));
            while k + L::LANES <= len {
                self.ask_x::<L, FAR>(k);
                sum = L::mul_add(L::load(val.add(k)), L::gather(x, col.add(k)), sum);
                k += L::LANES;
            }
            if k < len {
                let rest = len - k;
                let x = L::gather_first(x, col.add(k), rest);
                sum = L::mul_add(L::load_first(val.add(k), rest), x, sum);
            }
            L::sum(sum)
        }
    }

    /// Writes the sums of the rows that the nonzeros belong to into `sums`; bit k of `ends` is set if nonzero
    /// k ends its row, as the last one does.
    ///
    /// # Safety
    /// As for [`sum`](Self::sum), and `sums` has an element for each row and `MOST_LANES` more.
    #[inline(always)]
    unsafe fn stream<L: Lanes<Value = T>, const FAR: bool>(self, ends: &[u64], sums: &mut [T]) {
        let Self { col, val, x, len, .. } = self;
        let mut to = sums.as_mut_ptr();
        // SAFETY: k counts nonzeros, and a full vector is read only where that many are left. `to` advances
        // by the number of rows that have ended, and what is written has at most `MOST_LANES` elements.
        unsafe {
            let mut carry = Carry::<L> { sum: L::zero(), goes_on: 0 };
            for (word, &ends) in ends[..len.div_ceil(64)].iter().enumerate() {
                let mut ends = ends;
                let mut k = word * 64;
                let end = len.min(k + 64);
                self.ask_ahead::<L>(k, 64 / L::LANES);
                while k + L::LANES <= end {
                    self.ask_x::<L, FAR>(k);
                    let products = L::mul(L::load(val.add(k)), L::gather(x, col.add(k)));
                    to = carry.cut(products, ends as u32 & L::ALL, to);
                    ends >>= L::LANES;
                    k += L::LANES;
                }
                if k < end {
                    let rest = end - k;
                    let x = L::gather_first(x, col.add(k), rest);
                    let products = L::mul(L::load_first(val.add(k), rest), x);
                    to = carry.cut(products, ends as u32 & L::ALL, to);
                }
            }
        }
    }
}

/// The partial sum of a row before a vector.
struct Carry<L: Lanes> {
    /// In every lane.
    sum: L::Vector,
    /// All ones if the row continues, 0 if it has ended and the sum does not count.
    goes_on: u32,
}

impl<L: Lanes> Carry<L> {
    /// Writes the sums of the rows that end in a vector of products to `to`, and returns where the next ones
    /// go.
    ///
    /// # Safety
    /// `LANES` values can be written, and the CPU supports the instructions.
    #[inline(always)]
    unsafe fn cut(&mut self, products: L::Vector, ends: u32, to: *mut L::Value) -> *mut L::Value {
        // Lanes up to the first that ends a row, or all.
        let first_row = (ends ^ ends.wrapping_sub(1)) & L::ALL;
        // SAFETY: guaranteed by the caller.
        unsafe {
            let sums = L::segments(products, ends);
            let sums = L::add_in(sums, self.sum, first_row & self.goes_on);
            self.sum = L::last(sums);
            self.goes_on = (ends >> (L::LANES - 1)).wrapping_sub(1);
            L::store(to, L::compress(sums, ends));
            to.add(ends.count_ones() as usize)
        }
    }
}

/// Stores the next of `sums` for each row whose bit in `filled` is set, and 0 for the others.
///
/// # Safety
/// `sums` has an element for each set bit and `MOST_LANES` more, and the CPU supports the instructions.
#[inline(always)]
unsafe fn spread<L: Lanes, S: Store<L::Value>>(
    sums: &[L::Value],
    filled: &[u64],
    store: S,
    y: &mut [L::Value],
) {
    let mut from = sums.as_ptr();
    for (y, &filled) in y.chunks_mut(64).zip(filled) {
        let mut filled = filled;
        for y in y.chunks_mut(L::LANES) {
            let rows = filled as u32 & L::ALL;
            // SAFETY: `from` advances by the number of set bits, and no more than y's length is accessed.
            unsafe {
                let sums = L::expand(L::load(from), rows);
                let sums = scaled::<L, S>(store, y.as_ptr(), y.len(), sums);
                L::store_first(y.as_mut_ptr(), sums, y.len());
                from = from.add(rows.count_ones() as usize);
            }
            filled >>= L::LANES;
        }
    }
}
