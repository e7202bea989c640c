//! A running measurement: what it reports to the panel, and the panel's requests to it.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::Waker;
use std::time::Duration;

use sparsescope_core::experiment::{Interruptions, Observer};
use sparsescope_core::record::{self, Operation, Run};
use web_time::Instant;

use super::live::{Rates, left};

/// How long a cancelled measurement may take to end by itself, keeping its results; then it is dropped.
const GRACE: Duration = Duration::from_millis(200);

/// A measurement, shared by the panel and the work.
#[derive(Debug)]
pub(super) struct Work {
    /// Set to stop.
    pub(super) cancel: AtomicBool,
    /// How often the page was hidden.
    pub(super) interruptions: Interruptions,
    /// When it began.
    pub(super) started: Instant,
    told: Mutex<Told>,
}

/// The latest progress.
#[derive(Debug, Default)]
struct Told {
    what: String,
    done: usize,
    total: usize,
    /// When the first sample was about to be taken.
    sampling: Option<Instant>,
    rates: Rates,
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

/// The results.
#[derive(Clone, Debug)]
pub(super) struct Measured {
    /// Name of the bundle file.
    pub(super) file: String,
    /// The bundle.
    pub(super) bytes: Arc<Vec<u8>>,
    /// What was computed.
    pub(super) operation: Operation,
    /// Key of the matrix.
    pub(super) key: String,
    /// Its name.
    pub(super) name: String,
    /// The numbers of runs with and without times.
    pub(super) runs: [usize; 2],
    /// It was cancelled before its end.
    pub(super) is_cut: bool,
    /// The GPU was lost meanwhile and opened again.
    pub(super) was_lost: bool,
}

/// Progress.
#[derive(Clone, Debug, Default)]
pub(super) struct Far {
    pub(super) what: String,
    pub(super) share: f32,
    /// The estimated time left.
    pub(super) left: Option<Duration>,
    /// The kernels by rate so far.
    pub(super) rates: Rates,
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
        let spent = told.sampling.map(|since| since.elapsed());
        Far {
            left: spent.and_then(|spent| left(spent, told.done, told.total)),
            rates: told.rates.clone(),
            what: told.what.clone(),
            share: share.min(1.0),
            is_stopping: told.cancelled.is_some(),
        }
    }

    /// Reports the work before the first kernel.
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
        // Woken to check whether it was stopped.
        waker.into_iter().for_each(Waker::wake);
    }

    pub(super) fn is_cancelled(&self) -> bool {
        self.cancel.load(Ordering::Relaxed)
    }

    /// Whether it was cancelled so long ago that its end is no longer awaited.
    pub(super) fn is_given_up(&self) -> bool {
        self.told().cancelled.is_some_and(|since| since.elapsed() >= GRACE)
    }

    /// Registers the waker to call when it is stopped.
    pub(super) fn wakes(&self, waker: &Waker) {
        self.told().waker = Some(waker.clone());
    }

    /// Returns the runs so far and forgets them.
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

/// Reports the runner's progress to a measurement.
pub(super) struct Teller(pub(super) Arc<Work>);

impl Observer for Teller {
    fn progress(&mut self, done: usize, total: usize, what: &str) {
        let mut told = self.0.told();
        // Preparing the kernels, before and at the start of another attempt, is not part of the estimate.
        if done == 0 || done < told.done {
            told.sampling = Some(Instant::now());
        }
        (told.done, told.total) = (done, total);
        what.clone_into(&mut told.what);
    }

    fn sampled(&mut self, run: &Run, work: &record::Work) {
        self.0.told().rates.sampled(run, work);
    }

    fn finished(&mut self, run: Run) -> bool {
        let mut told = self.0.told();
        told.rates.finished(&run);
        told.runs.push(run);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_panel_is_told_how_far_it_is_and_who_leads() {
        let work = Work::new();
        let mut teller = Teller(Arc::clone(&work));
        assert_eq!(work.far().left, None, "nothing has begun");
        teller.progress(0, 30, "cpu/csr/serial");
        assert_eq!(work.far().left, None);
        std::thread::sleep(Duration::from_millis(20));
        teller.progress(10, 30, "cpu/csr/serial");
        let far = work.far();
        assert!(far.left.is_some_and(|left| left >= Duration::from_millis(40)), "{far:?}");
        let run = Run {
            operation: "spmv".to_owned(),
            kernel: "cpu/csr/serial".to_owned(),
            precision: "f64".to_owned(),
            samples: vec![1e-3],
            ..Run::default()
        };
        teller.sampled(&run, &record::Work { flops: 1_000_000, ..Default::default() });
        assert_eq!(work.far().rates.ranked().len(), 1);
        teller.finished(run);
        assert!(work.far().rates.ranked().is_empty(), "it did not pass its check");
        assert_eq!(work.take_runs().len(), 1);
        // Again, after the GPU was lost.
        teller.progress(0, 5, "wgpu/csr/vector");
        assert_eq!(work.far().left, None);
    }
}
