//! A kernel that is prepared once and computes with one x, or one X of several columns, after another.

use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use numpy::{Element, IntoPyArray, PyReadonlyArray1};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use sparsescope_core::experiment::{
    Configuration, CpuBackend, CpuProduct, KernelError, PrepareError, SpmvProblem, Watch,
};
use sparsescope_core::kernel::{DeviceKind, KernelDescriptor};
use sparsescope_core::matrix::{Csr, Operands, Precision};
use sparsescope_core::memory::MemoryLimit;
use sparsescope_core::record::{Check, Costs, GpuAbsence, Operation, Verdict};
#[cfg(feature = "cuda")]
use sparsescope_cuda::{CudaProduct, Device};

use crate::arrays::room;
use crate::errors::Failure;
use crate::matrix::Matrix;
use crate::numbers;
use crate::spmv::{configuration, misfit, of_columns, refused};
use crate::work::{start_pool, work};

/// The CPU with its thread pools, shared by all products.
fn cpu() -> &'static CpuBackend {
    static CPU: OnceLock<CpuBackend> = OnceLock::new();
    CPU.get_or_init(CpuBackend::new)
}

/// A kernel bound to its matrix.
enum Prepared {
    Cpu(CpuProduct),
    #[cfg(feature = "cuda")]
    Cuda(CudaProduct),
}

impl Prepared {
    /// On the CPU, or on the GPU with this number. `None` when cancelled.
    fn new(
        configuration: &Configuration,
        device: usize,
        a: &Arc<Csr>,
        watch: &Watch<'_>,
    ) -> Result<Option<Self>, Failure> {
        let (id, memory) = (configuration.kernel.id, MemoryLimit::of_machine());
        SpmvProblem::check_vectors(a, memory)?;
        let refused = |error: PrepareError| refused(id, &error.to_string());
        match configuration.kernel.device {
            DeviceKind::Cpu => {
                let made = cpu().product(configuration, a, memory, watch);
                Ok(made.map_err(refused)?.map(Self::Cpu))
            }
            #[cfg(feature = "cuda")]
            DeviceKind::Cuda => {
                let device = Device::open(device).map_err(|absence| absent(id, &absence))?;
                let made = CudaProduct::new(device, configuration, a, memory, watch);
                Ok(made.map_err(refused)?.map(Self::Cuda))
            }
            #[cfg(not(feature = "cuda"))]
            DeviceKind::Cuda => {
                let _ = device;
                Err(absent(id, &GpuAbsence::NotCompiled))
            }
            DeviceKind::Ranks | DeviceKind::Nccl | DeviceKind::Wgpu => {
                let sentence = format!("{id}: an Operator takes kernels of the CPU and of CUDA");
                Err(Failure::Value(sentence))
            }
        }
    }

    /// The kernel that runs, its costs and how its check ended.
    fn facts(&self) -> (&'static KernelDescriptor, &Costs, &Check) {
        match self {
            Self::Cpu(product) => (product.kernel(), product.costs(), product.check()),
            #[cfg(feature = "cuda")]
            Self::Cuda(product) => (product.kernel(), product.costs(), product.check()),
        }
    }

    fn multiply(&mut self, vectors: Operands<'_>) -> Result<(), KernelError> {
        match self {
            Self::Cpu(product) => product.multiply(vectors),
            #[cfg(feature = "cuda")]
            Self::Cuda(product) => product.multiply(vectors),
        }
    }

    /// Computes y = A·x for vectors on the GPU, or arrays by rows, given by their addresses, in the order of a
    /// stream.
    ///
    /// # Safety
    /// As for `CudaProduct::multiply_on_device`.
    unsafe fn multiply_on_device(
        &mut self,
        x: u64,
        y: u64,
        stream: u64,
    ) -> Result<(), KernelError> {
        match self {
            Self::Cpu(product) => {
                let _ = (x, y, stream);
                Err(KernelError::new(product.kernel().id, "it runs on the CPU, but x is on a GPU"))
            }
            #[cfg(feature = "cuda")]
            // SAFETY: the caller's promise.
            Self::Cuda(product) => unsafe { product.multiply_on_device(x, y, stream) },
        }
    }
}

/// The error for a GPU that cannot be used.
fn absent(kernel: &str, absence: &GpuAbsence) -> Failure {
    Failure::Value(format!("{kernel} cannot run here: {absence}"))
}

/// The element of a vector.
trait Number: Element + Copy + Default + Send + Sync + 'static {
    fn operands<'v>(x: &'v [Self], y: &'v mut [Self]) -> Operands<'v>;
}

impl Number for f64 {
    fn operands<'v>(x: &'v [Self], y: &'v mut [Self]) -> Operands<'v> {
        Operands::Double(x, y)
    }
}

impl Number for f32 {
    fn operands<'v>(x: &'v [Self], y: &'v mut [Self]) -> Operands<'v> {
        Operands::Single(x, y)
    }
}

/// y = A·x by a kernel of SpMV, or Y = A·X by one of SpMM.
#[pyclass(frozen, module = "sparsescope._native")]
pub(crate) struct Product {
    product: Mutex<Prepared>,
    /// Rows and columns.
    size: (usize, usize),
    precision: Precision,
    /// The number of the GPU that it runs on, if it does.
    gpu: Option<i32>,
    kernel: &'static str,
    bytes: u64,
    seconds: f64,
    why: Option<String>,
}

#[pymethods]
impl Product {
    /// Prepares a kernel of SpMV and checks its result once.
    #[new]
    #[pyo3(signature = (matrix, kernel, threads, device))]
    fn new(
        py: Python<'_>,
        matrix: &Matrix,
        kernel: &str,
        #[pyo3(from_py_with = numbers::threads)] threads: Option<u32>,
        #[pyo3(from_py_with = numbers::device)] device: usize,
    ) -> PyResult<Self> {
        let configuration = configuration(Operation::Spmv, kernel, threads, matrix.precision)?;
        Self::prepared(py, matrix, &configuration, device)
    }

    /// The same with a kernel of SpMM on the same device. On a GPU it computes with X of k columns, on the CPU with X
    /// of any number of columns.
    #[pyo3(signature = (matrix, kernel, threads, k))]
    fn several(
        &self,
        py: Python<'_>,
        matrix: &Matrix,
        kernel: &str,
        #[pyo3(from_py_with = numbers::threads)] threads: Option<u32>,
        k: usize,
    ) -> PyResult<Self> {
        let precision = matrix.precision;
        let (configuration, device, place) = match self.gpu {
            Some(_) => (of_columns(k, kernel, threads, precision)?, DeviceKind::Cuda, "CUDA"),
            None => {
                let usual = configuration(Operation::Spmm, kernel, threads, precision)?;
                (usual, DeviceKind::Cpu, "the CPU")
            }
        };
        if configuration.kernel.device != device {
            let id = configuration.kernel.id;
            let sentence =
                format!("{id}: this Operator takes kernels of {place} for several vectors");
            return Err(Failure::Value(sentence).into());
        }
        Self::prepared(py, matrix, &configuration, self.gpu.unwrap_or_default() as usize)
    }

    /// y = A·x for a contiguous x in the precision of A.
    fn __call__<'py>(&self, py: Python<'py>, x: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        self.block(py, x, 1)
    }

    /// Y = A·X for X of k columns in the precision of A, by a kernel of SpMM; both are stored by rows as contiguous
    /// vectors.
    fn block<'py>(
        &self,
        py: Python<'py>,
        x: &Bound<'py, PyAny>,
        k: usize,
    ) -> PyResult<Bound<'py, PyAny>> {
        match self.precision.in_f64() {
            true => self.multiplied::<f64>(py, x, k),
            false => self.multiplied::<f32>(py, x, k),
        }
    }

    /// Writes A·x to y, in the order of the stream with this handle, which is the current one of their library. Both
    /// are addresses of contiguous vectors on the GPU that the kernel runs on, in the precision of A, or of contiguous
    /// arrays by rows with the columns that a kernel of SpMM is prepared for. The package checks x and makes y:
    /// exporting them by DLPack takes PyTorch longer than a small product.
    fn write(&self, py: Python<'_>, x: u64, y: u64, stream: u64) -> PyResult<()> {
        // SAFETY: by the package, x and y have the device and precision of A, x has one element per column and y one
        // per row, or as many as the kernel is prepared for, and both live during the call. Their library writes, frees
        // and reuses memory in the order of the stream.
        let done = py.detach(|| unsafe { self.lock().multiply_on_device(x, y, stream) });
        done.map_err(Failure::from)?;
        Ok(())
    }

    /// The number of the GPU that it runs on, if it does.
    #[getter]
    fn gpu(&self) -> Option<i32> {
        self.gpu
    }

    /// Id of the kernel that runs; of one that chooses, the chosen one.
    #[getter]
    fn kernel(&self) -> &'static str {
        self.kernel
    }

    /// Bytes of the matrix in the kernel's format.
    #[getter]
    fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Seconds of preparation.
    #[getter]
    fn setup_seconds(&self) -> f64 {
        self.seconds
    }

    /// Why it was chosen, in a sentence.
    #[getter]
    fn why(&self) -> Option<&str> {
        self.why.as_deref()
    }
}

impl Product {
    /// Prepares the configuration's kernel and checks its result once.
    fn prepared(
        py: Python<'_>,
        matrix: &Matrix,
        configuration: &Configuration,
        device: usize,
    ) -> PyResult<Self> {
        let (a, precision) = (Arc::clone(&matrix.a), matrix.precision);
        let size = (a.rows(), a.cols());
        let product = work(py, move |stop| {
            let product = Prepared::new(configuration, device, &a, &Watch::cancelled_by(stop))?;
            let product = product.ok_or(Failure::Cancelled)?;
            let (_, _, check) = product.facts();
            if check.verdict != Verdict::Pass {
                return Err(Failure::unchecked(configuration.kernel.id, check));
            }
            Ok(product)
        })?;
        let (kernel, costs, _) = product.facts();
        let (id, bytes) = (kernel.id, costs.format_bytes);
        let seconds = costs.conversion_s + costs.plan_s;
        let why = costs.choice.as_ref().map(|choice| choice.why.clone());
        let gpu = (kernel.device == DeviceKind::Cuda).then_some(device as i32);
        let product = Mutex::new(product);
        Ok(Self { product, size, precision, gpu, kernel: id, bytes, seconds, why })
    }

    fn lock(&self) -> MutexGuard<'_, Prepared> {
        self.product.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn multiplied<'py, T: Number>(
        &self,
        py: Python<'py>,
        x: &Bound<'py, PyAny>,
        k: usize,
    ) -> PyResult<Bound<'py, PyAny>> {
        let Ok(x) = x.extract::<PyReadonlyArray1<'_, T>>() else {
            let word = self.precision.as_str();
            return Err(PyTypeError::new_err(format!("x must be a vector of {word}")));
        };
        start_pool()?;
        let x = x.as_slice()?;
        let [rows, cols] = [self.size.0, self.size.1].map(|size| size.saturating_mul(k));
        if x.len() != cols {
            return Err(misfit(x.len(), cols).into());
        }
        let mut y = room(rows, "y")?;
        y.resize(rows, T::default());
        let done = py.detach(|| self.lock().multiply(T::operands(x, &mut y)));
        done.map_err(Failure::from)?;
        Ok(y.into_pyarray(py).into_any())
    }
}
