//! A matrix on the device in the format of a solver's SpMV.

use std::sync::Arc;
use std::time::Instant;

use sparsescope_core::experiment::PrepareError;
use sparsescope_core::kernel::{COO_SPAN, GridMapping, Work};
use sparsescope_core::matrix::{AnyFormat, Csr, DEFAULT_HACK_SIZE, HllLayout, Hyb, Offset, Order};
use sparsescope_core::memory::MemoryLimit;
use sparsescope_core::pcg::OperatorFormat;

use super::distances::Distances;
use super::hacks::NearHacks;
use super::source::Source;
use super::state::{Product, Scalars};
use crate::arguments::{
    CooCarrySolver, CooSegmentedSolver, CsrTilesSolver, Element, EllSolver, Reads, Writes,
};
use crate::arrays::{Arrays, Offsets, Slots};
use crate::buffer::{Buffer, Spent};
use crate::convert;
use crate::device::{Device, DeviceError, row_count};
use crate::launch::{Launch, Shape, Step};
use crate::refusal::refused;
use crate::spmv::Plan;

/// Threads per block where the format does not say.
const BLOCK: u32 = 128;

/// A matrix ready for SpMV: square, or one GPU's rows of a square matrix.
pub(crate) struct Operator {
    stored: Stored,
    rows: u32,
    /// Seconds of conversion to its format; 0 if it stays unchanged.
    pub(crate) conversion_s: f64,
    /// Bytes of the format's arrays.
    pub(crate) bytes: u64,
    /// Time spent on creating arrays besides those of CSR.
    pub(crate) spent: Spent,
}

enum Stored {
    Tiles { csr: Source, plan: Plan<f64> },
    Hacks(Box<NearHacks>),
    Hyb { arrays: Arrays<f64>, carry_row: Buffer<u32>, carry_sum: Buffer<f64> },
}

fn wrong_format() -> DeviceError {
    DeviceError::Format("formats other than CSR here")
}

impl Operator {
    /// Converts the matrix, which lies on the device in CSR, to a format, and HLL's values to codes
    /// if `encodes` and they are few. Refused if it does not fit there, or if its plan exceeds
    /// `memory`.
    pub(crate) fn of(
        device: &Device,
        csr: Source,
        (format, encodes): (OperatorFormat, bool),
        memory: MemoryLimit,
    ) -> Result<Self, PrepareError> {
        let rows = csr.rows().and_then(row_count).map_err(refused)?;
        let begun = Instant::now();
        let (stored, bytes, spent) = match format {
            OperatorFormat::Csr => {
                let plan = csr.row_ptr(device).and_then(|row_ptr| Plan::of(device, &row_ptr));
                let plan = plan.map_err(refused)?;
                let (bytes, spent) = (csr.bytes() + plan.bytes(), plan.spent());
                (Stored::Tiles { csr, plan }, bytes, spent)
            }
            OperatorFormat::Hll => {
                let hacks = NearHacks::of(device, csr.arrays(), encodes).map_err(refused)?;
                let (bytes, spent) = (hacks.bytes(), hacks.spent());
                (Stored::Hacks(Box::new(hacks)), bytes, spent)
            }
            OperatorFormat::Hyb { width } => {
                let host = csr.to_host(device)?;
                let width = width.unwrap_or_else(|| Hyb::default_width(&host));
                let hyb = Hyb::from_csr(&host, width, Order::ColumnMajor, memory);
                let hyb = hyb.map_err(|error| PrepareError::Refused(error.to_string()))?;
                let bytes = hyb.bytes();
                let stored = Stored::hyb(device, hyb).map_err(refused)?;
                let spent = stored.spent();
                (stored, bytes, spent)
            }
        };
        device.synchronize().map_err(refused)?;
        let took = begun.elapsed().as_secs_f64() - spent.allocate_s - spent.upload_s;
        let conversion_s = if format == OperatorFormat::Csr { 0.0 } else { took.max(0.0) };
        Ok(Self { stored, rows, conversion_s, bytes, spent })
    }

    /// Some rows of a matrix on the host, in HLL; the device never holds them twice.
    pub(crate) fn in_hacks(
        device: &Device,
        rows_of: &Csr,
        memory: MemoryLimit,
    ) -> Result<Self, PrepareError> {
        let rows = row_count(rows_of.rows()).map_err(refused)?;
        let layout = HllLayout::plain(DEFAULT_HACK_SIZE, Order::ColumnMajor);
        let begun = Instant::now();
        let distances = Distances::none(device).map_err(refused)?;
        let (hacks, uploaded) = convert::hacks_in_pieces(
            device,
            rows_of,
            layout,
            memory,
            &mut |before, row_ptr, of| distances.add(device, before, (row_ptr, &of.col)),
        )?;
        let hacks = NearHacks::of_hacks(device, hacks, rows, &distances).map_err(refused)?;
        device.synchronize().map_err(refused)?;
        let (bytes, spent) = (hacks.bytes(), hacks.spent() + uploaded);
        let took = begun.elapsed().as_secs_f64() - spent.allocate_s - spent.upload_s;
        let (stored, conversion_s) = (Stored::Hacks(Box::new(hacks)), took.max(0.0));
        Ok(Self { stored, rows, conversion_s, bytes, spent })
    }

    /// Blocks of an SpMV that leaves a sum; `None` if a separate launch does.
    pub(crate) fn blocks(&self) -> u64 {
        match &self.stored {
            Stored::Tiles { plan, .. } => plan.tiles as u64,
            Stored::Hacks(hacks) => hacks.blocks(),
            Stored::Hyb { .. } => 0,
        }
    }

    /// The steps of an SpMV, which do nothing once the solve is over.
    pub(crate) fn product(
        &self,
        device: &Device,
        scalars: &Scalars,
        product: &Product<'_>,
    ) -> Result<Vec<Step>, DeviceError> {
        let of = Of { device, rows: self.rows, scalars, product };
        match &self.stored {
            Stored::Tiles { csr, plan } => match csr.arrays() {
                Arrays::Csr { row_ptr: Offsets::Narrow(row_ptr), slots } => {
                    of.tiles(plan, row_ptr, slots)
                }
                Arrays::Csr { row_ptr: Offsets::Wide(row_ptr), slots } => {
                    of.tiles(plan, row_ptr, slots)
                }
                _ => Err(wrong_format()),
            },
            Stored::Hacks(hacks) => Ok(vec![hacks.product(device, scalars, product)?]),
            Stored::Hyb { arrays, carry_row, carry_sum } => of.hyb(arrays, carry_row, carry_sum),
        }
    }
}

impl Stored {
    fn hyb(device: &Device, hyb: Hyb) -> Result<Self, DeviceError> {
        let spans = hyb.tail().nnz().div_ceil(COO_SPAN as usize);
        let arrays = Arrays::of(device, &AnyFormat::Hyb(Arc::new(hyb)))?;
        let carry_row = Buffer::unset(device, "sums carried over between spans", spans)?;
        let carry_sum = Buffer::unset(device, "sums carried over between spans", spans)?;
        Ok(Self::Hyb { arrays, carry_row, carry_sum })
    }

    fn spent(&self) -> Spent {
        match self {
            Self::Tiles { plan, .. } => plan.spent(),
            Self::Hacks(hacks) => hacks.spent(),
            Self::Hyb { arrays, carry_row, carry_sum } => {
                arrays.spent() + carry_row.spent() + carry_sum.spent()
            }
        }
    }
}

/// An SpMV that is being bound.
struct Of<'a> {
    device: &'a Device,
    rows: u32,
    scalars: &'a Scalars,
    product: &'a Product<'a>,
}

impl Of<'_> {
    fn tiles<O: Offset + Element>(
        &self,
        plan: &Plan<f64>,
        row_ptr: &Buffer<O>,
        slots: &Slots<f64>,
    ) -> Result<Vec<Step>, DeviceError> {
        let Product { x, y, purpose } = self.product;
        let scalars = self.scalars;
        let sum = scalars.sum_for(*purpose);
        let arguments = CsrTilesSolver {
            plan: Reads(&plan.words),
            row_ptr: Reads(row_ptr),
            col: Reads(&slots.col),
            val: Reads(&slots.val),
            x: Reads(x),
            y: Writes(y),
            part_sum: Writes(&plan.part_sum),
            arrived: Writes(&plan.arrived),
            purpose: purpose.number(),
            with: Reads(purpose.with().unwrap_or(x)),
            parts: Writes(&sum.parts),
            counts: Writes(&sum.counts),
            numbers: Writes(&scalars.numbers),
            words: Reads(&scalars.words),
        };
        let shape = Shape { grid: plan.tiles as u64, block: plan.shape.threads, shared_bytes: 0 };
        let name = format!("csr_adaptive_solver_{}x{}", plan.shape.threads, plan.shape.items);
        // SAFETY: as for `csr_adaptive`: there are as many blocks as tiles, which hold each row
        // once, whole or in parts, and no more nonzeros than the shape has; x has one element per
        // column, y and the vector it is multiplied with one per row. The sums of blocks have
        // enough space. Blocks load what no kernel writes, then wait for others before they read x.
        let launch =
            unsafe { Launch::new(self.device, &name, shape, &arguments)?.ahead(self.device) };
        Ok(vec![Step::Launch(launch)])
    }

    /// Three launches, and one for the sum.
    fn hyb(
        &self,
        arrays: &Arrays<f64>,
        carry_row: &Buffer<u32>,
        carry_sum: &Buffer<f64>,
    ) -> Result<Vec<Step>, DeviceError> {
        let Arrays::Hyb { row_len, ell, row, tail } = arrays else { return Err(wrong_format()) };
        let Product { x, y, purpose } = self.product;
        let words = Reads(&self.scalars.words);
        let arguments = EllSolver {
            rows: self.rows,
            row_len: Reads(row_len),
            col: Reads(&ell.col),
            val: Reads(&ell.val),
            x: Reads(x),
            y: Writes(y),
            words,
        };
        let grid = GridMapping::ThreadPerRow.blocks(Work::Rows(self.rows.into()), BLOCK);
        let shape = |grid| Shape { grid, block: BLOCK, shared_bytes: 0 };
        // SAFETY: as for `ell_column_major`: each row has a length up to the width; x and y have
        // one element per row of the square matrix.
        let first = unsafe {
            Launch::new(self.device, "ell_column_major_solver", shape(grid), &arguments)?
        };
        let mut steps = vec![Step::Launch(first)];
        let entries = row.len() as u64;
        if entries > 0 {
            let arguments = CooSegmentedSolver {
                entries,
                span: COO_SPAN,
                row: Reads(row),
                col: Reads(&tail.col),
                val: Reads(&tail.val),
                x: Reads(x),
                y: Writes(y),
                carry_row: Writes(carry_row),
                carry_sum: Writes(carry_sum),
                words,
            };
            let grid = GridMapping::WarpPerSpan.blocks(Work::Entries(entries), BLOCK);
            // SAFETY: as for `coo_segmented`: rows and columns are those of the matrix; each span
            // has its own place in the carries.
            let sums = unsafe {
                Launch::new(self.device, "coo_segmented_solver", shape(grid), &arguments)?
            };
            steps.push(Step::Launch(sums));
        }
        let spans = carry_row.len() as u64;
        if spans > 1 {
            let (carry_row, carry_sum) = (Reads(carry_row), Reads(carry_sum));
            let arguments = CooCarrySolver { spans, carry_row, carry_sum, y: Writes(y), words };
            let grid = GridMapping::WarpPerRow.blocks(Work::Rows(spans), BLOCK);
            // SAFETY: as for `coo_carry`: the previous launch has written every span's row.
            let carried =
                unsafe { Launch::new(self.device, "coo_carry_solver", shape(grid), &arguments)? };
            steps.push(Step::Launch(carried));
        }
        if let Some(with) = purpose.with() {
            steps.push(self.scalars.dot(self.device, *purpose, (with, y))?);
        }
        Ok(steps)
    }
}
