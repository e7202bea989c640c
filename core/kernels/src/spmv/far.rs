//! Whether prefetching x pays off.

use sparsescope_matrix::matrix::Scalar;

/// Number of samples, and nonzeros per sample.
const STRETCHES: usize = 16;
const ENTRIES: usize = 512;

/// Whether x exceeds the `near_bytes` of a core's private caches and neighbouring nonzeros access it
/// irregularly: sampled stretches of nonzeros touch more than a quarter as many cache lines as nonzeros. The
/// stretches start at positions spaced evenly over `places`; `columns_from` yields the columns from a
/// position on.
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
