//! A measurement under way: what it tells the panel, and what the panel tells it.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::Waker;
use std::time::Duration;

use sparsescope_core::experiment::{Interruptions, Observer};
use sparsescope_core::record::Run;
use web_time::Instant;

/// How long a measurement may take to end by itself once it is cancelled, keeping what it has; then it is dropped.
const GRACE: Duration = Duration::from_millis(200);

/// A measurement as panel and work share it.
#[derive(Debug)]
pub(super) struct Work {
    /// Set to stop.
    pub(super) cancel: AtomicBool,
    /// How often nobody saw the page.
    pub(super) interruptions: Interruptions,
    /// When it began.
    pub(super) started: Instant,
    told: Mutex<Told>,
}

/// What is known of it.
#[derive(Debug, Default)]
struct Told {
    what: String,
    done: usize,
    total: usize,
    runs: Vec<Run>,
    outcome: Option<Outcome>,
    cancelled: Option<Instant>,
    waker: Option<Waker>,
}

/// How it ended.
#[derive(Clone, Debug)]
pub(super) enum Outcome {
    /// A bundle.
    Measured(Measured),
    /// Nothing was measured, for this reason.
    Nothing(String),
}

/// What was measured.
#[derive(Clone, Debug)]
pub(super) struct Measured {
    /// Name of the file.
    pub(super) file: String,
    /// The bundle.
    pub(super) bytes: Arc<Vec<u8>>,
    /// Key of the matrix.
    pub(super) key: String,
    /// Its name.
    pub(super) name: String,
    /// Runs with times, and those without.
    pub(super) runs: [usize; 2],
    /// It was cancelled before its end.
    pub(super) is_cut: bool,
    /// The GPU was lost meanwhile, and opened anew.
    pub(super) was_lost: bool,
}

/// How far it is.
#[derive(Clone, Debug, Default)]
pub(super) struct Far {
    pub(super) what: String,
    pub(super) share: f32,
    /// It is being stopped.
    pub(super) is_stopping: bool,
}

impl Work {
    pub(super) fn new() -> Arc<Self> {
        Arc::new(Self {
            cancel: AtomicBool::new(false),
            interruptions: Interruptions::default(),
            started: Instant::now(),
            told: Mutex::default(),
        })
    }

    fn told(&self) -> MutexGuard<'_, Told> {
        self.told.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn far(&self) -> Far {
        let told = self.told();
        let share = told.done as f32 / told.total.max(1) as f32;
        Far {
            what: told.what.clone(),
            share: share.min(1.0),
            is_stopping: told.cancelled.is_some(),
        }
    }

    /// Says what is done before the first kernel.
    pub(super) fn tell(&self, what: &str) {
        self.told().what = what.to_owned();
    }

    /// Asks it to stop.
    pub(super) fn stop(&self) {
        self.cancel.store(true, Ordering::Relaxed);
        let waker = {
            let mut told = self.told();
            told.cancelled.get_or_insert_with(Instant::now);
            told.waker.clone()
        };
        // It looks whether it was stopped.
        waker.into_iter().for_each(Waker::wake);
    }

    pub(super) fn is_cancelled(&self) -> bool {
        self.cancel.load(Ordering::Relaxed)
    }

    /// Whether it was cancelled so long ago that nobody waits for its end.
    pub(super) fn is_given_up(&self) -> bool {
        self.told().cancelled.is_some_and(|since| since.elapsed() >= GRACE)
    }

    /// Who is woken when it is stopped.
    pub(super) fn wakes(&self, waker: &Waker) {
        self.told().waker = Some(waker.clone());
    }

    /// The runs so far, which are forgotten here.
    pub(super) fn take_runs(&self) -> Vec<Run> {
        std::mem::take(&mut self.told().runs)
    }

    pub(super) fn end(&self, outcome: Outcome) {
        self.told().outcome = Some(outcome);
    }

    pub(super) fn outcome(&self) -> Option<Outcome> {
        self.told().outcome.clone()
    }
}

/// Tells a measurement what its runner tells.
pub(super) struct Teller(pub(super) Arc<Work>);

impl Observer for Teller {
    fn progress(&mut self, done: usize, total: usize, what: &str) {
        let mut told = self.0.told();
        (told.done, told.total) = (done, total);
        what.clone_into(&mut told.what);
    }

    fn finished(&mut self, run: Run) -> bool {
        self.0.told().runs.push(run);
        true
    }
}
