//! The result of a device callback.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::Waker;

/// The result, and the waker to call when it arrives.
struct State<T> {
    told: Option<T>,
    waker: Option<Waker>,
}

/// Sends the result once.
pub(crate) struct Teller<T>(Arc<Mutex<State<T>>>);

/// Receives the result once.
pub(crate) struct Answer<T>(Arc<Mutex<State<T>>>);

/// The two ends of a one-shot channel.
pub(crate) fn answer<T>() -> (Teller<T>, Answer<T>) {
    let state = Arc::new(Mutex::new(State { told: None, waker: None }));
    (Teller(Arc::clone(&state)), Answer(state))
}

impl<T> Teller<T> {
    pub(crate) fn tell(self, told: T) {
        let waker = {
            let mut state = lock(&self.0);
            state.told = Some(told);
            state.waker.take()
        };
        if let Some(waker) = waker {
            waker.wake();
        }
    }
}

impl<T> Answer<T> {
    /// The result, once it was sent.
    pub(crate) fn take(&self) -> Option<T> {
        lock(&self.0).told.take()
    }

    /// Sets the waker to call when the result arrives.
    pub(crate) fn wakes(&self, waker: &Waker) {
        lock(&self.0).waker = Some(waker.clone());
    }
}

/// The protected data is complete after every operation, so a panic elsewhere leaves it usable.
pub(crate) fn lock<T>(kept: &Mutex<T>) -> MutexGuard<'_, T> {
    kept.lock().unwrap_or_else(PoisonError::into_inner)
}
