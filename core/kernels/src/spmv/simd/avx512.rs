//! AVX-512 vectors: 512 bits, sets of lanes in mask registers.

use std::arch::x86_64::*;

use super::lanes::Lanes;

/// Eight 64-bit numbers.
#[derive(Clone, Copy, Debug)]
pub struct F64x8;

/// Sixteen 32-bit numbers.
#[derive(Clone, Copy, Debug)]
pub struct F32x16;

/// The set of the first n lanes.
#[inline(always)]
fn first(n: usize) -> u32 {
    (1 << n) - 1
}

/// Lanes that continue the lane `by` before them, given in `open` the lanes that continue the previous one: 1
/// returns `open`; 2, 4 and 8 take the result of half of it.
#[inline(always)]
fn doubled(open: u32, by: u32) -> u32 {
    open & open << by
}

// SAFETY: eight lanes; each method is the instruction that its contract describes, and masked loads and
// stores touch no memory in lanes that are masked off.
unsafe impl Lanes for F64x8 {
    type Value = f64;
    type Vector = __m512d;
    const LANES: usize = 8;

    #[inline(always)]
    unsafe fn zero() -> __m512d {
        // SAFETY: the CPU supports the instructions.
        unsafe { _mm512_setzero_pd() }
    }

    #[inline(always)]
    unsafe fn splat(value: f64) -> __m512d {
        // SAFETY: the CPU supports the instructions.
        unsafe { _mm512_set1_pd(value) }
    }

    #[inline(always)]
    unsafe fn load(from: *const f64) -> __m512d {
        // SAFETY: guaranteed by the caller.
        unsafe { _mm512_loadu_pd(from) }
    }

    #[inline(always)]
    unsafe fn load_first(from: *const f64, n: usize) -> __m512d {
        // SAFETY: guaranteed by the caller; other lanes are not read.
        unsafe { _mm512_maskz_loadu_pd(first(n) as u8, from) }
    }

    #[inline(always)]
    unsafe fn store(to: *mut f64, v: __m512d) {
        // SAFETY: guaranteed by the caller.
        unsafe { _mm512_storeu_pd(to, v) }
    }

    #[inline(always)]
    unsafe fn store_first(to: *mut f64, v: __m512d, n: usize) {
        // SAFETY: guaranteed by the caller; other lanes are not written.
        unsafe { _mm512_mask_storeu_pd(to, first(n) as u8, v) }
    }

    #[inline(always)]
    unsafe fn gather(x: *const f64, col: *const u32) -> __m512d {
        // SAFETY: guaranteed by the caller.
        unsafe { _mm512_i32gather_pd::<8>(_mm256_loadu_si256(col.cast()), x) }
    }

    #[inline(always)]
    unsafe fn gather_first(x: *const f64, col: *const u32, n: usize) -> __m512d {
        let k = first(n) as u8;
        // SAFETY: guaranteed by the caller; other lanes read neither columns nor x.
        unsafe {
            let col = _mm256_maskz_loadu_epi32(k, col.cast());
            _mm512_mask_i32gather_pd::<8>(_mm512_setzero_pd(), k, col, x)
        }
    }

    #[inline(always)]
    unsafe fn mul(a: __m512d, b: __m512d) -> __m512d {
        // SAFETY: the CPU supports the instructions.
        unsafe { _mm512_mul_pd(a, b) }
    }

    #[inline(always)]
    unsafe fn add(a: __m512d, b: __m512d) -> __m512d {
        // SAFETY: the CPU supports the instructions.
        unsafe { _mm512_add_pd(a, b) }
    }

    #[inline(always)]
    unsafe fn mul_add(a: __m512d, b: __m512d, c: __m512d) -> __m512d {
        // SAFETY: the CPU supports the instructions.
        unsafe { _mm512_fmadd_pd(a, b, c) }
    }

    #[inline(always)]
    unsafe fn mul_add_above(
        (a, b): (__m512d, __m512d),
        c: __m512d,
        lengths: *const u32,
        j: u32,
    ) -> __m512d {
        // SAFETY: guaranteed by the caller.
        unsafe {
            let lengths = _mm256_loadu_si256(lengths.cast());
            let k = _mm256_cmpgt_epu32_mask(lengths, _mm256_set1_epi32(j as i32));
            _mm512_mask3_fmadd_pd(a, b, c, k)
        }
    }

    #[inline(always)]
    unsafe fn sum(v: __m512d) -> f64 {
        // SAFETY: the CPU supports the instructions.
        unsafe { _mm512_reduce_add_pd(v) }
    }

    #[inline(always)]
    unsafe fn segments(v: __m512d, ends: u32) -> __m512d {
        let open = !(ends << 1 | 1);
        let two = doubled(open, 1);
        let four = doubled(two, 2);
        // SAFETY: the CPU supports the instructions.
        unsafe {
            let none = _mm512_setzero_si512();
            // Lane k of this is lane k − BY of v.
            macro_rules! lane_before {
                ($v:expr, $by:literal) => {{
                    let v = _mm512_castpd_si512($v);
                    _mm512_castsi512_pd(_mm512_alignr_epi64::<{ 8 - $by }>(v, none))
                }};
            }
            let v = _mm512_mask_add_pd(v, open as u8, v, lane_before!(v, 1));
            let v = _mm512_mask_add_pd(v, two as u8, v, lane_before!(v, 2));
            _mm512_mask_add_pd(v, four as u8, v, lane_before!(v, 4))
        }
    }

    #[inline(always)]
    unsafe fn add_in(v: __m512d, w: __m512d, lanes: u32) -> __m512d {
        // SAFETY: the CPU supports the instructions.
        unsafe { _mm512_mask_add_pd(v, lanes as u8, v, w) }
    }

    #[inline(always)]
    unsafe fn last(v: __m512d) -> __m512d {
        // SAFETY: the CPU supports the instructions.
        unsafe { _mm512_permutexvar_pd(_mm512_set1_epi64(7), v) }
    }

    #[inline(always)]
    unsafe fn compress(v: __m512d, lanes: u32) -> __m512d {
        // SAFETY: the CPU supports the instructions.
        unsafe { _mm512_maskz_compress_pd(lanes as u8, v) }
    }

    #[inline(always)]
    unsafe fn expand(v: __m512d, lanes: u32) -> __m512d {
        // SAFETY: the CPU supports the instructions.
        unsafe { _mm512_maskz_expand_pd(lanes as u8, v) }
    }
}

// SAFETY: sixteen lanes; as above.
unsafe impl Lanes for F32x16 {
    type Value = f32;
    type Vector = __m512;
    const LANES: usize = 16;

    #[inline(always)]
    unsafe fn zero() -> __m512 {
        // SAFETY: the CPU supports the instructions.
        unsafe { _mm512_setzero_ps() }
    }

    #[inline(always)]
    unsafe fn splat(value: f32) -> __m512 {
        // SAFETY: the CPU supports the instructions.
        unsafe { _mm512_set1_ps(value) }
    }

    #[inline(always)]
    unsafe fn load(from: *const f32) -> __m512 {
        // SAFETY: guaranteed by the caller.
        unsafe { _mm512_loadu_ps(from) }
    }

    #[inline(always)]
    unsafe fn load_first(from: *const f32, n: usize) -> __m512 {
        // SAFETY: guaranteed by the caller; other lanes are not read.
        unsafe { _mm512_maskz_loadu_ps(first(n) as u16, from) }
    }

    #[inline(always)]
    unsafe fn store(to: *mut f32, v: __m512) {
        // SAFETY: guaranteed by the caller.
        unsafe { _mm512_storeu_ps(to, v) }
    }

    #[inline(always)]
    unsafe fn store_first(to: *mut f32, v: __m512, n: usize) {
        // SAFETY: guaranteed by the caller; other lanes are not written.
        unsafe { _mm512_mask_storeu_ps(to, first(n) as u16, v) }
    }

    #[inline(always)]
    unsafe fn gather(x: *const f32, col: *const u32) -> __m512 {
        // SAFETY: guaranteed by the caller.
        unsafe { _mm512_i32gather_ps::<4>(_mm512_loadu_si512(col.cast()), x) }
    }

    #[inline(always)]
    unsafe fn gather_first(x: *const f32, col: *const u32, n: usize) -> __m512 {
        let k = first(n) as u16;
        // SAFETY: guaranteed by the caller; other lanes read neither columns nor x.
        unsafe {
            let col = _mm512_maskz_loadu_epi32(k, col.cast());
            _mm512_mask_i32gather_ps::<4>(_mm512_setzero_ps(), k, col, x)
        }
    }

    #[inline(always)]
    unsafe fn mul(a: __m512, b: __m512) -> __m512 {
        // SAFETY: the CPU supports the instructions.
        unsafe { _mm512_mul_ps(a, b) }
    }

    #[inline(always)]
    unsafe fn add(a: __m512, b: __m512) -> __m512 {
        // SAFETY: the CPU supports the instructions.
        unsafe { _mm512_add_ps(a, b) }
    }

    #[inline(always)]
    unsafe fn mul_add(a: __m512, b: __m512, c: __m512) -> __m512 {
        // SAFETY: the CPU supports the instructions.
        unsafe { _mm512_fmadd_ps(a, b, c) }
    }

    #[inline(always)]
    unsafe fn mul_add_above(
        (a, b): (__m512, __m512),
        c: __m512,
        lengths: *const u32,
        j: u32,
    ) -> __m512 {
        // SAFETY: guaranteed by the caller.
        unsafe {
            let lengths = _mm512_loadu_si512(lengths.cast());
            let k = _mm512_cmpgt_epu32_mask(lengths, _mm512_set1_epi32(j as i32));
            _mm512_mask3_fmadd_ps(a, b, c, k)
        }
    }

    #[inline(always)]
    unsafe fn sum(v: __m512) -> f32 {
        // SAFETY: the CPU supports the instructions.
        unsafe { _mm512_reduce_add_ps(v) }
    }

    #[inline(always)]
    unsafe fn segments(v: __m512, ends: u32) -> __m512 {
        let open = !(ends << 1 | 1);
        let two = doubled(open, 1);
        let four = doubled(two, 2);
        let eight = doubled(four, 4);
        // SAFETY: the CPU supports the instructions.
        unsafe {
            let none = _mm512_setzero_si512();
            // Lane k of this is lane k − BY of v.
            macro_rules! lane_before {
                ($v:expr, $by:literal) => {{
                    let v = _mm512_castps_si512($v);
                    _mm512_castsi512_ps(_mm512_alignr_epi32::<{ 16 - $by }>(v, none))
                }};
            }
            let v = _mm512_mask_add_ps(v, open as u16, v, lane_before!(v, 1));
            let v = _mm512_mask_add_ps(v, two as u16, v, lane_before!(v, 2));
            let v = _mm512_mask_add_ps(v, four as u16, v, lane_before!(v, 4));
            _mm512_mask_add_ps(v, eight as u16, v, lane_before!(v, 8))
        }
    }

    #[inline(always)]
    unsafe fn add_in(v: __m512, w: __m512, lanes: u32) -> __m512 {
        // SAFETY: the CPU supports the instructions.
        unsafe { _mm512_mask_add_ps(v, lanes as u16, v, w) }
    }

    #[inline(always)]
    unsafe fn last(v: __m512) -> __m512 {
        // SAFETY: the CPU supports the instructions.
        unsafe { _mm512_permutexvar_ps(_mm512_set1_epi32(15), v) }
    }

    #[inline(always)]
    unsafe fn compress(v: __m512, lanes: u32) -> __m512 {
        // SAFETY: the CPU supports the instructions.
        unsafe { _mm512_maskz_compress_ps(lanes as u16, v) }
    }

    #[inline(always)]
    unsafe fn expand(v: __m512, lanes: u32) -> __m512 {
        // SAFETY: the CPU supports the instructions.
        unsafe { _mm512_maskz_expand_ps(lanes as u16, v) }
    }
}
