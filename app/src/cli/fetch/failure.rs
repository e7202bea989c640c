//! Why a download failed.

/// The reason, as a sentence.
#[derive(Debug, thiserror::Error)]
pub(super) enum Failure {
    /// The server refuses.
    #[error("{0}")]
    Refused(String),
    /// A transfer error that the next try may avoid.
    #[error("{0}")]
    Broken(String),
    /// The received data is wrong.
    #[error("{0}")]
    Damaged(String),
    /// A disk error.
    #[error("cannot write the file: {0}")]
    Disk(#[from] std::io::Error),
    /// The user asked to stop.
    #[error("stopped")]
    Cancelled,
}
