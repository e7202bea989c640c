//! A run in steps, between which the caller may do other work: the page draws.

use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Wake, Waker};

use crate::experiment::agreement::OwnFailure;

/// How running ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// Every configuration was run, refused or found unsupported.
    Complete,
    /// The cancel flag was set or the observer asked to stop.
    Cancelled,
}

/// State after a step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// There is more work to do now.
    Working,
    /// A backend's answer is not ready yet.
    Waiting,
    /// Everything is done, or it was cancelled, or only this rank has failed.
    Finished(Result<Ending, OwnFailure>),
}

/// An experiment under way. Dropping it stops it without reporting the run under way.
#[must_use = "it does nothing until its steps are taken"]
pub struct Steps<'s> {
    work: Pin<Box<dyn Future<Output = Result<Ending, OwnFailure>> + 's>>,
    more: Arc<More>,
    ended: Option<Result<Ending, OwnFailure>>,
}

/// Whether the paused step has more to do, and whom to wake.
#[derive(Default)]
struct More {
    is_there: AtomicBool,
    waker: Mutex<Option<Waker>>,
}

impl Wake for More {
    fn wake(self: Arc<Self>) {
        self.is_there.store(true, Ordering::Release);
        let waker = self.waker.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if let Some(waker) = waker {
            waker.wake();
        }
    }
}

impl<'s> Steps<'s> {
    pub(super) fn new(work: impl Future<Output = Result<Ending, OwnFailure>> + 's) -> Self {
        Self { work: Box::pin(work), more: Arc::default(), ended: None }
    }

    /// Works until a backend's answer is pending, or until it is time to yield: after about a tenth of a
    /// second, unless a single sample takes longer.
    pub fn step(&mut self) -> Step {
        if let Some(ending) = &self.ended {
            return Step::Finished(ending.clone());
        }
        self.more.is_there.store(false, Ordering::Release);
        let waker = Waker::from(Arc::clone(&self.more));
        match self.work.as_mut().poll(&mut Context::from_waker(&waker)) {
            Poll::Ready(ending) => {
                self.ended = Some(ending.clone());
                Step::Finished(ending)
            }
            Poll::Pending if self.more.is_there.load(Ordering::Acquire) => Step::Working,
            Poll::Pending => Step::Waiting,
        }
    }

    /// The same for callers with a waker: instead of blocking, it is pending until a backend has answered.
    pub fn poll_step(&mut self, context: &mut Context<'_>) -> Poll<Step> {
        let waker = Some(context.waker().clone());
        *self.more.waker.lock().unwrap_or_else(PoisonError::into_inner) = waker;
        match self.step() {
            Step::Waiting => Poll::Pending,
            step => Poll::Ready(step),
        }
    }

    /// Runs all steps. Backends that answer later block while they are polled.
    #[cfg(not(target_family = "wasm"))]
    pub(super) fn finish(mut self) -> Result<Ending, OwnFailure> {
        loop {
            if let Step::Finished(ending) = self.step() {
                return ending;
            }
        }
    }
}
