//! NumPy arrays to vectors and back.

use numpy::{IntoPyArray, PyReadonlyArray1};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use sparsescope_core::matrix::{Csr, RowPtr};

/// `indptr`, `indices` and `data` of a matrix in CSR.
pub(crate) type Arrays<'py> = (Bound<'py, PyAny>, Bound<'py, PyAny>, Bound<'py, PyAny>);

/// The arrays of a matrix, which NumPy then owns, without a copy: unsigned row offsets and columns, and
/// values in f64.
pub(crate) fn handed_over(py: Python<'_>, a: Csr) -> Arrays<'_> {
    let (row_ptr, col, val) = a.into_arrays();
    let indptr = match row_ptr {
        RowPtr::Narrow(offsets) => offsets.into_pyarray(py).into_any(),
        RowPtr::Wide(offsets) => offsets.into_pyarray(py).into_any(),
    };
    (indptr, col.into_pyarray(py).into_any(), val.into_pyarray(py).into_any())
}

/// A vector in the precision that it was given in.
pub(crate) enum Vector {
    /// In f64.
    Double(Vec<f64>),
    /// In f32.
    Single(Vec<f32>),
}

impl Vector {
    /// Copies a contiguous array of one dimension.
    pub(crate) fn of(array: &Bound<'_, PyAny>, what: &str) -> PyResult<Self> {
        if let Ok(double) = array.extract::<PyReadonlyArray1<'_, f64>>() {
            return Ok(Self::Double(double.as_slice()?.to_vec()));
        }
        if let Ok(single) = array.extract::<PyReadonlyArray1<'_, f32>>() {
            return Ok(Self::Single(single.as_slice()?.to_vec()));
        }
        Err(PyTypeError::new_err(format!("{what} must be a vector of float64 or float32")))
    }

    /// The elements in f64.
    pub(crate) fn in_f64(self) -> Vec<f64> {
        match self {
            Self::Double(vector) => vector,
            Self::Single(vector) => vector.into_iter().map(f64::from).collect(),
        }
    }
}

/// Copies a contiguous array of int32 or int64 into unsigned numbers; names the first that does not fit.
pub(crate) fn unsigned<U: TryFrom<i64>>(array: &Bound<'_, PyAny>, what: &str) -> PyResult<Vec<U>> {
    if let Ok(narrow) = array.extract::<PyReadonlyArray1<'_, i32>>() {
        return converted(narrow.as_slice()?.iter().map(|&number| i64::from(number)), what);
    }
    if let Ok(wide) = array.extract::<PyReadonlyArray1<'_, i64>>() {
        return converted(wide.as_slice()?.iter().copied(), what);
    }
    Err(PyTypeError::new_err(format!("{what} must be a vector of int32 or int64")))
}

fn converted<U: TryFrom<i64>>(
    numbers: impl ExactSizeIterator<Item = i64>,
    what: &str,
) -> PyResult<Vec<U>> {
    let mut all = Vec::with_capacity(numbers.len());
    for (at, number) in numbers.enumerate() {
        let Ok(number) = U::try_from(number) else {
            let sentence = format!("{what}[{at}] is {number}, which is out of range");
            return Err(PyValueError::new_err(sentence));
        };
        all.push(number);
    }
    Ok(all)
}
