//! One system by preconditioned conjugate gradients.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use numpy::IntoPyArray;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use sparsescope::cli::{backend, kernel_of, sentence, threads};
use sparsescope::producer;
use sparsescope_core::bundle::{Bundle, MatrixFolder};
use sparsescope_core::experiment::{
    Configuration, Finished, Given, Output, ParameterLists, PrepareError, Problem, Solution,
    SolveProblem, Watch,
};
use sparsescope_core::kernel::{Parameter, Parameters};
use sparsescope_core::matrix::Csr;
use sparsescope_core::memory::MemoryLimit;
use sparsescope_core::pcg::{NotSpd, check_spd};
use sparsescope_core::record::{Check, Environment, Operation, Run, Verdict};
use sparsescope_figures::model::Model;
use sparsescope_figures::written::small_svg_of;

use crate::arrays::Vector;
use crate::errors::Failure;
use crate::matrix::{Matrix, record};
use crate::numbers;
use crate::spmv::{refused, unsuited};
use crate::work::{work, work_so_far};

/// x, the residuals, the Ritz values, seconds of the solve, the rest of the report as JSON, and the residuals to draw.
type Solved<'py> =
    (Bound<'py, PyAny>, Bound<'py, PyAny>, Bound<'py, PyAny>, Option<f64>, String, Convergence);

/// Id of the machine in what is drawn, and the name of its bundle.
const DRAWN: &str = "solve";

/// The chart of the residuals by iterations.
const LINK: &str = "v1;view=chart;chart=convergence;operation=solve";

/// The residuals of a solve, to be drawn.
#[pyclass(frozen, module = "sparsescope._native")]
pub(crate) struct Convergence {
    /// Its run has residuals and no time, and its matrix only an identity and a size.
    bundle: Bundle,
}

#[pymethods]
impl Convergence {
    /// The chart of the residuals by iterations as SVG; nothing if it would have more than `svg_bytes`.
    fn svg(&self, py: Python<'_>, svg_bytes: usize) -> PyResult<Option<String>> {
        work(py, |_| {
            let mut model = Model::default();
            model.show_unfinished(DRAWN, self.bundle.clone());
            small_svg_of(&model, LINK, svg_bytes).map_err(Failure::Value)
        })
    }

    /// A bundle for the viewer.
    fn bundle<'py>(&self, py: Python<'py>, created: String) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = work(py, |_| {
            let bundle = Bundle { created, ..self.bundle.clone() };
            Ok(bundle.to_bytes()?)
        })?;
        Ok(PyBytes::new(py, &bytes))
    }

    /// The link to the chart.
    #[getter]
    fn link(&self) -> &'static str {
        LINK
    }
}

impl Convergence {
    fn new(a: &Csr, mut run: Run) -> Self {
        let name = format!("{} x {}, {} nonzeros", a.rows(), a.cols(), a.nnz());
        let record = record(a, name);
        run.matrix.clone_from(&record.id);
        let mut bundle = Bundle::new(producer(), String::new());
        bundle.matrices.push(MatrixFolder { record, files: BTreeMap::new() });
        bundle.environments.push(Environment { id: DRAWN.to_owned(), ..Environment::default() });
        bundle.runs.push(run);
        bundle.complete = true;
        Self { bundle }
    }
}

/// The system and how to solve it.
struct Asked<'a> {
    a: Arc<Csr>,
    given: Given,
    kernel: &'a str,
    parameters: Vec<(String, String)>,
    threads: Option<u32>,
    device: usize,
}

/// Solves A·x = b. A solve that ends early is a result, too; one that says it converged and did not raises
/// `CheckFailed`.
#[pyfunction]
#[pyo3(signature = (matrix, b, x0, kernel, parameters, threads, device))]
#[allow(clippy::too_many_arguments, reason = "one per keyword in Python")]
pub(crate) fn solve<'py>(
    py: Python<'py>,
    matrix: &Matrix,
    b: &Bound<'py, PyAny>,
    x0: Option<Bound<'py, PyAny>>,
    kernel: &str,
    parameters: Vec<(String, String)>,
    #[pyo3(from_py_with = numbers::threads)] threads: Option<u32>,
    #[pyo3(from_py_with = numbers::device)] device: usize,
) -> PyResult<Solved<'py>> {
    let b = Some(Arc::new(Vector::of(b, "b")?.in_f64()));
    let start = match x0 {
        Some(x0) => Some(Arc::new(Vector::of(&x0, "x0")?.in_f64())),
        None => None,
    };
    let given = Given { b, start, ..Given::default() };
    let asked = Asked { a: Arc::clone(&matrix.a), given, kernel, parameters, threads, device };
    let (solution, seconds, drawn) = work_so_far(py, move |stop| solved(asked, stop))?;
    let Solution { x, solve, residuals, ritz, .. } = solution;
    let report = serde_json::to_string(&solve);
    let report = report.map_err(|error| PyRuntimeError::new_err(error.to_string()))?;
    let array = |values: Vec<f64>| values.into_pyarray(py).into_any();
    Ok((array(x), array(residuals), array(ritz), seconds, report, drawn))
}

fn solved(
    asked: Asked<'_>,
    stop: &AtomicBool,
) -> Result<(Solution, Option<f64>, Convergence), Failure> {
    let kernel = kernel_of(Operation::Solve, asked.kernel)?;
    let parameters = kernel.in_effect(&parameters(&asked.parameters)?);
    let threads = threads(kernel, asked.threads);
    let configuration = Configuration { parameters, threads, ..Configuration::usual(kernel) };
    let memory = MemoryLimit::of_machine();
    let rows = asked.a.rows();
    for (what, vector) in [("b", &asked.given.b), ("x0", &asked.given.start)] {
        let found = vector.as_ref().map_or(rows, |vector| vector.len());
        if found != rows {
            let sentence = format!("{what} has {found} elements, but the matrix has {rows} rows");
            return Err(Failure::Value(sentence));
        }
    }
    SolveProblem::check_vectors(&asked.a, memory)?;
    let a = Arc::clone(&asked.a);
    let problem = SolveProblem::new(asked.a, asked.given).map_err(|why| match check_spd(&a) {
        Err(NotSpd::NotSquare { .. } | NotSpd::NotFinite { .. }) => Failure::Value(why),
        _ => Failure::NotDefinite(why),
    })?;
    let backend = backend(kernel, asked.device);
    let backend = backend.map_err(|error| Failure::Value(sentence(&error)))?;
    let prepared = problem
        .admit(&configuration)
        .and_then(|()| backend.prepare(&configuration, &problem, memory));
    let mut prepared = prepared.map_err(|error| refused(kernel.id, &error.to_string()))?;
    let ready = prepared.set_up(&Watch::cancelled_by(stop)).wait();
    let ready = ready.map_err(|error| match error {
        PrepareError::NotDefinite(why) => Failure::NotDefinite(unsuited(kernel.id, &why)),
        other => refused(kernel.id, &other.to_string()),
    })?;
    if ready == Finished::Cancelled {
        return Err(Failure::Cancelled);
    }
    let output = prepared.output(&Watch::cancelled_by(stop)).wait()?;
    let (output, seconds) = match output {
        Some(output) => (output, prepared.once()),
        // What the iterations so far reached.
        None => match prepared.last_output().wait()? {
            reached @ Output::Solution(_) => (reached, None),
            _ => return Err(Failure::Cancelled),
        },
    };
    let check = problem.check(&configuration, &output);
    let mut run = configuration.empty_run("", DRAWN, backend.model());
    run.params = prepared.params();
    (run.solve, run.history) = output.told();
    let (verdict, reason) = (check.verdict, check.reason.clone());
    run.check = Check { verdict, reason, ..Check::default() };
    let drawn = Convergence::new(&a, run);
    let Output::Solution(solution) = output else {
        let sentence = format!("{} returned {}", kernel.id, output.kind());
        return Err(Failure::CheckFailed(sentence));
    };
    match (check.verdict, solution.solve.converged) {
        (Verdict::Pass, _) | (_, false) => Ok((*solution, seconds, drawn)),
        (_, true) => Err(Failure::unchecked(kernel.id, &check)),
    }
}

/// The parameters of these names, as in bundles.
fn parameters(asked: &[(String, String)]) -> Result<Parameters, Failure> {
    let mut lists = ParameterLists::default();
    for (name, value) in asked {
        let parameter = Parameter::of(name);
        let unknown = || Failure::Value(format!("there is no parameter `{name}`"));
        lists.set(parameter.ok_or_else(unknown)?, &[value])?;
    }
    Ok(lists.single().unwrap_or_default())
}
