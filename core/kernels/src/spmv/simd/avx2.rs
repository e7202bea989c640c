//! AVX2 vectors with FMA: 256 bits, sets of lanes as vectors of ones and zeros.

use std::arch::x86_64::*;

use super::lanes::Lanes;

/// Four 64-bit numbers.
#[derive(Clone, Copy, Debug)]
pub struct F64x4;

/// Eight 32-bit numbers.
#[derive(Clone, Copy, Debug)]
pub struct F32x8;

/// A table that vectors are loaded from.
#[repr(align(32))]
struct Table<const N: usize, T>([T; N]);

/// Eight ones, then zeros: a window of it is the mask of the first lanes.
static FIRST: Table<16, i32> = Table([-1, -1, -1, -1, -1, -1, -1, -1, 0, 0, 0, 0, 0, 0, 0, 0]);

/// The mask of each set of four lanes.
static MASKS: Table<16, [u64; 4]> = {
    let mut masks = [[0; 4]; 16];
    let mut set = 0;
    while set < 16 {
        let mut lane = 0;
        while lane < 4 {
            masks[set][lane] = if set >> lane & 1 == 1 { u64::MAX } else { 0 };
            lane += 1;
        }
        set += 1;
    }
    Table(masks)
};

/// For each set of eight lanes, the source lane of each of the first lanes, so that the lanes of the set
/// become contiguous; a set of four lanes, each counted as two, does the same for 64 bits.
static COMPRESSED: Table<256, [u8; 8]> = Table(orders(true));

/// For each set of eight lanes, the source among the first lanes of each lane of the set.
static EXPANDED: Table<256, [u8; 8]> = Table(orders(false));

const fn orders(compressed: bool) -> [[u8; 8]; 256] {
    let mut orders = [[0; 8]; 256];
    let mut set = 0;
    while set < 256 {
        let (mut lane, mut next) = (0, 0);
        while lane < 8 {
            if set >> lane & 1 == 1 {
                if compressed {
                    orders[set][next] = lane as u8;
                } else {
                    orders[set][lane] = next as u8;
                }
                next += 1;
            }
            lane += 1;
        }
        set += 1;
    }
    orders
}

/// Maps a set of four lanes to eight, two for each.
#[inline(always)]
fn paired(lanes: u32) -> u32 {
    const PAIRED: [u8; 16] = {
        let mut paired = [0; 16];
        let mut set = 0;
        while set < 16 {
            let mut lane = 0;
            while lane < 4 {
                paired[set] |= if set >> lane & 1 == 1 { 3 << (2 * lane) } else { 0 };
                lane += 1;
            }
            set += 1;
        }
        paired
    };
    PAIRED[(lanes & 15) as usize].into()
}

/// A row of [`COMPRESSED`] or [`EXPANDED`] as 32-bit numbers.
#[inline(always)]
unsafe fn order(table: &Table<256, [u8; 8]>, lanes: u32) -> __m256i {
    // SAFETY: the row has the eight bytes that are loaded.
    unsafe {
        _mm256_cvtepu8_epi32(_mm_loadl_epi64(table.0[(lanes & 255) as usize].as_ptr().cast()))
    }
}

/// The mask of a set of four 64-bit lanes.
#[inline(always)]
unsafe fn mask4(lanes: u32) -> __m256d {
    // SAFETY: the row has four numbers.
    unsafe { _mm256_load_pd(MASKS.0[(lanes & 15) as usize].as_ptr().cast()) }
}

/// The mask of a set of eight 32-bit lanes.
#[inline(always)]
unsafe fn mask8(lanes: u32) -> __m256 {
    // SAFETY: the CPU supports the instructions.
    unsafe {
        let bit = _mm256_setr_epi32(1, 2, 4, 8, 16, 32, 64, 128);
        let held = _mm256_and_si256(_mm256_set1_epi32(lanes as i32), bit);
        _mm256_castsi256_ps(_mm256_cmpeq_epi32(held, bit))
    }
}

/// The mask of the first n of four 64-bit lanes.
#[inline(always)]
unsafe fn first4(n: usize) -> __m256i {
    // SAFETY: n is at most 4, so the window starts at 0 or later and has eight numbers.
    unsafe { _mm256_loadu_si256(FIRST.0.as_ptr().add(8 - 2 * n).cast()) }
}

/// The mask of the first n of eight 32-bit lanes.
#[inline(always)]
unsafe fn first8(n: usize) -> __m256i {
    // SAFETY: n is at most 8, so the window starts at 0 or later and has eight numbers.
    unsafe { _mm256_loadu_si256(FIRST.0.as_ptr().add(8 - n).cast()) }
}

// SAFETY: four lanes; each method fulfils its contract, and masked loads and stores touch no memory in lanes
// that are masked off. x is read by scalar loads, which are no slower than a gather on any CPU and faster on
// many; two columns are loaded at a time, because load throughput is the bottleneck.
unsafe impl Lanes for F64x4 {
    type Value = f64;
    type Vector = __m256d;
    const LANES: usize = 4;

    #[inline(always)]
    unsafe fn zero() -> __m256d {
        // SAFETY: the CPU supports the instructions.
        unsafe { _mm256_setzero_pd() }
    }

    #[inline(always)]
    unsafe fn splat(value: f64) -> __m256d {
        // SAFETY: the CPU supports the instructions.
        unsafe { _mm256_set1_pd(value) }
    }

    #[inline(always)]
    unsafe fn load(from: *const f64) -> __m256d {
        // SAFETY: guaranteed by the caller.
        unsafe { _mm256_loadu_pd(from) }
    }

    #[inline(always)]
    unsafe fn load_first(from: *const f64, n: usize) -> __m256d {
        // SAFETY: guaranteed by the caller; other lanes are not read.
        unsafe { _mm256_maskload_pd(from, first4(n)) }
    }

    #[inline(always)]
    unsafe fn store(to: *mut f64, v: __m256d) {
        // SAFETY: guaranteed by the caller.
        unsafe { _mm256_storeu_pd(to, v) }
    }

    #[inline(always)]
    unsafe fn store_first(to: *mut f64, v: __m256d, n: usize) {
        // SAFETY: guaranteed by the caller; other lanes are not written.
        unsafe { _mm256_maskstore_pd(to, first4(n), v) }
    }

    #[inline(always)]
    unsafe fn gather(x: *const f64, col: *const u32) -> __m256d {
        // SAFETY: guaranteed by the caller.
        unsafe {
            let [low, high] = [0, 2].map(|k| col.add(k).cast::<u64>().read_unaligned());
            let at = |col: u64| *x.add((col & 0xffff_ffff) as usize);
            _mm256_setr_pd(at(low), at(low >> 32), at(high), at(high >> 32))
        }
    }

    #[inline(always)]
    unsafe fn gather_first(x: *const f64, col: *const u32, n: usize) -> __m256d {
        // SAFETY: guaranteed by the caller; columns beyond n are not read but taken as 0, and the first
        // element of x, which they point to, is masked off.
        unsafe {
            let mask = _mm256_castsi256_si128(first8(n));
            let mut at = [0u32; 4];
            _mm_storeu_si128(at.as_mut_ptr().cast(), _mm_maskload_epi32(col.cast(), mask));
            _mm256_and_pd(Self::gather(x, at.as_ptr()), _mm256_castsi256_pd(first4(n)))
        }
    }

    #[inline(always)]
    unsafe fn mul(a: __m256d, b: __m256d) -> __m256d {
        // SAFETY: the CPU supports the instructions.
        unsafe { _mm256_mul_pd(a, b) }
    }

    #[inline(always)]
    unsafe fn add(a: __m256d, b: __m256d) -> __m256d {
        // SAFETY: the CPU supports the instructions.
        unsafe { _mm256_add_pd(a, b) }
    }

    #[inline(always)]
    unsafe fn mul_add(a: __m256d, b: __m256d, c: __m256d) -> __m256d {
        // SAFETY: the CPU supports the instructions.
        unsafe { _mm256_fmadd_pd(a, b, c) }
    }

    #[inline(always)]
    unsafe fn mul_add_above(
        (a, b): (__m256d, __m256d),
        c: __m256d,
        lengths: *const u32,
        j: u32,
    ) -> __m256d {
        // SAFETY: guaranteed by the caller; lengths and j are below 2³¹, so that their signs do not matter.
        unsafe {
            let lengths = _mm_loadu_si128(lengths.cast());
            let above = _mm256_cvtepi32_epi64(_mm_cmpgt_epi32(lengths, _mm_set1_epi32(j as i32)));
            _mm256_blendv_pd(c, _mm256_fmadd_pd(a, b, c), _mm256_castsi256_pd(above))
        }
    }

    #[inline(always)]
    unsafe fn sum(v: __m256d) -> f64 {
        // SAFETY: the CPU supports the instructions.
        unsafe {
            let pair = _mm_add_pd(_mm256_castpd256_pd128(v), _mm256_extractf128_pd::<1>(v));
            _mm_cvtsd_f64(_mm_add_sd(pair, _mm_unpackhi_pd(pair, pair)))
        }
    }

    #[inline(always)]
    unsafe fn segments(v: __m256d, ends: u32) -> __m256d {
        let open = !(ends << 1 | 1);
        let two = open & open << 1;
        // SAFETY: the CPU supports the instructions. A lane outside its set adds 0.
        unsafe {
            let before = _mm256_permute4x64_pd::<0b10_01_00_00>(v);
            let v = _mm256_add_pd(v, _mm256_and_pd(before, mask4(open)));
            let before = _mm256_permute2f128_pd::<0x08>(v, v);
            _mm256_add_pd(v, _mm256_and_pd(before, mask4(two)))
        }
    }

    #[inline(always)]
    unsafe fn add_in(v: __m256d, w: __m256d, lanes: u32) -> __m256d {
        // SAFETY: the CPU supports the instructions.
        unsafe { _mm256_add_pd(v, _mm256_and_pd(w, mask4(lanes))) }
    }

    #[inline(always)]
    unsafe fn last(v: __m256d) -> __m256d {
        // SAFETY: the CPU supports the instructions.
        unsafe { _mm256_permute4x64_pd::<0b11_11_11_11>(v) }
    }

    #[inline(always)]
    unsafe fn compress(v: __m256d, lanes: u32) -> __m256d {
        // SAFETY: the CPU supports the instructions.
        unsafe {
            let order = order(&COMPRESSED, paired(lanes));
            _mm256_castps_pd(_mm256_permutevar8x32_ps(_mm256_castpd_ps(v), order))
        }
    }

    #[inline(always)]
    unsafe fn expand(v: __m256d, lanes: u32) -> __m256d {
        // SAFETY: the CPU supports the instructions.
        unsafe {
            let order = order(&EXPANDED, paired(lanes));
            let spread = _mm256_permutevar8x32_ps(_mm256_castpd_ps(v), order);
            _mm256_and_pd(_mm256_castps_pd(spread), mask4(lanes))
        }
    }
}

// SAFETY: eight lanes; as above.
unsafe impl Lanes for F32x8 {
    type Value = f32;
    type Vector = __m256;
    const LANES: usize = 8;

    #[inline(always)]
    unsafe fn zero() -> __m256 {
        // SAFETY: the CPU supports the instructions.
        unsafe { _mm256_setzero_ps() }
    }

    #[inline(always)]
    unsafe fn splat(value: f32) -> __m256 {
        // SAFETY: the CPU supports the instructions.
        unsafe { _mm256_set1_ps(value) }
    }

    #[inline(always)]
    unsafe fn load(from: *const f32) -> __m256 {
        // SAFETY: guaranteed by the caller.
        unsafe { _mm256_loadu_ps(from) }
    }

    #[inline(always)]
    unsafe fn load_first(from: *const f32, n: usize) -> __m256 {
        // SAFETY: guaranteed by the caller; other lanes are not read.
        unsafe { _mm256_maskload_ps(from, first8(n)) }
    }

    #[inline(always)]
    unsafe fn store(to: *mut f32, v: __m256) {
        // SAFETY: guaranteed by the caller.
        unsafe { _mm256_storeu_ps(to, v) }
    }

    #[inline(always)]
    unsafe fn store_first(to: *mut f32, v: __m256, n: usize) {
        // SAFETY: guaranteed by the caller; other lanes are not written.
        unsafe { _mm256_maskstore_ps(to, first8(n), v) }
    }

    #[inline(always)]
    unsafe fn gather(x: *const f32, col: *const u32) -> __m256 {
        // SAFETY: guaranteed by the caller.
        unsafe {
            let at = |k: usize| *x.add(*col.add(k) as usize);
            _mm256_setr_ps(at(0), at(1), at(2), at(3), at(4), at(5), at(6), at(7))
        }
    }

    #[inline(always)]
    unsafe fn gather_first(x: *const f32, col: *const u32, n: usize) -> __m256 {
        // SAFETY: guaranteed by the caller; columns beyond n are not read but taken as 0, and the first
        // element of x, which they point to, is masked off.
        unsafe {
            let mut at = [0u32; 8];
            let first = first8(n);
            _mm256_storeu_si256(at.as_mut_ptr().cast(), _mm256_maskload_epi32(col.cast(), first));
            _mm256_and_ps(Self::gather(x, at.as_ptr()), _mm256_castsi256_ps(first))
        }
    }

    #[inline(always)]
    unsafe fn mul(a: __m256, b: __m256) -> __m256 {
        // SAFETY: the CPU supports the instructions.
        unsafe { _mm256_mul_ps(a, b) }
    }

    #[inline(always)]
    unsafe fn add(a: __m256, b: __m256) -> __m256 {
        // SAFETY: the CPU supports the instructions.
        unsafe { _mm256_add_ps(a, b) }
    }

    #[inline(always)]
    unsafe fn mul_add(a: __m256, b: __m256, c: __m256) -> __m256 {
        // SAFETY: the CPU supports the instructions.
        unsafe { _mm256_fmadd_ps(a, b, c) }
    }

    #[inline(always)]
    unsafe fn mul_add_above(
        (a, b): (__m256, __m256),
        c: __m256,
        lengths: *const u32,
        j: u32,
    ) -> __m256 {
        // SAFETY: guaranteed by the caller; lengths and j are below 2³¹, so that their signs do not matter.
        unsafe {
            let lengths = _mm256_loadu_si256(lengths.cast());
            let above = _mm256_cmpgt_epi32(lengths, _mm256_set1_epi32(j as i32));
            _mm256_blendv_ps(c, _mm256_fmadd_ps(a, b, c), _mm256_castsi256_ps(above))
        }
    }

    #[inline(always)]
    unsafe fn sum(v: __m256) -> f32 {
        // SAFETY: the CPU supports the instructions.
        unsafe {
            let four = _mm_add_ps(_mm256_castps256_ps128(v), _mm256_extractf128_ps::<1>(v));
            let pair = _mm_add_ps(four, _mm_movehl_ps(four, four));
            _mm_cvtss_f32(_mm_add_ss(pair, _mm_movehdup_ps(pair)))
        }
    }

    #[inline(always)]
    unsafe fn segments(v: __m256, ends: u32) -> __m256 {
        let open = !(ends << 1 | 1);
        let two = open & open << 1;
        let four = two & two << 2;
        // SAFETY: the CPU supports the instructions. A lane outside its set adds 0.
        unsafe {
            let one_before = _mm256_setr_epi32(0, 0, 1, 2, 3, 4, 5, 6);
            let before = _mm256_permutevar8x32_ps(v, one_before);
            let v = _mm256_add_ps(v, _mm256_and_ps(before, mask8(open)));
            let two_before = _mm256_setr_epi32(0, 0, 0, 1, 2, 3, 4, 5);
            let before = _mm256_permutevar8x32_ps(v, two_before);
            let v = _mm256_add_ps(v, _mm256_and_ps(before, mask8(two)));
            let before = _mm256_permute2f128_ps::<0x08>(v, v);
            _mm256_add_ps(v, _mm256_and_ps(before, mask8(four)))
        }
    }

    #[inline(always)]
    unsafe fn add_in(v: __m256, w: __m256, lanes: u32) -> __m256 {
        // SAFETY: the CPU supports the instructions.
        unsafe { _mm256_add_ps(v, _mm256_and_ps(w, mask8(lanes))) }
    }

    #[inline(always)]
    unsafe fn last(v: __m256) -> __m256 {
        // SAFETY: the CPU supports the instructions.
        unsafe { _mm256_permutevar8x32_ps(v, _mm256_set1_epi32(7)) }
    }

    #[inline(always)]
    unsafe fn compress(v: __m256, lanes: u32) -> __m256 {
        // SAFETY: the CPU supports the instructions.
        unsafe { _mm256_permutevar8x32_ps(v, order(&COMPRESSED, lanes)) }
    }

    #[inline(always)]
    unsafe fn expand(v: __m256, lanes: u32) -> __m256 {
        // SAFETY: the CPU supports the instructions.
        unsafe { _mm256_and_ps(_mm256_permutevar8x32_ps(v, order(&EXPANDED, lanes)), mask8(lanes)) }
    }
}
