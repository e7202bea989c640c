//! How far a read or a write has come, and the wish to stop it.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use super::IoError;
use crate::pace::Pace;

/// Counter and flag that a caller may share with a long read or write; both are optional.
///
/// ```
/// use std::sync::atomic::{AtomicBool, AtomicU64};
/// use sparsescope_core::io::Progress;
/// let (done, cancel) = (AtomicU64::new(0), AtomicBool::new(false));
/// let progress = Progress::none().counting(&done).cancelled_by(&cancel);
/// # let _ = progress;
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct Progress<'a> {
    done: Option<&'a AtomicU64>,
    cancel: Option<&'a AtomicBool>,
    pace: Pace,
}

impl<'a> Progress<'a> {
    /// Nobody watches and nobody cancels.
    pub fn none() -> Self {
        Self::default()
    }

    /// `done` is raised by the bytes dealt with: of the file as it is stored when reading, so
    /// that its length is the total; of the output when writing.
    pub fn counting(self, done: &'a AtomicU64) -> Self {
        Self { done: Some(done), ..self }
    }

    /// The work ends with [`IoError::Cancelled`] soon after `cancel` becomes true.
    pub fn cancelled_by(self, cancel: &'a AtomicBool) -> Self {
        Self { cancel: Some(cancel), ..self }
    }

    /// The work is done at this pace.
    pub(super) fn at(self, pace: Pace) -> Self {
        Self { pace, ..self }
    }

    /// The pace.
    pub(super) fn pace(&self) -> Pace {
        self.pace
    }

    /// Ends a step of the work; fails where it is to stop.
    pub(super) async fn rest(&self) -> Result<(), IoError> {
        self.pace.rest().await;
        self.check()
    }

    /// The same wish to stop, counting nothing: for a second pass over bytes already counted.
    pub(super) fn uncounted(self) -> Self {
        Self { done: None, ..self }
    }

    pub(super) fn advance(&self, bytes: usize) {
        if let Some(done) = self.done {
            done.fetch_add(bytes as u64, Ordering::Relaxed);
        }
    }

    pub(super) fn check(&self) -> Result<(), IoError> {
        match self.cancel {
            Some(cancel) if cancel.load(Ordering::Relaxed) => Err(IoError::Cancelled),
            _ => Ok(()),
        }
    }
}
