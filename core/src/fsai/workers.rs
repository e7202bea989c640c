//! Tasks shared among the threads of the ambient pool, each of which keeps one scratch: an array as long
//! as the matrix has columns is made once a thread.

use std::sync::Mutex;

use super::Cancelled;
use super::error::Stop;
use crate::parallel::{lock, on_each_thread};

/// Tasks in turn, and how the first of those that failed ended.
struct Queue<I> {
    tasks: I,
    next: usize,
    stopped: Option<(usize, Stop)>,
}

impl<I: Iterator> Queue<I> {
    fn take(&mut self) -> Option<(usize, I::Item)> {
        if self.stopped.is_some() {
            return None;
        }
        let task = self.tasks.next()?;
        self.next += 1;
        Some((self.next - 1, task))
    }

    fn stop(&mut self, at: usize, stop: Stop) {
        if self.stopped.as_ref().is_none_or(|(before, _)| at < *before) {
            self.stopped = Some((at, stop));
        }
    }
}

/// Does the tasks and gives their results in the order of the tasks. Of tasks that fail the first is
/// told: those before it were begun earlier and are brought to their ends.
pub(super) fn in_order<T, S, R, I>(
    tasks: I,
    cancelled: &Cancelled<'_>,
    scratch: impl Fn() -> S + Sync,
    work: impl Fn(&mut S, T) -> Result<R, Stop> + Sync,
) -> Result<Vec<R>, Stop>
where
    T: Send,
    R: Send,
    I: Iterator<Item = T> + Send,
{
    let queue = Mutex::new(Queue { tasks, next: 0, stopped: None });
    let found = Mutex::new(Vec::new());
    on_each_thread(&|| {
        let mut own_scratch = None;
        let mut own = Vec::new();
        loop {
            let Some((at, task)) = lock(&queue).take() else { break };
            if cancelled() {
                lock(&queue).stop(at, Stop::Cancelled);
                break;
            }
            match work(own_scratch.get_or_insert_with(&scratch), task) {
                Ok(result) => own.push((at, result)),
                Err(stop) => lock(&queue).stop(at, stop),
            }
        }
        lock(&found).append(&mut own);
    });
    let stopped = queue.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner).stopped;
    if let Some((_, stop)) = stopped {
        return Err(stop);
    }
    let mut found = found.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
    found.sort_unstable_by_key(|&(at, _)| at);
    Ok(found.into_iter().map(|(_, result)| result).collect())
}
