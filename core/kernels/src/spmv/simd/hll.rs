//! y = A·x in column-major HLL, in vectors whose lanes are rows.

use std::ops::Range;

use super::lanes::{Lanes, MOST_LANES};
use super::level::{Level, Loop, Vectorised, run};
use super::ways::Tuning;
use crate::spmv::rows::Rows;
use crate::spmv::{Checked, Scaling, SlotParts, Store, each_own_part};
use sparsescope_matrix::matrix::{Hll, Order, prefetch, prefetch_lines};

/// Maximum number of vectors of neighbouring rows summed at a time.
const MOST_VECTORS: usize = 8;

/// How `cpu/hll/simd` traverses a matrix: the hacks of each worker.
#[derive(Clone, Debug)]
pub struct HllPlan {
    tuning: Tuning,
    parts: SlotParts,
    of: [usize; 4],
}

/// Sizes that detect a plan of another matrix: rows, columns, slots, and rows per hack.
fn measures<T: Vectorised>(a: &Hll<T>) -> [usize; 4] {
    [a.rows(), a.cols(), a.col().len(), a.shape().hack_size()]
}

impl HllPlan {
    /// Plans for `workers` workers. If a hack has fewer rows than the vectors of the tuning's level have
    /// lanes, shorter vectors are used.
    pub fn new<T: Vectorised>(a: &Hll<T>, workers: usize, tuning: Tuning) -> Self {
        let level = tuning.level.for_columns(a.cols()).filled_by::<T>(a.shape().hack_size());
        let parts = SlotParts::new(a, workers);
        Self { tuning: Tuning { level, ..tuning }, parts, of: measures(a) }
    }

    /// The instruction set that it is for.
    pub fn level(&self) -> Level {
        self.tuning.level
    }

    /// Number of parts that have work.
    pub fn parts(&self) -> usize {
        self.parts.len()
    }
}

/// Hacks with about equal slots per worker, up to eight vectors of rows at a time: slot by slot without checks
/// while all of them continue, then each vector to the end of its longest row, with lanes masked. Padding is
/// never multiplied. Separately stored rows come last, each in vectors of its own. The result is bitwise
/// identical for any number of workers.
///
/// x has n elements, y has m; panics otherwise, if the slots are row-major, or if the plan belongs to another
/// matrix.
pub fn hll<T: Vectorised>(
    a: &Hll<T>,
    plan: &HllPlan,
    store: Option<Scaling<T>>,
    x: &[T],
    y: &mut [T],
) {
    let checked = Checked::<Hll<T>, T>::new(a, x, y);
    assert_eq!(a.shape().order(), Order::ColumnMajor, "this kernel reads column-major slots");
    assert_eq!(plan.of, measures(a), "the plan is of this matrix");
    let y = Rows::of(a, store, y);
    each_own_part(plan.parts.iter().collect(), |(hacks, apart)| {
        run(plan.level(), Part { a: checked, tuning: plan.tuning, hacks, apart, y });
    });
}

/// The work of one worker.
struct Part<'a, T, S> {
    a: Checked<'a, Hll<T>, T>,
    tuning: Tuning,
    hacks: Range<usize>,
    /// Separately stored rows.
    apart: Range<usize>,
    y: Rows<T, S>,
}

impl<T: Vectorised, S: Store<T>> Loop<T> for Part<'_, T, S> {
    type Output = ();

    #[inline(always)]
    unsafe fn run<L: Lanes<Value = T>>(self) {
        // SAFETY: guaranteed by the caller; vectors fill hacks, as the plan ensures.
        unsafe {
            match (self.a.a().shape().hack_size() / L::LANES, self.tuning.ahead) {
                (1, 0) => self.hacks::<L, 1, false>(),
                (1, _) => self.hacks::<L, 1, true>(),
                (2, 0) => self.hacks::<L, 2, false>(),
                (2, _) => self.hacks::<L, 2, true>(),
                (4, 0) => self.hacks::<L, 4, false>(),
                (4, _) => self.hacks::<L, 4, true>(),
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

impl<T: Vectorised, S: Store<T>> Part<'_, T, S> {
    /// `G` vectors of rows at a time; if `FAR`, prefetches x.
    #[inline(always)]
    unsafe fn hacks<L: Lanes<Value = T>, const G: usize, const FAR: bool>(&self) {
        let a = self.a.a();
        let (shape, row_len) = (a.shape(), a.row_len());
        let hack_size = shape.hack_size();
        let mut room = [0; MOST_VECTORS * MOST_LANES];
        for hack in self.hacks.clone() {
            let rows = shape.hack_rows(hack);
            let slots = shape.offsets()[hack] as usize..shape.offsets()[hack + 1] as usize;
            let ahead =
                if slots.end + self.tuning.ahead <= a.col().len() { self.tuning.ahead } else { 0 };
            for first in rows.clone().step_by(G * L::LANES) {
                let count = (rows.end - first).min(G * L::LANES);
                let here = &row_len[first..first + count];
                let lengths = filled(here, &mut room[..G * L::LANES]);
                let at = slots.start + (first - rows.start);
                // SAFETY: the slots of these vectors of rows lie `hack_size` apart, starting at `at`, as many
                // as the longest row has, which is no more than the hack's width; and all their columns,
                // padding included, are below cols, the length of x. Each of the hack's slots is followed by
                // `ahead` more. The level accepts the columns.
                unsafe {
                    let block = Block {
                        col: a.col().as_ptr().add(at),
                        val: a.val().as_ptr().add(at),
                        x: self.a.x().as_ptr(),
                        apart: hack_size,
                        ahead,
                        streams: self.tuning.streams,
                    };
                    let sums = block.sums::<L, G, FAR>(lengths);
                    self.y.put_sums::<L, G>(a.row_order(), (first, count), &sums);
                }
            }
        }
    }
}

/// Row lengths as many as `room` holds: those given, if they are, else a copy in `room` with zeros after it.
#[inline(always)]
fn filled<'a>(lengths: &'a [u32], room: &'a mut [u32]) -> &'a [u32] {
    if lengths.len() < room.len() {
        let (here, rest) = room.split_at_mut(lengths.len());
        here.copy_from_slice(lengths);
        rest.fill(0);
        return room;
    }
    lengths
}

/// Slots of neighbouring rows in a hack.
struct Block<T> {
    /// The first slot of the first row.
    col: *const u32,
    val: *const T,
    x: *const T,
    /// Distance to the next slot of a row.
    apart: usize,
    /// Prefetch distance for x, in slots.
    ahead: usize,
    /// Prefetch distance for values and columns, in slots.
    streams: usize,
}

impl<T: Vectorised> Block<T> {
    /// Returns the sums of `G · LANES` rows of these lengths.
    ///
    /// # Safety
    /// As many slots as the longest of each vector's rows can be read in all its lanes, and columns `ahead`
    /// of them, x has an element for each column, the level accepts the columns, and the CPU supports its
    /// instructions.
    #[inline(always)]
    unsafe fn sums<L: Lanes<Value = T>, const G: usize, const FAR: bool>(
        &self,
        lengths: &[u32],
    ) -> [L::Vector; G] {
        let lengths = &lengths[..G * L::LANES];
        let shortest = lengths.iter().fold(u32::MAX, |least, &length| least.min(length));
        // SAFETY: guaranteed by the caller; j stays below the longest row's length.
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

    /// Prefetches the values and columns that are needed after the vectors from slot k on.
    #[inline(always)]
    fn ask_ahead<L: Lanes<Value = T>, const G: usize>(&self, k: usize) {
        let (from, count) = (k + self.streams, G * L::LANES);
        prefetch_lines(self.val.wrapping_add(from), count);
        prefetch_lines(self.col.wrapping_add(from), count);
    }

    /// Returns the elements of x for the vector of slots from k on; if `FAR`, prefetches those needed later.
    ///
    /// # Safety
    /// As for [`sums`](Self::sums).
    #[inline(always)]
    unsafe fn x<L: Lanes<Value = T>, const FAR: bool>(&self, k: usize) -> L::Vector {
        if FAR {
            for lane in 0..L::LANES {
                // SAFETY: guaranteed by the caller.
                let col = unsafe { *self.col.add(k + self.ahead + lane) };
                prefetch(self.x.wrapping_add(col as usize));
            }
        }
        // SAFETY: guaranteed by the caller.
        unsafe { L::gather(self.x, self.col.add(k)) }
    }
}
