//! Launchers of Y = A·X: for each kernel, the device steps of one SpMM.

mod merge;
mod ours;
mod row_split;

use std::any::Any;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Instant;

use sparsescope_core::experiment::{
    Availability, Binds, Configuration, PrepareError, Prepared, SpmmProblem, SpmmSide, SpmvProblem,
    SpmvSide,
};
use sparsescope_core::kernel::parameters::VECTORS;
use sparsescope_core::kernel::{KernelDescriptor, order_of_vectors};
use sparsescope_core::matrix::{AnyFormat, FormatSpec, Order};
use sparsescope_core::memory::MemoryLimit;
use sparsescope_core::record::Costs;

use crate::arguments::Stored;
use crate::arrays::{Arrays, HalfSlots, Offsets, Slots};
use crate::backend::CudaBackend;
use crate::buffer::Buffer;
use crate::cusparse::{Block, BlockAlgorithm, BlockProduct, Cusparse};
use crate::device::{Device, DeviceError};
use crate::guarded::GuardedVector;
use crate::launch::{Bound, Step};
use crate::machine::Machine;
use crate::one_gpu::{OneGpu, Parts};
use crate::refusal::{admit_block, refused};
use crate::spmv::{Held, Made, Matrix, Spmv, arranged, narrower};
use crate::upload::Uploads;
use crate::value::DeviceReal;

/// Default threads per block of our kernels but `cuda/spmm/row-split`.
const DEFAULT_BLOCK: u32 = 128;

/// How a kernel is run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum How {
    RowSplit,
    Merge,
    Bsr,
    Hll,
    Cusparse(BlockAlgorithm),
}

/// One per kernel of this backend, in the order of the descriptors.
const LAUNCHERS: &[(&str, How)] = &[
    ("cuda/spmm/row-split", How::RowSplit),
    ("cuda/spmm/merge", How::Merge),
    ("cuda/spmm/bsr", How::Bsr),
    ("cuda/spmm/hll", How::Hll),
    ("vendor/cusparse/spmm-alg1", How::Cusparse(BlockAlgorithm::Csr1)),
    ("vendor/cusparse/spmm-alg2", How::Cusparse(BlockAlgorithm::Csr2)),
    ("vendor/cusparse/spmm-alg3", How::Cusparse(BlockAlgorithm::Csr3)),
    ("vendor/cusparse/spmm-columns-alg1", How::Cusparse(BlockAlgorithm::Csr1)),
];

fn launcher(id: &str) -> Option<How> {
    LAUNCHERS.iter().find(|(known, _)| *known == id).map(|&(_, how)| how)
}

impl Binds<SpmmProblem> for CudaBackend {
    fn has(&self, kernel: &KernelDescriptor) -> Availability {
        let missing = match launcher(kernel.id) {
            Some(How::RowSplit | How::Merge | How::Bsr | How::Hll) => None,
            Some(How::Cusparse(_)) => self.machine.cusparse().err(),
            None => return Availability::built(false),
        };
        missing.map_or(Availability::Available, Availability::Missing)
    }

    fn bind<'p>(
        &'p self,
        configuration: &Configuration,
        problem: &'p SpmmProblem,
        memory: MemoryLimit,
    ) -> Result<Box<dyn Prepared + 'p>, PrepareError> {
        let machine = &self.machine;
        match problem.side(configuration, memory)? {
            SpmmSide::Double(side, x) => {
                let of = (&*side, &x);
                let spmm = product(machine, &self.double, configuration, of, memory)?;
                Ok(Box::new(spmm.prepared()))
            }
            SpmmSide::Single(side, x) => {
                let of = (&*side, &x);
                let spmm = product(machine, &self.single, configuration, of, memory)?;
                Ok(Box::new(spmm.prepared()))
            }
        }
    }
}

/// Prepares an SpMM in one precision, with X of the columns that the configuration requests.
pub(crate) fn product<'p, T: DeviceReal>(
    machine: &'p Machine,
    uploads: &Uploads<T>,
    configuration: &Configuration,
    (side, x): (&SpmvSide<T>, &Arc<Vec<T>>),
    memory: MemoryLimit,
) -> Result<Spmv<'p, T>, PrepareError> {
    let (kernel, device, a) = (configuration.kernel, machine.device(), side.a());
    let k = SpmmProblem::vectors(configuration);
    let absent = || PrepareError::Unsupported("not included in this build".to_owned());
    let how = launcher(kernel.id).ok_or_else(absent)?;
    let block = configuration.block;
    admit_block(block.unwrap_or(DEFAULT_BLOCK))?;
    let library = match how {
        How::Cusparse(_) => Some(machine.cusparse().map_err(PrepareError::Unsupported)?),
        How::RowSplit | How::Merge | How::Bsr | How::Hll => None,
    };
    let (matrix, made) = held(machine, uploads, configuration, side, memory)?;
    let order = order_of_vectors(kernel);
    let y = match order {
        Order::RowMajor => GuardedVector::new(device, k * a.rows()),
        Order::ColumnMajor => GuardedVector::by_columns(device, a.rows(), k),
    };
    let (x, y) = (uploads.x(device, x).map_err(refused)?, y.map_err(refused)?);
    assert_eq!(x.copy().len(), k * a.cols(), "X has k elements per column of A");
    let start = Instant::now();
    let (rows, cols) = (a.rows(), a.cols());
    let operands = Operands { how, library, order, block, rows, cols, columns: k };
    let bound = operands.bind(device, matrix.operand(), x.copy(), y.elements());
    let bound = bound.ok_or_else(absent)?;
    let bound = bound.map_err(refused)?;
    device.synchronize().map_err(refused)?;
    let planned = start.elapsed().as_secs_f64();
    let spent = matrix.spent() + x.copy().spent() + y.spent() + bound.spent;
    let costs = Costs {
        conversion_s: made.seconds,
        plan_s: (planned - bound.spent.allocate_s - bound.spent.upload_s).max(0.0),
        upload_s: Some(spent.upload_s),
        allocate_s: Some(spent.allocate_s),
        launches: bound.launches(device).map_err(refused)?,
        format_bytes: made.bytes + bound.workspace_bytes,
        minimal_bytes: side.minimal_bytes(made.minimal_bytes, k),
        ..Costs::default()
    };
    let mut params = made.params;
    params.insert(VECTORS.id().name().to_owned(), k.to_string());
    let _operands: Vec<Box<dyn Any>> = vec![matrix.owner(), Box::new(x)];
    let parts = Parts { bound, y, groups: None, passes: None, _operands };
    OneGpu::kernel(machine, kernel.id, parts, costs, params)
}

/// A in the format of a kernel. Column-major HLL is made on the device.
fn held<T: DeviceReal>(
    machine: &Machine,
    uploads: &Uploads<T>,
    configuration: &Configuration,
    side: &SpmvSide<T>,
    memory: MemoryLimit,
) -> Result<(Held<T>, Made), PrepareError> {
    let spec = SpmvProblem::spec(configuration);
    if let FormatSpec::Hll(layout) = spec {
        let hacks = arranged(machine, uploads, (side, None), layout, memory)?;
        let made = Made::of_hacks(&hacks, &layout);
        return Ok((Held::Hacks(hacks), made));
    }
    let converted = side.format(spec, memory);
    let converted = converted.map_err(|error| PrepareError::Refused(error.to_string()))?;
    let (host, precision) = (&converted.matrix, configuration.precision);
    let matrix = uploads.matrix_in(machine.device(), host, precision).map_err(refused)?;
    let narrower = narrower(host, precision);
    let made = Made {
        seconds: converted.seconds,
        bytes: host.bytes() - narrower,
        minimal_bytes: host.minimal_bytes() - narrower,
        params: spec.in_force(host),
    };
    Ok((Held::Format(matrix), made))
}

/// A kernel, and the sizes of its operands.
struct Operands {
    how: How,
    library: Option<Rc<Cusparse>>,
    /// That of X and Y.
    order: Order,
    /// Threads per block, if they are given.
    block: Option<u32>,
    rows: usize,
    cols: usize,
    /// Columns of X.
    columns: usize,
}

impl Operands {
    /// Threads per block of the kernels that have one default.
    fn block(&self) -> u32 {
        self.block.unwrap_or(DEFAULT_BLOCK)
    }

    /// The kernel with A, X and Y; `None` if A is in a format or precision that it does not read.
    fn bind<T: DeviceReal>(
        &self,
        device: &Device,
        a: Matrix<'_, T>,
        x: &Buffer<T>,
        y: &Buffer<T>,
    ) -> Option<Result<Bound, DeviceError>> {
        match (self.how, a) {
            (How::Hll, Matrix::Hacks(a)) => {
                Some(ours::hll(device, self.block(), a, self.columns, (x, y)))
            }
            (_, Matrix::Format(Arrays::OfHalves { row_ptr, slots }, host)) => match slots {
                HalfSlots::Half(slots) => self.ours(device, &self.of(row_ptr, slots, x, y), host),
                HalfSlots::Other(slots) => self.ours(device, &self.of(row_ptr, slots, x, y), host),
            },
            (
                how,
                Matrix::Format(
                    Arrays::Csr { row_ptr, slots } | Arrays::Bsr { row_ptr, slots },
                    host,
                ),
            ) => {
                let operands = self.of(row_ptr, slots, x, y);
                match (how, &self.library, host) {
                    (How::Cusparse(algorithm), Some(library), AnyFormat::Csr(_)) => {
                        let how = (algorithm, self.order);
                        Some(by_library(device, Rc::clone(library), how, &operands))
                    }
                    _ => self.ours(device, &operands, host),
                }
            }
            _ => None,
        }
    }

    /// A in CSR or BSR, X and Y.
    fn of<'a, T, V>(
        &self,
        row_ptr: &'a Offsets,
        slots: &'a Slots<V>,
        x: &'a Buffer<T>,
        y: &'a Buffer<T>,
    ) -> Block<'a, T, V> {
        let Self { rows, cols, columns, .. } = *self;
        Block { rows, cols, columns, row_ptr, slots, x, y }
    }

    /// Our kernels in CSR and BSR, whose values may have fewer bits than X and Y.
    fn ours<T: DeviceReal, V: Stored<T>>(
        &self,
        device: &Device,
        operands: &Block<'_, T, V>,
        host: &AnyFormat<T>,
    ) -> Option<Result<Bound, DeviceError>> {
        match (self.how, host) {
            (How::RowSplit, AnyFormat::Csr(a)) => {
                Some(row_split::row_split(device, self.block, operands, a))
            }
            (How::Merge, AnyFormat::Csr(a)) => {
                Some(merge::merge(device, self.block(), operands, a.row_ptr()))
            }
            (How::Bsr, AnyFormat::Bsr(a)) => {
                Some(ours::bsr(device, self.block(), operands, a.block()))
            }
            _ => None,
        }
    }
}

/// cuSPARSE's SpMM by one of its algorithms.
fn by_library<T: DeviceReal>(
    device: &Device,
    library: Rc<Cusparse>,
    how: (BlockAlgorithm, Order),
    operands: &Block<'_, T>,
) -> Result<Bound, DeviceError> {
    if operands.rows == 0 || operands.cols == 0 || operands.slots.col.is_empty() {
        // The library does not accept empty operands; Y is zero then.
        return Ok(Bound::of(vec![Step::zero(operands.y)]));
    }
    // SAFETY: CSR is validated on construction: offsets ascend up to the number of slots, and
    // columns are within the matrix; X and Y have their columns for each column and row of A,
    // in the kernel's order.
    let product = unsafe { BlockProduct::new(library, device, how, operands)? };
    let (workspace_bytes, spent) = (product.workspace().bytes(), product.workspace().spent());
    let steps = vec![Step::Call(Box::new(move |_| product.enqueue()))];
    Ok(Bound { workspace_bytes, spent, ..Bound::of(steps) })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use sparsescope_core::kernel::{DeviceKind, kernels};
    use sparsescope_core::matrix::BSR_BLOCKS;
    use sparsescope_core::record::Operation;

    #[test]
    fn descriptors_and_launchers_match_one_to_one() {
        let cuda = kernels(Operation::Spmm).iter().filter(|k| k.device == DeviceKind::Cuda);
        let described: Vec<_> = cuda.map(|k| k.id).collect();
        let launched: Vec<_> = LAUNCHERS.iter().map(|&(id, _)| id).collect();
        assert_eq!(described, launched);
    }

    #[test]
    fn blocks_of_every_size_are_built() {
        let built = crate::Family::SpmmBsr.variants().map(|variant| variant.width as usize);
        assert_eq!(built.collect::<BTreeSet<_>>(), BSR_BLOCKS.collect());
    }

    #[test]
    fn our_kernels_functions_are_named_as_their_ids() {
        let families = [crate::Family::Spmm, crate::Family::SpmmBsr, crate::Family::SpmmHll];
        let sources = families.map(|family| family.source().1);
        for (id, _) in LAUNCHERS.iter().filter(|(id, _)| id.starts_with("cuda/")) {
            let (_, name) = id.split_once('/').unwrap();
            let function = format!(" {}_", name.replace(['/', '-'], "_"));
            let has_it = |source: &&str| source.contains(&function) && source.contains(id);
            assert!(sources.iter().any(has_it), "{function} of {id}");
        }
    }
}
