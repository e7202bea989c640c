//! The factorised sparse approximate inverse as a preconditioner for other solvers.

use std::sync::Arc;

use numpy::{IntoPyArray, PyReadonlyArray1};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use sparsescope_core::fsai::{FsaiParameters, Merging, PatternRule};
use sparsescope_core::matrix::Csr;
use sparsescope_core::memory::MemoryLimit;
use sparsescope_core::pcg::{Operator, OperatorFormat};

use crate::arrays::{Arrays, handed_over};
use crate::errors::Failure;
use crate::matrix::Matrix;
use crate::numbers;
use crate::work::{start_pool, work};

/// Nonzeros from which G is applied by several threads: below, waking them takes longer.
const SHARED: usize = 100_000;

/// z = Gᵀ·(G·r), where G·A·Gᵀ is near the unit matrix.
#[pyclass(frozen, module = "sparsescope._native")]
pub(crate) struct Fsai {
    factor: Arc<Csr>,
    g: Operator,
    gt: Operator,
    seconds: f64,
}

#[pymethods]
impl Fsai {
    /// Sets G up; raises `NotDefinite` if A is not positive definite on the pattern of a row.
    #[new]
    #[pyo3(signature = (matrix, pattern, power, prefilter, postfilter, shift, merge))]
    #[allow(clippy::too_many_arguments, reason = "one per keyword in Python")]
    fn new(
        py: Python<'_>,
        matrix: &Matrix,
        pattern: &str,
        #[pyo3(from_py_with = numbers::power)] power: u32,
        prefilter: f64,
        postfilter: f64,
        shift: f64,
        merge: Option<f64>,
    ) -> PyResult<Self> {
        let pattern = match pattern {
            "recursive" => PatternRule::Recursive { power },
            "power" => PatternRule::Power { power },
            "adaptive" => PatternRule::adaptive(),
            other => {
                let sentence =
                    format!("pattern is `{other}`, expected recursive, power or adaptive");
                return Err(PyValueError::new_err(sentence));
            }
        };
        if let Some(merge) = merge
            && !(1.0..=f64::MAX).contains(&merge)
        {
            let sentence = format!("merge is {merge}, expected a finite number of at least 1");
            return Err(PyValueError::new_err(sentence));
        }
        let merge = merge.map(Merging::new);
        let parameters = FsaiParameters { pattern, prefilter, postfilter, merge, shift };
        let a = Arc::clone(&matrix.a);
        work(py, move |stop| {
            let is_stopped = || stop.load(std::sync::atomic::Ordering::Relaxed);
            let limit = MemoryLimit::of_machine();
            let made = sparsescope_core::fsai::Fsai::set_up(&a, &parameters, limit, &is_stopped)?;
            let made = made.ok_or(Failure::Cancelled)?;
            let operator = |factor| Operator::new(factor, OperatorFormat::Csr, limit);
            let (g, gt) = (operator(made.g())?, operator(made.gt())?);
            Ok(Self { factor: Arc::clone(made.g()), g, gt, seconds: made.report().seconds() })
        })
    }

    /// z = Gᵀ·(G·r), for a contiguous r in f64.
    fn __call__<'py>(&self, py: Python<'py>, r: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let Ok(r) = r.extract::<PyReadonlyArray1<'_, f64>>() else {
            return Err(PyTypeError::new_err("r must be a vector of f64"));
        };
        let (r, rows) = (r.as_slice()?, self.g.rows());
        if r.len() != rows {
            let found = r.len();
            let sentence = format!("r has {found} elements, but the matrix has {rows} rows");
            return Err(PyValueError::new_err(sentence));
        }
        start_pool()?;
        let z = py.detach(|| {
            let is_shared = self.g.nnz() >= SHARED;
            let (mut inner, mut z) = (vec![0.0; rows], vec![0.0; rows]);
            self.g.product(r, &mut inner, is_shared);
            self.gt.product(&inner, &mut z, is_shared);
            z
        });
        Ok(z.into_pyarray(py).into_any())
    }

    /// Number of rows.
    #[getter]
    fn rows(&self) -> usize {
        self.g.rows()
    }

    /// Number of nonzeros of G.
    #[getter]
    fn nnz(&self) -> usize {
        self.g.nnz()
    }

    /// Seconds of the setup.
    #[getter]
    fn setup_seconds(&self) -> f64 {
        self.seconds
    }

    /// Copies of the arrays of G, lower triangular in CSR.
    fn factor<'py>(&self, py: Python<'py>) -> Arrays<'py> {
        handed_over(py, Csr::clone(&self.factor))
    }
}
