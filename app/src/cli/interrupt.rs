//! Ctrl-C: asked for once, work stops cleanly; asked for twice, the program ends.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::Context;

/// A flag that Ctrl-C (and a request to terminate) sets.
pub(super) struct Interrupt(Arc<AtomicBool>);

impl Interrupt {
    /// Takes over the signal.
    pub(super) fn install() -> anyhow::Result<Self> {
        let flag = Arc::new(AtomicBool::new(false));
        let seen = Arc::clone(&flag);
        ctrlc::set_handler(move || {
            if seen.swap(true, Ordering::Relaxed) {
                // Measured runs are safe in the journal.
                std::process::exit(130);
            }
            eprintln!("\nstopping; once more to end at once");
        })
        .context("cannot handle Ctrl-C")?;
        Ok(Self(flag))
    }

    /// A flag that nothing sets.
    #[cfg(test)]
    pub(super) fn never() -> Self {
        Self(Arc::default())
    }

    /// The flag, for work that looks at it.
    pub(super) fn flag(&self) -> &AtomicBool {
        &self.0
    }

    /// Whether it was set.
    pub(super) fn raised(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}
