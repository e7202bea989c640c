//! Compares 64 points with one at a time, in the SIMD vectors that the CPU supports.

/// Points per tile: as many as AVX-512 compares by one byte each.
pub(super) const LANES: usize = 64;

/// One byte for each of 64 points.
#[repr(align(64))]
#[derive(Clone, Copy)]
pub(super) struct Row(pub(super) [u8; LANES]);

/// Bounds that a value is compared with in one step.
#[repr(align(64))]
pub(super) struct Bounds(pub(super) [f64; BOUNDS]);

/// Number of bounds compared in one step.
pub(super) const BOUNDS: usize = 16;

/// Rows compared between two checks whether any lane is left.
const AT_ONCE: usize = 4;

/// A kind of SIMD vectors.
pub(super) trait Lanes {
    /// Returns a bit per lane of a row: whether its byte is `q` or more.
    ///
    /// # Safety
    /// The CPU supports these vectors.
    unsafe fn row_at_least(row: &Row, q: u8) -> u64;

    /// Returns how many of these bounds are at most `value`; NaN never is.
    ///
    /// # Safety
    /// The CPU supports these vectors.
    unsafe fn at_most(bounds: &Bounds, value: f64) -> u32;

    /// Returns a bit per lane of a tile: whether the byte of every row is at least that of q.
    ///
    /// # Safety
    /// The CPU supports these vectors.
    #[inline(always)]
    unsafe fn at_least(tile: &[Row], q: &[u8]) -> u64 {
        let mut mask = u64::MAX;
        let (mut rows, mut levels) = (tile.chunks_exact(AT_ONCE), q.chunks_exact(AT_ONCE));
        for (rows, levels) in (&mut rows).zip(&mut levels) {
            for (row, &level) in rows.iter().zip(levels) {
                // SAFETY: the caller's promise.
                mask &= unsafe { Self::row_at_least(row, level) };
            }
            if mask == 0 {
                return 0;
            }
        }
        for (row, &level) in rows.remainder().iter().zip(levels.remainder()) {
            // SAFETY: the caller's promise.
            mask &= unsafe { Self::row_at_least(row, level) };
        }
        mask
    }
}

/// Portable code for any CPU, vectorised by the compiler.
pub(super) struct Plain;

impl Lanes for Plain {
    #[inline(always)]
    unsafe fn row_at_least(row: &Row, q: u8) -> u64 {
        let mut mask = 0;
        for (eighth, lanes) in row.0.chunks_exact(8).enumerate() {
            let bits = (0..8).fold(0, |bits, l| bits | u64::from(lanes[l] >= q) << l);
            mask |= bits << (8 * eighth);
        }
        mask
    }

    #[inline(always)]
    unsafe fn at_most(bounds: &Bounds, value: f64) -> u32 {
        bounds.0.iter().map(|&bound| u32::from(bound <= value)).sum()
    }
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use std::arch::x86_64::{
        __m256i, _CMP_LE_OQ, _mm256_cmp_pd, _mm256_cmpeq_epi8, _mm256_load_pd, _mm256_load_si256,
        _mm256_max_epu8, _mm256_movemask_epi8, _mm256_movemask_pd, _mm256_set1_epi8,
        _mm256_set1_pd, _mm512_cmp_pd_mask, _mm512_cmpge_epu8_mask, _mm512_load_pd,
        _mm512_load_si512, _mm512_set1_epi8, _mm512_set1_pd,
    };

    use super::{BOUNDS, Bounds, Lanes, Row};

    /// AVX2: half a row at a time.
    pub(in super::super) struct Avx2;

    impl Lanes for Avx2 {
        #[inline(always)]
        unsafe fn row_at_least(row: &Row, q: u8) -> u64 {
            let first: *const __m256i = row.0.as_ptr().cast();
            // SAFETY: a row has 64 bytes and is aligned to 64; the rest is the caller's promise.
            unsafe {
                let q = _mm256_set1_epi8(q.cast_signed());
                let half = |at: usize| {
                    let lanes = _mm256_load_si256(first.add(at));
                    _mm256_movemask_epi8(_mm256_cmpeq_epi8(_mm256_max_epu8(lanes, q), lanes))
                };
                u64::from(half(0).cast_unsigned()) | u64::from(half(1).cast_unsigned()) << 32
            }
        }

        #[inline(always)]
        unsafe fn at_most(bounds: &Bounds, value: f64) -> u32 {
            // SAFETY: there are 16 bounds, aligned to 64 bytes; the rest is the caller's promise.
            unsafe {
                let value = _mm256_set1_pd(value);
                let four = |at: usize| {
                    let bounds = _mm256_load_pd(bounds.0.as_ptr().add(at));
                    _mm256_movemask_pd(_mm256_cmp_pd::<_CMP_LE_OQ>(bounds, value)).count_ones()
                };
                (0..BOUNDS).step_by(4).map(four).sum()
            }
        }
    }

    /// AVX-512 with byte instructions: one row at a time.
    pub(in super::super) struct Avx512;

    impl Lanes for Avx512 {
        #[inline(always)]
        unsafe fn row_at_least(row: &Row, q: u8) -> u64 {
            // SAFETY: a row has 64 bytes and is aligned to 64; the rest is the caller's promise.
            unsafe {
                let lanes = _mm512_load_si512(row.0.as_ptr().cast());
                _mm512_cmpge_epu8_mask(lanes, _mm512_set1_epi8(q.cast_signed()))
            }
        }

        #[inline(always)]
        unsafe fn at_most(bounds: &Bounds, value: f64) -> u32 {
            // SAFETY: there are 16 bounds, aligned to 64 bytes; the rest is the caller's promise.
            unsafe {
                let value = _mm512_set1_pd(value);
                let eight = |at: usize| {
                    let bounds = _mm512_load_pd(bounds.0.as_ptr().add(at));
                    _mm512_cmp_pd_mask::<_CMP_LE_OQ>(bounds, value).count_ones()
                };
                (0..BOUNDS).step_by(8).map(eight).sum()
            }
        }
    }
}

/// Work that is compiled for each kind of SIMD vectors.
pub(super) trait Work {
    /// The result.
    type Output;

    /// Runs the work. Always inlined, so that all of it is compiled for the given vectors.
    ///
    /// # Safety
    /// The CPU supports these vectors.
    unsafe fn run<L: Lanes>(self) -> Self::Output;
}

/// Runs the work with the widest vectors that the CPU supports.
pub(super) fn with_widest<W: Work>(work: W) -> W::Output {
    #[cfg(target_arch = "x86_64")]
    {
        let has_popcnt = is_x86_feature_detected!("popcnt");
        let has_avx512 =
            is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512bw");
        if has_popcnt && has_avx512 {
            // SAFETY: the CPU has the features that `with_avx512` enables.
            return unsafe { with_avx512(work) };
        }
        if has_popcnt && is_x86_feature_detected!("avx2") {
            // SAFETY: the CPU has the features that `with_avx2` enables.
            return unsafe { with_avx2(work) };
        }
    }
    // SAFETY: portable code has no requirements.
    unsafe { work.run::<Plain>() }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw,popcnt")]
fn with_avx512<W: Work>(work: W) -> W::Output {
    // SAFETY: the caller has checked the features.
    unsafe { work.run::<x86::Avx512>() }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,popcnt")]
fn with_avx2<W: Work>(work: W) -> W::Output {
    // SAFETY: the caller has checked the features.
    unsafe { work.run::<x86::Avx2>() }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Computes the lane mask of a tile, and how many bounds are at most a value.
    #[derive(Clone, Copy)]
    struct Both<'b>(&'b [Row], &'b [u8], &'b Bounds, f64);

    impl Work for Both<'_> {
        type Output = (u64, u32);

        #[inline(always)]
        unsafe fn run<L: Lanes>(self) -> (u64, u32) {
            // SAFETY: the caller's promise.
            unsafe { (L::at_least(self.0, self.1), L::at_most(self.2, self.3)) }
        }
    }

    /// The results of all vectors that this CPU supports.
    fn found(work: Both<'_>) -> Vec<(u64, u32)> {
        #[cfg_attr(
            not(target_arch = "x86_64"),
            expect(unused_mut, reason = "more is found with AVX2 only")
        )]
        // SAFETY: portable code has no requirements.
        let mut found = vec![with_widest(work), unsafe { work.run::<Plain>() }];
        #[cfg(target_arch = "x86_64")]
        if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("popcnt") {
            // SAFETY: the CPU has the features that `with_avx2` enables.
            found.push(unsafe { with_avx2(work) });
        }
        found
    }

    #[test]
    fn all_vectors_find_the_lanes_that_are_nowhere_below() {
        let mut state = 7u32;
        let mut next = || {
            state = state.wrapping_mul(1664525).wrapping_add(1013904223);
            // Bytes on both sides of 128, to detect a signed comparison.
            [0, 1, 127, 128, 200, 254, 255][(state >> 16) as usize % 7]
        };
        let mut passed = 0;
        for rows in [0, 1, 2, 3, 4, 5, 8, 11] {
            for _ in 0..100 {
                let tile: Vec<Row> =
                    (0..rows).map(|_| Row(std::array::from_fn(|_| next()))).collect();
                let q: Vec<u8> = (0..rows).map(|_| next()).collect();
                let is_nowhere_below =
                    |l: usize| tile.iter().zip(&q).all(|(row, &q)| row.0[l] >= q);
                let expected =
                    (0..LANES).fold(0, |mask, l| mask | u64::from(is_nowhere_below(l)) << l);
                for (mask, _) in found(Both(&tile, &q, &Bounds([0.0; BOUNDS]), 0.0)) {
                    assert_eq!(mask, expected, "{rows} rows");
                }
                passed += expected.count_ones();
            }
        }
        assert!((7000..40000).contains(&passed), "{passed} of 51200 lanes pass");
    }

    #[test]
    fn all_vectors_count_the_bounds_that_are_at_most_a_value() {
        let (inf, nan) = (f64::INFINITY, f64::NAN);
        let bounds =
            [-inf, -2.0, -1.0, 0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, inf, nan, nan];
        for (value, expected) in
            [(-inf, 1), (-1.5, 2), (-0.0, 4), (0.0, 4), (7.5, 11), (f64::MAX, 13), (inf, 14)]
        {
            for (_, count) in found(Both(&[], &[], &Bounds(bounds), value)) {
                assert_eq!(count, expected, "{value}");
            }
        }
    }
}
