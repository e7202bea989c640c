//! y = A·x bound: the matrix in the kernel's format on the device, the vectors, and the costs.

use std::any::Any;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Instant;

use sparsescope_core::experiment::{Configuration, PrepareError, SpmvProblem, SpmvSide};
use sparsescope_core::kernel::KernelDescriptor;
use sparsescope_core::kernel::parameters::SCALE;
use sparsescope_core::matrix::{AnyFormat, Csr, FormatSpec, HllLayout, Order, Precision};
use sparsescope_core::memory::MemoryLimit;
use sparsescope_core::order;
use sparsescope_core::record::Costs;

use super::launchers::{Bind, launcher};
use super::operands::{Matrix, Operands};
use super::user::user_launcher;
use super::vendor;
use crate::arrays::{Arrays, Hacks};
use crate::buffer::{Buffer, Spent};
use crate::convert;
use crate::cusparse::Direction;
use crate::device::DeviceError;
use crate::guarded::GuardedVector;
use crate::launch::Step;
use crate::machine::Machine;
use crate::one_gpu::{OneGpu, Parts};
use crate::prepared::Kernel;
use crate::refusal::{admit_block, refused};
use crate::transpose::{Transposed, can, transposed};
use crate::upload::{Arranged, Uploaded, UploadedHacks, UploadedTransposed, Uploads};
use crate::value::DeviceReal;

/// Default threads per block.
const DEFAULT_BLOCK: u32 = 128;

/// An SpMV on one GPU.
pub(crate) type Spmv<'p, T> = Kernel<'p, OneGpu<'p, GuardedVector<T>>>;

/// A on the device.
pub(crate) enum Held<T: DeviceReal> {
    Format(Arc<Uploaded<T>>),
    Transposed(Arc<UploadedTransposed<T>>),
    Hacks(Arc<UploadedHacks<T>>),
}

impl<T: DeviceReal> Held<T> {
    pub(crate) fn spent(&self) -> Spent {
        match self {
            Self::Format(matrix) => matrix.copy().spent(),
            Self::Transposed(matrix) => matrix.copy().spent,
            Self::Hacks(hacks) => hacks.copy().spent(),
        }
    }

    pub(crate) fn operand(&self) -> Matrix<'_, T> {
        match self {
            Self::Format(matrix) => Matrix::Format(matrix.copy(), matrix.host()),
            Self::Transposed(matrix) => Matrix::Format(&matrix.copy().arrays, matrix.host()),
            Self::Hacks(hacks) => Matrix::Hacks(hacks.copy()),
        }
    }

    /// What owns it, so that other kernels can share it.
    pub(crate) fn owner(self) -> Box<dyn Any> {
        match self {
            Self::Format(matrix) => Box::new(matrix),
            Self::Transposed(matrix) => Box::new(matrix),
            Self::Hacks(hacks) => Box::new(hacks),
        }
    }
}

/// What is multiplied, in the precision of T.
pub(crate) struct Sides<'a, T> {
    pub(crate) problem: &'a SpmvProblem,
    /// A or its transpose, as the configuration requests.
    pub(crate) turned: &'a SpmvSide<T>,
    /// A, where its transpose is requested.
    pub(crate) before: Option<&'a SpmvSide<T>>,
}

/// Prepares a kernel other than the automatic choice. The transposition of [`Sides::before`] counts
/// as conversion: that on the device where CSR is read there, otherwise that on the host, unless the
/// kernel transposes A itself.
pub(crate) fn product<'p, T: DeviceReal>(
    machine: &'p Machine,
    uploads: &Uploads<T>,
    configuration: &Configuration,
    &Sides { problem, turned: side, before }: &Sides<'_, T>,
    memory: MemoryLimit,
) -> Result<Spmv<'p, T>, PrepareError> {
    let (device, kernel) = (machine.device(), configuration.kernel);
    let absent = || PrepareError::Unsupported("not included in this build".to_owned());
    let bind = user_launcher(kernel).or_else(|| launcher::<T>(kernel.id)).ok_or_else(absent)?;
    let block = configuration.block.unwrap_or(DEFAULT_BLOCK);
    admit_block(block)?;
    // Before anything is timed.
    bind.start_library(machine).map_err(PrepareError::Unsupported)?;
    let a = side.a();
    let spec = SpmvProblem::spec(configuration);
    let transposition_s = before.map_or(0.0, |_| problem.transposition_s(configuration));
    let is_narrower = configuration.precision.values().bytes() < T::BYTES as u64;
    let turned_csr = match (bind, spec) {
        (Bind::CusparseTransposed(_), _) => None,
        (_, FormatSpec::Csr) if !is_narrower => on_device(machine, uploads, before, a)?,
        _ => None,
    };
    let (matrix, made) = match (turned_csr, bind, spec) {
        (Some(csr), ..) => {
            let (seconds, host) = (csr.copy().seconds, csr.host());
            let (bytes, minimal_bytes) = (host.bytes(), host.minimal_bytes());
            let made = Made { seconds, bytes, minimal_bytes, params: spec.in_force(host) };
            (Held::Transposed(csr), made)
        }
        (None, Bind::CusparseTransposed(_), _) => {
            let csr = AnyFormat::Csr(Arc::clone(before.ok_or_else(absent)?.a()));
            let matrix = uploads.matrix(device, &csr).map_err(refused)?;
            let (bytes, minimal_bytes) = (csr.bytes(), csr.minimal_bytes());
            let made = Made { seconds: 0.0, bytes, minimal_bytes, params: BTreeMap::new() };
            (Held::Format(matrix), made)
        }
        (None, Bind::Hacks(_), FormatSpec::Hll(layout)) => {
            let hacks = arranged(machine, uploads, (side, before), layout, memory)?;
            let on_device = hacks.copy().transposition_s;
            let transposition_s = if on_device > 0.0 { on_device } else { transposition_s };
            let made = Made::of_hacks(&hacks, &layout);
            let made = Made { seconds: transposition_s + made.seconds, ..made };
            (Held::Hacks(hacks), made)
        }
        _ => {
            let converted = side.format(spec, memory);
            let converted = converted.map_err(|error| PrepareError::Refused(error.to_string()))?;
            let precision = configuration.precision;
            let matrix = uploads.matrix_in(device, &converted.matrix, precision);
            let matrix = matrix.map_err(refused)?;
            let narrower = narrower(&converted.matrix, precision);
            let (regrouped, bytes) = match matrix.copy() {
                Arrays::Compact(groups) => (groups.seconds, groups.bytes),
                _ => (0.0, converted.matrix.bytes() - narrower),
            };
            let made = Made {
                seconds: transposition_s + converted.seconds + regrouped,
                bytes,
                minimal_bytes: minimal_bytes(kernel, &matrix) - narrower,
                params: spec.in_force(&converted.matrix),
            };
            (Held::Format(matrix), made)
        }
    };
    let x = uploads.x(device, side.x()).map_err(refused)?;
    let y = GuardedVector::new(device, a.rows()).map_err(refused)?;
    let scale = configuration.parameters.get(&SCALE);
    let y_before = match scale.beta != 0.0 {
        true => {
            let host = problem.turned(configuration).start();
            let host: Vec<T> = host.iter().copied().map(T::rounded).collect();
            Some(Buffer::of(device, "the vector y", &host).map_err(refused)?)
        }
        false => None,
    };
    let start = Instant::now();
    let (size, vectors) = ((a.rows(), a.cols(), a.nnz()), (x.copy(), y.elements()));
    let operands = Operands::new(device, kernel, matrix.operand(), size, vectors, block);
    let operands = operands.scaled(scale);
    let bound = match bind {
        Bind::Cusparse(algorithm) => {
            let library = machine.cusparse().map_err(PrepareError::Unsupported)?;
            vendor::bind(&operands, library, (Direction::Plain, *algorithm))
        }
        Bind::CusparseTransposed(algorithm) => {
            let library = machine.cusparse().map_err(PrepareError::Unsupported)?;
            vendor::bind(&operands, library, (Direction::Transposed, *algorithm))
        }
        Bind::CusparseOp(algorithm) => {
            let op = machine.cusparse_op().map_err(PrepareError::Unsupported)?;
            vendor::bind_op(&operands, op, *algorithm, y_before.as_ref())
        }
        Bind::Kernel(bind) | Bind::Hacks(bind) => bind(&operands),
        Bind::Chosen => return Err(absent()),
    };
    let mut bound = bound.map_err(refused)?;
    // Each execution adds to the same y.
    bound.reset = y_before.iter().map(|before| Step::copy(y.elements(), before)).collect();
    device.synchronize().map_err(refused)?;
    let planned = start.elapsed().as_secs_f64();
    let workspace = bound.spent;
    let before = y_before.as_ref().map_or_else(Spent::default, Buffer::spent);
    let spent = matrix.spent() + x.copy().spent() + y.spent() + before + workspace;
    let costs = Costs {
        conversion_s: made.seconds,
        plan_s: (planned - workspace.allocate_s - workspace.upload_s).max(0.0),
        upload_s: Some(spent.upload_s),
        allocate_s: Some(spent.allocate_s),
        launches: bound.launches(device).map_err(refused)?,
        format_bytes: made.bytes + bound.workspace_bytes,
        minimal_bytes: made.minimal_bytes - bound.saved_bytes
            + y_before.as_ref().map_or(0, Buffer::bytes),
        ..Costs::default()
    };
    let mut params = made.params;
    params.extend(kernel.computed(&configuration.parameters));
    let _operands: Vec<Box<dyn Any>> = vec![Box::new(x), matrix.owner()];
    let parts = Parts { bound, y, groups: None, passes: None, _operands };
    OneGpu::kernel(machine, kernel.id, parts, costs, params)
}

/// Facts about a matrix in its format.
pub(crate) struct Made {
    /// Seconds of the conversion.
    pub(crate) seconds: f64,
    pub(crate) bytes: u64,
    pub(crate) minimal_bytes: u64,
    /// Effective parameters.
    pub(crate) params: BTreeMap<String, String>,
}

impl Made {
    /// Those of hacks, without the time of a transposition.
    pub(crate) fn of_hacks<T: DeviceReal>(of: &UploadedHacks<T>, layout: &HllLayout) -> Self {
        let (a, hacks) = (&of.host().a, of.copy());
        Self {
            seconds: hacks.seconds,
            bytes: bytes_of(hacks),
            minimal_bytes: minimal_bytes_of(hacks, a.nnz(), a.cols()),
            params: layout_params(layout),
        }
    }
}

/// The transpose of `before` in CSR, which the host also has, made on the device; `None` if nothing
/// is transposed, or the device cannot.
fn on_device<T: DeviceReal>(
    machine: &Machine,
    uploads: &Uploads<T>,
    before: Option<&SpmvSide<T>>,
    host: &Arc<Csr<T>>,
) -> Result<Option<Arc<UploadedTransposed<T>>>, PrepareError> {
    let device = machine.device();
    let Some(a) = before.map(SpmvSide::a).filter(|a| can(device, a)) else { return Ok(None) };
    let made: Result<_, DeviceError> =
        uploads.transposed(&AnyFormat::Csr(Arc::clone(host)), || {
            let csr = uploads.matrix(device, &AnyFormat::Csr(Arc::clone(a)))?;
            let made = transposed(device, csr.copy(), a.cols())?;
            Ok(Transposed { spent: made.spent + csr.copy().spent(), ..made })
        });
    made.map(Some).map_err(refused)
}

/// Column-major HLL, converted on the device from CSR.
pub(crate) fn arranged<T: DeviceReal>(
    machine: &Machine,
    uploads: &Uploads<T>,
    (side, before): (&SpmvSide<T>, Option<&SpmvSide<T>>),
    layout: HllLayout,
    memory: MemoryLimit,
) -> Result<Arc<UploadedHacks<T>>, PrepareError> {
    let device = machine.device();
    let layout = HllLayout { order: Order::ColumnMajor, ..layout };
    let of = Arranged { a: Arc::clone(side.a()), layout };
    uploads.hacks(&of, |of| {
        if let Some(csr) = on_device(machine, uploads, before, &of.a)? {
            let Transposed { arrays, seconds, .. } = csr.copy();
            let hacks = convert::hacks(device, &of.a, arrays, of.layout, memory)?;
            return Ok(Hacks { transposition_s: *seconds, ..hacks });
        }
        let csr = uploads.matrix(device, &AnyFormat::Csr(Arc::clone(&of.a))).map_err(refused)?;
        convert::hacks(device, &of.a, csr.copy(), of.layout, memory)
    })
}

/// The effective parameters of column-major HLL.
fn layout_params(layout: &HllLayout) -> BTreeMap<String, String> {
    let sorted = (layout.sigma > 1).then_some(layout.sigma);
    let named = [("hack_size", Some(layout.hack_size)), ("sigma", sorted), ("spill", layout.spill)];
    let named = named.into_iter().filter_map(|(name, value)| Some((name, value?)));
    order::map(named.map(|(name, value)| (name.to_owned(), value.to_string())))
}

/// Bytes that CSR and BSR save because a precision stores values in fewer bits than vectors.
pub(crate) fn narrower<T: DeviceReal>(a: &AnyFormat<T>, precision: Precision) -> u64 {
    let values = match a {
        AnyFormat::Csr(a) => a.val().len(),
        AnyFormat::Bsr(a) => a.val().len(),
        _ => 0,
    };
    values as u64 * (T::BYTES as u64 - precision.values().bytes())
}

/// Bytes of all arrays.
fn bytes_of<T: DeviceReal>(a: &Hacks<T>) -> u64 {
    let slots = |slots: &crate::arrays::Slots<T>| slots.col.bytes() + slots.val.bytes();
    let rows = a.offsets.bytes() + a.row_len.bytes() + a.row_of.bytes();
    rows + slots(&a.slots) + a.tail_ptr.bytes() + slots(&a.tail)
}

/// Minimum bytes that an SpMV moves if rows end at their own length.
fn minimal_bytes_of<T: DeviceReal>(a: &Hacks<T>, nnz: usize, cols: usize) -> u64 {
    let entries = nnz as u64 * (T::BYTES + size_of::<u32>()) as u64;
    let rows = a.offsets.bytes() + a.row_len.bytes() + a.row_of.bytes();
    let apart = if a.order.tail() > 0 { a.tail_ptr.bytes() } else { 0 };
    entries + rows + apart + T::BYTES as u64 * (a.order.rows() + cols) as u64
}

/// Minimum bytes that one SpMV moves. A kernel that stops at `row_len` reads that array and only
/// the slots that hold nonzeros, so that padding does not count for it.
fn minimal_bytes<T: DeviceReal>(kernel: &KernelDescriptor, matrix: &Uploaded<T>) -> u64 {
    let host = matrix.host();
    let whole = host.minimal_bytes();
    if kernel.needs.finite_x {
        return whole;
    }
    let slot = (T::BYTES + size_of::<u32>()) as u64;
    let (row_len, stored) = match (matrix.copy(), host) {
        (Arrays::Ell { .. }, AnyFormat::Ell(a)) => (a.row_len(), a.val().len()),
        (Arrays::Hyb { .. }, AnyFormat::Hyb(a)) => (a.ell().row_len(), a.ell().val().len()),
        (Arrays::Compact(groups), _) => {
            return groups.bytes + T::BYTES as u64 * (host.rows() + host.cols()) as u64;
        }
        _ => return whole,
    };
    let entries: u64 = row_len.iter().map(|&length| u64::from(length)).sum();
    whole - (stored as u64 - entries) * slot + size_of_val(row_len) as u64
}
