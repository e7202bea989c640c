//! Whether x is worth asking for ahead of its use.

use crate::matrix::Scalar;

/// Stretches that are looked at, and entries of each.
const STRETCHES: usize = 16;
const ENTRIES: usize = 512;

/// Whether x lies beyond the `near_bytes` of a core's own caches and neighbouring entries read it here and
/// there: in stretches of entries, more than a quarter as many cache lines as entries. The stretches begin
/// at places evenly spaced among `places`; `columns_from` gives the columns from one on.
pub(super) fn is_far<T: Scalar, C: Iterator<Item = u32>>(
    cols: usize,
    near_bytes: u64,
    places: usize,
    columns_from: impl Fn(usize) -> C,
) -> bool {
    if cols as u64 * T::BYTES as u64 <= near_bytes {
        return false;
    }
    let shift = (64 / T::BYTES).ilog2();
    let mut lines = Vec::with_capacity(ENTRIES);
    let (mut seen, mut apart) = (0, 0);
    for k in 0..STRETCHES.min(places) {
        let place = (places as u128 * k as u128 / STRETCHES as u128) as usize;
        lines.clear();
        lines.extend(columns_from(place).take(ENTRIES).map(|col| col >> shift));
        seen += lines.len();
        lines.sort_unstable();
        lines.dedup();
        apart += lines.len();
    }
    apart * 4 > seen
}
