//! One execution of a kernel as the samplers see it.

#[cfg(not(target_family = "wasm"))]
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};

use super::error::{KernelError, PrepareError};
use super::output::Output;
use crate::record::Costs;

/// What a long execution looks at, at least every 0.1 s, and tells how far it has come.
pub struct Watch<'w> {
    cancel: &'w AtomicBool,
    tell: &'w (dyn Fn(f64) + Sync),
}

impl<'w> Watch<'w> {
    /// Cancelled once the flag is set; `tell` takes the share that is done, 0 to 1.
    pub fn new(cancel: &'w AtomicBool, tell: &'w (dyn Fn(f64) + Sync)) -> Self {
        Self { cancel, tell }
    }

    /// Cancelled once the flag is set; nobody is told how far it has come.
    pub fn cancelled_by(cancel: &'w AtomicBool) -> Self {
        Self { cancel, tell: &|_| {} }
    }

    /// Whether to stop.
    pub fn is_cancelled(&self) -> bool {
        self.cancel.load(Ordering::Relaxed)
    }

    /// `share` of the execution, 0 to 1, is done.
    pub fn tell(&self, share: f64) {
        (self.tell)(share);
    }
}

/// How an execution ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Finished {
    /// It did all that it was to do.
    Done,
    /// It was told to stop; its result means nothing.
    Cancelled,
}

/// A kernel bound to its input on the processor: something that can be executed again and again.
pub trait Task: Send {
    /// An execution changes what it reads, so that it means the same again only after
    /// [`reset`](Self::reset).
    fn is_in_place(&self) -> bool {
        false
    }

    /// Its executions are products, which a crew shares out among workers that stay awake between them.
    #[cfg(not(target_family = "wasm"))]
    fn is_product(&self) -> bool {
        false
    }

    /// Puts back what executions in place change. Never timed.
    fn reset(&mut self) {}

    /// Does what has to be done once, before the first execution, and may take long: never part of a
    /// sample. What it took enters `costs`. An error refuses the run.
    fn set_up(&mut self, _costs: &mut Costs, _watch: &Watch<'_>) -> Result<Finished, PrepareError> {
        Ok(Finished::Done)
    }

    /// Parts of the work that are not empty, where that is known only after the set-up.
    fn parts(&self) -> Option<usize> {
        None
    }

    /// Fills the result with NaN, so that what an execution leaves out is seen; does nothing in
    /// place.
    fn spoil(&mut self);

    /// Executes the kernel once.
    fn run(&mut self, watch: &Watch<'_>) -> Result<Finished, KernelError>;

    /// Waits, after a group of executions, until nothing of this task takes time from others. Never timed.
    fn rest(&mut self) {}

    /// Seconds of the last execution that are no part of what it is timed for, as finding out how good
    /// its result is.
    fn left_out(&self) -> f64 {
        0.0
    }

    /// The result of the last execution.
    fn output(&self) -> Output;

    /// The groups that its rows were found to fall into, where it follows any.
    fn groups(&self) -> Option<Groups> {
        None
    }
}

/// Groups of rows that a kernel updates at once, one group after the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Groups {
    /// Dependency levels of the ascending and of the descending sweep.
    Levels([usize; 2]),
    /// Colours.
    Colors(usize),
}

/// A kernel bound to its input for a configuration, with what that took.
#[cfg(not(target_family = "wasm"))]
pub(super) struct Bound<'p> {
    /// It.
    pub task: Box<dyn Task + 'p>,
    /// Parts of the work that are not empty, when that may differ from the threads asked for.
    pub parts: Option<usize>,
    /// What getting ready took.
    pub costs: Costs,
    /// Parameters in force, by name.
    pub params: BTreeMap<String, String>,
}
