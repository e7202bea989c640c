//! Files and recipes to matrices.

use std::sync::Arc;

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use sparsescope_core::experiment::{LoadedValues, MatrixSource};
use sparsescope_core::io::{Progress, ReadOptions};
use sparsescope_core::matrix::Csr;
use sparsescope_core::memory::MemoryLimit;

use crate::arrays::{Arrays, handed_over};
use crate::errors::Failure;
use crate::work::work;

/// Rows and columns, the arrays, the form of the file, and warnings.
type Read<'py> = ((usize, usize), Arrays<'py>, &'static str, Vec<String>);

/// What was read, on the way to Python.
struct Found {
    a: Csr,
    form: &'static str,
    warnings: Vec<String>,
}

/// Reads a file, or makes the matrix of `gen:…` or `suite:…`. NumPy takes over the arrays.
#[pyfunction]
#[pyo3(signature = (source, base, undirected, compress_ids, variable))]
pub(crate) fn read<'py>(
    py: Python<'py>,
    source: &str,
    base: Option<u32>,
    undirected: bool,
    compress_ids: bool,
    variable: Option<String>,
) -> PyResult<Read<'py>> {
    let options = ReadOptions { base, undirected, compress_ids, variable };
    let source = MatrixSource::parse(source).map_err(Failure::from)?;
    let is_file = matches!(source, MatrixSource::File(..));
    if !is_file && options != ReadOptions::default() {
        return Err(PyTypeError::new_err(format!("options of files need a file, found {source}")));
    }
    let source = source.with_options(options);
    let found = work(py, move |stop| {
        let read = source.load_values(MemoryLimit::of_machine(), Progress::none(), stop)?;
        let LoadedValues::Real(a) = read.values else {
            let sentence = format!("{source} is complex; sparsescope.read takes real matrices");
            return Err(Failure::Value(sentence));
        };
        let (form, warnings) = (read.form.as_str(), read.warnings);
        Ok(Found { a: Arc::unwrap_or_clone(a), form, warnings })
    })?;
    let size = (found.a.rows(), found.a.cols());
    Ok((size, handed_over(py, found.a), found.form, found.warnings))
}
