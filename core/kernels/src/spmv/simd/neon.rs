//! NEON vectors: 128 bits, without sets of lanes.

use std::arch::aarch64::*;

use super::lanes::Lanes;

/// Two 64-bit numbers.
#[derive(Clone, Copy, Debug)]
pub struct F64x2;

/// Four 32-bit numbers.
#[derive(Clone, Copy, Debug)]
pub struct F32x4;

// SAFETY: two lanes; each method fulfils its contract.
unsafe impl Lanes for F64x2 {
    type Value = f64;
    type Vector = float64x2_t;
    const LANES: usize = 2;

    #[inline(always)]
    unsafe fn zero() -> float64x2_t {
        // SAFETY: aarch64 has NEON.
        unsafe { vdupq_n_f64(0.0) }
    }

    #[inline(always)]
    unsafe fn splat(value: f64) -> float64x2_t {
        // SAFETY: aarch64 has NEON.
        unsafe { vdupq_n_f64(value) }
    }

    #[inline(always)]
    unsafe fn load(from: *const f64) -> float64x2_t {
        // SAFETY: guaranteed by the caller.
        unsafe { vld1q_f64(from) }
    }

    #[inline(always)]
    unsafe fn load_first(from: *const f64, n: usize) -> float64x2_t {
        let mut lane = [0.0; 2];
        for (k, lane) in lane.iter_mut().enumerate().take(n) {
            // SAFETY: guaranteed by the caller.
            *lane = unsafe { *from.add(k) };
        }
        // SAFETY: the array has as many values as there are lanes.
        unsafe { vld1q_f64(lane.as_ptr()) }
    }

    #[inline(always)]
    unsafe fn store(to: *mut f64, v: float64x2_t) {
        // SAFETY: guaranteed by the caller.
        unsafe { vst1q_f64(to, v) }
    }

    #[inline(always)]
    unsafe fn store_first(to: *mut f64, v: float64x2_t, n: usize) {
        let mut lane = [0.0; 2];
        // SAFETY: the array has as many values as there are lanes.
        unsafe { vst1q_f64(lane.as_mut_ptr(), v) };
        for (k, &lane) in lane.iter().enumerate().take(n) {
            // SAFETY: guaranteed by the caller.
            unsafe { to.add(k).write(lane) };
        }
    }

    #[inline(always)]
    unsafe fn gather(x: *const f64, col: *const u32) -> float64x2_t {
        let mut lane = [0.0; 2];
        for (k, lane) in lane.iter_mut().enumerate() {
            // SAFETY: guaranteed by the caller.
            *lane = unsafe { *x.add(*col.add(k) as usize) };
        }
        // SAFETY: the array has as many values as there are lanes.
        unsafe { vld1q_f64(lane.as_ptr()) }
    }

    #[inline(always)]
    unsafe fn gather_first(x: *const f64, col: *const u32, n: usize) -> float64x2_t {
        let mut lane = [0.0; 2];
        for (k, lane) in lane.iter_mut().enumerate().take(n) {
            // SAFETY: guaranteed by the caller.
            *lane = unsafe { *x.add(*col.add(k) as usize) };
        }
        // SAFETY: the array has as many values as there are lanes.
        unsafe { vld1q_f64(lane.as_ptr()) }
    }

    #[inline(always)]
    unsafe fn mul(a: float64x2_t, b: float64x2_t) -> float64x2_t {
        // SAFETY: aarch64 has NEON.
        unsafe { vmulq_f64(a, b) }
    }

    #[inline(always)]
    unsafe fn add(a: float64x2_t, b: float64x2_t) -> float64x2_t {
        // SAFETY: aarch64 has NEON.
        unsafe { vaddq_f64(a, b) }
    }

    #[inline(always)]
    unsafe fn mul_add(a: float64x2_t, b: float64x2_t, c: float64x2_t) -> float64x2_t {
        // SAFETY: aarch64 has NEON.
        unsafe { vfmaq_f64(c, a, b) }
    }

    #[inline(always)]
    unsafe fn mul_add_above(
        (a, b): (float64x2_t, float64x2_t),
        c: float64x2_t,
        lengths: *const u32,
        j: u32,
    ) -> float64x2_t {
        // SAFETY: guaranteed by the caller.
        unsafe {
            let above = vcgt_u32(vld1_u32(lengths), vdup_n_u32(j));
            // Ones stay ones when the lanes are widened.
            let above = vreinterpretq_u64_s64(vmovl_s32(vreinterpret_s32_u32(above)));
            vbslq_f64(above, vfmaq_f64(c, a, b), c)
        }
    }

    #[inline(always)]
    unsafe fn sum(v: float64x2_t) -> f64 {
        // SAFETY: aarch64 has NEON.
        unsafe { vaddvq_f64(v) }
    }
}

// SAFETY: four lanes; as above.
unsafe impl Lanes for F32x4 {
    type Value = f32;
    type Vector = float32x4_t;
    const LANES: usize = 4;

    #[inline(always)]
    unsafe fn zero() -> float32x4_t {
        // SAFETY: aarch64 has NEON.
        unsafe { vdupq_n_f32(0.0) }
    }

    #[inline(always)]
    unsafe fn splat(value: f32) -> float32x4_t {
        // SAFETY: aarch64 has NEON.
        unsafe { vdupq_n_f32(value) }
    }

    #[inline(always)]
    unsafe fn load(from: *const f32) -> float32x4_t {
        // SAFETY: guaranteed by the caller.
        unsafe { vld1q_f32(from) }
    }

    #[inline(always)]
    unsafe fn load_first(from: *const f32, n: usize) -> float32x4_t {
        let mut lane = [0.0; 4];
        for (k, lane) in lane.iter_mut().enumerate().take(n) {
            // SAFETY: guaranteed by the caller.
            *lane = unsafe { *from.add(k) };
        }
        // SAFETY: the array has as many values as there are lanes.
        unsafe { vld1q_f32(lane.as_ptr()) }
    }

    #[inline(always)]
    unsafe fn store(to: *mut f32, v: float32x4_t) {
        // SAFETY: guaranteed by the caller.
        unsafe { vst1q_f32(to, v) }
    }

    #[inline(always)]
    unsafe fn store_first(to: *mut f32, v: float32x4_t, n: usize) {
        let mut lane = [0.0; 4];
        // SAFETY: the array has as many values as there are lanes.
        unsafe { vst1q_f32(lane.as_mut_ptr(), v) };
        for (k, &lane) in lane.iter().enumerate().take(n) {
            // SAFETY: guaranteed by the caller.
            unsafe { to.add(k).write(lane) };
        }
    }

    #[inline(always)]
    unsafe fn gather(x: *const f32, col: *const u32) -> float32x4_t {
        let mut lane = [0.0; 4];
        for (k, lane) in lane.iter_mut().enumerate() {
            // SAFETY: guaranteed by the caller.
            *lane = unsafe { *x.add(*col.add(k) as usize) };
        }
        // SAFETY: the array has as many values as there are lanes.
        unsafe { vld1q_f32(lane.as_ptr()) }
    }

    #[inline(always)]
    unsafe fn gather_first(x: *const f32, col: *const u32, n: usize) -> float32x4_t {
        let mut lane = [0.0; 4];
        for (k, lane) in lane.iter_mut().enumerate().take(n) {
            // SAFETY: guaranteed by the caller.
            *lane = unsafe { *x.add(*col.add(k) as usize) };
        }
        // SAFETY: the array has as many values as there are lanes.
        unsafe { vld1q_f32(lane.as_ptr()) }
    }

    #[inline(always)]
    unsafe fn mul(a: float32x4_t, b: float32x4_t) -> float32x4_t {
        // SAFETY: aarch64 has NEON.
        unsafe { vmulq_f32(a, b) }
    }

    #[inline(always)]
    unsafe fn add(a: float32x4_t, b: float32x4_t) -> float32x4_t {
        // SAFETY: aarch64 has NEON.
        unsafe { vaddq_f32(a, b) }
    }

    #[inline(always)]
    unsafe fn mul_add(a: float32x4_t, b: float32x4_t, c: float32x4_t) -> float32x4_t {
        // SAFETY: aarch64 has NEON.
        unsafe { vfmaq_f32(c, a, b) }
    }

    #[inline(always)]
    unsafe fn mul_add_above(
        (a, b): (float32x4_t, float32x4_t),
        c: float32x4_t,
        lengths: *const u32,
        j: u32,
    ) -> float32x4_t {
        // SAFETY: guaranteed by the caller.
        unsafe {
            let above = vcgtq_u32(vld1q_u32(lengths), vdupq_n_u32(j));
            vbslq_f32(above, vfmaq_f32(c, a, b), c)
        }
    }

    #[inline(always)]
    unsafe fn sum(v: float32x4_t) -> f32 {
        // SAFETY: aarch64 has NEON.
        unsafe { vaddvq_f32(v) }
    }
}
