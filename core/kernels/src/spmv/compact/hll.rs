//! y = A·x in compact HLL, in vectors whose lanes are rows.

use std::ops::Range;

use super::lookup::{Bytes, Few, Lookup, Plain, Shorts, with_values};
use crate::spmv::dot::Slots;
use crate::spmv::far::is_far;
use crate::spmv::rows::Rows;
use crate::spmv::simd::{Decode, Level, Loop, MOST_LANES, Vectorised, run};
use crate::spmv::{Scaling, SlotParts, Store, check_sizes, each_own_part};
use sparsescope_matrix::matrix::{Coded, CompactHll, WIDE, prefetch};

/// Maximum number of vectors of neighbouring rows summed at a time.
const MOST_VECTORS: usize = 4;

/// Prefetch distance for columns and values, in slots.
const STREAMS: usize = 512;

/// Prefetch distance for elements of x, in slots.
const AHEAD: usize = 64;

/// How `cpu/hll/compact` traverses a matrix: the instruction set, and the hacks of each worker.
#[derive(Clone, Debug)]
pub struct HllShares {
    level: Level,
    parts: SlotParts,
    is_far: bool,
}

impl HllShares {
    /// Divides the hacks among `workers`, for the widest vectors up to those of `level` that fill a hack.
    /// `near_bytes` of x fit in a core's private caches.
    pub fn new<T: Vectorised>(
        a: &CompactHll<T>,
        workers: usize,
        level: Level,
        near_bytes: u64,
    ) -> Self {
        let shape = a.shape();
        let level = level.for_columns(a.cols()).filled_by::<T>(shape.hack_size());
        let is_far = is_far::<T, _>(a.cols(), near_bytes, shape.hacks(), |hack| {
            let entries = |p: usize| a.row_slots(p).take(a.row_len()[p] as usize);
            shape.hack_rows(hack).flat_map(move |p| entries(p).map(|(col, _)| col))
        });
        Self { level, parts: SlotParts::of(shape, a.tail(), workers), is_far }
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

/// Hacks with about equal slots per worker, up to four vectors of rows at a time: line by line, without
/// checking lengths up to the end of the hack's shortest row, and masked from there on. Padding is never
/// multiplied. Separately stored rows come last. The result is bitwise identical for any number of workers.
/// x has n elements, y has m; panics otherwise.
pub fn hll<T: Vectorised>(
    a: &CompactHll<T>,
    shares: &HllShares,
    store: Option<Scaling<T>>,
    x: &[T],
    y: &mut [T],
) {
    check_sizes(a.rows(), a.cols(), x, y);
    let level = shares.level.for_columns(a.cols()).filled_by::<T>(a.shape().hack_size());
    assert_eq!(level, shares.level, "the shares are of this matrix");
    let y = Rows::of_compact(a, store, y);
    each_own_part(shares.parts.iter().collect(), |(hacks, apart)| {
        run(level, Part { a, x, y, hacks, apart, is_far: shares.is_far });
    });
}

/// The work of one worker. x has one element per column.
struct Part<'a, T, S> {
    a: &'a CompactHll<T>,
    x: &'a [T],
    y: Rows<T, S>,
    hacks: Range<usize>,
    /// Separately stored rows.
    apart: Range<usize>,
    is_far: bool,
}

impl<T: Vectorised, S: Store<T>> Loop<T> for Part<'_, T, S> {
    type Output = ();

    #[inline(always)]
    unsafe fn run<L: Decode<Value = T>>(self) {
        let vectors = self.a.shape().hack_size() / L::LANES;
        // SAFETY: guaranteed by the caller; vectors fill hacks, as checked.
        unsafe {
            with_values!(self.a.values(), L, |values| {
                match (vectors, self.is_far) {
                    (1, false) => self.hacks::<L, _, 1, false>(values),
                    (1, true) => self.hacks::<L, _, 1, true>(values),
                    (2, false) => self.hacks::<L, _, 2, false>(values),
                    (2, true) => self.hacks::<L, _, 2, true>(values),
                    (_, false) => self.hacks::<L, _, MOST_VECTORS, false>(values),
                    (_, true) => self.hacks::<L, _, MOST_VECTORS, true>(values),
                }
            });
        }
        let order = self.a.row_order();
        for k in self.apart {
            let (row, (col, val)) = (order.row_at(order.in_blocks() + k), self.a.tail().row(k));
            // SAFETY: separate rows have as many columns as the matrix, which is the length of x; no other
            // position has this row, and the order's rows are below y's length.
            unsafe { self.y.put(row, Slots::new(col, val, self.x).in_lanes()) };
        }
    }
}

impl<T: Vectorised, S: Store<T>> Part<'_, T, S> {
    /// `G` vectors of rows at a time; if `FAR`, prefetches x.
    ///
    /// # Safety
    /// The CPU supports the instructions, `G` vectors fill a hack or divide it evenly, and the values are
    /// those of the matrix.
    #[inline(always)]
    unsafe fn hacks<L: Decode<Value = T>, V: Lookup<L>, const G: usize, const FAR: bool>(
        &self,
        values: V,
    ) {
        let a = self.a;
        let (shape, row_len) = (a.shape(), a.row_len());
        let (hack_size, base, high) = (shape.hack_size(), a.base(), a.high());
        let mut lengths = [0; MOST_VECTORS * MOST_LANES];
        let mut wide = a.wide_before(self.hacks.start);
        for hack in self.hacks.clone() {
            let rows = shape.hack_rows(hack);
            let (width, shortest) = (shape.max_nzr()[hack], a.shortest()[hack]);
            let first_slot = shape.offsets()[hack] as usize;
            let lines = first_slot / hack_size;
            let base = &base[lines..];
            let mut wide_here = 0;
            for first in rows.clone().step_by(G * L::LANES) {
                let (strip, count) = (first - rows.start, (rows.end - first).min(G * L::LANES));
                // SAFETY: the slots of these rows lie `hack_size` apart, one in each of the hack's lines, and
                // upper halves in the wide ones; all their columns, padding included, are below cols, the
                // length of x. There are as many codes or values as slots. The level accepts the columns.
                unsafe {
                    let mut block = Block {
                        x: self.x.as_ptr(),
                        low: a.low().as_ptr().add(first_slot + strip),
                        high: high.as_ptr().wrapping_add(wide * hack_size + strip),
                        slot: first_slot + strip,
                        values,
                        base,
                        hack_size,
                        sums: [L::zero(); G],
                        wide: 0,
                    };
                    for j in 0..shortest {
                        block.step::<FAR>(j, |_, a, x, sum| L::mul_add(a, x, sum));
                    }
                    if shortest < width {
                        lengths[..count].copy_from_slice(&row_len[first..first + count]);
                        lengths[count..].fill(0);
                        let lengths = lengths.as_ptr();
                        for j in shortest..width {
                            block.step::<FAR>(j, |g, a, x, sum| {
                                L::mul_add_above((a, x), sum, lengths.add(g * L::LANES), j)
                            });
                        }
                    }
                    wide_here = block.wide;
                    self.y.put_sums::<L, G>(a.row_order(), (first, count), &block.sums);
                }
            }
            wide += wide_here;
        }
    }
}

/// Neighbouring rows of a hack, and their partial sums.
struct Block<'a, L: Decode, V, const G: usize> {
    x: *const L::Value,
    /// The first slot of the first row.
    low: *const u16,
    /// The upper half of its column in the hack's first wide line, if there is one.
    high: *const u16,
    /// Index of the first slot.
    slot: usize,
    values: V,
    /// Bases, starting at the hack's first line.
    base: &'a [u32],
    hack_size: usize,
    sums: [L::Vector; G],
    /// Wide lines processed so far.
    wide: usize,
}

impl<L: Decode, V: Lookup<L>, const G: usize> Block<'_, L, V, G> {
    /// Processes line j: each vector's sum becomes `add(g, a, x, sum)`. Lines must be processed in order.
    ///
    /// # Safety
    /// The hack has the line.
    #[inline(always)]
    unsafe fn step<const FAR: bool>(
        &mut self,
        j: u32,
        add: impl Fn(usize, L::Vector, L::Vector, L::Vector) -> L::Vector,
    ) {
        let line = j as usize;
        let first = line * self.hack_size;
        if FAR {
            self.ask_for_x(line);
        }
        prefetch(self.low.wrapping_add(first + STREAMS));
        // SAFETY: the hack has the line.
        let base = unsafe { *self.base.get_unchecked(line) };
        if base != WIDE {
            let x = self.x.wrapping_add(base as usize);
            for g in 0..G {
                let k = first + g * L::LANES;
                if V::is_first(g) {
                    self.values.ask_for(self.slot + k + STREAMS);
                }
                // SAFETY: the vector's slots lie in this line; x has their elements, counted from the base.
                unsafe {
                    let x = L::near(x, self.low.add(k));
                    let a = self.values.at(self.slot + k);
                    self.sums[g] = add(g, a, x, self.sums[g]);
                }
            }
        } else {
            let high = self.high.wrapping_add(self.wide * self.hack_size);
            for g in 0..G {
                let k = first + g * L::LANES;
                // SAFETY: the vector's slots lie in this line, and so do their upper halves.
                unsafe {
                    let x = L::halves(self.x, self.low.add(k), high.add(g * L::LANES));
                    let a = self.values.at(self.slot + k);
                    self.sums[g] = add(g, a, x, self.sums[g]);
                }
            }
            self.wide += 1;
        }
    }

    /// Prefetches the elements of x that a later line of these rows, or of the following hacks, needs.
    #[inline(always)]
    fn ask_for_x(&self, line: usize) {
        let ahead = (AHEAD / (G * L::LANES)).max(1);
        let Some(&base) = self.base.get(line + ahead) else { return };
        if base == WIDE {
            return;
        }
        for k in 0..G * L::LANES {
            // SAFETY: every line has `hack_size` slots, and this one exists because its base does.
            let low = unsafe { *self.low.add((line + ahead) * self.hack_size + k) };
            prefetch(self.x.wrapping_add(base as usize + low as usize));
        }
    }
}
