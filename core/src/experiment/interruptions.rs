//! How often measuring was set aside: a page that nobody sees is slowed down by its browser.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

/// Counts how often measuring was set aside. A sample that was under way then is taken anew.
#[derive(Clone, Debug, Default)]
pub struct Interruptions(Arc<AtomicU32>);

impl Interruptions {
    /// Tells that it was set aside.
    pub fn tell(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    /// How often it was told.
    pub fn count(&self) -> u32 {
        self.0.load(Ordering::Relaxed)
    }
}
