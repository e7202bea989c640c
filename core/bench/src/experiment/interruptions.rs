//! Counts interruptions of the measurement: browsers throttle pages in the background.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

/// Counts interruptions. A sample under way during one is taken again.
#[derive(Clone, Debug, Default)]
pub struct Interruptions(Arc<AtomicU32>);

impl Interruptions {
    /// Records an interruption.
    pub fn tell(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    /// Number of interruptions so far.
    pub fn count(&self) -> u32 {
        self.0.load(Ordering::Relaxed)
    }
}
