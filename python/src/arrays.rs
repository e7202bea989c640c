//! NumPy arrays to vectors and back.

use numpy::{IntoPyArray, PyReadonlyArray1};
use pyo3::exceptions::{PyMemoryError, PyTypeError, PyValueError};
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

/// An empty vector with room for `len` elements; raises `MemoryError` if there is none.
pub(crate) fn room<T>(len: usize, what: &str) -> PyResult<Vec<T>> {
    let mut made = Vec::new();
    match made.try_reserve_exact(len) {
        Ok(()) => Ok(made),
        Err(_) => {
            let bytes = len as u128 * size_of::<T>() as u128;
            let sentence = format!("{what} needs {bytes} bytes, which are not available");
            Err(PyMemoryError::new_err(sentence))
        }
    }
}

fn copied<T: Copy>(elements: &[T], what: &str) -> PyResult<Vec<T>> {
    let mut made = room(elements.len(), what)?;
    made.extend_from_slice(elements);
    Ok(made)
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
            return Ok(Self::Double(copied(double.as_slice()?, what)?));
        }
        if let Ok(single) = array.extract::<PyReadonlyArray1<'_, f32>>() {
            return Ok(Self::Single(copied(single.as_slice()?, what)?));
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
    let mut all = room(numbers.len(), what)?;
    for (at, number) in numbers.enumerate() {
        let Ok(number) = U::try_from(number) else {
            let sentence = format!("{what}[{at}] is {number}, which is out of range");
            return Err(PyValueError::new_err(sentence));
        };
        all.push(number);
    }
    Ok(all)
}
