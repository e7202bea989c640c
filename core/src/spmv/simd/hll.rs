//! y = A·x in column-major HLL, in vectors whose lanes are rows.

use std::ops::Range;

use super::lanes::{Lanes, MOST_LANES};
use super::level::{Level, Loop, Vectorised, run};
use super::ways::Tuning;
use crate::matrix::{Hll, Order, prefetch, prefetch_lines};
use crate::spmv::rows::Rows;
use crate::spmv::{Checked, SlotParts, each_own_part};

/// Vectors of neighbouring rows that are summed at a time, at most.
const MOST_VECTORS: usize = 4;

/// How `cpu/hll/simd` goes through a matrix: who has which hacks.
#[derive(Clone, Debug)]
pub struct HllPlan {
    tuning: Tuning,
    parts: SlotParts,
    of: [usize; 4],
}

/// What tells matrices apart whose plans may not be mixed up: rows, columns, slots, and rows of a hack.
fn measures<T: Vectorised>(a: &Hll<T>) -> [usize; 4] {
    [a.rows(), a.cols(), a.col().len(), a.shape().hack_size()]
}

impl HllPlan {
    /// For so many workers. A hack of fewer rows than the vectors of the tuning's level have lanes is gone
    /// through with shorter ones.
    pub fn new<T: Vectorised>(a: &Hll<T>, workers: usize, tuning: Tuning) -> Self {
        let level = tuning.level.for_columns(a.cols()).filled_by::<T>(a.shape().hack_size());
        let parts = SlotParts::new(a, workers);
        Self { tuning: Tuning { level, ..tuning }, parts, of: measures(a) }
    }

    /// The instructions that it is for.
    pub fn level(&self) -> Level {
        self.tuning.level
    }

    /// Parts that have work.
    pub fn parts(&self) -> usize {
        self.parts.len()
    }
}

/// Hacks of about equally many slots a worker, up to four vectors of rows at a time: slot by slot without
/// looking while all of them go on, then each vector to the end of its longest row, lanes masked. Padding
/// is never multiplied. Rows kept apart come last, each in vectors of its own. The result has the same
/// bits with any number of workers.
///
/// x has n elements, y has m; panics otherwise, when the slots are row-major, or when the plan is another
/// matrix's.
pub fn hll<T: Vectorised>(a: &Hll<T>, plan: &HllPlan, x: &[T], y: &mut [T]) {
    let checked = Checked::<Hll<T>, T>::new(a, x, y);
    assert_eq!(a.shape().order(), Order::ColumnMajor, "this kernel reads column-major slots");
    assert_eq!(plan.of, measures(a), "the plan is of this matrix");
    let y = Rows::of(a, y);
    each_own_part(plan.parts.iter().collect(), |(hacks, apart)| {
        run(plan.level(), Part { a: checked, tuning: plan.tuning, hacks, apart, y });
    });
}

/// What one worker does.
struct Part<'a, T> {
    a: Checked<'a, Hll<T>, T>,
    tuning: Tuning,
    hacks: Range<usize>,
    /// Rows kept apart.
    apart: Range<usize>,
    y: Rows<T>,
}

impl<T: Vectorised> Loop<T> for Part<'_, T> {
    type Output = ();

    #[inline(always)]
    unsafe fn run<L: Lanes<Value = T>>(self) {
        // SAFETY: the caller's promise; vectors fill hacks, as the plan saw to.
        unsafe {
            match (self.a.a().shape().hack_size() / L::LANES, self.tuning.ahead) {
                (1, 0) => self.hacks::<L, 1, false>(),
                (1, _) => self.hacks::<L, 1, true>(),
                (2, 0) => self.hacks::<L, 2, false>(),
                (2, _) => self.hacks::<L, 2, true>(),
                (_, 0) => self.hacks::<L, MOST_VECTORS, false>(),
                (_, _) => self.hacks::<L, MOST_VECTORS, true>(),
            }
        }
        let order = self.a.a().row_order();
        for k in self.apart {
            let row = order.row_at(order.in_blocks() + k);
            // SAFETY: no other position has this row, and the order's rows are below y's length.
            unsafe { self.y.put(row, self.a.tail(k).in_lanes()) };
        }
    }
}

impl<T: Vectorised> Part<'_, T> {
    /// `G` vectors of rows at a time; `FAR`: x is asked for ahead of its use.
    #[inline(always)]
    unsafe fn hacks<L: Lanes<Value = T>, const G: usize, const FAR: bool>(&self) {
        let a = self.a.a();
        let (shape, row_len) = (a.shape(), a.row_len());
        let hack_size = shape.hack_size();
        let mut lengths = [0; MOST_VECTORS * MOST_LANES];
        for hack in self.hacks.clone() {
            let rows = shape.hack_rows(hack);
            let slots = shape.offsets()[hack] as usize..shape.offsets()[hack + 1] as usize;
            let ahead =
                if slots.end + self.tuning.ahead <= a.col().len() { self.tuning.ahead } else { 0 };
            for first in rows.clone().step_by(G * L::LANES) {
                let count = (rows.end - first).min(G * L::LANES);
                lengths[..count].copy_from_slice(&row_len[first..first + count]);
                lengths[count..].fill(0);
                let at = slots.start + (first - rows.start);
                // SAFETY: the slots of these vectors of rows lie `hack_size` apart from `at` on, as many
                // as the longest row has, which is no more than the hack is wide, and all their columns,
                // padding included, are below cols, as x is long. After each of the hack's slots there
                // are `ahead` more. The level takes the columns.
                unsafe {
                    let block = Block {
                        col: a.col().as_ptr().add(at),
                        val: a.val().as_ptr().add(at),
                        x: self.a.x().as_ptr(),
                        apart: hack_size,
                        ahead,
                        streams: self.tuning.streams,
                    };
                    let sums = block.sums::<L, G, FAR>(&lengths);
                    self.y.put_sums::<L, G>(a.row_order(), (first, count), &sums);
                }
            }
        }
    }
}

/// Slots of neighbouring rows in a hack.
struct Block<T> {
    /// The first slot of the first row.
    col: *const u32,
    val: *const T,
    x: *const T,
    /// How far the next slot of a row lies.
    apart: usize,
    /// Slots ahead of which x is asked for.
    ahead: usize,
    /// Slots ahead of which values and columns are asked for.
    streams: usize,
}

impl<T: Vectorised> Block<T> {
    /// The sums of `G · LANES` rows of these lengths.
    ///
    /// # Safety
    /// As many slots as the longest of each vector's rows can be read in all its lanes, and columns `ahead`
    /// of them, x has an element for each column, the level takes the columns, and the processor has
    /// its instructions.
    #[inline(always)]
    unsafe fn sums<L: Lanes<Value = T>, const G: usize, const FAR: bool>(
        &self,
        lengths: &[u32],
    ) -> [L::Vector; G] {
        let lengths = &lengths[..G * L::LANES];
        let shortest = lengths.iter().fold(u32::MAX, |least, &length| least.min(length));
        // SAFETY: the caller's promise; j stays below the longest row's length.
        unsafe {
            let mut sums = [L::zero(); G];
            for j in 0..shortest {
                let first = j as usize * self.apart;
                self.ask_ahead::<L, G>(first);
                for (g, sum) in sums.iter_mut().enumerate() {
                    let k = first + g * L::LANES;
                    let x = self.x::<L, FAR>(k);
                    *sum = L::mul_add(L::load(self.val.add(k)), x, *sum);
                }
            }
            for (g, (sum, lengths)) in
                sums.iter_mut().zip(lengths.chunks_exact(L::LANES)).enumerate()
            {
                let longest = lengths.iter().fold(0, |most, &length| most.max(length));
                for j in shortest..longest {
                    let k = j as usize * self.apart + g * L::LANES;
                    let (a, x) = (L::load(self.val.add(k)), self.x::<L, FAR>(k));
                    *sum = L::mul_add_above((a, x), *sum, lengths.as_ptr(), j);
                }
            }
            sums
        }
    }

    /// Asks for the values and columns that are needed later than the vectors from slot k on.
    #[inline(always)]
    fn ask_ahead<L: Lanes<Value = T>, const G: usize>(&self, k: usize) {
        let (from, count) = (k + self.streams, G * L::LANES);
        prefetch_lines(self.val.wrapping_add(from), count);
        prefetch_lines(self.col.wrapping_add(from), count);
    }

    /// The elements of x for the vector of slots from k on; where `FAR`, asks for those needed later.
    ///
    /// # Safety
    /// As of [`sums`](Self::sums).
    #[inline(always)]
    unsafe fn x<L: Lanes<Value = T>, const FAR: bool>(&self, k: usize) -> L::Vector {
        if FAR {
            for lane in 0..L::LANES {
                // SAFETY: the caller's promise.
                let col = unsafe { *self.col.add(k + self.ahead + lane) };
                prefetch(self.x.wrapping_add(col as usize));
            }
        }
        // SAFETY: the caller's promise.
        unsafe { L::gather(self.x, self.col.add(k)) }
    }
}
