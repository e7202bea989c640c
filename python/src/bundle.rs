//! Result bundles.

use std::path::PathBuf;

use pyo3::prelude::*;
use pyo3::types::PyBytes;
use sparsescope_core::bundle::{Bundle as Content, BundleError, Limits};
use sparsescope_core::matrix::sha256;
use sparsescope_figures::model::Model;
use sparsescope_figures::state::ViewState;
use sparsescope_figures::views::VIEWS;
use sparsescope_figures::written::small_svg_of;

use crate::errors::Failure;
use crate::work::work;

/// A result bundle in memory.
#[pyclass(frozen, module = "sparsescope._native")]
pub(crate) struct Bundle {
    content: Content,
}

#[pymethods]
impl Bundle {
    /// Reads a bundle from a file.
    #[staticmethod]
    fn open(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        let content = work(py, move |_| {
            let is_missing = !path.exists();
            Content::open(&path, &Limits::default()).map_err(|error| Failure::Read {
                sentence: match error {
                    // It names the file itself.
                    BundleError::Io { .. } => error.to_string(),
                    error => format!("{}: {error}", path.display()),
                },
                path: Some(path.clone()),
                line: None,
                is_missing,
            })
        })?;
        Ok(Self { content })
    }

    /// Reads a bundle from the content of a file.
    #[staticmethod]
    fn of_bytes(py: Python<'_>, content: &[u8]) -> PyResult<Self> {
        let content = work(py, |_| Ok(Content::read(content, &Limits::default())?))?;
        Ok(Self { content })
    }

    /// The content of the file.
    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = self.content.to_bytes().map_err(Failure::from)?;
        Ok(PyBytes::new(py, &bytes))
    }

    /// The same in at most `most_bytes` if the files of its matrices and other subjects, such as pictures, are left
    /// out; and whether it has them.
    fn within<'py>(
        &self,
        py: Python<'py>,
        most_bytes: usize,
    ) -> PyResult<(Bound<'py, PyBytes>, bool)> {
        let (bytes, is_whole) = work(py, |_| {
            let whole = self.content.to_bytes()?;
            if whole.len() <= most_bytes {
                return Ok((whole, true));
            }
            let mut cut = self.content.clone();
            cut.matrices.iter_mut().for_each(|folder| folder.files.clear());
            cut.subjects.iter_mut().for_each(|folder| folder.files.clear());
            Ok((cut.to_bytes()?, false))
        })?;
        Ok((PyBytes::new(py, &bytes), is_whole))
    }

    /// `results.csv`: one line per run.
    fn csv<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let table = self.content.results_csv().map_err(Failure::from)?;
        Ok(PyBytes::new(py, &table))
    }

    /// The table of the view "Best", a header and lines, for an operation.
    fn best(&self, py: Python<'_>, operation: String) -> PyResult<Vec<Vec<String>>> {
        let content = self.content.clone();
        work(py, move |_| {
            let mut model = Model::default();
            model.show_unfinished("result.zip", content);
            let mut state = ViewState::default();
            state.filter.operation = operation;
            let best = VIEWS.iter().find(|view| view.id == "best");
            Ok(best.map(|view| (view.table)(&model, &state)).unwrap_or_default())
        })
    }

    /// The figure of a link as SVG; nothing if it would have more than `svg_bytes`.
    fn svg(&self, py: Python<'_>, link: String, svg_bytes: usize) -> PyResult<Option<String>> {
        work(py, move |_| {
            let mut model = Model::default();
            let sha256 = sha256(&self.content.to_bytes()?);
            model.add_bundle("result.zip", self.content.clone(), sha256);
            small_svg_of(&model, &link, svg_bytes).map_err(Failure::Value)
        })
    }

    /// The operations of the runs, in their order, each once.
    #[getter]
    fn operations(&self) -> Vec<&str> {
        let mut all: Vec<&str> = Vec::new();
        for run in &self.content.runs {
            if !all.contains(&run.operation.as_str()) {
                all.push(&run.operation);
            }
        }
        all
    }

    /// The name that the user gave it.
    #[getter]
    fn label(&self) -> Option<&str> {
        self.content.label.as_deref()
    }

    /// Whether the whole plan was run.
    #[getter]
    fn complete(&self) -> bool {
        self.content.complete
    }

    /// Whether any matrix of it has a picture.
    #[getter]
    fn has_picture(&self) -> bool {
        self.content.matrices.iter().any(|folder| folder.files.contains_key("spy.json"))
    }

    /// Number of runs.
    fn __len__(&self) -> usize {
        self.content.runs.len()
    }
}
