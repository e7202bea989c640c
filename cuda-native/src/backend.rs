//! The CUDA backend: prepares kernels on one device.

use std::any::Any;
use std::sync::Arc;

use sparsescope_core::experiment::{
    Availability, Backend, BatchedDenseProblem, Binding, Binds, Configuration, PrepareError,
    Prepared, Problem, SkylineProblem, SolveProblem, SpmmProblem, SpmvProblem, SpmvSide,
    SymgsProblem, SymgsSide,
};
use sparsescope_core::kernel::parameters::{MODE, OP};
use sparsescope_core::kernel::{DeviceKind, KernelDescriptor, Op};
use sparsescope_core::matrix::AnyFormat;
use sparsescope_core::memory::MemoryLimit;
use sparsescope_core::record::{Costs, Gpu, GpuAbsence, Operation};

use crate::arrays::Arrays;
use crate::device::Device;
use crate::environment;
use crate::guarded::{GuardedVector, Swept};
use crate::machine::Machine;
use crate::one_gpu::{OneGpu, Parts};
use crate::refusal::refused;
use crate::spmv::{AUTO, Choosing, Sides, launcher, product};
use crate::symgs::{self, Iteration, Operator, Sweeps};
use crate::upload::{BatchUploads, PointUploads, Uploads};
use crate::value::DeviceReal;

/// The kernels of this crate on one device.
pub struct CudaBackend {
    // First, so that it is dropped before the device that owns its memory.
    pub(crate) double: Uploads<f64>,
    pub(crate) single: Uploads<f32>,
    pub(crate) points: PointUploads,
    pub(crate) batches: BatchUploads,
    pub(crate) machine: Machine,
}

impl CudaBackend {
    /// Opens the device with this index, from 0, or returns why it cannot.
    pub fn open(ordinal: usize) -> Result<Self, GpuAbsence> {
        let machine = Machine::new(Device::open(ordinal)?);
        let (double, single, points, batches) = Default::default();
        Ok(Self { double, single, points, batches, machine })
    }

    /// The device.
    pub fn device(&self) -> &Device {
        self.machine.device()
    }
}

/// The operations that run on one device.
const OPERATIONS: &[Binding<CudaBackend>] = &[
    Binding::of::<SpmvProblem>(Operation::Spmv),
    Binding::of::<SymgsProblem>(Operation::Symgs),
    Binding::of::<SkylineProblem>(Operation::Skyline),
    Binding::of::<SolveProblem>(Operation::Solve),
    Binding::of::<BatchedDenseProblem>(Operation::BatchedDense),
    Binding::of::<SpmmProblem>(Operation::Spmm),
];

impl Backend for CudaBackend {
    fn model(&self) -> &str {
        &self.device().properties().name
    }

    fn availability(&self, kernel: &KernelDescriptor) -> Availability {
        if kernel.device != DeviceKind::Cuda {
            return Availability::Missing("does not run on CUDA".to_owned());
        }
        Binding::availability(OPERATIONS, self, kernel)
    }

    fn describe(&self) -> Option<Gpu> {
        let cusparse = self.machine.cusparse().ok();
        let memory = self.machine.memory();
        let version = cusparse.as_ref().map(|library| library.version());
        let bandwidth = || self.machine.bandwidth();
        let nvml = self.machine.nvml();
        let mut gpu = environment::gpu(self.device(), bandwidth, version, memory.as_deref(), nvml);
        gpu.details.extend(self.machine.dense_libraries());
        Some(gpu)
    }

    /// The free memory less an eighth, for the workspace of kernels.
    fn room(&self) -> Option<u64> {
        self.device().room().ok().map(|free| free / 8 * 7)
    }

    fn prepare<'p>(
        &'p self,
        configuration: &Configuration,
        problem: &'p dyn Problem,
        memory: MemoryLimit,
    ) -> Result<Box<dyn Prepared + 'p>, PrepareError> {
        Binding::prepare(OPERATIONS, self, configuration, problem, memory)
    }
}

impl Binds<SpmvProblem> for CudaBackend {
    fn has(&self, kernel: &KernelDescriptor) -> Availability {
        if kernel.user.is_some() {
            return match self.device().check_user_kernel(kernel) {
                Ok(()) => Availability::Available,
                Err(error) => Availability::Missing(error.to_string()),
            };
        }
        match launcher::<f64>(kernel.id).map(|bind| bind.start_library(&self.machine)) {
            Some(Ok(())) => Availability::Available,
            Some(Err(reason)) => Availability::Missing(reason),
            None => Availability::built(false),
        }
    }

    fn bind<'p>(
        &'p self,
        configuration: &Configuration,
        problem: &'p SpmvProblem,
        memory: MemoryLimit,
    ) -> Result<Box<dyn Prepared + 'p>, PrepareError> {
        problem.check_transposed(configuration, memory)?;
        match configuration.precision.in_f64() {
            true => self.prepare_in(configuration, problem, &self.double, memory),
            false => self.prepare_in(configuration, problem, &self.single, memory),
        }
    }
}

impl CudaBackend {
    /// Prepares a product in a precision whose vectors have type T.
    fn prepare_in<'p, T: DeviceReal>(
        &'p self,
        configuration: &Configuration,
        problem: &'p SpmvProblem,
        uploads: &'p Uploads<T>,
        memory: MemoryLimit,
    ) -> Result<Box<dyn Prepared + 'p>, PrepareError> {
        let side = |of: &SpmvProblem| -> Result<Arc<SpmvSide<T>>, PrepareError> {
            let side = T::side(of.side(configuration.precision, memory)?);
            Ok(side.expect("T is the type of the precision's vectors")) // invariant
        };
        let turned = side(problem.turned(configuration))?;
        if configuration.kernel.id == AUTO {
            let (machine, configuration) = (&self.machine, configuration.clone());
            let choosing =
                Choosing { machine, uploads, problem, side: turned, configuration, memory };
            return Ok(Box::new(choosing.prepared()));
        }
        let is_turned = configuration.parameters.get(&OP) == Op::Transposed;
        let before = if is_turned { Some(side(problem)?) } else { None };
        let of = Sides { problem, turned: &turned, before: before.as_deref() };
        let product = product(&self.machine, uploads, configuration, &of, memory)?;
        Ok(Box::new(product.prepared()))
    }
}

impl Binds<SymgsProblem> for CudaBackend {
    fn has(&self, kernel: &KernelDescriptor) -> Availability {
        let missing = match kernel.library().is_some() {
            _ if !symgs::has(kernel.id) => return Availability::built(false),
            true => self.machine.cusparse().err(),
            false => symgs::cannot_wait(self.device()),
        };
        missing.map_or(Availability::Available, Availability::Missing)
    }

    fn bind<'p>(
        &'p self,
        configuration: &Configuration,
        problem: &'p SymgsProblem,
        memory: MemoryLimit,
    ) -> Result<Box<dyn Prepared + 'p>, PrepareError> {
        let has = Binds::<SymgsProblem>::has(self, configuration.kernel);
        if let Availability::Missing(reason) = has {
            return Err(PrepareError::Unsupported(reason));
        }
        match configuration.precision.in_f64() {
            true => self.prepare_sweeps_in(configuration, &self.double, problem.double(), memory),
            false => {
                let side = problem.single(memory)?;
                self.prepare_sweeps_in(configuration, &self.single, &side, memory)
            }
        }
    }
}

impl CudaBackend {
    /// Prepares sweeps in one precision.
    fn prepare_sweeps_in<T: DeviceReal>(
        &self,
        configuration: &Configuration,
        uploads: &Uploads<T>,
        side: &SymgsSide<T>,
        memory: MemoryLimit,
    ) -> Result<Box<dyn Prepared + '_>, PrepareError> {
        let (kernel, device) = (configuration.kernel, self.device());
        let library = match kernel.library().is_some() {
            true => Some(self.machine.cusparse().map_err(PrepareError::Unsupported)?),
            false => None,
        };
        let csr = AnyFormat::Csr(Arc::clone(side.a()));
        let matrix = uploads.matrix(device, &csr).map_err(refused)?;
        let b = uploads.x(device, side.b()).map_err(refused)?;
        let start = uploads.x(device, side.start()).map_err(refused)?;
        let x = GuardedVector::new(device, side.a().rows()).map_err(refused)?;
        let Arrays::Csr { row_ptr: offsets, slots } = matrix.copy() else {
            return Err(PrepareError::Unsupported("not included in this build".to_owned()));
        };
        let mode = configuration.parameters.get(&MODE);
        let operator = Operator::Sweeps(Iteration { mode, start: start.copy() });
        let (a, b_copy, x_copy) = (side.a(), b.copy(), x.elements());
        let operands = symgs::Operands {
            device,
            a,
            memory,
            library,
            operator,
            offsets,
            slots,
            b: b_copy,
            x: x_copy,
        };
        let sweeps = symgs::bind(kernel.id, &operands);
        let sweeps = sweeps
            .ok_or_else(|| PrepareError::Unsupported("not included in this build".to_owned()))?;
        let sweeps = sweeps.map_err(refused)?;
        device.synchronize().map_err(refused)?;
        let Sweeps { mut bound, plan_s, conversion_s, permute_s, matrix_bytes, .. } = sweeps;
        bound.times = side.sweeps();
        let (mut params, passes, groups) = (sweeps.params, sweeps.passes, sweeps.groups);
        let operands = matrix.copy().spent() + b_copy.spent() + start.copy().spent() + x.spent();
        let spent = operands + bound.spent;
        let costs = Costs {
            conversion_s,
            plan_s,
            permute_s,
            upload_s: Some(spent.upload_s),
            allocate_s: Some(spent.allocate_s),
            launches: bound.launches(device).map_err(refused)?,
            format_bytes: matrix_bytes.unwrap_or(a.bytes()) + bound.workspace_bytes,
            minimal_bytes: side.minimal_bytes(),
            ..Costs::default()
        };
        params.insert("mode".to_owned(), mode.as_str().to_owned());
        let _operands: Vec<Box<dyn Any>> = vec![Box::new(matrix), Box::new(b), Box::new(start)];
        // Of several sweeps only the last one would be known.
        let between = sweeps.between.filter(|_| side.sweeps() == 1);
        let y = Swept { x, between };
        let parts = Parts { bound, y, groups, passes, _operands };
        let bound = OneGpu::kernel(&self.machine, kernel.id, parts, costs, params)?;
        Ok(Box::new(bound.prepared()))
    }
}
