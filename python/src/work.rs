//! Long work without the interpreter's lock, which Ctrl-C ends.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use sparsescope_core::measure::start_ambient_pool;

use crate::errors::Failure;

/// Interval at which signals are polled.
const BETWEEN_LOOKS: Duration = Duration::from_millis(50);

/// Runs `work` on another thread and waits for it without the interpreter's lock. A signal that raises an
/// exception, such as Ctrl-C, sets the flag that `work` looks at, and its exception is raised once `work` has
/// ended. A panic becomes a `RuntimeError`.
pub(crate) fn work<R: Send>(
    py: Python<'_>,
    work: impl FnOnce(&Arc<AtomicBool>) -> Result<R, Failure> + Send,
) -> PyResult<R> {
    start_pool()?;
    match watched(py, work) {
        (Some(error), _) => Err(error),
        (None, ended) => result(ended),
    }
}

/// The same for work that has a result when it is stopped: then the signal raises nothing.
pub(crate) fn work_so_far<R: Send>(
    py: Python<'_>,
    work: impl FnOnce(&Arc<AtomicBool>) -> Result<R, Failure> + Send,
) -> PyResult<R> {
    start_pool()?;
    match watched(py, work) {
        (Some(error), Ok(Err(_)) | Err(_)) => Err(error),
        (_, ended) => result(ended),
    }
}

/// How work ended: with a panic, or by itself.
type Ended<R> = std::thread::Result<Result<R, Failure>>;

fn result<R>(ended: Ended<R>) -> PyResult<R> {
    match ended {
        Ok(ended) => ended.map_err(PyErr::from),
        Err(panic) => Err(panicked(&*panic)),
    }
}

/// The exception that a signal raised, and how the work ended.
fn watched<R: Send>(
    py: Python<'_>,
    work: impl FnOnce(&Arc<AtomicBool>) -> Result<R, Failure> + Send,
) -> (Option<PyErr>, Ended<R>) {
    let stop = Arc::new(AtomicBool::new(false));
    let is_done = AtomicBool::new(false);
    let waiting = std::thread::current();
    let mut interrupt = None;
    let ended = std::thread::scope(|scope| {
        let worker = scope.spawn(|| {
            let ended = catch_unwind(AssertUnwindSafe(|| work(&stop)));
            is_done.store(true, Ordering::Release);
            waiting.unpark();
            ended
        });
        while !is_done.load(Ordering::Acquire) {
            py.detach(|| std::thread::park_timeout(BETWEEN_LOOKS));
            if interrupt.is_none()
                && let Err(error) = py.check_signals()
            {
                stop.store(true, Ordering::Relaxed);
                interrupt = Some(error);
            }
        }
        worker.join().flatten()
    });
    (interrupt, ended)
}

/// Starts the threads of work that is not measured, once. They do not exist in a process that was forked later,
/// where work would wait for them forever: fails there.
pub(crate) fn start_pool() -> PyResult<()> {
    static STARTED_IN: OnceLock<u32> = OnceLock::new();
    let here = std::process::id();
    let started_in = *STARTED_IN.get_or_init(|| {
        start_ambient_pool();
        here
    });
    if started_in == here {
        return Ok(());
    }
    let sentence = "sparsescope was used before this process was forked, and its threads are missing here: use \
        the start method `spawn` of multiprocessing";
    Err(PyRuntimeError::new_err(sentence))
}

fn panicked(panic: &(dyn Any + Send)) -> PyErr {
    let text = panic.downcast_ref::<&str>().copied();
    let text = text.or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    let text = text.unwrap_or("no message");
    PyRuntimeError::new_err(format!("it panicked, which is a bug in Sparsescope: {text}"))
}
