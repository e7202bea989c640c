//! What a callback of the device will tell.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::Waker;

/// What is told, and who is to be woken then.
struct State<T> {
    told: Option<T>,
    waker: Option<Waker>,
}

/// Tells once.
pub(crate) struct Teller<T>(Arc<Mutex<State<T>>>);

/// Is told once.
pub(crate) struct Answer<T>(Arc<Mutex<State<T>>>);

/// Two ends of one answer.
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
    /// What was told, once it was.
    pub(crate) fn take(&self) -> Option<T> {
        lock(&self.0).told.take()
    }

    /// Who is woken once it is told.
    pub(crate) fn wakes(&self, waker: &Waker) {
        lock(&self.0).waker = Some(waker.clone());
    }
}

/// What is locked is complete after every operation, so a panic elsewhere leaves it usable.
pub(crate) fn lock<T>(kept: &Mutex<T>) -> MutexGuard<'_, T> {
    kept.lock().unwrap_or_else(PoisonError::into_inner)
}
