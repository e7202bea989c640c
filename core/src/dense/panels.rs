//! Where the numbers of a packed matrix lie.

use super::vectors::LANES;

/// Where panel `p` begins: 4 numbers for each of the 4p + 4 columns, and 4 that mean nothing, of each
/// panel before it.
#[inline(always)]
pub(super) fn panel_start(p: usize) -> usize {
    LANES * LANES * (p * (p + 1) / 2) + LANES * p
}

/// Where column `j` begins within a panel, after the four numbers that mean nothing.
#[inline(always)]
pub(super) fn column_start(j: usize) -> usize {
    LANES * (j + 1)
}
