//! Whole numbers from Python; an error names the argument and says what is expected.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// Threads of a kernel; `None` means all of the machine.
pub(crate) fn threads(asked: &Bound<'_, PyAny>) -> PyResult<Option<u32>> {
    unless_none(asked, "threads", 1)
}

/// The number of the first vertex of an edge list.
pub(crate) fn base(asked: &Bound<'_, PyAny>) -> PyResult<Option<u32>> {
    unless_none(asked, "base", 0)
}

/// The power of a pattern.
pub(crate) fn power(asked: &Bound<'_, PyAny>) -> PyResult<u32> {
    number(asked, "power", 1)
}

/// The number of a GPU.
pub(crate) fn device(asked: &Bound<'_, PyAny>) -> PyResult<usize> {
    Ok(number(asked, "device", 0)? as usize)
}

fn unless_none(asked: &Bound<'_, PyAny>, what: &str, least: u32) -> PyResult<Option<u32>> {
    match asked.is_none() {
        true => Ok(None),
        false => number(asked, what, least).map(Some),
    }
}

fn number(asked: &Bound<'_, PyAny>, what: &str, least: u32) -> PyResult<u32> {
    match asked.extract::<u32>() {
        Ok(number) if number >= least => Ok(number),
        _ => {
            let most = u32::MAX;
            let sentence =
                format!("{what} is {asked}, expected a whole number from {least} to {most}");
            Err(PyValueError::new_err(sentence))
        }
    }
}
