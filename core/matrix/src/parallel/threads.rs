//! What runs on several threads: rayon's functions, or plain calls in the browser page, which has one thread.

use std::sync::{Mutex, MutexGuard, PoisonError};

use rayon::prelude::*;

/// Whether there is never more than one thread. Rayon's work sharing would make the page's program 3 %
/// larger.
pub(super) const ALONE: bool = cfg!(target_family = "wasm");

/// Threads of the ambient pool.
pub fn current_num_threads() -> usize {
    if ALONE { 1 } else { rayon::current_num_threads() }
}

/// Calls `work` with the number of each part, on all threads of the ambient pool. All other loops are built
/// on this one.
pub(super) fn for_each_part(parts: usize, work: &(dyn Fn(usize) + Sync)) {
    match parts {
        1 => work(0),
        _ => (0..parts).into_par_iter().for_each(work),
    }
}

/// Calls `work` on every thread of the ambient pool.
pub fn on_each_thread(work: &(dyn Fn() + Sync)) {
    if ALONE {
        work();
    } else {
        rayon::broadcast(|_| work());
    }
}

/// Runs both, in parallel.
pub fn join<A: Send, B: Send>(
    a: impl FnOnce() -> A + Send,
    b: impl FnOnce() -> B + Send,
) -> (A, B) {
    if ALONE { (a(), b()) } else { rayon::join(a, b) }
}

/// Like `sort_unstable` of a slice.
pub(super) fn sort_unstable<T: Ord + Send>(all: &mut [T]) {
    if ALONE { all.sort_unstable() } else { all.par_sort_unstable() }
}

/// Locks a mutex, whether or not a thread panicked while holding it.
pub fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
