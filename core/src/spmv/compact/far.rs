//! Whether x is worth asking for ahead of its use.

use crate::matrix::Scalar;

/// Whether x lies beyond the `near_bytes` of a core's own caches and neighbouring entries read it here and
/// there: in the columns of each stretch of entries, more than a quarter as many cache lines as entries.
pub(super) fn is_far<T: Scalar>(
    cols: usize,
    near_bytes: u64,
    stretches: impl Iterator<Item = Vec<u32>>,
) -> bool {
    if cols as u64 * T::BYTES as u64 <= near_bytes {
        return false;
    }
    let shift = (64 / T::BYTES).ilog2();
    let (mut seen, mut apart) = (0, 0);
    for mut columns in stretches {
        seen += columns.len();
        columns.iter_mut().for_each(|c| *c >>= shift);
        columns.sort_unstable();
        columns.dedup();
        apart += columns.len();
    }
    apart * 4 > seen
}

/// Places of 16 stretches among `count`, evenly spaced.
pub(super) fn stretches(count: usize) -> impl Iterator<Item = usize> {
    const STRETCHES: usize = 16;
    (0..STRETCHES.min(count)).map(move |k| (count as u128 * k as u128 / 16) as usize)
}
