//! The dense systems: which rows and columns of A each of them has, and which rows of G it gives.

use super::pattern::DevicePattern;
use crate::buffer::Buffer;

/// Dense systems on the device.
pub(super) struct Systems {
    pub(super) count: u32,
    /// Where the columns of each system begin.
    pub(super) begin: Buffer<u32>,
    pub(super) len: Buffer<u32>,
    pub(super) col: Buffer<u32>,
    /// Rows of G, of which there is one a system where rows are not merged.
    pub(super) members: Option<Members>,
    /// Rows of G.
    pub(super) rows: u32,
    /// Where each of them begins, and the last one ends.
    pub(super) g_ptr: Buffer<u32>,
    /// Entries of G.
    pub(super) entries: u64,
}

/// The rows of G that groups give, ascending in each.
pub(super) struct Members {
    /// Where the members of each group begin, and those of the last end.
    pub(super) ptr: Buffer<u32>,
    pub(super) row: Buffer<u32>,
    /// The place of each one's diagonal among the columns of its group.
    pub(super) place: Buffer<u32>,
}

impl Systems {
    /// One for each row of a pattern.
    pub(super) fn of_rows(pattern: DevicePattern) -> Self {
        let DevicePattern { rows, ptr, len, col, entries } = pattern;
        Self { count: rows, begin: ptr.clone(), len, col, members: None, rows, g_ptr: ptr, entries }
    }
}
