//! The skyline (Pareto front) of points.

use std::sync::{Arc, Mutex, PoisonError};

use numpy::{IntoPyArray, PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::prelude::*;
use sparsescope::cli::{backend, kernel_of, sentence, threads};
use sparsescope_core::experiment::{Configuration, Output, Problem, SkylineProblem, Watch};
use sparsescope_core::gate::Certificate;
use sparsescope_core::io::points::Column;
use sparsescope_core::matrix::Points;
use sparsescope_core::memory::MemoryLimit;
use sparsescope_core::record::{Operation, Verdict};
use sparsescope_core::skyline::PointsPicture;
use sparsescope_figures::views::skyline::{Cloud, saved};

use crate::errors::Failure;
use crate::numbers;
use crate::spmv::refused;
use crate::work::work;

/// Threads per block of GPU kernels that take them.
const BLOCK: u32 = 64;

/// Points and their skyline, to be drawn.
#[pyclass(frozen, module = "sparsescope._native")]
pub(crate) struct Front {
    drawing: Mutex<Drawing>,
}

/// What is drawn: the picture is made when it is first needed, and the points are kept until then.
enum Drawing {
    Wanted(Certified, Vec<Column>),
    Made(Arc<Cloud>),
}

/// Points, and the proof of their skyline.
type Certified = (Arc<Points>, Arc<Certificate>);

impl Drawing {
    fn cloud(&mut self) -> Arc<Cloud> {
        let cloud = match self {
            Self::Made(cloud) => Arc::clone(cloud),
            Self::Wanted((points, certificate), columns) => {
                let picture = PointsPicture::of(points.view(), certificate.dominators());
                Arc::new(Cloud::of_columns(picture, std::mem::take(columns)))
            }
        };
        *self = Self::Made(Arc::clone(&cloud));
        cloud
    }
}

#[pymethods]
impl Front {
    /// The points in their first two columns as SVG of at most `svg_bytes`; nothing without points.
    fn svg(&self, py: Python<'_>, svg_bytes: usize) -> PyResult<Option<String>> {
        work(py, |_| {
            let cloud = self.drawing.lock().unwrap_or_else(PoisonError::into_inner).cloud();
            Ok(saved::small(&cloud, svg_bytes))
        })
    }
}

/// The indices of the points that no other dominates, ascending, of contiguous points in f64, and a drawing of them.
/// Each column has a name, and whether smaller is better.
#[pyfunction]
#[pyo3(signature = (points, columns, kernel, threads, device))]
pub(crate) fn skyline<'py>(
    py: Python<'py>,
    points: PyReadonlyArray2<'py, f64>,
    columns: Vec<(String, bool)>,
    kernel: &str,
    #[pyo3(from_py_with = numbers::threads)] threads: Option<u32>,
    #[pyo3(from_py_with = numbers::device)] device: usize,
) -> PyResult<(Bound<'py, PyAny>, Front)> {
    let dimensions = points.shape().get(1).copied().unwrap_or_default();
    let coordinates = points.as_slice()?.to_vec();
    let minimized: Vec<bool> = columns.iter().map(|(_, minimized)| *minimized).collect();
    let (found, certified) = work(py, move |stop| {
        let points = Points::new(dimensions, coordinates)?;
        let points = match minimized.contains(&true) {
            true => points.negated(&minimized),
            false => points,
        };
        indices(points, (kernel, threads, device), &Watch::cancelled_by(stop))
    })?;
    let column = |(k, (name, minimized)): (usize, (String, bool))| Column {
        number: k + 1,
        name: Some(name),
        minimized,
    };
    let columns = columns.into_iter().enumerate().map(column).collect();
    let drawing = Mutex::new(Drawing::Wanted(certified, columns));
    Ok((found.into_pyarray(py).into_any(), Front { drawing }))
}

fn indices(
    points: Points,
    (kernel, asked, device): (&str, Option<u32>, usize),
    watch: &Watch<'_>,
) -> Result<(Vec<u32>, Certified), Failure> {
    let kernel = kernel_of(Operation::Skyline, kernel)?;
    let memory = MemoryLimit::of_machine();
    let problem = SkylineProblem::new(Arc::new(points));
    let backend = backend(kernel, device).map_err(|error| Failure::Value(sentence(&error)))?;
    let (threads, block) = (threads(kernel, asked), kernel.takes.block.then_some(BLOCK));
    let configuration = Configuration { threads, block, ..Configuration::usual(kernel) };
    let prepared = problem
        .admit(&configuration)
        .and_then(|()| backend.prepare(&configuration, &problem, memory));
    let mut prepared = prepared.map_err(|error| refused(kernel.id, &error.to_string()))?;
    let output = prepared.output(watch).wait()?;
    let Some(output) = output else { return Err(Failure::Cancelled) };
    let check = problem.check(&configuration, &output);
    match (output, problem.certificate()) {
        _ if watch.is_cancelled() => Err(Failure::Cancelled),
        (Output::Points(found), Some(certificate)) if check.verdict == Verdict::Pass => {
            Ok((found.indices, (Arc::clone(problem.points()), certificate)))
        }
        _ => Err(Failure::unchecked(kernel.id, &check)),
    }
}
