//! y = A·x on one rank: its rows, its part of x with the halo, and the steps of an SpMV.

use std::sync::Arc;

use sparsescope_core::distributed::LocalMatrix;
use sparsescope_core::experiment::{Elements, RankRows};
use sparsescope_core::kernel::KernelDescriptor;
use sparsescope_core::matrix::{AnyFormat, Csr, DEFAULT_HACK_SIZE, HllLayout, Order};
use sparsescope_core::memory::MemoryLimit;

use super::exchange::{Exchange, Overlapped};
use super::rank::Rank;
use crate::buffer::{Buffer, Spent};
use crate::convert;
use crate::device::{Device, DeviceError};
use crate::guarded::{GuardedVector, Written};
use crate::launch::{Step, enqueue};
use crate::spmv::{Bind, Matrix, Operands, launcher};
use crate::upload::Uploads;

/// Threads per block where the kernel does not say.
const BLOCK: u32 = 128;

/// A rank's part of an SpMV, prepared.
pub(crate) struct LocalProduct {
    product: Overlapped,
    y: GuardedVector<f64>,
    /// For each element of y, its place among the rank's rows.
    order: Vec<u32>,
    first_row: u64,
}

/// Number of executions; the median counts.
const PASSES: usize = 9;

/// Seconds of the parts of an SpMV, timed separately.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Apart {
    pub(crate) packing_s: f64,
    pub(crate) computing_s: f64,
    pub(crate) clock_s: f64,
}

/// Costs of preparing a rank's part.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Took {
    /// Seconds of converting rows to the format.
    pub(crate) conversion_s: f64,
    pub(crate) spent: Spent,
    /// Bytes of the arrays that an SpMV reads, without vectors.
    pub(crate) bytes: u64,
}

impl Took {
    /// Combines ranks that ran concurrently: the longest time, and the total bytes.
    pub(crate) fn of_all(all: &[Self]) -> Self {
        all.iter().fold(Self::default(), |sum, one| Self {
            conversion_s: sum.conversion_s.max(one.conversion_s),
            spent: Spent {
                allocate_s: sum.spent.allocate_s.max(one.spent.allocate_s),
                upload_s: sum.spent.upload_s.max(one.spent.upload_s),
            },
            bytes: sum.bytes + one.bytes,
        })
    }

    pub(crate) fn and(self, other: Self) -> Self {
        Self {
            conversion_s: self.conversion_s + other.conversion_s,
            spent: self.spent + other.spent,
            bytes: self.bytes + other.bytes,
        }
    }
}

impl LocalProduct {
    /// For what the rank holds, multiplied by `kernel`, a single-GPU kernel. The host's copy is
    /// freed.
    pub(crate) fn of(
        rank: &Rank,
        (local, plan): RankRows,
        kernel: &'static KernelDescriptor,
        x: &Elements,
        memory: MemoryLimit,
    ) -> Result<(Self, Took), DeviceError> {
        let device = rank.device();
        let own = local.own_cols();
        let mut with_halo = local.localised(&x(local.cols()));
        // Elements that no rank sends are never read: a NaN would reveal it.
        with_halo.resize(local.local_cols(), f64::NAN);
        let with_halo = Buffer::of(device, "the vector x", &with_halo)?;
        let y = GuardedVector::new(device, local.own_rows())?;
        let mut start = 0;
        let mut multiply = |rows: &Arc<Csr>| {
            let x = part(&with_halo, 0..rows.cols())?;
            let y = part(y.elements(), start..start + rows.rows())?;
            start += rows.rows();
            product(device, kernel, rows, (&x, &y), memory)
        };
        let (interior, first) = multiply(local.interior())?;
        let (boundary, second) = multiply(local.boundary())?;
        let exchange = Exchange::of(device, &plan, (&with_halo, own))?;
        let (order, first_row) = (order_of(&local), local.rows().start);
        let product = exchange.around(rank, interior, boundary)?;
        let vectors = Took { spent: with_halo.spent() + y.spent(), ..Took::default() };
        Ok((Self { product, y, order, first_row }, first.and(second).and(vectors)))
    }

    /// The first of the rank's rows in the whole matrix.
    pub(crate) fn first_row(&self) -> u64 {
        self.first_row
    }

    /// Fills y with a value that no kernel computes.
    pub(crate) fn spoil(&self, rank: &Rank) -> Result<(), DeviceError> {
        self.y.spoil(rank.device())
    }

    /// Adds an SpMV to the rank's streams.
    pub(crate) fn enqueue(&self, rank: &Rank) -> Result<(), DeviceError> {
        enqueue(rank.device(), &self.product.steps)
    }

    /// Seconds of packing the halo and of multiplying all rows, without communication.
    pub(crate) fn apart(&self, rank: &Rank) -> Result<Apart, DeviceError> {
        let device = rank.device();
        let median = |work: &dyn Fn() -> Result<(), DeviceError>| {
            let mut times = Vec::with_capacity(PASSES);
            for _ in 0..PASSES {
                times.push(rank.time(work)?);
            }
            times.sort_by(f64::total_cmp);
            Ok::<f64, DeviceError>(times.get(PASSES / 2).copied().unwrap_or_default())
        };
        let Overlapped { pack, interior, boundary, .. } = &self.product;
        Ok(Apart {
            packing_s: median(&|| enqueue(device, pack))?,
            computing_s: median(&|| {
                enqueue(device, interior)?;
                enqueue(device, boundary)
            })?,
            // What the clock measures for no work.
            clock_s: median(&|| Ok(()))?,
        })
    }

    /// The rank's part of y in the order of the whole matrix, or what is wrong with it, and the seconds of
    /// copying.
    pub(crate) fn read(&self, rank: &Rank) -> Result<(Result<Vec<f64>, String>, f64), DeviceError> {
        rank.finish()?;
        let (y, seconds) = self.y.read(rank.device())?;
        Ok((y.map(|y| in_order(&self.order, &y.in_f64())), seconds))
    }
}

/// For each local row, its place among the rank's rows.
pub(crate) fn order_of(local: &LocalMatrix) -> Vec<u32> {
    let first = local.rows().start;
    // Rows of a rank are counted in 32 bits.
    (0..local.own_rows()).map(|k| (local.global_row(k) - first) as u32).collect()
}

/// Reorders a vector over local rows to the order of the whole matrix.
pub(crate) fn in_order(order: &[u32], local: &[f64]) -> Vec<f64> {
    let mut own = vec![0.0; local.len()];
    for (&place, &value) in order.iter().zip(local) {
        if let Some(element) = own.get_mut(place as usize) {
            *element = value;
        }
    }
    own
}

/// A range of an array, which must be within it.
pub(crate) fn part(
    of: &Buffer<f64>,
    range: std::ops::Range<usize>,
) -> Result<Buffer<f64>, DeviceError> {
    of.part(range).ok_or_else(|| DeviceError::Arrays("part of a vector is out of range".to_owned()))
}

/// The steps of an SpMV with some rows, by a single-GPU kernel; they keep their operands alive.
fn product(
    device: &Device,
    kernel: &'static KernelDescriptor,
    rows: &Arc<Csr>,
    (x, y): (&Buffer<f64>, &Buffer<f64>),
    memory: MemoryLimit,
) -> Result<(Vec<Step>, Took), DeviceError> {
    if rows.rows() == 0 {
        return Ok((Vec::new(), Took::default()));
    }
    let size = (rows.rows(), rows.cols(), rows.nnz());
    let missing = || DeviceError::Format("the format of a kernel without a launcher");
    match launcher::<f64>(kernel.id) {
        Some(Bind::Kernel(bind)) => {
            let uploads = Uploads::default();
            let csr = uploads.matrix(device, &AnyFormat::Csr(Arc::clone(rows)))?;
            let uploaded = csr.copy().spent();
            let matrix = Matrix::Format(csr.copy(), csr.host());
            let operands = Operands::new(device, kernel, matrix, size, (x, y), BLOCK);
            let bound = bind(&operands.during_exchange())?;
            let spent = uploaded + bound.spent;
            let bytes = rows.bytes() + bound.workspace_bytes;
            Ok((bound.steps, Took { conversion_s: 0.0, spent, bytes }))
        }
        Some(Bind::Hacks(bind)) => {
            // A GPU's share may fill its memory.
            let layout = HllLayout::plain(DEFAULT_HACK_SIZE, Order::ColumnMajor);
            let made =
                convert::hacks_in_pieces(device, rows, layout, memory, &mut |_, _, _| Ok(()));
            let (hacks, uploaded) = made.map_err(|error| DeviceError::Arrays(error.to_string()))?;
            let conversion_s = hacks.seconds;
            let matrix = Matrix::Hacks(&hacks);
            let bound = bind(&Operands::new(device, kernel, matrix, size, (x, y), BLOCK))?;
            let spent = uploaded + hacks.spent() + bound.spent;
            let bytes = hacks.offsets.bytes()
                + hacks.row_len.bytes()
                + hacks.slots.col.bytes()
                + hacks.slots.val.bytes();
            Ok((bound.steps, Took { conversion_s, spent, bytes }))
        }
        _ => Err(missing()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_vector_by_local_rows_is_put_in_order() {
        assert_eq!(in_order(&[1, 2, 0, 3], &[10.0, 20.0, 0.0, 30.0]), [0.0, 10.0, 20.0, 30.0]);
        assert!(in_order(&[], &[]).is_empty());
    }
}
