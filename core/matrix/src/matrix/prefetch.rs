//! Hints to the CPU that memory will be read soon.

/// Bytes of a cache line.
pub const CACHE_LINE: usize = 64;

/// Prefetches the cache line at `address`, where the architecture can.
#[inline(always)]
pub fn prefetch<T>(address: *const T) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: a prefetch of any address, valid or not, only hints at the cache.
    unsafe {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        _mm_prefetch::<_MM_HINT_T0>(address.cast());
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = address;
}

/// Prefetches `count` elements from an address, line by line.
#[inline(always)]
pub fn prefetch_lines<T>(address: *const T, count: usize) {
    for line in (0..count).step_by(CACHE_LINE / size_of::<T>()) {
        prefetch(address.wrapping_add(line));
    }
}

/// Prefetches what is read in order and later into the L2 cache, which holds more outstanding requests
/// and spares the L1 cache for data that is reused.
#[inline(always)]
pub fn prefetch_later<T>(address: *const T) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: a prefetch of any address, valid or not, only hints at the cache.
    unsafe {
        use std::arch::x86_64::{_MM_HINT_T1, _mm_prefetch};
        _mm_prefetch::<_MM_HINT_T1>(address.cast());
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = address;
}
