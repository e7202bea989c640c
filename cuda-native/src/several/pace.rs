//! How ranks that solve together agree whether to go on: all ask for the same batches of iterations, or
//! those that ask for more would wait for the others for ever.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use super::rank::Rank;
use crate::device::DeviceError;

/// What ranks tell one another during a solve, and who waits for them.
#[derive(Debug, Default)]
pub(crate) struct Pace {
    /// The solve is to be stopped.
    stop: AtomicBool,
    /// Batches that rank 0 has let all ask for.
    let_through: AtomicU64,
    /// It lets no more through.
    closed: AtomicBool,
    /// How far the solve has come, 0 to 1, as the bits of a number.
    share: AtomicU64,
}

impl Pace {
    /// Asks rank 0 to let no more batches through.
    pub(crate) fn stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }

    /// How far the solve has come, 0 to 1.
    pub(crate) fn share(&self) -> f64 {
        f64::from_bits(self.share.load(Ordering::Relaxed))
    }

    /// Whether a rank may ask for batch `batch`, from 0; waits until rank 0 has decided that.
    pub(crate) fn may_ask(&self, rank: &Rank, batch: u64) -> Result<bool, DeviceError> {
        if rank.number() == 0 {
            return Ok(self.decide(batch));
        }
        loop {
            if let Some(decided) = self.decided(batch) {
                return Ok(decided);
            }
            if rank.has_failed() {
                return Err(DeviceError::Elsewhere);
            }
            std::thread::yield_now();
        }
    }

    /// Tells how far the solve has come.
    pub(crate) fn tell(&self, rank: &Rank, share: f64) {
        if rank.number() == 0 {
            self.share.store(share.to_bits(), Ordering::Relaxed);
        }
    }

    fn decide(&self, batch: u64) -> bool {
        if self.stop.load(Ordering::Relaxed) {
            self.closed.store(true, Ordering::Release);
            return false;
        }
        self.let_through.store(batch + 1, Ordering::Release);
        true
    }

    /// What rank 0 has decided, once it has.
    fn decided(&self, batch: u64) -> Option<bool> {
        // Looked at first: what is let through before that is seen below.
        let closed = self.closed.load(Ordering::Acquire);
        match self.let_through.load(Ordering::Acquire) > batch {
            true => Some(true),
            false => closed.then_some(false),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_ask_for_the_batches_that_were_let_through_before_the_end_and_no_more() {
        let pace = Pace::default();
        assert_eq!(pace.decided(0), None);
        assert!(pace.decide(0) && pace.decide(1));
        assert_eq!([0, 1, 2].map(|batch| pace.decided(batch)), [Some(true), Some(true), None]);
        pace.stop();
        assert!(!pace.decide(2));
        assert_eq!(
            [1, 2, 3].map(|batch| pace.decided(batch)),
            [Some(true), Some(false), Some(false)]
        );
    }
}
