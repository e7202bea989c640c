//! A hint to the processor that memory will be read soon.

/// Bytes of a cache line.
pub(crate) const CACHE_LINE: usize = 64;

/// Asks for the cache line of `address`, where the architecture can.
#[inline(always)]
pub(crate) fn prefetch<T>(address: *const T) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: a prefetch of any address, valid or not, only hints at the cache.
    unsafe {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        _mm_prefetch::<_MM_HINT_T0>(address.cast());
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = address;
}

/// The same for `count` elements from an address on, line by line.
#[inline(always)]
pub(crate) fn prefetch_lines<T>(address: *const T, count: usize) {
    for line in (0..count).step_by(CACHE_LINE / size_of::<T>()) {
        prefetch(address.wrapping_add(line));
    }
}

/// The same for what is read in order and later: into the second-level cache, which holds more requests
/// at a time, and where the first-level cache is not robbed of what is read again and again.
#[inline(always)]
pub(crate) fn prefetch_later<T>(address: *const T) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: a prefetch of any address, valid or not, only hints at the cache.
    unsafe {
        use std::arch::x86_64::{_MM_HINT_T1, _mm_prefetch};
        _mm_prefetch::<_MM_HINT_T1>(address.cast());
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = address;
}
