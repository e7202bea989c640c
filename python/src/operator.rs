//! A kernel that is prepared once and computes with one x after another.

use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use numpy::{Element, IntoPyArray, PyReadonlyArray1};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use sparsescope_core::experiment::{CpuBackend, CpuProduct, Watch};
use sparsescope_core::kernel::DeviceKind;
use sparsescope_core::matrix::{Operands, Precision};
use sparsescope_core::memory::MemoryLimit;
use sparsescope_core::record::Verdict;

use crate::errors::Failure;
use crate::matrix::Matrix;
use crate::spmv::{configuration, refused};
use crate::work::work;

/// The CPU with its thread pools, shared by all products.
fn cpu() -> &'static CpuBackend {
    static CPU: OnceLock<CpuBackend> = OnceLock::new();
    CPU.get_or_init(CpuBackend::new)
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

/// y = A·x by a kernel on the CPU.
#[pyclass(frozen, module = "sparsescope._native")]
pub(crate) struct Product {
    product: Mutex<CpuProduct>,
    rows: usize,
    precision: Precision,
    kernel: &'static str,
    bytes: u64,
    seconds: f64,
    why: Option<String>,
}

#[pymethods]
impl Product {
    /// Prepares the kernel and checks its result once.
    #[new]
    #[pyo3(signature = (matrix, kernel, threads))]
    fn new(py: Python<'_>, matrix: &Matrix, kernel: &str, threads: Option<u32>) -> PyResult<Self> {
        let (a, precision) = (Arc::clone(&matrix.a), matrix.precision);
        let rows = a.rows();
        let product = work(py, move |stop| {
            let configuration = configuration(kernel, threads, precision)?;
            if configuration.kernel.device != DeviceKind::Cpu {
                let sentence = format!("{kernel} runs on a GPU; an Operator runs on the CPU");
                return Err(Failure::Value(sentence));
            }
            let watch = Watch::cancelled_by(stop);
            let memory = MemoryLimit::of_machine();
            let product = cpu().product(&configuration, &a, memory, &watch);
            let product = product.map_err(|error| refused(kernel, &error.to_string()))?;
            let product = product.ok_or(Failure::Cancelled)?;
            if product.check().verdict != Verdict::Pass {
                return Err(Failure::unchecked(kernel, product.check()));
            }
            Ok(product)
        })?;
        let costs = product.costs();
        let (kernel, bytes) = (product.kernel().id, costs.format_bytes);
        let seconds = costs.conversion_s + costs.plan_s;
        let why = costs.choice.as_ref().map(|choice| choice.why.clone());
        Ok(Self { rows, precision, kernel, bytes, seconds, why, product: Mutex::new(product) })
    }

    /// y = A·x for a contiguous x in the precision of A.
    fn __call__<'py>(&self, py: Python<'py>, x: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        match self.precision {
            Precision::F64 => self.multiplied::<f64>(py, x),
            Precision::F32 => self.multiplied::<f32>(py, x),
        }
    }

    /// Id of the kernel that runs; of `cpu/spmv/auto` the one that it chose.
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

    /// Why `cpu/spmv/auto` chose this kernel, in a sentence.
    #[getter]
    fn why(&self) -> Option<&str> {
        self.why.as_deref()
    }
}

impl Product {
    fn multiplied<'py, T: Number>(
        &self,
        py: Python<'py>,
        x: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let Ok(x) = x.extract::<PyReadonlyArray1<'_, T>>() else {
            let word = self.precision.as_str();
            return Err(PyTypeError::new_err(format!("x must be a vector of {word}")));
        };
        let (x, mut y) = (x.as_slice()?, vec![T::default(); self.rows]);
        let done = py.detach(|| {
            let mut product = self.product.lock().unwrap_or_else(PoisonError::into_inner);
            product.multiply(T::operands(x, &mut y))
        });
        done.map_err(Failure::from)?;
        Ok(y.into_pyarray(py).into_any())
    }
}
