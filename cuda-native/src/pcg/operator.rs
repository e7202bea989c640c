//! A matrix on the device in the format in which a solver multiplies with it.

use std::sync::Arc;
use std::time::Instant;

use sparsescope_core::experiment::PrepareError;
use sparsescope_core::kernel::{COO_SPAN, GridMapping, Work, lanes_a_row};
use sparsescope_core::matrix::{
    AnyFormat, DEFAULT_HACK_SIZE, HllLayout, Hyb, Offset, Order, SlotLayout,
};
use sparsescope_core::memory::MemoryLimit;
use sparsescope_core::pcg::OperatorFormat;

use super::state::{Purpose, Scalars, row_count};
use crate::arguments::{
    CooCarrySolver, CooSegmentedSolver, CsrTilesSolver, Element, EllSolver, HllColumnMajorSolver,
    Reads, Writes,
};
use crate::arrays::{Arrays, Hacks, Offsets, Slots};
use crate::buffer::{Buffer, Spent};
use crate::convert;
use crate::device::{Device, DeviceError};
use crate::launch::{Launch, Shape, Step};
use crate::refusal::refused;
use crate::spmv::Plan;
use crate::upload::Uploaded;

/// Threads a block where the format does not say.
const BLOCK: u32 = 128;

/// A square matrix ready to be multiplied with.
pub(crate) struct Operator {
    stored: Stored,
    rows: u32,
    /// Bringing it into its format; 0 where it stays as it was.
    pub(crate) conversion_s: f64,
    /// Bytes of the format's arrays.
    pub(crate) bytes: u64,
    /// What it took to make arrays beside those of CSR.
    pub(crate) spent: Spent,
}

enum Stored {
    Tiles { csr: Arc<Uploaded<f64>>, plan: Plan<f64> },
    Hacks(Box<Hacks<f64>>),
    Hyb { arrays: Arrays<f64>, carry_row: Buffer<u32>, carry_sum: Buffer<f64> },
}

/// y = A·x, and what the sum with·y is for.
pub(crate) struct Product<'a> {
    pub(crate) x: &'a Buffer<f64>,
    pub(crate) y: &'a Buffer<f64>,
    pub(crate) purpose: Purpose<'a>,
}

fn wrong_format() -> DeviceError {
    DeviceError::Format("another than CSR")
}

impl Operator {
    /// The matrix, which lies on the device in CSR, in a format. Refused where it does not fit there, or
    /// its plan within `memory`.
    pub(crate) fn of(
        device: &Device,
        csr: Arc<Uploaded<f64>>,
        format: OperatorFormat,
        memory: MemoryLimit,
    ) -> Result<Self, PrepareError> {
        let AnyFormat::Csr(host) = csr.host() else { return Err(refused(wrong_format())) };
        let host = Arc::clone(host);
        let rows = row_count(host.rows()).map_err(refused)?;
        let begun = Instant::now();
        let (stored, bytes, spent) = match format {
            OperatorFormat::Csr => {
                let plan = Plan::of(device, &host).map_err(refused)?;
                let (bytes, spent) = (host.bytes() + plan.bytes(), plan.spent());
                (Stored::Tiles { csr, plan }, bytes, spent)
            }
            OperatorFormat::Hll => {
                let layout = HllLayout::plain(DEFAULT_HACK_SIZE, Order::ColumnMajor);
                let hacks = convert::hacks(device, &host, csr.copy(), layout, memory)?;
                let spent = hacks.spent();
                let rows = hacks.offsets.bytes() + hacks.row_len.bytes();
                let bytes = rows + hacks.slots.col.bytes() + hacks.slots.val.bytes();
                (Stored::Hacks(Box::new(hacks)), bytes, spent)
            }
            OperatorFormat::Hyb { width } => {
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

    /// Blocks of a launch that adds up a sum; none where a launch of its own does.
    pub(crate) fn blocks(&self) -> u64 {
        match &self.stored {
            Stored::Tiles { plan, .. } => plan.tiles as u64,
            Stored::Hacks(hacks) => hacks_grid(self.rows, hacks),
            Stored::Hyb { .. } => 0,
        }
    }

    /// The steps of a product, which do nothing once the solve is over.
    pub(crate) fn product(
        &self,
        device: &Device,
        scalars: &Scalars,
        product: &Product<'_>,
    ) -> Result<Vec<Step>, DeviceError> {
        let of = Of { device, rows: self.rows, scalars, product };
        match &self.stored {
            Stored::Tiles { csr, plan } => match csr.copy() {
                Arrays::Csr { row_ptr: Offsets::Narrow(row_ptr), slots } => {
                    of.tiles(plan, row_ptr, slots)
                }
                Arrays::Csr { row_ptr: Offsets::Wide(row_ptr), slots } => {
                    of.tiles(plan, row_ptr, slots)
                }
                _ => Err(wrong_format()),
            },
            Stored::Hacks(hacks) => of.hacks(hacks),
            Stored::Hyb { arrays, carry_row, carry_sum } => of.hyb(arrays, carry_row, carry_sum),
        }
    }
}

impl Stored {
    fn hyb(device: &Device, hyb: Hyb) -> Result<Self, DeviceError> {
        let spans = hyb.tail().nnz().div_ceil(COO_SPAN as usize);
        let arrays = Arrays::of(device, &AnyFormat::Hyb(Arc::new(hyb)))?;
        let carry_row = Buffer::unset(device, "what spans carry", spans)?;
        let carry_sum = Buffer::unset(device, "what spans carry", spans)?;
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

/// Blocks over rows in hacks.
fn hacks_grid(rows: u32, hacks: &Hacks<f64>) -> u64 {
    let lanes = lanes_a_row(rows.into(), hacks.shape.slots());
    GridMapping::LanesPerRow.blocks(Work::Shared(rows.into(), lanes.into()), BLOCK)
}

/// A product that is being bound.
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
            parts: Writes(&scalars.parts),
            counts: Writes(&scalars.counts),
            numbers: Writes(&scalars.numbers),
            words: Writes(&scalars.words),
            told: Writes(&scalars.told),
        };
        let shape = Shape { grid: plan.tiles as u64, block: plan.shape.threads, shared_bytes: 0 };
        let name = format!("csr_adaptive_solver_{}x{}", plan.shape.threads, plan.shape.items);
        // SAFETY: as for `csr_adaptive`: there are as many blocks as tiles, which hold each row once, whole
        // or in parts, and no more entries than the shape has; x, y and what y is multiplied with have an
        // element a row of the square matrix. What blocks add up has room for as many of them.
        let launch = unsafe { Launch::new(self.device, &name, shape, &arguments)? };
        Ok(vec![Step::Launch(launch)])
    }

    fn hacks(&self, a: &Hacks<f64>) -> Result<Vec<Step>, DeviceError> {
        let Product { x, y, purpose } = self.product;
        let scalars = self.scalars;
        let arguments = HllColumnMajorSolver {
            rows: self.rows,
            hack_size: DEFAULT_HACK_SIZE as u32,
            lanes: lanes_a_row(self.rows.into(), a.shape.slots()),
            offsets: Reads(&a.offsets),
            row_len: Reads(&a.row_len),
            col: Reads(&a.slots.col),
            val: Reads(&a.slots.val),
            x: Reads(x),
            y: Writes(y),
            purpose: purpose.number(),
            with: Reads(purpose.with().unwrap_or(x)),
            parts: Writes(&scalars.parts),
            counts: Writes(&scalars.counts),
            numbers: Writes(&scalars.numbers),
            words: Writes(&scalars.words),
            told: Writes(&scalars.told),
        };
        let shape = Shape { grid: hacks_grid(self.rows, a), block: BLOCK, shared_bytes: 0 };
        // SAFETY: as for `hll_column_major`: every row lies in a hack of that size at its own position; x, y
        // and what y is multiplied with have an element a row. What blocks add up has room for as many.
        let launch =
            unsafe { Launch::new(self.device, "hll_column_major_solver", shape, &arguments)? };
        Ok(vec![Step::Launch(launch)])
    }

    /// Three launches, and one that adds up the sum.
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
        // SAFETY: as for `ell_column_major`: each row has a length up to the width; x and y have an element
        // a row of the square matrix.
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
            // SAFETY: as for `coo_segmented`: rows and columns are those of the matrix; each span has a
            // place of its own in what is carried.
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
            // SAFETY: as for `coo_carry`: the launch before has written every span's row.
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
