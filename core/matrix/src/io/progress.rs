//! Progress of a read or a write, and cancellation.

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};

use super::IoError;
use crate::pace::Pace;

/// A counter and a flag that a caller may share with a long read or write; both are optional.
///
/// ```
/// use std::sync::atomic::{AtomicBool, AtomicU64};
/// use sparsescope_matrix::io::Progress;
/// let (done, cancel) = (AtomicU64::new(0), AtomicBool::new(false));
/// let progress = Progress::none().counting(&done).cancelled_by(&cancel);
/// # let _ = progress;
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct Progress<'a> {
    done: Option<&'a AtomicU64>,
    cancel: Option<&'a AtomicBool>,
    ahead: Option<&'a AtomicUsize>,
    pace: Pace,
}

impl<'a> Progress<'a> {
    /// Without counter and flag.
    pub fn none() -> Self {
        Self::default()
    }

    /// Adds processed bytes to `done`: when reading, bytes of the file as stored, so that its
    /// length is the total; when writing, bytes of the output.
    pub fn counting(self, done: &'a AtomicU64) -> Self {
        Self { done: Some(done), ..self }
    }

    /// Ends the work with [`IoError::Cancelled`] soon after `cancel` becomes true.
    pub fn cancelled_by(self, cancel: &'a AtomicBool) -> Self {
        Self { cancel: Some(cancel), ..self }
    }

    /// Does the work at this pace.
    pub(super) fn at(self, pace: Pace) -> Self {
        Self { pace, ..self }
    }

    /// The pace.
    pub(super) fn pace(&self) -> Pace {
        self.pace
    }

    /// Ends a step of the work; fails if it was cancelled.
    pub(super) async fn rest(&self) -> Result<(), IoError> {
        self.pace.rest().await;
        self.check()
    }

    /// Keeps the cancel flag but counts nothing: for a second pass over bytes already counted.
    pub(super) fn uncounted(self) -> Self {
        Self { done: None, ..self }
    }

    /// Does not count the first `ahead` bytes: they are read again and were already counted.
    pub(super) fn ahead(self, ahead: &'a AtomicUsize) -> Self {
        Self { ahead: Some(ahead), ..self }
    }

    pub(super) fn advance(&self, bytes: usize) {
        let Some(done) = self.done else { return };
        let before = self.ahead.map_or(0, |ahead| {
            let less = |left: usize| Some(left.saturating_sub(bytes));
            ahead.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less).unwrap_or_default()
        });
        done.fetch_add(bytes.saturating_sub(before) as u64, Ordering::Relaxed);
    }

    pub(super) fn check(&self) -> Result<(), IoError> {
        match self.cancel {
            Some(cancel) if cancel.load(Ordering::Relaxed) => Err(IoError::Cancelled),
            _ => Ok(()),
        }
    }
}
