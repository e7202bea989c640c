//! One checked SpMV.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use numpy::IntoPyArray;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use sparsescope::cli::{backend, kernel_of, sentence, threads};
use sparsescope_core::experiment::{Configuration, Finished, Output, Problem, SpmvProblem, Watch};
use sparsescope_core::matrix::{Csr, Precision};
use sparsescope_core::memory::MemoryLimit;
use sparsescope_core::record::{Operation, Verdict};

use crate::arrays::Vector;
use crate::errors::Failure;
use crate::matrix::Matrix;
use crate::numbers;
use crate::work::work;

/// Threads per block of GPU kernels that take them.
const BLOCK: u32 = 128;

/// The configuration of an SpMV kernel.
pub(crate) fn configuration(
    kernel: &str,
    asked: Option<u32>,
    precision: Precision,
) -> Result<Configuration, Failure> {
    let kernel = kernel_of(Operation::Spmv, kernel)?;
    let (threads, block) = (threads(kernel, asked), kernel.takes.block.then_some(BLOCK));
    Ok(Configuration { precision, threads, block, ..Configuration::usual(kernel) })
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
        let configuration = configuration(kernel, threads, precision)?;
        product(&a, x, &configuration, device, stop)
    })?;
    match output {
        Output::Vector(y) => Ok(y.into_pyarray(py).into_any()),
        Output::Single(y) => Ok(y.into_pyarray(py).into_any()),
        other => Err(PyTypeError::new_err(format!("{kernel} returned {}", other.kind()))),
    }
}

fn product(
    a: &Arc<Csr>,
    x: Vec<f64>,
    configuration: &Configuration,
    device: usize,
    stop: &AtomicBool,
) -> Result<Output, Failure> {
    if x.len() != a.cols() {
        return Err(misfit(x.len(), a.cols()));
    }
    let kernel = configuration.kernel;
    let memory = MemoryLimit::of_machine();
    SpmvProblem::check_vectors(a, memory)?;
    let problem = SpmvProblem::new(Arc::clone(a), x);
    let backend = backend(kernel, device).map_err(|error| Failure::Value(sentence(&error)))?;
    problem.admit(configuration).map_err(|error| refused(kernel.id, &error.to_string()))?;
    let prepared = backend.prepare(configuration, &problem, memory);
    let mut prepared = prepared.map_err(|error| refused(kernel.id, &error.to_string()))?;
    let ready = prepared.set_up(&Watch::cancelled_by(stop)).wait();
    if ready.map_err(|error| refused(kernel.id, &error.to_string()))? == Finished::Cancelled {
        return Err(Failure::Cancelled);
    }
    let output = prepared.output(&Watch::cancelled_by(stop)).wait()?;
    let Some(output) = output else { return Err(Failure::Cancelled) };
    let check = problem.check(configuration, &output);
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
