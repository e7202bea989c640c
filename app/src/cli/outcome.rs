//! How a command ends, and errors as sentences.

use sparsescope_core::record::Check;

/// How a command ended, apart from errors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    /// Everything was done.
    Success,
    /// Something was done, but not all of it; already reported.
    Incomplete,
    /// A check failed: a wrong result, or a kernel without one.
    CheckFailed,
    /// Stopped by Ctrl-C.
    Interrupted,
}

/// The exit code.
impl From<Outcome> for u8 {
    fn from(outcome: Outcome) -> Self {
        match outcome {
            Outcome::Success => 0,
            Outcome::Incomplete => 1,
            Outcome::CheckFailed => 3,
            Outcome::Interrupted => 130,
        }
    }
}

/// An argument that names something nonexistent.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct UsageError(pub(super) String);

/// What a failed check says about the kernel.
pub fn not_right(kernel: &str, check: &Check) -> String {
    let reason = check.reason.as_deref().unwrap_or("no reason given");
    match check.undecided {
        true => format!("the result of {kernel} could not be verified: {reason}"),
        false => format!("{kernel} computed a wrong result: {reason}"),
    }
}

/// An error that all ranks have: reported once.
#[cfg(feature = "mpi")]
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(super) struct AgreedError(pub(super) String);

/// An error with its causes, each once: some errors include their cause themselves.
pub fn sentence(error: &anyhow::Error) -> String {
    let mut text = String::new();
    for cause in error.chain().map(ToString::to_string) {
        if text.is_empty() {
            text = cause;
        } else if !text.ends_with(&cause) {
            text = format!("{text}: {cause}");
        }
    }
    text
}

/// Whether the arguments caused the error, not the work.
pub(super) fn is_usage(error: &anyhow::Error) -> bool {
    use sparsescope_core::experiment::{SelectError, SourceError};
    use sparsescope_core::generate::SpecError;
    let source = error.downcast_ref::<SourceError>();
    error.is::<UsageError>()
        || error.is::<SelectError>()
        || error.is::<SpecError>()
        || matches!(
            source,
            Some(
                SourceError::Spec(_)
                    | SourceError::UnknownSuiteEntry(_)
                    | SourceError::UnknownBatch(_)
                    | SourceError::NoBatch(_)
            )
        )
}

#[cfg(test)]
mod tests {
    use super::*;
    use anyhow::Context;

    #[test]
    fn a_cause_that_an_error_names_itself_is_not_said_twice() {
        #[derive(Debug, thiserror::Error)]
        #[error("cannot write b.zip: {0}")]
        struct Full(#[source] std::io::Error);
        let full = || Full(std::io::Error::other("no space"));
        let error = Err::<(), _>(full()).context("every run is kept").unwrap_err();
        assert_eq!(sentence(&error), "every run is kept: cannot write b.zip: no space");
        let error = Err::<(), _>(full().0).context("cannot write b.zip").unwrap_err();
        assert_eq!(sentence(&error), "cannot write b.zip: no space");
    }
}
