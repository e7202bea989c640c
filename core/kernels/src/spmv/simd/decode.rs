//! Additional vector operations for loops over compact formats: x at narrow distances, and values from their
//! codes. Without gather instructions, each element of x is loaded and its column decoded individually.

use super::lanes::{Arrays, Lanes};
use sparsescope_matrix::matrix::{Real, Scalar};

/// Vectors that can be filled from 8 and 16 bits per lane.
///
/// # Safety
/// A method touches only the memory that it describes.
pub(crate) unsafe trait Decode: Lanes {
    /// A table of [`MOST_FEW`](Self::MOST_FEW) values in registers.
    type Few: Copy;
    /// The current column of a row.
    type Column: Copy;
    /// Maximum number of values that are looked up in registers, up to 16; 0 if memory is as fast.
    const MOST_FEW: usize;

    /// `lane(k)` in lane k.
    ///
    /// # Safety
    /// The CPU supports the instructions; this also holds for all that follow.
    unsafe fn build(lane: impl Fn(usize) -> Self::Value) -> Self::Vector;

    /// Returns `x[low[k]]` in lane k, where x begins at the base of the distances.
    ///
    /// # Safety
    /// `LANES` distances can be read, and x has elements there.
    #[inline(always)]
    unsafe fn near(x: *const Self::Value, low: *const u16) -> Self::Vector {
        // SAFETY: guaranteed by the caller.
        unsafe { Self::build(|k| *x.add(*low.add(k) as usize)) }
    }

    /// Returns `x[high[k]·2¹⁶ + low[k]]` in lane k.
    ///
    /// # Safety
    /// `LANES` halves of both kinds can be read, columns are below 2³¹ unless vectors are arrays, and x has
    /// elements there.
    #[inline(always)]
    unsafe fn halves(x: *const Self::Value, low: *const u16, high: *const u16) -> Self::Vector {
        // SAFETY: guaranteed by the caller.
        unsafe { Self::build(|k| *x.add(whole(*low.add(k), *high.add(k)))) }
    }

    /// The same for the first n lanes; 0 in the others.
    ///
    /// # Safety
    /// As above for n halves, with n from 1 to `LANES`.
    #[inline(always)]
    unsafe fn halves_first(
        x: *const Self::Value,
        low: *const u16,
        high: *const u16,
        n: usize,
    ) -> Self::Vector {
        // SAFETY: guaranteed by the caller; other lanes are not read.
        unsafe {
            Self::build(|k| match k < n {
                true => *x.add(whole(*low.add(k), *high.add(k))),
                false => Self::Value::ZERO,
            })
        }
    }

    /// Returns `table[codes[k]]` in lane k.
    ///
    /// # Safety
    /// `LANES` codes can be read, and the table has elements there.
    #[inline(always)]
    unsafe fn of_bytes(table: *const Self::Value, codes: *const u8) -> Self::Vector {
        // SAFETY: guaranteed by the caller.
        unsafe { Self::build(|k| *table.add(*codes.add(k) as usize)) }
    }

    /// The same for the first n lanes; 0 in the others.
    ///
    /// # Safety
    /// As above for n codes, with n from 1 to `LANES`.
    #[inline(always)]
    unsafe fn of_bytes_first(
        table: *const Self::Value,
        codes: *const u8,
        n: usize,
    ) -> Self::Vector {
        // SAFETY: guaranteed by the caller; other lanes are not read.
        unsafe {
            Self::build(|k| match k < n {
                true => *table.add(*codes.add(k) as usize),
                false => Self::Value::ZERO,
            })
        }
    }

    /// [`near`](Self::near) for the first n lanes, 0 in the others; also used for 16-bit codes.
    ///
    /// # Safety
    /// n distances can be read, with n from 1 to `LANES`, and x has elements there.
    #[inline(always)]
    unsafe fn near_first(x: *const Self::Value, low: *const u16, n: usize) -> Self::Vector {
        // SAFETY: guaranteed by the caller; other lanes are not read.
        unsafe {
            Self::build(|k| match k < n {
                true => *x.add(*low.add(k) as usize),
                false => Self::Value::ZERO,
            })
        }
    }

    /// Loads a table.
    ///
    /// # Safety
    /// It has 16 values, which stay valid.
    unsafe fn few(table: *const Self::Value) -> Self::Few;

    /// `table[codes[k]]` in lane k.
    ///
    /// # Safety
    /// `LANES` codes below `MOST_FEW` can be read.
    unsafe fn of_few(table: Self::Few, codes: *const u8) -> Self::Vector;

    /// Returns the state for a row's first column.
    ///
    /// # Safety
    /// As [`build`](Self::build).
    unsafe fn column(start: u32) -> Self::Column;

    /// Returns the elements of x in the next `LANES` columns of a row, and the last of these columns: each
    /// column is the previous one plus `low[k]`.
    ///
    /// # Safety
    /// `LANES` differences can be read, columns are below 2³¹ unless vectors are arrays, and x has elements
    /// there.
    unsafe fn along(
        x: *const Self::Value,
        column: Self::Column,
        low: *const u16,
    ) -> (Self::Vector, Self::Column);

    /// The same for the first n columns; 0 in the other lanes.
    ///
    /// # Safety
    /// As above for n differences, with n from 1 to `LANES`.
    unsafe fn along_first(
        x: *const Self::Value,
        column: Self::Column,
        low: *const u16,
        n: usize,
    ) -> Self::Vector;
}

/// A column from its two halves.
#[inline(always)]
fn whole(low: u16, high: u16) -> usize {
    (u32::from(high) << 16 | u32::from(low)) as usize
}

/// Columns decoded individually, one after another.
macro_rules! one_by_one {
    ($lanes:expr) => {
        type Column = u32;

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
                // SAFETY: guaranteed by the caller.
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
                // SAFETY: guaranteed by the caller.
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

/// Tables in memory only.
macro_rules! none_in_registers {
    () => {
        type Few = *const Self::Value;
        const MOST_FEW: usize = 0;

        #[inline(always)]
        unsafe fn few(table: *const Self::Value) -> Self::Few {
            table
        }

        #[inline(always)]
        unsafe fn of_few(table: Self::Few, codes: *const u8) -> Self::Vector {
            // SAFETY: guaranteed by the caller.
            unsafe { Self::of_bytes(table, codes) }
        }
    };
}

// SAFETY: each method touches what its contract says.
unsafe impl<T: Real> Decode for Arrays<T> {
    one_by_one!(4);
    none_in_registers!();

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

        type Few = __m256d;
        const MOST_FEW: usize = 4;

        #[inline(always)]
        unsafe fn few(table: *const f64) -> __m256d {
            // SAFETY: guaranteed by the caller.
            unsafe { _mm256_loadu_pd(table) }
        }

        #[inline(always)]
        unsafe fn of_few(table: __m256d, codes: *const u8) -> __m256d {
            // SAFETY: guaranteed by the caller. A value is a pair of 32-bit numbers, at twice the code and
            // the next index.
            unsafe {
                let codes = _mm_cvtsi32_si128(codes.cast::<i32>().read_unaligned());
                let codes = _mm256_cvtepu8_epi64(codes);
                let doubles = _mm256_add_epi64(codes, codes);
                let pairs = _mm256_shuffle_epi32::<0b10_10_00_00>(doubles);
                let pairs = _mm256_or_si256(pairs, _mm256_set1_epi64x(1 << 32));
                _mm256_castps_pd(_mm256_permutevar8x32_ps(_mm256_castpd_ps(table), pairs))
            }
        }

        #[inline(always)]
        unsafe fn build(lane: impl Fn(usize) -> f64) -> __m256d {
            // SAFETY: the CPU supports the instructions.
            unsafe { _mm256_setr_pd(lane(0), lane(1), lane(2), lane(3)) }
        }

        // The numbers of all lanes are loaded at once, because load throughput is the bottleneck.

        #[inline(always)]
        unsafe fn near(x: *const f64, low: *const u16) -> __m256d {
            // SAFETY: guaranteed by the caller.
            unsafe {
                let low = low.cast::<u64>().read_unaligned();
                Self::build(|k| *x.add((low >> (16 * k) & 0xffff) as usize))
            }
        }

        #[inline(always)]
        unsafe fn of_bytes(table: *const f64, codes: *const u8) -> __m256d {
            // SAFETY: guaranteed by the caller.
            unsafe {
                let codes = codes.cast::<u32>().read_unaligned();
                Self::build(|k| *table.add((codes >> (8 * k) & 0xff) as usize))
            }
        }
    }

    // SAFETY: each method touches what its contract says.
    unsafe impl Decode for F32x8 {
        one_by_one!(8);

        type Few = __m256;
        const MOST_FEW: usize = 8;

        #[inline(always)]
        unsafe fn few(table: *const f32) -> __m256 {
            // SAFETY: guaranteed by the caller.
            unsafe { _mm256_loadu_ps(table) }
        }

        #[inline(always)]
        unsafe fn of_few(table: __m256, codes: *const u8) -> __m256 {
            // SAFETY: guaranteed by the caller.
            unsafe {
                let codes = _mm256_cvtepu8_epi32(_mm_loadl_epi64(codes.cast()));
                _mm256_permutevar8x32_ps(table, codes)
            }
        }

        #[inline(always)]
        unsafe fn build(lane: impl Fn(usize) -> f32) -> __m256 {
            let [a, b, c, d] = [lane(0), lane(1), lane(2), lane(3)];
            let [e, f, g, h] = [lane(4), lane(5), lane(6), lane(7)];
            // SAFETY: the CPU supports the instructions.
            unsafe { _mm256_setr_ps(a, b, c, d, e, f, g, h) }
        }

        #[inline(always)]
        unsafe fn near(x: *const f32, low: *const u16) -> __m256 {
            // SAFETY: guaranteed by the caller.
            unsafe {
                let low = [0, 4].map(|k| low.add(k).cast::<u64>().read_unaligned());
                Self::build(|k| *x.add((low[k / 4] >> (16 * (k % 4)) & 0xffff) as usize))
            }
        }

        #[inline(always)]
        unsafe fn of_bytes(table: *const f32, codes: *const u8) -> __m256 {
            // SAFETY: guaranteed by the caller.
            unsafe {
                let codes = codes.cast::<u64>().read_unaligned();
                Self::build(|k| *table.add((codes >> (8 * k) & 0xff) as usize))
            }
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
        none_in_registers!();

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
        none_in_registers!();

        #[inline(always)]
        unsafe fn build(lane: impl Fn(usize) -> f32) -> Self::Vector {
            let lanes = [lane(0), lane(1), lane(2), lane(3)];
            // SAFETY: the array has as many values as there are lanes.
            unsafe { Self::load(lanes.as_ptr()) }
        }
    }
}
