//! The program in this process.

use std::ffi::OsString;
use std::io::Write as _;
use std::path::PathBuf;
use std::sync::Arc;

use pyo3::prelude::*;
use sparsescope::cli;

use crate::errors::Failure;
use crate::work::work;

/// Runs the command line as the whole work of this process; returns its exit code. Wrong arguments, `--help` and
/// a second Ctrl-C end the process.
#[pyfunction]
pub(crate) fn command(py: Python<'_>, args: Vec<OsString>, program: PathBuf) -> u8 {
    py.detach(|| {
        let code = cli::run(args, program);
        // The interpreter, not Rust, ends the process. A reader that left is no error.
        let _ = std::io::stdout().flush();
        code
    })
}

/// Runs `bench` with these arguments; returns its exit code.
#[pyfunction]
pub(crate) fn measure(py: Python<'_>, args: Vec<OsString>) -> PyResult<u8> {
    work(py, move |stop| cli::measure(&args, Arc::clone(stop)).map_err(Failure::Value))
}
