//! One checked SpMV or SpMM.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use numpy::IntoPyArray;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use sparsescope::cli::{backend, kernel_of, sentence, threads};
use sparsescope_core::experiment::{
    Configuration, Finished, Output, Problem, SpmmProblem, SpmvProblem, Watch,
};
use sparsescope_core::kernel::Parameters;
use sparsescope_core::kernel::parameters::VECTORS;
use sparsescope_core::matrix::Precision;
use sparsescope_core::memory::MemoryLimit;
use sparsescope_core::record::{Operation, Verdict};

use crate::arrays::Vector;
use crate::errors::Failure;
use crate::matrix::Matrix;
use crate::numbers;
use crate::work::work;

/// Threads per block of GPU kernels that take them.
const BLOCK: u32 = 128;

/// The configuration of a kernel of SpMV or SpMM.
pub(crate) fn configuration(
    operation: Operation,
    kernel: &str,
    asked: Option<u32>,
    precision: Precision,
) -> Result<Configuration, Failure> {
    let kernel = kernel_of(operation, kernel)?;
    let (threads, block) = (threads(kernel, asked), kernel.takes.block.then_some(BLOCK));
    Ok(Configuration { precision, threads, block, ..Configuration::usual(kernel) })
}

/// The same of SpMM, for X of k columns.
pub(crate) fn of_columns(
    k: usize,
    kernel: &str,
    asked: Option<u32>,
    precision: Precision,
) -> Result<Configuration, Failure> {
    let usual = configuration(Operation::Spmm, kernel, asked, precision)?;
    let vectors = VECTORS.id().value(&k.to_string()).map_err(|error| {
        Failure::Value(format!("X has {k} columns, expected {}", error.expected))
    })?;
    let parameters = Parameters::default().with(VECTORS.id(), &vectors);
    Ok(Configuration { parameters, ..usual })
}

/// y = A·x by this kernel, in the precision of A; raises `CheckFailed` if y is wrong.
#[pyfunction]
#[pyo3(signature = (matrix, x, kernel, threads, device))]
pub(crate) fn spmv<'py>(
    py: Python<'py>,
    matrix: &Matrix,
    x: &Bound<'py, PyAny>,
    kernel: &str,
    #[pyo3(from_py_with = numbers::threads)] threads: Option<u32>,
    #[pyo3(from_py_with = numbers::device)] device: usize,
) -> PyResult<Bound<'py, PyAny>> {
    let x = Vector::of(x, "x")?.in_f64();
    let (a, precision) = (Arc::clone(&matrix.a), matrix.precision);
    let output = work(py, move |stop| {
        let configuration = configuration(Operation::Spmv, kernel, threads, precision)?;
        if x.len() != a.cols() {
            return Err(misfit(x.len(), a.cols()));
        }
        SpmvProblem::check_vectors(&a, MemoryLimit::of_machine())?;
        checked(&SpmvProblem::new(a, x), &configuration, device, stop)
    })?;
    array(py, kernel, output)
}

/// Y = A·X for X of k columns, both stored by rows as vectors; as `spmv` otherwise.
#[pyfunction]
#[pyo3(signature = (matrix, x, k, kernel, threads, device))]
pub(crate) fn spmm<'py>(
    py: Python<'py>,
    matrix: &Matrix,
    x: &Bound<'py, PyAny>,
    k: usize,
    kernel: &str,
    #[pyo3(from_py_with = numbers::threads)] threads: Option<u32>,
    #[pyo3(from_py_with = numbers::device)] device: usize,
) -> PyResult<Bound<'py, PyAny>> {
    let x = Vector::of(x, "X")?.in_f64();
    let (a, precision) = (Arc::clone(&matrix.a), matrix.precision);
    let output = work(py, move |stop| {
        let configuration = of_columns(k, kernel, threads, precision)?;
        if x.len() != a.cols().saturating_mul(k) {
            return Err(misfit(x.len() / k, a.cols()));
        }
        SpmvProblem::check_vectors(&a, MemoryLimit::of_machine())?;
        checked(&SpmmProblem::given(a, k, x), &configuration, device, stop)
    })?;
    array(py, kernel, output)
}

/// The elements of a result.
fn array<'py>(py: Python<'py>, kernel: &str, output: Output) -> PyResult<Bound<'py, PyAny>> {
    match output {
        Output::Vector(y) => Ok(y.into_pyarray(py).into_any()),
        Output::Single(y) => Ok(y.into_pyarray(py).into_any()),
        other => Err(PyTypeError::new_err(format!("{kernel} returned {}", other.kind()))),
    }
}

/// Executes a configuration once and checks its result.
fn checked(
    problem: &dyn Problem,
    configuration: &Configuration,
    device: usize,
    stop: &AtomicBool,
) -> Result<Output, Failure> {
    let kernel = configuration.kernel;
    let memory = MemoryLimit::of_machine();
    let backend = backend(kernel, device).map_err(|error| Failure::Value(sentence(&error)))?;
    problem.admit(configuration).map_err(|error| refused(kernel.id, &error.to_string()))?;
    let prepared = backend.prepare(configuration, problem, memory);
    let mut prepared = prepared.map_err(|error| refused(kernel.id, &error.to_string()))?;
    let ready = prepared.set_up(&Watch::cancelled_by(stop)).wait();
    if ready.map_err(|error| refused(kernel.id, &error.to_string()))? == Finished::Cancelled {
        return Err(Failure::Cancelled);
    }
    let output = prepared.output(&Watch::cancelled_by(stop)).wait()?;
    let Some(output) = output else { return Err(Failure::Cancelled) };
    let check = problem.check_watched(configuration, &output, &Watch::cancelled_by(stop));
    let check = check.ok_or(Failure::Cancelled)?;
    match check.verdict {
        Verdict::Pass => Ok(output),
        _ => Err(Failure::unchecked(kernel.id, &check)),
    }
}

/// An x of another length than the rows of the matrix.
pub(crate) fn misfit(found: usize, cols: usize) -> Failure {
    Failure::Value(format!("x has {found} elements, but the matrix has {cols} columns"))
}

/// Why a kernel does not run on a matrix.
pub(crate) fn refused(kernel: &str, why: &str) -> Failure {
    Failure::Value(unsuited(kernel, why))
}

/// The same as a sentence.
pub(crate) fn unsuited(kernel: &str, why: &str) -> String {
    format!("{kernel} cannot run on this matrix: {why}")
}
