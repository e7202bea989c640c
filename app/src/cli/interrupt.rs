//! Ctrl-C: pressed once, work stops cleanly; pressed twice, the program ends. A time limit stops work in the
//! same way.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::time::Duration;

use anyhow::Context;
use sparsescope_core::files::exit;

use super::ranks;

/// A flag that Ctrl-C, a request to terminate or an expired [`Deadline`] sets.
#[derive(Default)]
pub(super) struct Interrupt {
    stop: Arc<AtomicBool>,
    /// Set by the user.
    pressed: Arc<AtomicBool>,
}

/// A time limit, in force until dropped.
pub(super) struct Deadline {
    /// Ends the waiting thread when dropped.
    _over: Sender<()>,
}

impl Interrupt {
    /// Installs the signal handler. With `at_once`, the signal ends the program, for work that checks no
    /// flag.
    pub(super) fn install(at_once: bool) -> anyhow::Result<Self> {
        let interrupt = Self::default();
        let (stop, pressed) = (Arc::clone(&interrupt.stop), Arc::clone(&interrupt.pressed));
        let speaks = ranks::speaks();
        ctrlc::set_handler(move || {
            if pressed.swap(true, Ordering::Relaxed) || at_once {
                if at_once {
                    eprintln!("interrupted");
                }
                // Completed runs are safe in the journal.
                exit(130);
            }
            stop.store(true, Ordering::Relaxed);
            if speaks {
                eprintln!("\nstopping; press Ctrl-C again to quit at once");
            }
        })
        .or_else(unheard)
        .context("cannot handle Ctrl-C")?;
        Ok(interrupt)
    }

    /// The caller's flag, for a caller that handles Ctrl-C.
    pub(super) fn raised_by(stop: Arc<AtomicBool>) -> Self {
        Self { pressed: Arc::clone(&stop), stop }
    }

    /// A flag that is never set.
    #[cfg(test)]
    pub(super) fn never() -> Self {
        Self::default()
    }

    /// Sets the flag after `limit`, unless the deadline is dropped first.
    pub(super) fn after(&self, limit: Duration) -> anyhow::Result<Deadline> {
        let stop = Arc::clone(&self.stop);
        let (over, wait) = mpsc::channel::<()>();
        let watch = move || {
            if wait.recv_timeout(limit) == Err(RecvTimeoutError::Timeout) {
                stop.store(true, Ordering::Relaxed);
            }
        };
        std::thread::Builder::new().spawn(watch).context("cannot start the time limit")?;
        Ok(Deadline { _over: over })
    }

    /// The flag, for work that checks it.
    pub(super) fn flag(&self) -> &AtomicBool {
        &self.stop
    }

    /// Whether the flag is set.
    pub(super) fn raised(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// Whether the user set it, not a time limit.
    pub(super) fn by_user(&self) -> bool {
        self.pressed.load(Ordering::Relaxed)
    }
}

/// If the system refuses a thread to wait for signals, they keep their default action: Ctrl-C ends the
/// program.
#[cfg(unix)]
fn unheard(error: ctrlc::Error) -> Result<(), ctrlc::Error> {
    let ctrlc::Error::System(_) = error else { return Err(error) };
    for signal in [libc::SIGINT, libc::SIGTERM, libc::SIGHUP] {
        // SAFETY: the default action runs no code of this program.
        unsafe { libc::signal(signal, libc::SIG_DFL) };
    }
    Ok(())
}

#[cfg(not(unix))]
fn unheard(error: ctrlc::Error) -> Result<(), ctrlc::Error> {
    Err(error)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_deadline_raises_the_flag_unless_it_is_dropped() {
        let interrupt = Interrupt::never();
        drop(interrupt.after(Duration::from_secs(3600)).unwrap());
        assert!(!interrupt.raised());
        let _deadline = interrupt.after(Duration::from_millis(1)).unwrap();
        let started = std::time::Instant::now();
        while !interrupt.raised() {
            assert!(started.elapsed() < Duration::from_secs(60), "the flag was never raised");
            std::thread::yield_now();
        }
        assert!(!interrupt.by_user());
    }
}
