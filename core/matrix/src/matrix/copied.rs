//! Copies of large arrays.

use crate::memory::room_for;
use crate::parallel::*;

/// Copies elements that will be read at random, using several threads.
pub fn copied<T: Copy + Send + Sync>(from: &[T]) -> Vec<T> {
    const CHUNK: usize = 1 << 16;
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arrays_of_any_size_are_copied() {
        for len in [0, 1, 1000, (1 << 16) + 17, 3 << 17] {
            let counted: Vec<u32> = (0..len).collect();
            assert_eq!(copied(&counted), counted);
        }
    }
}
