//! The structure of a matrix: its statistics, a figure, and a bundle for the viewer.

use std::collections::BTreeMap;
use std::sync::Arc;

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use sparsescope::cli::describe;
use sparsescope::producer;
use sparsescope_core::bundle::{Bundle, MatrixFolder};
use sparsescope_core::io::{Field, MatrixForm, Progress, Symmetry, matrix_market};
use sparsescope_core::matrix::Csr;
use sparsescope_core::record::{LoadedMatrix, LoadedValues, MatrixRecord, ReadMatrix};
use sparsescope_core::spy::to_files;
use sparsescope_figures::model::Model;
use sparsescope_figures::picture::Picture;
use sparsescope_figures::written::small_svg_of;

use crate::errors::Failure;
use crate::matrix::Matrix;
use crate::work::work;

/// Matrices with at most this many nonzeros are kept: they may fit into a notebook's cell.
const MOST_KEPT: usize = 400_000;

/// Bytes of a bundle besides the files of its matrix, at most.
const AROUND: u64 = 100_000;

/// Bytes for the cell counts of a matrix that is whole in the bundle, for the lists of the viewer.
const BESIDE: u64 = 32_000;

/// What a matrix looks like.
#[pyclass(frozen, module = "sparsescope._native")]
pub(crate) struct Structure {
    record: MatrixRecord,
    kept: Kept,
}

/// What is kept of a matrix.
enum Kept {
    /// All of it.
    Whole(Arc<Csr>),
    /// Its figure, and its picture for a bundle.
    Drawn { svg: Option<String>, files: BTreeMap<String, Vec<u8>> },
}

#[pymethods]
impl Structure {
    /// Describes a matrix. Its figure has at most `svg_bytes`; the bundle of a large matrix will have at most
    /// `bundle_bytes`.
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
            let values = LoadedValues::Real(Arc::clone(&a));
            let (field, symmetry) = (Field::Real, Symmetry::General);
            let (form, warnings, seconds) = (MatrixForm::Generated, Vec::new(), 0.0);
            let read = ReadMatrix { values, field, symmetry, form, warnings, seconds };
            let record = LoadedMatrix::describe(name, read).record;
            if a.nnz() <= MOST_KEPT {
                return Ok(Self { record, kept: Kept::Whole(a) });
            }
            let picture = Arc::new(Picture::of(&LoadedValues::Real(a)));
            let budget = bundle_bytes.saturating_sub(AROUND);
            let files = to_files(&picture.pyramid, &picture.profile, budget);
            let svg = drawn(&record, picture, svg_bytes)?;
            Ok(Self { record, kept: Kept::Drawn { svg, files } })
        })
    }

    /// The figure as SVG of at most this many bytes, if there is anything to draw.
    fn svg(&self, py: Python<'_>, svg_bytes: usize) -> PyResult<Option<String>> {
        match &self.kept {
            Kept::Drawn { svg, .. } => Ok(svg.clone()),
            Kept::Whole(a) => {
                let picture = || Arc::new(Picture::of(&LoadedValues::Real(Arc::clone(a))));
                work(py, |_| drawn(&self.record, picture(), svg_bytes))
            }
        }
    }

    /// A bundle of about `bundle_bytes` at most, and whether it has the whole matrix or only its picture.
    fn bundle<'py>(
        &self,
        py: Python<'py>,
        created: String,
        bundle_bytes: u64,
    ) -> PyResult<(Bound<'py, PyBytes>, bool)> {
        let (bytes, is_whole) = work(py, |_| match &self.kept {
            Kept::Drawn { files, .. } => Ok((self.with(files.clone(), created)?, false)),
            Kept::Whole(a) => {
                let picture = Picture::of(&LoadedValues::Real(Arc::clone(a)));
                let files = |budget| to_files(&picture.pyramid, &picture.profile, budget);
                let mut text = Vec::new();
                matrix_market::write(a, &mut text, Progress::none())?;
                let mut whole = files(BESIDE);
                whole.insert("matrix.mtx".to_owned(), text);
                let bytes = self.with(whole, created.clone())?;
                if bytes.len() as u64 <= bundle_bytes {
                    return Ok((bytes, true));
                }
                let cut = files(bundle_bytes.saturating_sub(AROUND));
                Ok((self.with(cut, created)?, false))
            }
        })?;
        Ok((PyBytes::new(py, &bytes), is_whole))
    }

    /// The statistics as JSON.
    fn statistics(&self) -> PyResult<String> {
        let json = serde_json::to_string(&self.record.statistics);
        json.map_err(|error| PyRuntimeError::new_err(error.to_string()))
    }

    /// The text of the command `info`.
    fn text(&self) -> PyResult<String> {
        describe(&self.record, None).map_err(|error| PyRuntimeError::new_err(error.to_string()))
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
}

impl Structure {
    /// A bundle with these files of the matrix.
    fn with(&self, files: BTreeMap<String, Vec<u8>>, created: String) -> Result<Vec<u8>, Failure> {
        let mut bundle = Bundle::new(producer(), created);
        bundle.matrices.push(MatrixFolder { record: self.record.clone(), files });
        bundle.complete = true;
        Ok(bundle.to_bytes()?)
    }
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
