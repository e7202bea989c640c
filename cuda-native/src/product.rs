//! A kernel for y = A·x, or for Y = A·X with k columns, that is prepared and checked once, and then
//! computes with any x or X, in the memory of the host or of the device.

use std::any::Any;
use std::ptr::null_mut;
use std::sync::Arc;

use cudarc::driver::{CudaEvent, result, sys};
use sparsescope_core::experiment::{
    Configuration, KernelError, Output, PrepareError, Problem, Side, SpmmProblem, SpmmSide,
    SpmvProblem, SpmvSide, Watch, admit_vectors, other_precision,
};
use sparsescope_core::kernel::{KernelDescriptor, kernel, order_of_vectors};
use sparsescope_core::matrix::{Csr, Operands, Order, Precision};
use sparsescope_core::measure::DEFAULT_SEED;
use sparsescope_core::memory::MemoryLimit;
use sparsescope_core::record::{Check, Costs, Operation};

use crate::device::{Device, DeviceError, Doing};
use crate::guarded::GuardedVector;
use crate::launch::{Bound, enqueue};
use crate::machine::Machine;
use crate::one_gpu::Parts;
use crate::refusal::refused;
use crate::spmm;
use crate::spmv::{AUTO, Choosing, Sides, Spmv, product};
use crate::upload::{UploadedVector, Uploads};
use crate::value::DeviceReal;

/// A kernel of SpMV or SpMM bound to its matrix on a device.
pub struct CudaProduct {
    /// The kernel that runs: the chosen one of a kernel that chooses.
    kernel: &'static KernelDescriptor,
    precision: Precision,
    /// Rows and columns.
    size: (usize, usize),
    /// Columns of X and Y; 1 for SpMV.
    k: usize,
    costs: Costs,
    check: Check,
    /// Present until it is dropped.
    ready: Option<Box<Ready>>,
}

// SAFETY: reference counts, and handles of libraries, are what could not be sent. All of them were
// made for this product alone on its own device, and are sent with it. The driver and the libraries
// may be called from any thread, one at a time, which `&mut self` ensures; each call makes the
// device's context current first.
unsafe impl Send for CudaProduct {}

/// What runs. Dropped in this order: the memory before the device that owns it.
struct Ready {
    bound: Bound,
    /// Addresses of the x that the kernel reads and of the y that it writes.
    x: u64,
    y: u64,
    /// A, x and y.
    _operands: Vec<Box<dyn Any>>,
    /// The caller's work before, and ours.
    before: CudaEvent,
    done: CudaEvent,
    machine: Machine,
}

/// What runs, with the result and the costs of its first execution.
type Made = (Ready, Output, Costs);

impl CudaProduct {
    /// Binds the configuration's kernel, sets it up and checks its result for one x, or one X of the
    /// columns that the configuration requests, by rows. `None` when cancelled; fails if the kernel
    /// cannot run here or on this matrix.
    pub fn new(
        device: Device,
        configuration: &Configuration,
        a: &Arc<Csr>,
        memory: MemoryLimit,
        watch: &Watch<'_>,
    ) -> Result<Option<Self>, PrepareError> {
        if configuration.kernel.operation == Operation::Spmm {
            return Self::of_columns(device, configuration, a, memory, watch);
        }
        // A kernel chosen here shall take any x on the device, which is not checked.
        let problem = match configuration.kernel.id {
            AUTO => SpmvProblem::of_any(a),
            _ => SpmvProblem::of(a),
        };
        problem.admit(configuration)?;
        let machine = Machine::new(device);
        let precision = configuration.precision;
        let made = match problem.side(precision, memory)? {
            Side::Double(side) => bind(machine, &problem, &side, configuration, memory, watch)?,
            Side::Single(side) => bind(machine, &problem, &side, configuration, memory, watch)?,
        };
        Ok(made.and_then(|made| Self::checked(made, (&problem, a), configuration, 1, watch)))
    }

    /// With a kernel of SpMM.
    fn of_columns(
        device: Device,
        configuration: &Configuration,
        a: &Arc<Csr>,
        memory: MemoryLimit,
        watch: &Watch<'_>,
    ) -> Result<Option<Self>, PrepareError> {
        let problem = SpmmProblem::drawn(Arc::clone(a), DEFAULT_SEED);
        problem.admit(configuration)?;
        if order_of_vectors(configuration.kernel) == Order::ColumnMajor {
            let reason = "it takes X by columns, expected a kernel that takes X by rows";
            return Err(PrepareError::Refused(reason.to_owned()));
        }
        let machine = Machine::new(device);
        let made = match problem.side(configuration, memory)? {
            SpmmSide::Double(side, x) => bind_block(machine, (&side, &x), configuration, memory)?,
            SpmmSide::Single(side, x) => bind_block(machine, (&side, &x), configuration, memory)?,
        };
        let k = SpmmProblem::vectors(configuration);
        Ok(Self::checked(made, (&problem, a), configuration, k, watch))
    }

    /// `None` when cancelled.
    fn checked(
        (ready, output, costs): Made,
        (problem, a): (&dyn Problem, &Csr),
        configuration: &Configuration,
        k: usize,
        watch: &Watch<'_>,
    ) -> Option<Self> {
        let check = problem.check_watched(configuration, &output, watch)?;
        let chosen = costs.choice.as_ref().and_then(|choice| kernel(&choice.kernel));
        let kernel = chosen.unwrap_or(configuration.kernel);
        let (size, ready) = ((a.rows(), a.cols()), Some(Box::new(ready)));
        Some(Self { kernel, precision: configuration.precision, size, k, costs, check, ready })
    }

    /// The kernel that runs; for a kernel that chooses, the chosen one.
    pub fn kernel(&self) -> &'static KernelDescriptor {
        self.kernel
    }

    /// Time of preparation and bytes of the format.
    pub fn costs(&self) -> &Costs {
        &self.costs
    }

    /// How its check ended.
    pub fn check(&self) -> &Check {
        &self.check
    }

    /// Computes y = A·x for vectors of the host, which are copied to the device and back. Fails
    /// unless x has k elements per column, y k per row, both are in the precision that it was
    /// prepared for, and x is finite if the kernel multiplies padding by it.
    pub fn multiply(&mut self, vectors: Operands<'_>) -> Result<(), KernelError> {
        admit_vectors(self.kernel, self.size, Some(self.k), &vectors)?;
        let ready = self.ready();
        let done = match (self.precision.in_f64(), vectors) {
            (true, Operands::Double(x, y)) => ready.on_host(x, y),
            (false, Operands::Single(x, y)) => ready.on_host(x, y),
            _ => return Err(other_precision(self.kernel)),
        };
        done.map_err(|error| self.failed(error.to_string()))
    }

    /// Computes y = A·x for vectors of others on the device, which are copied there: it returns
    /// when the work is enqueued, after what `stream` already has and before what it is given
    /// later, by events. A kernel that multiplies padding by x is refused, because such an x is not
    /// checked.
    ///
    /// `x` and `y` are addresses, and `stream` is a handle of CUDA: 0 or 1 is the default stream.
    ///
    /// # Safety
    /// On this product's device and in its primary context, `stream` must be a stream, `x` must be
    /// the address of k elements per column, and `y` that of k per row, both by rows in the precision
    /// that it was prepared for. Until `stream` has reached what is given to it next, nothing may
    /// free them, write x, or access y.
    pub unsafe fn multiply_on_device(
        &mut self,
        x: u64,
        y: u64,
        stream: u64,
    ) -> Result<(), KernelError> {
        if self.kernel.needs.finite_x {
            let reason = "it multiplies padding by x, and an x on the GPU is not checked for \
                infinite or NaN elements";
            return Err(self.failed(reason.to_owned()));
        }
        let (rows, cols) = self.size;
        let bytes = |size: usize| size * self.k * self.precision.vectors().bytes() as usize;
        let (x, y) = ((x, bytes(cols)), (y, bytes(rows)));
        // SAFETY: the caller's promise.
        let done = unsafe { self.ready().on_device(x, y, stream as sys::CUstream) };
        done.map_err(|error| self.failed(error.to_string()))
    }

    fn ready(&self) -> &Ready {
        self.ready.as_deref().expect("it is present until the product is dropped") // invariant
    }

    fn failed(&self, reason: String) -> KernelError {
        KernelError::new(self.kernel.id, reason)
    }
}

impl Drop for CudaProduct {
    fn drop(&mut self) {
        let _caller = Caller::of_thread();
        if let Some(ready) = self.ready.take() {
            // Makes the context current, too, which libraries need for closing their handles.
            let _ = ready.machine.device().synchronize();
        }
    }
}

impl Ready {
    /// A kernel in its parts that reads this copy of x.
    fn new<T: DeviceReal>(
        machine: Machine,
        x: Arc<UploadedVector<T>>,
        parts: Parts<GuardedVector<T>>,
    ) -> Result<Self, PrepareError> {
        let Parts { bound, y: written, _operands: mut operands, .. } = parts;
        let event = || machine.device().context().new_event(None).doing("create an event");
        let (before, done) = (event().map_err(refused)?, event().map_err(refused)?);
        let (x_address, y) = (x.copy().address(), written.elements().address());
        operands.push(Box::new(x));
        operands.push(Box::new(written));
        Ok(Self { bound, x: x_address, y, _operands: operands, before, done, machine })
    }

    fn on_host<T>(&self, x: &[T], y: &mut [T]) -> Result<(), DeviceError> {
        let _caller = Caller::of_thread();
        let device = self.machine.device();
        let done = self.enqueue_on_host(device, x, y);
        // Even after a failure: what is enqueued accesses the host's memory.
        let waited = device.synchronize();
        done.and(waited)
    }

    fn enqueue_on_host<T>(&self, device: &Device, x: &[T], y: &mut [T]) -> Result<(), DeviceError> {
        device.context().bind_to_thread().doing("make its context current")?;
        let stream = device.stream().cu_stream();
        if !x.is_empty() {
            // SAFETY: the kernel's x has as many elements of this type, and both live until the
            // caller has synchronized.
            let copied = unsafe { result::memcpy_htod_async(self.x, x, stream) };
            copied.doing("copy to the device")?;
        }
        enqueue(device, &self.bound.steps)?;
        if !y.is_empty() {
            // SAFETY: as above, for y.
            let copied = unsafe { result::memcpy_dtoh_async(y, self.y, stream) };
            copied.doing("copy from the device")?;
        }
        Ok(())
    }

    /// # Safety
    /// As for [`CudaProduct::multiply_on_device`]; x and y with their bytes.
    unsafe fn on_device(
        &self,
        x: (u64, usize),
        y: (u64, usize),
        caller: sys::CUstream,
    ) -> Result<(), DeviceError> {
        let _caller = Caller::of_thread();
        let device = self.machine.device();
        // SAFETY: the caller's promise.
        let done = unsafe { self.enqueue_on_device(device, x, y, caller) };
        if done.is_err() {
            // The caller's stream may not wait for what is enqueued.
            let _ = device.synchronize();
        }
        done
    }

    /// # Safety
    /// As for [`CudaProduct::multiply_on_device`]; x and y with their bytes.
    unsafe fn enqueue_on_device(
        &self,
        device: &Device,
        (x, x_bytes): (u64, usize),
        (y, y_bytes): (u64, usize),
        caller: sys::CUstream,
    ) -> Result<(), DeviceError> {
        device.context().bind_to_thread().doing("make its context current")?;
        let stream = device.stream();
        // SAFETY: the caller promises that its stream is one of the context of the event.
        let recorded = unsafe { result::event::record(self.before.cu_event(), caller) };
        recorded.doing("record an event")?;
        stream.wait(&self.before).doing("wait for an event")?;
        if x_bytes > 0 {
            // SAFETY: both have `x_bytes` bytes: the caller promises it, and the kernel's own x has
            // k elements per column. Our stream waits for what writes the caller's.
            let copied =
                unsafe { result::memcpy_dtod_async(self.x, x, x_bytes, stream.cu_stream()) };
            copied.doing("copy memory")?;
        }
        enqueue(device, &self.bound.steps)?;
        if y_bytes > 0 {
            // SAFETY: as above; the caller's stream waits before it accesses y.
            let copied =
                unsafe { result::memcpy_dtod_async(y, self.y, y_bytes, stream.cu_stream()) };
            copied.doing("copy memory")?;
        }
        self.done.record(stream).doing("record an event")?;
        let default = sys::CUevent_wait_flags::CU_EVENT_WAIT_DEFAULT;
        // SAFETY: as for the first event.
        let waits = unsafe { result::stream::wait_event(caller, self.done.cu_event(), default) };
        waits.doing("wait for an event")
    }
}

/// Prepares the kernel, or the one that is chosen, and runs it once. `None` when cancelled.
fn bind<T: DeviceReal>(
    machine: Machine,
    problem: &SpmvProblem,
    side: &Arc<SpmvSide<T>>,
    configuration: &Configuration,
    memory: MemoryLimit,
    watch: &Watch<'_>,
) -> Result<Option<Made>, PrepareError> {
    let uploads = Uploads::<T>::default();
    // The kernel reads this copy, because it is held before the kernel is prepared. No other kernel
    // does, so that it may be overwritten.
    let x = uploads.x(machine.device(), side.x()).map_err(refused)?;
    let spmv = match configuration.kernel.id {
        AUTO => {
            let (side, configuration) = (Arc::clone(side), configuration.clone());
            let (machine, uploads) = (&machine, &uploads);
            let choosing = Choosing { machine, uploads, problem, side, configuration, memory };
            let Some(chosen) = choosing.choose(watch)? else { return Ok(None) };
            chosen
        }
        _ => {
            let of = Sides { problem, turned: side, before: None };
            product(&machine, &uploads, configuration, &of, memory)?
        }
    };
    let (parts, output, costs) = once(spmv)?;
    Ok(Some((Ready::new(machine, x, parts)?, output, costs)))
}

/// The same for a kernel of SpMM and this X.
fn bind_block<T: DeviceReal>(
    machine: Machine,
    (side, x): (&SpmvSide<T>, &Arc<Vec<T>>),
    configuration: &Configuration,
    memory: MemoryLimit,
) -> Result<Made, PrepareError> {
    let uploads = Uploads::<T>::default();
    // Of a kernel that takes X by rows, as above.
    let copy = uploads.x(machine.device(), x).map_err(refused)?;
    let spmm = spmm::product(&machine, &uploads, configuration, (side, x), memory)?;
    let (parts, output, costs) = once(spmm)?;
    Ok((Ready::new(machine, copy, parts)?, output, costs))
}

/// The parts of a kernel, after its first execution, with the result and the costs.
fn once<T: DeviceReal>(
    mut kernel: Spmv<'_, T>,
) -> Result<(Parts<GuardedVector<T>>, Output, Costs), PrepareError> {
    let costs = kernel.costs();
    let output = kernel.output().map_err(|error| PrepareError::Refused(error.to_string()))?;
    Ok((kernel.into_parts(), output, costs))
}

/// The context that was current on this thread, and is again when this is dropped: other libraries
/// find their device by it.
struct Caller(sys::CUcontext);

impl Caller {
    fn of_thread() -> Self {
        Self(result::ctx::get_current().ok().flatten().unwrap_or(null_mut()))
    }
}

impl Drop for Caller {
    fn drop(&mut self) {
        // SAFETY: it was current on this thread before; null means that none was.
        let _ = unsafe { result::ctx::set_current(self.0) };
    }
}
