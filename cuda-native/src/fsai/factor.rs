//! The factor G on the device, with its postfilter and transpose.

use sparsescope_core::fsai::FsaiError;
use sparsescope_core::matrix::{Csr, Offset, RowPtr};

use super::error::FsaiSetUpError;
use super::matrix::{Matrix, counted, total};
use crate::arguments::{Element, FsaiDrop, FsaiKeep, FsaiRows, FsaiTranspose, Reads, Writes};
use crate::arrays::{Arrays, Offsets, Slots};
use crate::buffer::Buffer;
use crate::device::{Device, DeviceError};
use crate::order::{scan, sort};
use crate::setup::Setup;

/// A square matrix in CSR on the device, with fewer than 2³¹ nonzeros.
#[derive(Debug)]
pub(crate) struct DeviceFactor {
    rows: u32,
    ptr: Buffer<u32>,
    slots: Slots<f64>,
}

impl DeviceFactor {
    pub(super) fn new(rows: u32, ptr: Buffer<u32>, slots: Slots<f64>) -> Self {
        Self { rows, ptr, slots }
    }

    /// A matrix without rows.
    pub(super) fn empty(device: &Device) -> Result<Self, DeviceError> {
        let ptr = Buffer::of(device, "the row offsets", &[0])?;
        Ok(Self { rows: 0, ptr, slots: Slots::of(device, &[], &[])? })
    }

    /// As a matrix in CSR.
    pub(super) fn into_arrays(self) -> Arrays<f64> {
        Arrays::Csr { row_ptr: Offsets::Narrow(self.ptr), slots: self.slots }
    }

    pub(super) fn bytes(&self) -> u64 {
        self.ptr.bytes() + self.slots.col.bytes() + self.slots.val.bytes()
    }

    pub(super) fn entries(&self) -> u64 {
        self.slots.val.len() as u64
    }

    pub(super) fn to_host(&self, device: &Device) -> Result<Csr, FsaiSetUpError> {
        let n = self.rows as usize;
        let ptr = RowPtr::Narrow(self.ptr.to_host(device)?);
        let (col, val) = (self.slots.col.to_host(device)?, self.slots.val.to_host(device)?);
        Ok(Csr::try_new(n, n, ptr, col, val).map_err(FsaiError::from)?)
    }
}

/// Drops entries with g_ij² ≤ τ·Σ_k g_ik² and rescales rows so that diag(G·A·Gᵀ) = 1 still holds.
pub(super) fn without_small<O: Offset + Element>(
    setup: &Setup<'_>,
    a: &Matrix<'_, O>,
    g: &DeviceFactor,
    tau: f64,
) -> Result<DeviceFactor, DeviceError> {
    let what = "the filtered factor";
    let n = g.rows as usize;
    let kept = setup.array(what, g.slots.val.len())?;
    let (len, root) = (setup.array(what, n)?, setup.array(what, n)?);
    let (g_ptr, g_col, g_val) = (Reads(&g.ptr), Reads(&g.slots.col), Reads(&g.slots.val));
    let arguments = FsaiDrop {
        rows: g.rows,
        tau,
        on_diagonal: a.on_diagonal,
        g_ptr,
        g_col,
        g_val,
        row_ptr: Reads(a.row_ptr),
        low: Reads(&a.low),
        col: Reads(&a.slots.col),
        val: Reads(&a.slots.val),
        kept: Writes(&kept),
        len: Writes(&len),
        root: Writes(&root),
    };
    // SAFETY: one warp per row of G, whose columns are rows of A; each row has an element of `len`
    // and `root`, and each entry one of `kept`.
    unsafe { setup.threads("fsai_filter_drop", u64::from(g.rows) * 32, &arguments)? };
    let entries = counted("the number of nonzeros of G", total(setup, g.rows, &len)?)?;
    let ptr = setup.array(what, n + 1)?;
    scan(setup, g.rows, &len, &ptr)?;
    let slots = Slots { col: setup.array(what, entries)?, val: setup.array(what, entries)? };
    let arguments = FsaiKeep {
        rows: g.rows,
        g_ptr,
        g_col,
        g_val,
        kept: Reads(&kept),
        root: Reads(&root),
        ptr: Reads(&ptr),
        out_col: Writes(&slots.col),
        out_val: Writes(&slots.val),
    };
    // SAFETY: eight lanes per row, which write as many entries as were counted, from its offset on.
    unsafe { setup.threads("fsai_order_keep", u64::from(g.rows) * 8, &arguments)? };
    Ok(DeviceFactor::new(g.rows, ptr, slots))
}

/// Gᵀ: entries sorted by column, then by row.
pub(super) fn transposed(setup: &Setup<'_>, g: &DeviceFactor) -> Result<DeviceFactor, DeviceError> {
    let what = "the transposed factor";
    let entries = g.slots.val.len();
    let count = entries as u32;
    let row_of = setup.array(what, entries)?;
    let arguments = FsaiRows { rows: g.rows, g_ptr: Reads(&g.ptr), row_of: Writes(&row_of) };
    // SAFETY: eight lanes per row, whose entries have one element each.
    unsafe { setup.threads("fsai_order_rows", u64::from(g.rows) * 8, &arguments)? };
    let (order, ptr) = sort(setup, count, &g.slots.col, g.rows)?;
    let slots = Slots { col: setup.array(what, entries)?, val: setup.array(what, entries)? };
    let arguments = FsaiTranspose {
        entries: count,
        order: Reads(&order),
        row_of: Reads(&row_of),
        g_val: Reads(&g.slots.val),
        out_col: Writes(&slots.col),
        out_val: Writes(&slots.val),
    };
    // SAFETY: one thread per entry; the order has each entry once.
    unsafe { setup.threads("fsai_order_transpose", count.into(), &arguments)? };
    Ok(DeviceFactor::new(g.rows, ptr, slots))
}
