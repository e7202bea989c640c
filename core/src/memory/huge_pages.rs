//! Large arrays on large pages, where the system hands them out on request: filling an array for
//! the first time costs one page fault for every 2 MiB instead of 512.

/// A vector of `len` copies of `zero`, whose bytes are all 0, so that fresh memory needs no
/// filling.
pub(crate) fn zeroed<T: Copy>(zero: T, len: usize) -> Vec<T> {
    let array = vec![zero; len];
    #[cfg(target_os = "linux")]
    request(&array);
    array
}

/// Asks for large pages in the part of `array` that consists of whole ones.
#[cfg(target_os = "linux")]
fn request<T>(array: &[T]) {
    const HUGE: usize = 2 << 20;
    let range = array.as_ptr_range();
    let start = range.start.addr().next_multiple_of(HUGE);
    let end = range.end.addr() / HUGE * HUGE;
    if start < end {
        let first = range.start.cast::<u8>().wrapping_add(start - range.start.addr());
        // SAFETY: the bytes lie inside `array`, start on a page, and the advice changes neither
        // their content nor who may use them. Only speed depends on the answer.
        unsafe { libc::madvise(first.cast_mut().cast(), end - start, libc::MADV_HUGEPAGE) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arrays_of_any_size_are_zero() {
        for len in [0, 1, 1000, (2 << 20) + 17, 3 << 20] {
            let array = zeroed(0u32, len);
            assert_eq!(array.len(), len);
            assert!(array.iter().all(|&v| v == 0));
        }
    }
}
