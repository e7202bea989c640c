//! Why a kernel was not made ready, and that one failed.

/// Why a kernel was not made ready.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PrepareError {
    /// This problem is too large for it or not of its kind.
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
