//! Errors of preparing and running kernels.

/// Why a kernel could not be prepared.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PrepareError {
    /// The problem is too large for the kernel or not of its kind.
    #[error("{0}")]
    Refused(String),
    /// This machine or build cannot run it.
    #[error("{0}")]
    Unsupported(String),
}

/// A kernel that failed while running.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{kernel} failed: {reason}")]
pub struct KernelError {
    /// Id of the kernel.
    pub kernel: String,
    /// What happened, in one sentence.
    pub reason: String,
}
