//! Four numbers at a time: as an array, and as a vector of AVX2 with fused multiply-adds.

/// Numbers in one vector, which is also the number of rows of a panel.
pub(super) const LANES: usize = 4;

/// Four numbers.
pub(super) trait Vector: Copy {
    /// # Safety
    /// The processor has these vectors; four numbers can be read at `from`.
    unsafe fn load(from: *const f64) -> Self;

    /// # Safety
    /// The processor has these vectors; four numbers can be written at `to`.
    unsafe fn store(self, to: *mut f64);

    /// Four copies.
    ///
    /// # Safety
    /// The processor has these vectors.
    unsafe fn splat(value: f64) -> Self;

    /// The products.
    ///
    /// # Safety
    /// The processor has these vectors.
    unsafe fn times(self, other: Self) -> Self;

    /// `self − a·b`.
    ///
    /// # Safety
    /// The processor has these vectors.
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

/// Work that is compiled for each kind of vectors.
pub(super) trait Work {
    /// What it comes to.
    type Output;

    /// Does it. Inlined always, so that all of it is compiled for the vectors it is given.
    ///
    /// # Safety
    /// The processor has these vectors.
    unsafe fn run<V: Vector>(self) -> Self::Output;
}

/// Does work with fused multiply-adds where the processor has them. Results of processors with and
/// without them differ in their last bits; those of threads do not.
#[inline]
pub(super) fn with_widest<W: Work>(work: W) -> W::Output {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
        // SAFETY: the processor has what `with_avx2` adds.
        return unsafe { with_avx2(work) };
    }
    // SAFETY: it needs nothing.
    unsafe { work.run::<[f64; LANES]>() }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
fn with_avx2<W: Work>(work: W) -> W::Output {
    // SAFETY: whoever calls this has the features.
    unsafe { work.run::<std::arch::x86_64::__m256d>() }
}
