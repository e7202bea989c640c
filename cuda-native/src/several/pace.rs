//! Communication between a waiting thread and the threads that solve.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// A stop flag and the progress.
#[derive(Debug, Default)]
pub(crate) struct Pace {
    stop: AtomicBool,
    /// 0 to 1, as the bits of an f64.
    share: AtomicU64,
}

impl Pace {
    /// Requests that the solve stop.
    pub(crate) fn stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }

    /// Whether a stop was requested.
    pub(crate) fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// Progress of the solve, 0 to 1.
    pub(crate) fn share(&self) -> f64 {
        f64::from_bits(self.share.load(Ordering::Relaxed))
    }

    /// Sets the progress; all ranks set the same.
    pub(crate) fn tell(&self, share: f64) {
        self.share.store(share.to_bits(), Ordering::Relaxed);
    }
}
