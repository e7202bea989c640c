//! Storage layout of a packed matrix.

use super::vectors::LANES;

/// Offset of panel `p`: each panel before it has 4 numbers for each of its columns and 4 unused ones.
#[inline(always)]
pub(super) fn panel_start(p: usize) -> usize {
    LANES * LANES * (p * (p + 1) / 2) + LANES * p
}

/// Offset of column `j` within a panel, after the four unused numbers.
#[inline(always)]
pub(super) fn column_start(j: usize) -> usize {
    LANES * (j + 1)
}
