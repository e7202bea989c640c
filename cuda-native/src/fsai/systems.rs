//! The dense systems: which rows and columns of A each of them has, and which rows of G it yields.

use super::pattern::DevicePattern;
use crate::buffer::Buffer;

/// Dense systems on the device.
pub(super) struct Systems {
    pub(super) count: u32,
    /// Where the columns of each system begin.
    pub(super) begin: Buffer<u32>,
    pub(super) len: Buffer<u32>,
    pub(super) col: Buffer<u32>,
    /// Rows of G per system; `None` if rows are not merged and each system has one.
    pub(super) members: Option<Members>,
    /// Rows of G.
    pub(super) rows: u32,
    /// Row offsets, including the end of the last row.
    pub(super) g_ptr: Buffer<u32>,
    /// Entries of G.
    pub(super) entries: u64,
}

/// The rows of G that groups yield, sorted within each.
pub(super) struct Members {
    /// Where the members of each group begin, and the end of the last group.
    pub(super) ptr: Buffer<u32>,
    pub(super) row: Buffer<u32>,
    /// The place of each member's diagonal among the columns of its group.
    pub(super) place: Buffer<u32>,
}

impl Systems {
    /// One system per row of a pattern.
    pub(super) fn of_rows(pattern: DevicePattern) -> Self {
        let DevicePattern { rows, ptr, len, col, entries } = pattern;
        Self { count: rows, begin: ptr.clone(), len, col, members: None, rows, g_ptr: ptr, entries }
    }
}
