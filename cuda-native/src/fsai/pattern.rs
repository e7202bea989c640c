//! The prefiltered matrix, and patterns: where G may have entries.

use sparsescope_core::fsai::Pattern;
use sparsescope_core::matrix::Offset;

use super::matrix::{Matrix, counted, total};
use crate::arguments::{Element, FsaiFirst, FsaiKept, Reads, Writes};
use crate::buffer::Buffer;
use crate::device::DeviceError;
use crate::order::scan;
use crate::setup::Setup;

/// Lanes per row of A.
const LANES: u64 = 8;

/// The prefiltered matrix Ã: columns of each row, stored from where the row begins in A.
pub(super) struct Kept {
    pub(super) len: Buffer<u32>,
    pub(super) col: Buffer<u32>,
    /// Total over all rows.
    pub(super) entries: u64,
}

impl Kept {
    /// The nonzeros with i = j or a_ij² > δ·a_ii·a_jj; δ = 0 drops only zeros.
    pub(super) fn of<O: Offset + Element>(
        setup: &Setup<'_>,
        a: &Matrix<'_, O>,
        delta: f64,
    ) -> Result<Self, DeviceError> {
        let what = "the prefiltered matrix";
        let len = setup.array(what, a.rows as usize)?;
        let kept = |write: u32, col: &Buffer<u32>| {
            let arguments = FsaiKept {
                rows: a.rows,
                delta,
                write,
                row_ptr: Reads(a.row_ptr),
                col: Reads(&a.slots.col),
                val: Reads(&a.slots.val),
                diagonal: Reads(&a.diagonal),
                len: Writes(&len),
                kept: Writes(col),
            };
            let threads = u64::from(a.rows) * LANES;
            // SAFETY: eight lanes per row, which has an element of `len`; columns are written only
            // to places of the row's own nonzeros, and only if `write` says so.
            unsafe { setup.threads("fsai_pattern_kept", threads, &arguments) }
        };
        kept(0, &setup.array(what, 1)?)?;
        let entries = total(setup, a.rows, &len)?;
        if entries == a.entries {
            return Ok(Self { len, col: a.slots.col.clone(), entries });
        }
        let col = setup.array(what, a.slots.col.len())?;
        kept(1, &col)?;
        Ok(Self { len, col, entries })
    }
}

/// Rows of sorted columns, each ending on the diagonal.
pub(super) struct DevicePattern {
    pub(super) rows: u32,
    /// Row offsets, including the end of the last row.
    pub(super) ptr: Buffer<u32>,
    /// Entries of each row.
    pub(super) len: Buffer<u32>,
    pub(super) col: Buffer<u32>,
    /// Total over all rows.
    pub(super) entries: u64,
}

impl DevicePattern {
    /// A pattern computed on the host.
    pub(super) fn uploaded(setup: &Setup<'_>, host: &Pattern) -> Result<Self, DeviceError> {
        let what = "the pattern";
        counted("the number of nonzeros of the pattern", host.entries() as u64)?;
        let ptr: Vec<u32> = host.row_ptr().iter().map(|offset| offset as u32).collect();
        let len: Vec<u32> = (0..host.rows()).map(|i| host.row(i).len() as u32).collect();
        Ok(Self {
            rows: host.rows() as u32,
            ptr: setup.upload(what, &ptr)?,
            len: setup.upload(what, &len)?,
            col: setup.upload(what, host.col())?,
            entries: host.entries() as u64,
        })
    }

    /// Rows of these lengths, written by `fill`, which receives their offsets.
    pub(super) fn of_lengths(
        setup: &Setup<'_>,
        (rows, len): (u32, Buffer<u32>),
        fill: impl FnOnce(&Buffer<u32>, &Buffer<u32>) -> Result<(), DeviceError>,
    ) -> Result<Self, DeviceError> {
        let what = "the pattern";
        let entries = total(setup, rows, &len)?;
        let count = counted("the number of nonzeros of the pattern", entries)?;
        let ptr = setup.array(what, rows as usize + 1)?;
        scan(setup, rows, &len, &ptr)?;
        let col = setup.array(what, count)?;
        fill(&ptr, &col)?;
        Ok(Self { rows, ptr, len, col, entries })
    }

    /// The lower triangle of Ã and the diagonal.
    pub(super) fn lower<O: Offset + Element>(
        setup: &Setup<'_>,
        a: &Matrix<'_, O>,
        kept: &Kept,
    ) -> Result<Self, DeviceError> {
        let what = "the pattern";
        let len = setup.array(what, a.rows as usize)?;
        let none = setup.array(what, 1)?;
        let first = |fill: u32, ptr: &Buffer<u32>, out: &Buffer<u32>| {
            let arguments = FsaiFirst {
                rows: a.rows,
                fill,
                row_ptr: Reads(a.row_ptr),
                len: Reads(&kept.len),
                col: Reads(&kept.col),
                ptr: Reads(ptr),
                found: Writes(&len),
                out: Writes(out),
            };
            let threads = u64::from(a.rows) * LANES;
            // SAFETY: eight lanes per row; filling writes as many columns as counting found, from
            // the row's offset on, and counting accesses neither offsets nor columns.
            unsafe { setup.threads("fsai_pattern_first", threads, &arguments) }
        };
        first(0, &none, &none)?;
        Self::of_lengths(setup, (a.rows, len.clone()), |ptr, out| first(1, ptr, out))
    }
}
