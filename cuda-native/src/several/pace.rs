//! What whoever waits for a solve and those who solve tell one another meanwhile.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Whether to stop, and how far it has come.
#[derive(Debug, Default)]
pub(crate) struct Pace {
    stop: AtomicBool,
    /// 0 to 1, as the bits of a number.
    share: AtomicU64,
}

impl Pace {
    /// Asks for the solve to be stopped.
    pub(crate) fn stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }

    /// Whether that was asked for.
    pub(crate) fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// How far the solve has come, 0 to 1.
    pub(crate) fn share(&self) -> f64 {
        f64::from_bits(self.share.load(Ordering::Relaxed))
    }

    /// Tells that; all ranks tell the same.
    pub(crate) fn tell(&self, share: f64) {
        self.share.store(share.to_bits(), Ordering::Relaxed);
    }
}
