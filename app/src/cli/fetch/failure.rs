//! Why a download did not end well.

/// The reason, as a sentence.
#[derive(Debug, thiserror::Error)]
pub(super) enum Failure {
    /// The server says no.
    #[error("{0}")]
    Refused(String),
    /// Something went wrong on the way, and may go well the next time.
    #[error("{0}")]
    Broken(String),
    /// What came is not what it should be.
    #[error("{0}")]
    Damaged(String),
    /// The disk.
    #[error("cannot write the file: {0}")]
    Disk(#[from] std::io::Error),
    /// The user asked to stop.
    #[error("stopped")]
    Cancelled,
}
