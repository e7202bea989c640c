//! Statistics of a matrix.

use std::sync::Arc;

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use sparsescope::cli::describe;
use sparsescope_core::io::{Field, MatrixForm, Symmetry};
use sparsescope_core::record::{LoadedMatrix, LoadedValues, ReadMatrix};

use crate::matrix::Matrix;
use crate::work::work;

/// The statistics as JSON, and as the text of the command `info`.
#[pyfunction]
pub(crate) fn info(py: Python<'_>, matrix: &Matrix, name: String) -> PyResult<(String, String)> {
    let values = LoadedValues::Real(Arc::clone(&matrix.a));
    let record = work(py, move |_| {
        let (field, symmetry) = (Field::Real, Symmetry::General);
        let (form, warnings, seconds) = (MatrixForm::Generated, Vec::new(), 0.0);
        let read = ReadMatrix { values, field, symmetry, form, warnings, seconds };
        Ok(LoadedMatrix::describe(name, read).record)
    })?;
    let json = serde_json::to_string(&record.statistics)
        .map_err(|error| PyRuntimeError::new_err(error.to_string()))?;
    let text =
        describe(&record, None).map_err(|error| PyRuntimeError::new_err(error.to_string()))?;
    Ok((json, text))
}
