//! A matrix from Python: copied once and validated, because kernels gather without checks and Python could
//! change its arrays meanwhile.

use std::sync::Arc;

use numpy::IntoPyArray;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use sparsescope_core::io::{Field, Symmetry};
use sparsescope_core::matrix::{Csr, FormatError, Precision, RowPtr, Statistics, identity};
use sparsescope_core::memory::MemoryLimit;
use sparsescope_core::record::{MatrixRecord, Source, matrix_id};

use crate::arrays::{Arrays, Vector, handed_over, unsigned};
use crate::errors::Failure;
use crate::work::work;

/// A validated matrix in CSR.
#[pyclass(frozen, module = "sparsescope._native")]
pub(crate) struct Matrix {
    pub(crate) a: Arc<Csr>,
    /// The precision that it was given in; f32 is kept exactly.
    pub(crate) precision: Precision,
}

#[pymethods]
impl Matrix {
    /// Copies the arrays of a matrix in CSR. The columns of a row may be in any order; the values of repeated
    /// ones are summed, in their order and in the precision of `data`.
    #[new]
    fn new(
        py: Python<'_>,
        rows: u64,
        cols: u64,
        indptr: &Bound<'_, PyAny>,
        indices: &Bound<'_, PyAny>,
        data: &Bound<'_, PyAny>,
    ) -> PyResult<Self> {
        // The copies, values also in the precision that they are given in, and offsets also of their final type.
        let bytes = 16 * (indptr.len()? as u128 + indices.len()? as u128);
        let fits = MemoryLimit::of_machine().check("the copy of the matrix", bytes);
        fits.map_err(Failure::from)?;
        let offsets: Vec<u64> = unsigned(indptr, "indptr")?;
        let col: Vec<u32> = unsigned(indices, "indices")?;
        let (precision, val) = match Vector::of(data, "data")? {
            Vector::Double(val) => (Precision::F64, val),
            Vector::Single(val) => (Precision::F32, Vector::Single(val).in_f64()),
        };
        let (Ok(rows), Ok(cols)) = (usize::try_from(rows), usize::try_from(cols)) else {
            return Err(PyValueError::new_err("the matrix has too many rows or columns"));
        };
        let a = work(py, move |_| csr((rows, cols), offsets, (col, val), precision))?;
        Ok(Self { a: Arc::new(a), precision })
    }

    /// Rows and columns.
    #[getter]
    fn shape(&self) -> (usize, usize) {
        (self.a.rows(), self.a.cols())
    }

    /// Number of stored nonzeros, repeated ones counted once.
    #[getter]
    fn nnz(&self) -> usize {
        self.a.nnz()
    }

    /// Whether the values were given in f32.
    #[getter]
    fn is_single(&self) -> bool {
        self.precision == Precision::F32
    }

    /// The transpose of the matrix.
    fn transposed(&self, py: Python<'_>) -> PyResult<Self> {
        let a = Arc::clone(&self.a);
        let made = work(py, move |_| {
            MemoryLimit::of_machine().check("the transpose of the matrix", a.transpose_bytes())?;
            Ok(a.transpose())
        })?;
        Ok(Self { a: Arc::new(made), precision: self.precision })
    }

    /// Copies of the arrays: unsigned offsets and columns, ascending in each row, and the values.
    fn arrays<'py>(&self, py: Python<'py>) -> Arrays<'py> {
        let (indptr, indices, data) = handed_over(py, Csr::clone(&self.a));
        let data = match self.is_single() {
            false => data,
            true => {
                let single: Vec<f32> = self.a.val().iter().map(|&value| value as f32).collect();
                single.into_pyarray(py).into_any()
            }
        };
        (indptr, indices, data)
    }
}

/// What a bundle records of a matrix, without statistics other than its size.
pub(crate) fn record(a: &Csr, name: String) -> MatrixRecord {
    let [rows, cols, nnz] = [a.rows(), a.cols(), a.nnz()].map(|count| count as u64);
    let sha256 = identity(a);
    MatrixRecord {
        id: matrix_id(&name, &sha256),
        name,
        source: Source::Real,
        generator: None,
        reordered: None,
        sha256,
        field: Field::Real.as_str().to_owned(),
        symmetry: Symmetry::General.as_str().to_owned(),
        read_seconds: 0.0,
        statistics: Statistics { rows, cols, nnz, ..Statistics::default() },
    }
}

/// The matrix with these arrays, its rows sorted and without repeats.
fn csr(
    (rows, cols): (usize, usize),
    offsets: Vec<u64>,
    (col, val): (Vec<u32>, Vec<f64>),
    precision: Precision,
) -> Result<Csr, Failure> {
    let length = |array, found: usize, expected: usize| match found == expected {
        true => Ok(()),
        false => Err(FormatError::Length { array, expected: expected as u64, found: found as u64 }),
    };
    length("indptr", offsets.len(), rows.saturating_add(1))?;
    length("data", val.len(), col.len())?;
    if offsets.first() != Some(&0) || offsets.last() != Some(&(col.len() as u64)) {
        return Err(FormatError::OffsetEnds { array: "indptr", end: col.len() as u64 }.into());
    }
    if let Some(at) = offsets.windows(2).position(|pair| pair[1] < pair[0]) {
        return Err(FormatError::OffsetsDescend { array: "indptr", at: at + 1 }.into());
    }
    let row = |i: usize| offsets[i] as usize..offsets[i + 1] as usize;
    let is_sorted = |i: usize| col[row(i)].windows(2).all(|pair| pair[0] < pair[1]);
    if (0..rows).all(is_sorted) {
        return Ok(Csr::try_new(rows, cols, RowPtr::from_offsets(offsets), col, val)?);
    }
    let bytes = 16 * rows as u128 + 12 * col.len() as u128;
    MemoryLimit::of_machine().check("the matrix with its columns sorted", bytes)?;
    let mut lengths = Vec::with_capacity(rows);
    let (mut to_col, mut to_val) = (Vec::with_capacity(col.len()), Vec::with_capacity(col.len()));
    let mut order: Vec<usize> = Vec::new();
    for i in 0..rows {
        let begin = to_col.len();
        order.clear();
        order.extend(row(i));
        order.sort_by_key(|&k| col[k]); // stable
        for &k in &order {
            match to_val.last_mut() {
                Some(last) if to_col.len() > begin && to_col.last() == Some(&col[k]) => {
                    *last = sum(*last, val[k], precision);
                }
                _ => {
                    to_col.push(col[k]);
                    to_val.push(val[k]);
                }
            }
        }
        lengths.push(to_col.len() - begin);
    }
    let row_ptr = RowPtr::from_lengths(lengths.into_iter());
    Ok(Csr::try_new(rows, cols, row_ptr, to_col, to_val)?)
}

/// The sum as it is in this precision.
fn sum(a: f64, b: f64, precision: Precision) -> f64 {
    match precision.in_f64() {
        true => a + b,
        false => f64::from(a as f32 + b as f32),
    }
}
