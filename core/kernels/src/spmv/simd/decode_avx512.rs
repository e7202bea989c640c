//! Compact formats decoded in AVX-512 vectors: columns and codes are widened and gather from x or the table;
//! a table of 16 values stays in registers.

use std::arch::x86_64::*;

use super::avx512::{F32x16, F64x8};
use super::decode::Decode;

/// Loads eight 16-bit numbers.
#[inline(always)]
unsafe fn shorts8(from: *const u16) -> __m256i {
    // SAFETY: guaranteed by the caller.
    unsafe { _mm256_cvtepu16_epi32(_mm_loadu_si128(from.cast())) }
}

/// The same for the first lanes, 0 in the others.
#[inline(always)]
unsafe fn shorts8_first(from: *const u16, k: __mmask8) -> __m256i {
    // SAFETY: guaranteed by the caller; other lanes are not read.
    unsafe { _mm256_cvtepu16_epi32(_mm_maskz_loadu_epi16(k, from.cast())) }
}

/// Loads sixteen 16-bit numbers.
#[inline(always)]
unsafe fn shorts16(from: *const u16) -> __m512i {
    // SAFETY: guaranteed by the caller.
    unsafe { _mm512_cvtepu16_epi32(_mm256_loadu_si256(from.cast())) }
}

/// The same for the first lanes, 0 in the others.
#[inline(always)]
unsafe fn shorts16_first(from: *const u16, k: __mmask16) -> __m512i {
    // SAFETY: guaranteed by the caller; other lanes are not read.
    unsafe { _mm512_cvtepu16_epi32(_mm256_maskz_loadu_epi16(k, from.cast())) }
}

/// The set of the first n of at most 16 lanes.
#[inline(always)]
fn first(n: usize) -> u32 {
    (1 << n) - 1
}

/// Inclusive prefix sums over the lanes.
#[inline(always)]
unsafe fn sums8(v: __m256i) -> __m256i {
    // SAFETY: the CPU supports the instructions.
    unsafe {
        let none = _mm256_setzero_si256();
        let v = _mm256_add_epi32(v, _mm256_alignr_epi32::<7>(v, none));
        let v = _mm256_add_epi32(v, _mm256_alignr_epi32::<6>(v, none));
        _mm256_add_epi32(v, _mm256_alignr_epi32::<4>(v, none))
    }
}

/// Inclusive prefix sums over the lanes.
#[inline(always)]
unsafe fn sums16(v: __m512i) -> __m512i {
    // SAFETY: the CPU supports the instructions.
    unsafe {
        let none = _mm512_setzero_si512();
        let v = _mm512_add_epi32(v, _mm512_alignr_epi32::<15>(v, none));
        let v = _mm512_add_epi32(v, _mm512_alignr_epi32::<14>(v, none));
        let v = _mm512_add_epi32(v, _mm512_alignr_epi32::<12>(v, none));
        _mm512_add_epi32(v, _mm512_alignr_epi32::<8>(v, none))
    }
}

// SAFETY: eight lanes; masked loads and gathers touch no memory in lanes that are masked off, and the rest
// follows the contracts.
unsafe impl Decode for F64x8 {
    type Few = (__m512d, __m512d);
    type Column = __m256i;
    const MOST_FEW: usize = 16;

    #[inline(always)]
    unsafe fn build(lane: impl Fn(usize) -> f64) -> __m512d {
        let [a, b, c, d] = [lane(0), lane(1), lane(2), lane(3)];
        let [e, f, g, h] = [lane(4), lane(5), lane(6), lane(7)];
        // SAFETY: the CPU supports the instructions.
        unsafe { _mm512_setr_pd(a, b, c, d, e, f, g, h) }
    }

    #[inline(always)]
    unsafe fn near(x: *const f64, low: *const u16) -> __m512d {
        // SAFETY: guaranteed by the caller.
        unsafe { _mm512_i32gather_pd::<8>(shorts8(low), x) }
    }

    #[inline(always)]
    unsafe fn near_first(x: *const f64, low: *const u16, n: usize) -> __m512d {
        let k = first(n) as __mmask8;
        // SAFETY: guaranteed by the caller.
        unsafe { _mm512_mask_i32gather_pd::<8>(_mm512_setzero_pd(), k, shorts8_first(low, k), x) }
    }

    #[inline(always)]
    unsafe fn halves(x: *const f64, low: *const u16, high: *const u16) -> __m512d {
        // SAFETY: guaranteed by the caller.
        unsafe {
            let high = _mm256_slli_epi32::<16>(shorts8(high));
            _mm512_i32gather_pd::<8>(_mm256_or_si256(high, shorts8(low)), x)
        }
    }

    #[inline(always)]
    unsafe fn halves_first(x: *const f64, low: *const u16, high: *const u16, n: usize) -> __m512d {
        let k = first(n) as __mmask8;
        // SAFETY: guaranteed by the caller.
        unsafe {
            let high = _mm256_slli_epi32::<16>(shorts8_first(high, k));
            let columns = _mm256_or_si256(high, shorts8_first(low, k));
            _mm512_mask_i32gather_pd::<8>(_mm512_setzero_pd(), k, columns, x)
        }
    }

    #[inline(always)]
    unsafe fn of_bytes(table: *const f64, codes: *const u8) -> __m512d {
        // SAFETY: guaranteed by the caller.
        unsafe {
            let codes = _mm256_cvtepu8_epi32(_mm_loadl_epi64(codes.cast()));
            _mm512_i32gather_pd::<8>(codes, table)
        }
    }

    #[inline(always)]
    unsafe fn of_bytes_first(table: *const f64, codes: *const u8, n: usize) -> __m512d {
        let k = first(n) as __mmask8;
        // SAFETY: guaranteed by the caller.
        unsafe {
            let codes = _mm256_cvtepu8_epi32(_mm_maskz_loadu_epi8(k.into(), codes.cast()));
            _mm512_mask_i32gather_pd::<8>(_mm512_setzero_pd(), k, codes, table)
        }
    }

    #[inline(always)]
    unsafe fn few(table: *const f64) -> (__m512d, __m512d) {
        // SAFETY: guaranteed by the caller.
        unsafe { (_mm512_loadu_pd(table), _mm512_loadu_pd(table.add(8))) }
    }

    #[inline(always)]
    unsafe fn of_few((low, high): (__m512d, __m512d), codes: *const u8) -> __m512d {
        // SAFETY: guaranteed by the caller.
        unsafe {
            let codes = _mm512_cvtepu8_epi64(_mm_loadl_epi64(codes.cast()));
            _mm512_permutex2var_pd(low, codes, high)
        }
    }

    #[inline(always)]
    unsafe fn column(start: u32) -> __m256i {
        // SAFETY: the CPU supports the instructions.
        unsafe { _mm256_set1_epi32(start as i32) }
    }

    #[inline(always)]
    unsafe fn along(x: *const f64, column: __m256i, low: *const u16) -> (__m512d, __m256i) {
        // SAFETY: guaranteed by the caller. The next columns depend on the current ones through one addition
        // only.
        unsafe {
            let sums = sums8(shorts8(low));
            let all = _mm256_permutevar8x32_epi32(sums, _mm256_set1_epi32(7));
            let x = _mm512_i32gather_pd::<8>(_mm256_add_epi32(column, sums), x);
            (x, _mm256_add_epi32(column, all))
        }
    }

    #[inline(always)]
    unsafe fn along_first(x: *const f64, column: __m256i, low: *const u16, n: usize) -> __m512d {
        let k = first(n) as __mmask8;
        // SAFETY: guaranteed by the caller.
        unsafe {
            let columns = _mm256_add_epi32(column, sums8(shorts8_first(low, k)));
            _mm512_mask_i32gather_pd::<8>(_mm512_setzero_pd(), k, columns, x)
        }
    }
}

// SAFETY: sixteen lanes; as above.
unsafe impl Decode for F32x16 {
    type Few = __m512;
    type Column = __m512i;
    const MOST_FEW: usize = 16;

    #[inline(always)]
    unsafe fn build(lane: impl Fn(usize) -> f32) -> __m512 {
        let lanes: [f32; 16] = std::array::from_fn(lane);
        // SAFETY: the CPU supports the instructions, and the array has as many values as there are lanes.
        unsafe { _mm512_loadu_ps(lanes.as_ptr()) }
    }

    #[inline(always)]
    unsafe fn near(x: *const f32, low: *const u16) -> __m512 {
        // SAFETY: guaranteed by the caller.
        unsafe { _mm512_i32gather_ps::<4>(shorts16(low), x) }
    }

    #[inline(always)]
    unsafe fn near_first(x: *const f32, low: *const u16, n: usize) -> __m512 {
        let k = first(n) as __mmask16;
        // SAFETY: guaranteed by the caller.
        unsafe { _mm512_mask_i32gather_ps::<4>(_mm512_setzero_ps(), k, shorts16_first(low, k), x) }
    }

    #[inline(always)]
    unsafe fn halves(x: *const f32, low: *const u16, high: *const u16) -> __m512 {
        // SAFETY: guaranteed by the caller.
        unsafe {
            let high = _mm512_slli_epi32::<16>(shorts16(high));
            _mm512_i32gather_ps::<4>(_mm512_or_si512(high, shorts16(low)), x)
        }
    }

    #[inline(always)]
    unsafe fn halves_first(x: *const f32, low: *const u16, high: *const u16, n: usize) -> __m512 {
        let k = first(n) as __mmask16;
        // SAFETY: guaranteed by the caller.
        unsafe {
            let high = _mm512_slli_epi32::<16>(shorts16_first(high, k));
            let columns = _mm512_or_si512(high, shorts16_first(low, k));
            _mm512_mask_i32gather_ps::<4>(_mm512_setzero_ps(), k, columns, x)
        }
    }

    #[inline(always)]
    unsafe fn of_bytes(table: *const f32, codes: *const u8) -> __m512 {
        // SAFETY: guaranteed by the caller.
        unsafe {
            let codes = _mm512_cvtepu8_epi32(_mm_loadu_si128(codes.cast()));
            _mm512_i32gather_ps::<4>(codes, table)
        }
    }

    #[inline(always)]
    unsafe fn of_bytes_first(table: *const f32, codes: *const u8, n: usize) -> __m512 {
        let k = first(n) as __mmask16;
        // SAFETY: guaranteed by the caller.
        unsafe {
            let codes = _mm512_cvtepu8_epi32(_mm_maskz_loadu_epi8(k, codes.cast()));
            _mm512_mask_i32gather_ps::<4>(_mm512_setzero_ps(), k, codes, table)
        }
    }

    #[inline(always)]
    unsafe fn few(table: *const f32) -> __m512 {
        // SAFETY: guaranteed by the caller.
        unsafe { _mm512_loadu_ps(table) }
    }

    #[inline(always)]
    unsafe fn of_few(table: __m512, codes: *const u8) -> __m512 {
        // SAFETY: guaranteed by the caller.
        unsafe {
            let codes = _mm512_cvtepu8_epi32(_mm_loadu_si128(codes.cast()));
            _mm512_permutexvar_ps(codes, table)
        }
    }

    #[inline(always)]
    unsafe fn column(start: u32) -> __m512i {
        // SAFETY: the CPU supports the instructions.
        unsafe { _mm512_set1_epi32(start as i32) }
    }

    #[inline(always)]
    unsafe fn along(x: *const f32, column: __m512i, low: *const u16) -> (__m512, __m512i) {
        // SAFETY: guaranteed by the caller. The next columns depend on the current ones through one addition
        // only.
        unsafe {
            let sums = sums16(shorts16(low));
            let all = _mm512_permutexvar_epi32(_mm512_set1_epi32(15), sums);
            let x = _mm512_i32gather_ps::<4>(_mm512_add_epi32(column, sums), x);
            (x, _mm512_add_epi32(column, all))
        }
    }

    #[inline(always)]
    unsafe fn along_first(x: *const f32, column: __m512i, low: *const u16, n: usize) -> __m512 {
        let k = first(n) as __mmask16;
        // SAFETY: guaranteed by the caller.
        unsafe {
            let columns = _mm512_add_epi32(column, sums16(shorts16_first(low, k)));
            _mm512_mask_i32gather_ps::<4>(_mm512_setzero_ps(), k, columns, x)
        }
    }
}
