//! Progress of a run, and its observer.

use std::sync::Mutex;

use sparsescope_record::{Run, Work};

/// Receives the progress of a runner.
pub trait Observer: Send {
    /// `done` of `total` samples of this problem are taken; `what` is running.
    fn progress(&mut self, done: usize, total: usize, what: &str);
    /// The fraction `share`, 0 to 1, of a long execution under way is done.
    fn executing(&mut self, done: usize, total: usize, share: f64) {
        let _ = (done, total, share);
    }
    /// A run has samples, and may get more: it has no figures yet. `work` is that of one execution.
    fn sampled(&mut self, run: &Run, work: &Work) {
        let _ = (run, work);
    }
    /// A run is finished. Returning false ends the experiment.
    fn finished(&mut self, run: Run) -> bool;
}

/// Where nobody observes, as on all ranks but the first, everything goes on.
impl<O: Observer> Observer for Option<O> {
    fn progress(&mut self, done: usize, total: usize, what: &str) {
        if let Some(observer) = self {
            observer.progress(done, total, what);
        }
    }

    fn executing(&mut self, done: usize, total: usize, share: f64) {
        if let Some(observer) = self {
            observer.executing(done, total, share);
        }
    }

    fn sampled(&mut self, run: &Run, work: &Work) {
        if let Some(observer) = self {
            observer.sampled(run, work);
        }
    }

    fn finished(&mut self, run: Run) -> bool {
        self.as_mut().is_none_or(|observer| observer.finished(run))
    }
}

/// Counts samples for the observer.
pub(super) struct Progress<'o> {
    pub(super) done: usize,
    pub(super) total: usize,
    /// Samples of one configuration, warm-up included.
    pub(super) samples: usize,
    pub(super) observer: &'o mut dyn Observer,
}

impl Progress<'_> {
    /// Returns a reporter that passes a watch's progress to the observer.
    pub(super) fn telling(&mut self) -> Telling<'_> {
        let (done, total) = (self.done, self.total);
        Telling { done, total, observer: Mutex::new(&mut *self.observer) }
    }

    pub(super) fn tell(&mut self, what: &str) {
        self.observer.progress(self.done, self.total, what);
    }
}

/// Reports the progress of an execution under way to the observer.
pub(super) struct Telling<'o> {
    pub(super) done: usize,
    pub(super) total: usize,
    observer: Mutex<&'o mut dyn Observer>,
}

impl Telling<'_> {
    pub(super) fn tell(&self, share: f64) {
        if let Ok(mut observer) = self.observer.lock() {
            observer.executing(self.done, self.total, share);
        }
    }
}
