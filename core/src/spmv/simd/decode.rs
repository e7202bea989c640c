//! What a loop over a compact format needs of vectors besides: x at narrow distances, values from their
//! codes. Without instructions that gather, an element of x is loaded by itself, and so its column is
//! decoded by itself, too.

use super::lanes::{Arrays, Lanes};
use crate::matrix::{Real, Scalar};

/// Vectors that are filled from 8 and 16 bits a lane.
///
/// # Safety
/// A method touches no memory but what it says.
pub(crate) unsafe trait Decode: Lanes {
    /// A table of 16 values, in registers where that is faster than in memory.
    type Few: Copy;
    /// The column that a row has come to.
    type Column: Copy;
    /// Codes of [`Few`](Self::Few) are looked up in registers.
    const HAS_FEW: bool;

    /// `lane(k)` in lane k.
    ///
    /// # Safety
    /// The processor has the instructions; so for all that follow.
    unsafe fn build(lane: impl Fn(usize) -> Self::Value) -> Self::Vector;

    /// `x[low[k]]` in lane k, where x begins at the base of the distances.
    ///
    /// # Safety
    /// `LANES` distances can be read, and x has elements there.
    #[inline(always)]
    unsafe fn near(x: *const Self::Value, low: *const u16) -> Self::Vector {
        // SAFETY: the caller's promise.
        unsafe { Self::build(|k| *x.add(*low.add(k) as usize)) }
    }

    /// `x[high[k]·2¹⁶ + low[k]]` in lane k.
    ///
    /// # Safety
    /// `LANES` halves of both kinds can be read, columns are below 2³¹ unless vectors are arrays, and x
    /// has elements there.
    #[inline(always)]
    unsafe fn halves(x: *const Self::Value, low: *const u16, high: *const u16) -> Self::Vector {
        // SAFETY: the caller's promise.
        unsafe { Self::build(|k| *x.add(whole(*low.add(k), *high.add(k)))) }
    }

    /// The same for the first n lanes, 0 in the others.
    ///
    /// # Safety
    /// The same of n halves, n from 1 to `LANES`.
    #[inline(always)]
    unsafe fn halves_first(
        x: *const Self::Value,
        low: *const u16,
        high: *const u16,
        n: usize,
    ) -> Self::Vector {
        // SAFETY: the caller's promise; other lanes are not read.
        unsafe {
            Self::build(|k| match k < n {
                true => *x.add(whole(*low.add(k), *high.add(k))),
                false => Self::Value::ZERO,
            })
        }
    }

    /// `table[codes[k]]` in lane k.
    ///
    /// # Safety
    /// `LANES` codes can be read, and the table has elements there.
    #[inline(always)]
    unsafe fn of_bytes(table: *const Self::Value, codes: *const u8) -> Self::Vector {
        // SAFETY: the caller's promise.
        unsafe { Self::build(|k| *table.add(*codes.add(k) as usize)) }
    }

    /// The same for the first n lanes, 0 in the others.
    ///
    /// # Safety
    /// The same of n codes, n from 1 to `LANES`.
    #[inline(always)]
    unsafe fn of_bytes_first(
        table: *const Self::Value,
        codes: *const u8,
        n: usize,
    ) -> Self::Vector {
        // SAFETY: the caller's promise; other lanes are not read.
        unsafe {
            Self::build(|k| match k < n {
                true => *table.add(*codes.add(k) as usize),
                false => Self::Value::ZERO,
            })
        }
    }

    /// [`near`](Self::near) for the first n lanes, 0 in the others: of codes of 16 bits, too.
    ///
    /// # Safety
    /// n distances can be read, n from 1 to `LANES`, and x has elements there.
    #[inline(always)]
    unsafe fn near_first(x: *const Self::Value, low: *const u16, n: usize) -> Self::Vector {
        // SAFETY: the caller's promise; other lanes are not read.
        unsafe {
            Self::build(|k| match k < n {
                true => *x.add(*low.add(k) as usize),
                false => Self::Value::ZERO,
            })
        }
    }

    /// A table.
    ///
    /// # Safety
    /// It has 16 values, which stay where they are.
    unsafe fn few(table: *const Self::Value) -> Self::Few;

    /// `table[codes[k]]` in lane k.
    ///
    /// # Safety
    /// `LANES` codes below 16 can be read.
    unsafe fn of_few(table: Self::Few, codes: *const u8) -> Self::Vector;

    /// A row's first column.
    ///
    /// # Safety
    /// As [`build`](Self::build).
    unsafe fn column(start: u32) -> Self::Column;

    /// The elements of x in the next `LANES` columns of a row, and the last of these columns: each is the one
    /// before it plus `low[k]`.
    ///
    /// # Safety
    /// `LANES` differences can be read, columns are below 2³¹ unless vectors are arrays, and x has elements
    /// there.
    unsafe fn along(
        x: *const Self::Value,
        column: Self::Column,
        low: *const u16,
    ) -> (Self::Vector, Self::Column);

    /// The same for the first n columns, 0 in the other lanes.
    ///
    /// # Safety
    /// The same of n differences, n from 1 to `LANES`.
    unsafe fn along_first(
        x: *const Self::Value,
        column: Self::Column,
        low: *const u16,
        n: usize,
    ) -> Self::Vector;
}

/// A column from its halves.
#[inline(always)]
fn whole(low: u16, high: u16) -> usize {
    (u32::from(high) << 16 | u32::from(low)) as usize
}

/// Columns by themselves, one after another.
macro_rules! one_by_one {
    ($lanes:expr) => {
        type Few = *const Self::Value;
        type Column = u32;
        const HAS_FEW: bool = false;

        #[inline(always)]
        unsafe fn few(table: *const Self::Value) -> Self::Few {
            table
        }

        #[inline(always)]
        unsafe fn of_few(table: Self::Few, codes: *const u8) -> Self::Vector {
            // SAFETY: the caller's promise.
            unsafe { Self::of_bytes(table, codes) }
        }

        #[inline(always)]
        unsafe fn column(start: u32) -> u32 {
            start
        }

        #[inline(always)]
        unsafe fn along(
            x: *const Self::Value,
            column: u32,
            low: *const u16,
        ) -> (Self::Vector, u32) {
            let mut columns = [column; $lanes];
            let mut last = column;
            for (k, column) in columns.iter_mut().enumerate() {
                // SAFETY: the caller's promise.
                last += u32::from(unsafe { *low.add(k) });
                *column = last;
            }
            // SAFETY: as above.
            (unsafe { Self::build(|k| *x.add(columns[k] as usize)) }, last)
        }

        #[inline(always)]
        unsafe fn along_first(
            x: *const Self::Value,
            column: u32,
            low: *const u16,
            n: usize,
        ) -> Self::Vector {
            let mut elements = [Self::Value::ZERO; $lanes];
            let mut last = column;
            for (k, element) in elements.iter_mut().enumerate().take(n) {
                // SAFETY: the caller's promise.
                unsafe {
                    last += u32::from(*low.add(k));
                    *element = *x.add(last as usize);
                }
            }
            // SAFETY: the array has as many values as there are lanes.
            unsafe { Self::build(|k| elements[k]) }
        }
    };
}

// SAFETY: each method touches what its contract says.
unsafe impl<T: Real> Decode for Arrays<T> {
    one_by_one!(4);

    #[inline(always)]
    unsafe fn build(lane: impl Fn(usize) -> T) -> Self::Vector {
        std::array::from_fn(lane)
    }
}

#[cfg(target_arch = "x86_64")]
mod x86_64 {
    use std::arch::x86_64::*;

    use super::*;
    use crate::spmv::simd::avx2::{F32x8, F64x4};

    // SAFETY: each method touches what its contract says.
    unsafe impl Decode for F64x4 {
        one_by_one!(4);

        #[inline(always)]
        unsafe fn build(lane: impl Fn(usize) -> f64) -> __m256d {
            // SAFETY: the caller has the instructions.
            unsafe { _mm256_setr_pd(lane(0), lane(1), lane(2), lane(3)) }
        }
    }

    // SAFETY: each method touches what its contract says.
    unsafe impl Decode for F32x8 {
        one_by_one!(8);

        #[inline(always)]
        unsafe fn build(lane: impl Fn(usize) -> f32) -> __m256 {
            let [a, b, c, d] = [lane(0), lane(1), lane(2), lane(3)];
            let [e, f, g, h] = [lane(4), lane(5), lane(6), lane(7)];
            // SAFETY: the caller has the instructions.
            unsafe { _mm256_setr_ps(a, b, c, d, e, f, g, h) }
        }
    }
}

#[cfg(target_arch = "aarch64")]
mod aarch64 {
    use super::*;
    use crate::spmv::simd::neon::{F32x4, F64x2};

    // SAFETY: each method touches what its contract says.
    unsafe impl Decode for F64x2 {
        one_by_one!(2);

        #[inline(always)]
        unsafe fn build(lane: impl Fn(usize) -> f64) -> Self::Vector {
            let lanes = [lane(0), lane(1)];
            // SAFETY: the array has as many values as there are lanes.
            unsafe { Self::load(lanes.as_ptr()) }
        }
    }

    // SAFETY: each method touches what its contract says.
    unsafe impl Decode for F32x4 {
        one_by_one!(4);

        #[inline(always)]
        unsafe fn build(lane: impl Fn(usize) -> f32) -> Self::Vector {
            let lanes = [lane(0), lane(1), lane(2), lane(3)];
            // SAFETY: the array has as many values as there are lanes.
            unsafe { Self::load(lanes.as_ptr()) }
        }
    }
}
