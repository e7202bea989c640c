//! Large arrays on large pages, where the system hands them out on request: filling an array for
//! the first time costs one page fault for every 2 MiB instead of 512.

/// A vector of `len` copies of `zero`, whose bytes are all 0, so that fresh memory needs no
/// filling.
pub fn zeroed<T: Copy>(zero: T, len: usize) -> Vec<T> {
    let array = vec![zero; len];
    request(&array);
    array
}

/// An empty vector with room for `len` elements.
pub fn room_for<T>(len: usize) -> Vec<T> {
    let array = Vec::with_capacity(len);
    request(&array);
    array
}

/// Asks for large pages in the part of an array's memory that consists of whole ones.
#[cfg(target_os = "linux")]
fn request<T>(array: &Vec<T>) {
    const HUGE: usize = 2 << 20;
    let first = array.as_ptr().cast::<u8>();
    let start = first.addr().next_multiple_of(HUGE);
    let end = (first.addr() + array.capacity() * size_of::<T>()) / HUGE * HUGE;
    if start < end {
        let first = first.wrapping_add(start - first.addr());
        // SAFETY: the bytes are the array's own, start on a page, and the advice changes neither
        // their content nor who may use them. Only speed depends on the answer.
        unsafe { libc::madvise(first.cast_mut().cast(), end - start, libc::MADV_HUGEPAGE) };
    }
}

#[cfg(not(target_os = "linux"))]
fn request<T>(_: &Vec<T>) {}

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
