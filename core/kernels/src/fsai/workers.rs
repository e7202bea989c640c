//! Distributes tasks to the threads of the ambient pool. Each thread has one scratch, so that an array as
//! long as the matrix has columns is allocated once per thread.

use std::sync::Mutex;

use super::Cancelled;
use super::error::Stop;
use sparsescope_matrix::parallel::{lock, on_each_thread};

/// Tasks in order, and how the first failing one ended.
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

/// Runs the tasks and returns their results in task order. If several tasks fail, the first is reported:
/// those before it were started earlier and run to completion.
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
