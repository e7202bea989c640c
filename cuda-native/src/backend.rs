//! The CUDA backend: makes kernels ready on one device.

use std::any::Any;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Instant;

use sparsescope_core::experiment::{
    Availability, Backend, Configuration, PrepareError, Prepared, Problem, SpmvProblem, SpmvSide,
    SymgsProblem, SymgsSide,
};
use sparsescope_core::kernel::{DeviceKind, KernelDescriptor};
use sparsescope_core::matrix::{AnyFormat, Precision};
use sparsescope_core::memory::MemoryLimit;
use sparsescope_core::record::{Costs, Gpu, GpuAbsence};

use crate::device::Device;
use crate::environment;
use crate::kernels::LEAST_TO_WAIT;
use crate::machine::Machine;
use crate::prepared::{GuardedVector, Parts, PreparedProduct};
use crate::refusal::{admit_block, refused};
use crate::skyline;
use crate::spmv::{Bind, Operands, bind_cusparse, launcher, user_launcher};
use crate::symgs::{self, Iteration, Operator, Sweeps};
use crate::upload::{Arrays, PointUploads, Uploaded, Uploads};
use crate::value::DeviceReal;

/// Threads a block where none is asked for.
const DEFAULT_BLOCK: u32 = 128;

/// The kernels of this crate on one device.
pub struct CudaBackend {
    // First, so that it goes before the device whose memory it is.
    double: Uploads<f64>,
    single: Uploads<f32>,
    points: PointUploads,
    machine: Machine,
}

impl CudaBackend {
    /// Opens the device with this number, from 0, or says why it cannot.
    pub fn open(ordinal: usize) -> Result<Self, GpuAbsence> {
        let machine = Machine::new(Device::open(ordinal)?);
        let (double, single, points) = Default::default();
        Ok(Self { double, single, points, machine })
    }

    /// The device.
    pub fn device(&self) -> &Device {
        self.machine.device()
    }
}

impl Backend for CudaBackend {
    fn model(&self) -> &str {
        &self.device().properties().name
    }

    fn availability(&self, kernel: &KernelDescriptor) -> Availability {
        if kernel.device != DeviceKind::Cuda {
            return Availability::Missing("it runs on the processor".to_owned());
        }
        if symgs::has(kernel.id) {
            return self.can_sweep(kernel);
        }
        if skyline::has(kernel.id) {
            return Availability::Available;
        }
        if kernel.user.is_some() {
            return match self.device().check_user_kernel(kernel) {
                Ok(()) => Availability::Available,
                Err(error) => Availability::Missing(error.to_string()),
            };
        }
        match launcher::<f64>(kernel.id) {
            Some(Bind::Kernel(_)) => Availability::Available,
            Some(Bind::Cusparse(_)) => match self.machine.cusparse() {
                Ok(_) => Availability::Available,
                Err(reason) => Availability::Missing(reason),
            },
            None => Availability::Missing("this build does not have it".to_owned()),
        }
    }

    fn describe(&self) -> Option<Gpu> {
        let cusparse = self.machine.cusparse().ok();
        let memory = self.machine.memory();
        let version = cusparse.as_ref().map(|library| library.version());
        Some(environment::gpu(self.device(), version, memory.as_deref(), self.machine.nvml()))
    }

    fn prepare<'p>(
        &'p self,
        configuration: &Configuration,
        problem: &'p Problem,
        memory: MemoryLimit,
    ) -> Result<Box<dyn Prepared + 'p>, PrepareError> {
        problem.admit(configuration)?;
        if let Some(problem) = problem.symgs() {
            return self.prepare_sweeps(configuration, problem, memory);
        }
        if let Some(problem) = problem.skyline() {
            return skyline::prepare(&self.machine, &self.points, configuration, problem);
        }
        let Some(problem) = problem.spmv() else {
            return Err(PrepareError::Unsupported("no GPU computes this".to_owned()));
        };
        match configuration.precision {
            Precision::F64 => {
                self.prepare_in(configuration, &self.double, problem.double(), memory)
            }
            Precision::F32 => {
                let side = problem.single(memory)?;
                self.prepare_in(configuration, &self.single, &side, memory)
            }
        }
    }
}

impl CudaBackend {
    /// The same in one precision.
    fn prepare_in<T: DeviceReal>(
        &self,
        configuration: &Configuration,
        uploads: &Uploads<T>,
        side: &SpmvSide<T>,
        memory: MemoryLimit,
    ) -> Result<Box<dyn Prepared + '_>, PrepareError> {
        let kernel = configuration.kernel;
        let bind = user_launcher(kernel)
            .or_else(|| launcher::<T>(kernel.id))
            .ok_or_else(|| PrepareError::Unsupported("this build does not have it".to_owned()))?;
        let block = configuration.block.unwrap_or(DEFAULT_BLOCK);
        admit_block(block)?;
        let library = match bind {
            Bind::Cusparse(_) => Some(self.machine.cusparse().map_err(PrepareError::Unsupported)?),
            Bind::Kernel(_) => None,
        };
        let spec = SpmvProblem::spec(configuration);
        let made =
            side.format(spec, memory).map_err(|error| PrepareError::Refused(error.to_string()))?;

        let matrix = uploads.matrix(self.device(), &made.matrix);
        let matrix = matrix.map_err(refused)?;
        let x = uploads.x(self.device(), side.x()).map_err(refused)?;
        let y = GuardedVector::new(self.device(), side.a().rows());
        let y = y.map_err(refused)?;
        let start = Instant::now();
        let (nnz, vectors) = (side.a().nnz(), (x.copy(), y.elements()));
        let operands = Operands::new(self.device(), kernel, &matrix, nnz, vectors, block);
        let bound = match (bind, &library) {
            (Bind::Cusparse(algorithm), Some(library)) => {
                bind_cusparse(&operands, Rc::clone(library), *algorithm)
            }
            (Bind::Kernel(bind), _) => bind(&operands),
            (Bind::Cusparse(_), None) => return Err(PrepareError::Unsupported(String::new())),
        };
        let bound = bound.map_err(refused)?;
        self.device().synchronize().map_err(refused)?;
        let planned = start.elapsed().as_secs_f64();
        let workspace = bound.spent;
        let spent = matrix.copy().spent() + x.copy().spent() + y.spent() + workspace;
        let costs = Costs {
            conversion_s: made.seconds,
            plan_s: (planned - workspace.allocate_s - workspace.upload_s).max(0.0),
            upload_s: Some(spent.upload_s),
            allocate_s: Some(spent.allocate_s),
            launches: bound.launches(self.device()).map_err(refused)?,
            format_bytes: made.matrix.bytes() + bound.workspace_bytes,
            minimal_bytes: minimal_bytes(kernel, &matrix),
            ..Costs::default()
        };
        let params = spec.in_force(&made.matrix);
        let _operands: Vec<Box<dyn Any>> = vec![Box::new(x), Box::new(matrix)];
        let parts = Parts { bound, y, groups: None, passes: None, _operands };
        Ok(Box::new(PreparedProduct::new(&self.machine, kernel.id, parts, costs, params)))
    }
}

impl CudaBackend {
    /// Whether sweeps by this kernel run on the device, or why not.
    fn can_sweep(&self, kernel: &KernelDescriptor) -> Availability {
        if kernel.id.starts_with("vendor/") {
            return match self.machine.cusparse() {
                Ok(_) => Availability::Available,
                Err(reason) => Availability::Missing(reason),
            };
        }
        let (major, minor) = self.device().properties().capability;
        match 10 * major + minor >= LEAST_TO_WAIT {
            true => Availability::Available,
            false => {
                let (first, second) = (LEAST_TO_WAIT / 10, LEAST_TO_WAIT % 10);
                let reason = format!(
                    "its threads wait for one another, which takes compute capability {first}.{second}; this GPU has {major}.{minor}"
                );
                Availability::Missing(reason)
            }
        }
    }

    fn prepare_sweeps(
        &self,
        configuration: &Configuration,
        problem: &SymgsProblem,
        memory: MemoryLimit,
    ) -> Result<Box<dyn Prepared + '_>, PrepareError> {
        if let Availability::Missing(reason) = self.can_sweep(configuration.kernel) {
            return Err(PrepareError::Unsupported(reason));
        }
        match configuration.precision {
            Precision::F64 => {
                self.prepare_sweeps_in(configuration, &self.double, problem.double(), memory)
            }
            Precision::F32 => {
                let side = problem.single(memory)?;
                self.prepare_sweeps_in(configuration, &self.single, &side, memory)
            }
        }
    }

    /// The same in one precision.
    fn prepare_sweeps_in<T: DeviceReal>(
        &self,
        configuration: &Configuration,
        uploads: &Uploads<T>,
        side: &SymgsSide<T>,
        memory: MemoryLimit,
    ) -> Result<Box<dyn Prepared + '_>, PrepareError> {
        let (kernel, device) = (configuration.kernel, self.device());
        let library = match kernel.id.starts_with("vendor/") {
            true => Some(self.machine.cusparse().map_err(PrepareError::Unsupported)?),
            false => None,
        };
        let csr = AnyFormat::Csr(Arc::clone(side.a()));
        let matrix = uploads.matrix(device, &csr).map_err(refused)?;
        let b = uploads.x(device, side.b()).map_err(refused)?;
        let start = uploads.x(device, side.start()).map_err(refused)?;
        let x = GuardedVector::new(device, side.a().rows()).map_err(refused)?;
        let Arrays::Csr { row_ptr: offsets, slots } = matrix.copy() else {
            return Err(PrepareError::Unsupported("this build does not have it".to_owned()));
        };
        let mode = configuration.parameters.mode();
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
            .ok_or_else(|| PrepareError::Unsupported("this build does not have it".to_owned()))?;
        let sweeps = sweeps.map_err(refused)?;
        device.synchronize().map_err(refused)?;
        let Sweeps { mut bound, plan_s, conversion_s, permute_s, matrix_bytes, .. } = sweeps;
        bound.times = side.sweeps();
        let (mut params, passes, groups) = (sweeps.params, sweeps.passes, sweeps.groups);
        let operands = matrix.copy().spent() + b_copy.spent() + start.copy().spent() + x.spent();
        let spent = operands + bound.spent;
        let vectors = 3 * T::BYTES as u64 * a.rows() as u64;
        let costs = Costs {
            conversion_s,
            plan_s,
            permute_s,
            upload_s: Some(spent.upload_s),
            allocate_s: Some(spent.allocate_s),
            launches: bound.launches(device).map_err(refused)?,
            format_bytes: matrix_bytes.unwrap_or(a.bytes()) + bound.workspace_bytes,
            // Each sweep reads the entries, b and x once, and writes x.
            minimal_bytes: 2 * u64::from(side.sweeps()) * (a.bytes() + vectors),
            ..Costs::default()
        };
        params.insert("mode".to_owned(), mode.as_str().to_owned());
        let _operands: Vec<Box<dyn Any>> = vec![Box::new(matrix), Box::new(b), Box::new(start)];
        let parts = Parts { bound, y: x, groups, passes, _operands };
        Ok(Box::new(PreparedProduct::new(&self.machine, kernel.id, parts, costs, params)))
    }
}

/// The least that one product moves. A kernel that stops at `row_len` reads that array and only
/// the slots that hold entries, so that padding does not count for it.
fn minimal_bytes<T: DeviceReal>(kernel: &KernelDescriptor, matrix: &Uploaded<T>) -> u64 {
    let whole = matrix.host().minimal_bytes();
    if kernel.needs.finite_x {
        return whole;
    }
    let slot = (T::BYTES + size_of::<u32>()) as u64;
    let (row_len, stored) = match (matrix.copy(), matrix.host()) {
        (Arrays::Ell { .. }, AnyFormat::Ell(a)) => (a.row_len(), a.val().len()),
        (Arrays::Hyb { .. }, AnyFormat::Hyb(a)) => (a.ell().row_len(), a.ell().val().len()),
        _ => return whole,
    };
    let entries: u64 = row_len.iter().map(|&length| u64::from(length)).sum();
    whole - (stored as u64 - entries) * slot + size_of_val(row_len) as u64
}
