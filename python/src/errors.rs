//! Errors of the program as exceptions of Python, with the program's sentence.

use std::path::{Path, PathBuf};

use pyo3::exceptions::{PyKeyboardInterrupt, PyMemoryError, PyValueError};
use pyo3::prelude::*;
use sparsescope::cli::{UsageError, not_right};
use sparsescope_core::bundle::BundleError;
use sparsescope_core::experiment::{KernelError, PrepareError, SourceError};
use sparsescope_core::fsai::FsaiError;
use sparsescope_core::io::IoError;
use sparsescope_core::kernel::ParameterError;
use sparsescope_core::matrix::FormatError;
use sparsescope_core::memory::MemoryError;
use sparsescope_core::pcg::PreconditionerError;
use sparsescope_core::record::Check;

mod python {
    pyo3::import_exception!(sparsescope._errors, CheckFailed);
    pyo3::import_exception!(sparsescope._errors, FileMissing);
    pyo3::import_exception!(sparsescope._errors, NotDefinite);
    pyo3::import_exception!(sparsescope._errors, ReadError);
}

/// Why work ended without a result.
pub(crate) enum Failure {
    /// It was asked to stop.
    Cancelled,
    /// A file that cannot be read: its path, and the line where it is wrong, from 1.
    Read { sentence: String, path: Option<PathBuf>, line: Option<u64>, is_missing: bool },
    /// A result that failed its check.
    CheckFailed(String),
    /// A matrix that is not symmetric positive definite.
    NotDefinite(String),
    /// More memory than there is.
    Memory(String),
    /// Anything else that the caller can change.
    Value(String),
}

impl Failure {
    /// A result of `kernel` that did not pass.
    pub(crate) fn unchecked(kernel: &str, check: &Check) -> Self {
        Self::CheckFailed(not_right(kernel, check))
    }

    /// What is wrong with a file, in this sentence.
    fn reading(sentence: String, error: &IoError) -> Self {
        let (path, line, is_missing) = place(error);
        let path = path.map(Path::to_owned);
        Self::Read { sentence, path, line, is_missing }
    }
}

/// The path and line that an error names, and whether the file does not exist.
fn place(error: &IoError) -> (Option<&Path>, Option<u64>, bool) {
    match error {
        IoError::InFile { path, error } => {
            let (_, line, is_missing) = place(error);
            (Some(path), line, is_missing)
        }
        IoError::InMember { error, .. } => place(error),
        IoError::Unexpected { line, .. }
        | IoError::TooFewEntries { line, .. }
        | IoError::TooManyEntries { line, .. } => (None, Some(*line), false),
        IoError::System { error, .. } => (None, None, error.kind() == std::io::ErrorKind::NotFound),
        _ => (None, None, false),
    }
}

impl From<Failure> for PyErr {
    fn from(failure: Failure) -> Self {
        // Not as a `Path`, which would change the text of an address and of an empty name.
        let text = |path: Option<PathBuf>| path.map(PathBuf::into_os_string);
        match failure {
            Failure::Cancelled => PyKeyboardInterrupt::new_err(()),
            Failure::Read { sentence, path, line, is_missing: false } => {
                python::ReadError::new_err((sentence, text(path), line))
            }
            Failure::Read { sentence, path, line, is_missing: true } => {
                python::FileMissing::new_err((sentence, text(path), line))
            }
            Failure::CheckFailed(sentence) => python::CheckFailed::new_err((sentence,)),
            Failure::NotDefinite(sentence) => python::NotDefinite::new_err((sentence,)),
            Failure::Memory(sentence) => PyMemoryError::new_err((sentence,)),
            Failure::Value(sentence) => PyValueError::new_err((sentence,)),
        }
    }
}

impl From<IoError> for Failure {
    fn from(error: IoError) -> Self {
        match error {
            _ if error.is_cancelled() => Self::Cancelled,
            error => Self::reading(error.to_string(), &error),
        }
    }
}

impl From<SourceError> for Failure {
    fn from(error: SourceError) -> Self {
        match &error {
            _ if error.is_cancelled() => Self::Cancelled,
            SourceError::Read(of_file) | SourceError::NoFile { error: of_file, .. } => {
                Self::reading(error.to_string(), of_file)
            }
            _ => Self::Value(error.to_string()),
        }
    }
}

impl From<FsaiError> for Failure {
    fn from(error: FsaiError) -> Self {
        match error {
            FsaiError::NotPositiveDefinite { .. } => Self::NotDefinite(error.to_string()),
            FsaiError::Memory(error) => error.into(),
            error => Self::Value(error.to_string()),
        }
    }
}

impl From<FormatError> for Failure {
    fn from(error: FormatError) -> Self {
        match error {
            FormatError::Memory(error) => error.into(),
            error => Self::Value(error.to_string()),
        }
    }
}

impl From<KernelError> for Failure {
    fn from(error: KernelError) -> Self {
        match error.is_not_definite {
            true => Self::NotDefinite(error.to_string()),
            false => Self::Value(error.to_string()),
        }
    }
}

impl From<MemoryError> for Failure {
    fn from(error: MemoryError) -> Self {
        Self::Memory(error.to_string())
    }
}

impl From<BundleError> for Failure {
    fn from(error: BundleError) -> Self {
        Self::Read { sentence: error.to_string(), path: None, line: None, is_missing: false }
    }
}

/// Implements the conversion of errors that are only sentences.
macro_rules! sentences {
    ($($error:ty),*) => {
        $(impl From<$error> for Failure {
            fn from(error: $error) -> Self {
                Self::Value(error.to_string())
            }
        })*
    };
}

sentences!(ParameterError, PreconditionerError, PrepareError, UsageError);
