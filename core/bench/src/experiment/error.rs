//! Errors of preparing and running kernels.

use sparsescope_kernels::fsai::FsaiError;
use sparsescope_kernels::pcg::Breakdown;

/// Why a kernel could not be prepared.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PrepareError {
    /// The problem is too large for the kernel or not of its kind.
    #[error("{0}")]
    Refused(String),
    /// The matrix is not positive definite, which the kernel requires.
    #[error("{0}")]
    NotDefinite(String),
    /// This machine or build cannot run it.
    #[error("{0}")]
    Unsupported(String),
}

impl From<FsaiError> for PrepareError {
    fn from(error: FsaiError) -> Self {
        match error {
            FsaiError::NotPositiveDefinite { .. } => Self::NotDefinite(error.to_string()),
            _ => Self::Refused(error.to_string()),
        }
    }
}

/// A kernel that failed while running. Runs record the text, in which `Run::failure` finds the reason.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{kernel} failed: {reason}")]
pub struct KernelError {
    /// Id of the kernel.
    pub kernel: String,
    /// What happened, in one sentence.
    pub reason: String,
    /// Whether the reason is that the matrix is not positive definite.
    pub is_not_definite: bool,
}

impl KernelError {
    /// A kernel, by its id, that failed for a reason in one sentence.
    pub fn new(kernel: &str, reason: impl Into<String>) -> Self {
        Self { kernel: kernel.to_owned(), reason: reason.into(), is_not_definite: false }
    }

    /// A solver, by its id, whose iterations could not start or continue.
    pub fn broke(kernel: &str, breakdown: &Breakdown) -> Self {
        let is_not_definite = breakdown.is_not_definite();
        Self { is_not_definite, ..Self::new(kernel, breakdown.to_string()) }
    }
}
