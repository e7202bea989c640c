//! Large arrays that several threads write.

use std::mem::MaybeUninit;

use crate::memory::room_for;
use crate::parallel::*;

/// Elements that a thread writes at a time.
const CHUNK: usize = 1 << 16;

/// Copies elements that will be read at random, using several threads.
pub fn copied<T: Copy + Send + Sync>(from: &[T]) -> Vec<T> {
    let mut array = room_for(from.len());
    let (room, _) = array.spare_capacity_mut().split_at_mut(from.len());
    room.par_chunks_mut(CHUNK).zip(from.par_chunks(CHUNK)).for_each(|(to, from)| {
        to.write_copy_of_slice(from);
    });
    // SAFETY: the capacity is large enough, and the chunks, equal in number and length to those of
    // `from`, have been written completely.
    unsafe { array.set_len(from.len()) };
    array
}

/// `len` copies of a value, written by several threads: the first access to fresh memory costs more than the rest.
pub fn repeated<T: Copy + Send + Sync>(value: T, len: usize) -> Vec<T> {
    let mut array = room_for(len);
    let (room, _) = array.spare_capacity_mut().split_at_mut(len);
    room.par_chunks_mut(CHUNK).for_each(|to| to.fill(MaybeUninit::new(value)));
    // SAFETY: the capacity is large enough, and all chunks have been written completely.
    unsafe { array.set_len(len) };
    array
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arrays_of_any_size_are_copied_and_filled() {
        for len in [0, 1, 1000, (1 << 16) + 17, 3 << 17] {
            let counted: Vec<u32> = (0..len).collect();
            assert_eq!(copied(&counted), counted);
            assert_eq!(repeated(7u32, len as usize), vec![7; len as usize]);
        }
    }
}
