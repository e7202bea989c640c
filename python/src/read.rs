//! Files and recipes to matrices.

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use sparsescope_core::experiment::{LoadedValues, MatrixSource};
use sparsescope_core::io::{Progress, ReadOptions};
use sparsescope_core::matrix::Csr;
use sparsescope_core::memory::MemoryLimit;

use crate::arrays::{Arrays, handed_over};
use crate::errors::Failure;
use crate::numbers;
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
    source: OsString,
    #[pyo3(from_py_with = numbers::base)] base: Option<u32>,
    undirected: bool,
    compress_ids: bool,
    variable: Option<String>,
) -> PyResult<Read<'py>> {
    let options = ReadOptions { base, undirected, compress_ids, variable };
    let path = PathBuf::from(source);
    let source = match path.to_str() {
        Some(text) => MatrixSource::parse(text).map_err(Failure::from)?,
        None => MatrixSource::File(path.clone().into(), ReadOptions::default()),
    };
    let is_file = matches!(source, MatrixSource::File(..));
    if !is_file && options != ReadOptions::default() {
        return Err(PyTypeError::new_err(format!("options of files need a file, found {source}")));
    }
    let source = source.with_options(options);
    let found = work(py, move |stop| {
        let read = source.load_values(MemoryLimit::of_machine(), Progress::none(), stop)?;
        let LoadedValues::Real(a) = read.values else {
            let sentence = format!("{source} is complex; sparsescope.read takes real matrices");
            let path = is_file.then_some(path);
            return Err(Failure::Read { sentence, path, line: None, is_missing: false });
        };
        let (form, warnings) = (read.form.as_str(), read.warnings);
        Ok(Found { a: Arc::unwrap_or_clone(a), form, warnings })
    })?;
    let size = (found.a.rows(), found.a.cols());
    Ok((size, handed_over(py, found.a), found.form, found.warnings))
}
