//! The structure of a matrix: its statistics, a figure, and a bundle for the viewer. Each is made when it is first
//! asked for.

use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use sparsescope::cli::describe;
use sparsescope::producer;
use sparsescope_core::bundle::{Bundle, MatrixFolder};
use sparsescope_core::io::{Progress, matrix_market};
use sparsescope_core::matrix::{Csr, Statistics};
use sparsescope_core::record::{LoadedValues, MatrixRecord};
use sparsescope_core::spy::to_files;
use sparsescope_figures::model::Model;
use sparsescope_figures::picture::Picture;
use sparsescope_figures::written::small_svg_of;

use crate::errors::Failure;
use crate::matrix::{Matrix, record};
use crate::work::work;

/// Matrices with at most this many nonzeros may fit into a notebook's cell.
const MOST_SENT: usize = 400_000;

/// Bytes of a bundle besides the files of its matrix, at most.
const AROUND: u64 = 100_000;

/// Bytes for the cell counts of a matrix that is whole in the bundle, for the lists of the viewer.
const BESIDE: u64 = 32_000;

/// What a matrix looks like.
#[pyclass(frozen, module = "sparsescope._native")]
pub(crate) struct Structure {
    /// Its statistics are only the size: the others take several times as long as the figure, which needs none.
    record: MatrixRecord,
    statistics: OnceLock<Statistics>,
    svg: OnceLock<Option<String>>,
    kept: Mutex<Kept>,
    svg_bytes: usize,
    bundle_bytes: u64,
}

/// What is kept of a matrix.
enum Kept {
    /// All of it.
    Whole(Arc<Csr>),
    /// What the bundle has of it if it is too large for one.
    Cut(Box<MatrixFolder>),
}

#[pymethods]
impl Structure {
    /// Keeps a matrix, to draw a figure of at most `svg_bytes` and a bundle of about `bundle_bytes` at most.
    #[new]
    fn new(
        py: Python<'_>,
        matrix: &Matrix,
        name: String,
        svg_bytes: usize,
        bundle_bytes: u64,
    ) -> PyResult<Self> {
        let a = Arc::clone(&matrix.a);
        work(py, move |_| {
            Ok(Self {
                record: record(&a, name),
                statistics: OnceLock::new(),
                svg: OnceLock::new(),
                kept: Mutex::new(Kept::Whole(a)),
                svg_bytes,
                bundle_bytes,
            })
        })
    }

    /// The figure as SVG, if there is anything to draw.
    fn svg(&self, py: Python<'_>) -> PyResult<Option<String>> {
        work(py, |_| {
            if let Some(svg) = self.svg.get() {
                return Ok(svg.clone());
            }
            let picture = match &*self.kept() {
                Kept::Whole(a) => Picture::of(&LoadedValues::Real(Arc::clone(a))),
                Kept::Cut(folder) => Picture::from_files(&folder.files).map_err(Failure::Value)?,
            };
            let svg = drawn(&self.record, Arc::new(picture), self.svg_bytes)?;
            Ok(self.svg.get_or_init(|| svg).clone())
        })
    }

    /// The bundle, and whether it has the whole matrix or only its picture. The matrix is not kept after the latter.
    fn bundle<'py>(
        &self,
        py: Python<'py>,
        created: String,
    ) -> PyResult<(Bound<'py, PyBytes>, bool)> {
        let (bytes, is_whole) = work(py, |_| {
            let mut kept = self.kept();
            let a = match &*kept {
                Kept::Whole(a) => Arc::clone(a),
                Kept::Cut(folder) => return Ok((bundled((**folder).clone(), created)?, false)),
            };
            let picture = Picture::of(&LoadedValues::Real(Arc::clone(&a)));
            let files = |budget| to_files(&picture.pyramid, &picture.profile, budget);
            let record = self.described(&a);
            if a.nnz() <= MOST_SENT {
                let mut text = Vec::new();
                matrix_market::write(&a, &mut text, Progress::none())?;
                let mut whole = files(BESIDE);
                whole.insert("matrix.mtx".to_owned(), text);
                let folder = MatrixFolder { record: record.clone(), files: whole };
                let bytes = bundled(folder, created.clone())?;
                if bytes.len() as u64 <= self.bundle_bytes {
                    return Ok((bytes, true));
                }
            }
            let files = files(self.bundle_bytes.saturating_sub(AROUND));
            let folder = MatrixFolder { record, files };
            *kept = Kept::Cut(Box::new(folder.clone()));
            Ok((bundled(folder, created)?, false))
        })?;
        Ok((PyBytes::new(py, &bytes), is_whole))
    }

    /// The statistics as JSON.
    fn statistics(&self, py: Python<'_>) -> PyResult<String> {
        let json = serde_json::to_string(&self.whole_record(py)?.statistics);
        json.map_err(|error| PyRuntimeError::new_err(error.to_string()))
    }

    /// The text of the command `info`.
    fn text(&self, py: Python<'_>) -> PyResult<String> {
        let text = describe(&self.whole_record(py)?, None);
        text.map_err(|error| PyRuntimeError::new_err(error.to_string()))
    }

    /// Its name.
    #[getter]
    fn name(&self) -> &str {
        &self.record.name
    }

    /// Rows, columns and nonzeros.
    #[getter]
    fn size(&self) -> (u64, u64, u64) {
        let statistics = &self.record.statistics;
        (statistics.rows, statistics.cols, statistics.nnz)
    }

    /// Whether the matrix has too many nonzeros for a bundle of its own.
    #[getter]
    fn is_large(&self) -> bool {
        self.record.statistics.nnz > MOST_SENT as u64
    }
}

impl Structure {
    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The record with all statistics.
    fn whole_record(&self, py: Python<'_>) -> PyResult<MatrixRecord> {
        work(py, |_| {
            Ok(match &*self.kept() {
                Kept::Whole(a) => self.described(a),
                Kept::Cut(folder) => folder.record.clone(),
            })
        })
    }

    /// The same, of the matrix.
    fn described(&self, a: &Csr) -> MatrixRecord {
        let statistics = self.statistics.get_or_init(|| Statistics::of(a)).clone();
        MatrixRecord { statistics, ..self.record.clone() }
    }
}

/// A bundle of one matrix.
fn bundled(folder: MatrixFolder, created: String) -> Result<Vec<u8>, Failure> {
    let mut bundle = Bundle::new(producer(), created);
    bundle.matrices.push(folder);
    bundle.complete = true;
    Ok(bundle.to_bytes()?)
}

/// The figure of a matrix.
fn drawn(
    record: &MatrixRecord,
    picture: Arc<Picture>,
    svg_bytes: usize,
) -> Result<Option<String>, Failure> {
    if picture.pyramid.rows() == 0 || picture.pyramid.cols() == 0 {
        return Ok(None);
    }
    let mut model = Model::default();
    model.add_matrix(&record.name, record.clone(), picture);
    small_svg_of(&model, "v1;view=spy", svg_bytes).map_err(Failure::Value)
}
