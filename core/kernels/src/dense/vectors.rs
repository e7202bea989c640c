//! Four numbers at a time: as an array, and as an AVX2 vector with fused multiply-adds.

/// Numbers per vector, which is also the number of rows per panel.
pub(super) const LANES: usize = 4;

/// Four numbers.
pub(super) trait Vector: Copy {
    /// # Safety
    /// The CPU supports these vectors; four numbers can be read at `from`.
    unsafe fn load(from: *const f64) -> Self;

    /// # Safety
    /// The CPU supports these vectors; four numbers can be written at `to`.
    unsafe fn store(self, to: *mut f64);

    /// Four copies.
    ///
    /// # Safety
    /// The CPU supports these vectors.
    unsafe fn splat(value: f64) -> Self;

    /// The elementwise products.
    ///
    /// # Safety
    /// The CPU supports these vectors.
    unsafe fn times(self, other: Self) -> Self;

    /// `self − a·b`.
    ///
    /// # Safety
    /// The CPU supports these vectors.
    unsafe fn minus_product(self, a: Self, b: Self) -> Self;
}

impl Vector for [f64; LANES] {
    #[inline(always)]
    unsafe fn load(from: *const f64) -> Self {
        // SAFETY: the caller's promise.
        unsafe { from.cast::<Self>().read() }
    }

    #[inline(always)]
    unsafe fn store(self, to: *mut f64) {
        // SAFETY: the caller's promise.
        unsafe { to.cast::<Self>().write(self) }
    }

    #[inline(always)]
    unsafe fn splat(value: f64) -> Self {
        [value; LANES]
    }

    #[inline(always)]
    unsafe fn times(self, other: Self) -> Self {
        std::array::from_fn(|lane| self[lane] * other[lane])
    }

    #[inline(always)]
    unsafe fn minus_product(self, a: Self, b: Self) -> Self {
        std::array::from_fn(|lane| self[lane] - a[lane] * b[lane])
    }
}

#[cfg(target_arch = "x86_64")]
impl Vector for std::arch::x86_64::__m256d {
    #[inline(always)]
    unsafe fn load(from: *const f64) -> Self {
        // SAFETY: the caller's promise.
        unsafe { std::arch::x86_64::_mm256_loadu_pd(from) }
    }

    #[inline(always)]
    unsafe fn store(self, to: *mut f64) {
        // SAFETY: the caller's promise.
        unsafe { std::arch::x86_64::_mm256_storeu_pd(to, self) }
    }

    #[inline(always)]
    unsafe fn splat(value: f64) -> Self {
        // SAFETY: the caller's promise.
        unsafe { std::arch::x86_64::_mm256_set1_pd(value) }
    }

    #[inline(always)]
    unsafe fn times(self, other: Self) -> Self {
        // SAFETY: the caller's promise.
        unsafe { std::arch::x86_64::_mm256_mul_pd(self, other) }
    }

    #[inline(always)]
    unsafe fn minus_product(self, a: Self, b: Self) -> Self {
        // SAFETY: the caller's promise.
        unsafe { std::arch::x86_64::_mm256_fnmadd_pd(a, b, self) }
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
    unsafe fn run<V: Vector>(self) -> Self::Output;
}

/// Runs the work with fused multiply-adds if the CPU has them. Results differ in their last bits between CPUs
/// with and without them, but not between threads.
#[inline]
pub(super) fn with_widest<W: Work>(work: W) -> W::Output {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
        // SAFETY: the CPU has the features that `with_avx2` enables.
        return unsafe { with_avx2(work) };
    }
    // SAFETY: portable code has no requirements.
    unsafe { work.run::<[f64; LANES]>() }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
fn with_avx2<W: Work>(work: W) -> W::Output {
    // SAFETY: the caller has checked the features.
    unsafe { work.run::<std::arch::x86_64::__m256d>() }
}
