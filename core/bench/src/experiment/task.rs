//! One execution of a kernel as the samplers see it.

#[cfg(not(target_family = "wasm"))]
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};

use super::agreement::{Agreement, Alone};
use super::error::{KernelError, PrepareError};
use super::output::Output;
#[cfg(not(target_family = "wasm"))]
use sparsescope_matrix::matrix::Operands;
use sparsescope_record::Costs;

/// Lets a long execution check for cancellation, at least every 0.1 s, and report its progress, and what times
/// it agree with other ranks.
pub struct Watch<'w> {
    cancel: &'w AtomicBool,
    tell: &'w (dyn Fn(f64) + Sync),
    agreement: &'w dyn Agreement,
}

impl<'w> Watch<'w> {
    /// Cancelled once the flag is set; `tell` receives the completed fraction, 0 to 1.
    pub fn new(cancel: &'w AtomicBool, tell: &'w (dyn Fn(f64) + Sync)) -> Self {
        Self { cancel, tell, agreement: &Alone }
    }

    /// Cancelled once the flag is set; progress is not reported.
    pub fn cancelled_by(cancel: &'w AtomicBool) -> Self {
        Self::new(cancel, &|_| {})
    }

    /// The same for an execution in step with other ranks.
    pub fn agreeing(self, agreement: &'w dyn Agreement) -> Self {
        Self { agreement, ..self }
    }

    /// The ranks that execute in step, this one included.
    pub fn agreement(&self) -> &'w dyn Agreement {
        self.agreement
    }

    /// The flag that is set to stop.
    pub fn flag(&self) -> &'w AtomicBool {
        self.cancel
    }

    /// Whether to stop.
    pub fn is_cancelled(&self) -> bool {
        self.cancel.load(Ordering::Relaxed)
    }

    /// Reports that the fraction `share` of the execution, 0 to 1, is done.
    pub fn tell(&self, share: f64) {
        (self.tell)(share);
    }
}

/// How an execution ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Finished {
    /// It completed.
    Done,
    /// It was stopped; its result is meaningless.
    Cancelled,
}

/// A kernel bound to its input on the CPU, which can be executed repeatedly.
pub trait Task: Send {
    /// Whether an execution changes its input, so that it can be repeated only after [`reset`](Self::reset).
    fn is_in_place(&self) -> bool {
        false
    }

    /// Whether its executions are products, shared out among workers that stay awake between them.
    #[cfg(not(target_family = "wasm"))]
    fn is_product(&self) -> bool {
        false
    }

    /// Restores what in-place executions change. Never timed.
    fn reset(&mut self) {}

    /// Does the one-time work before the first execution, which may take long: never part of a sample. Its
    /// cost is added to `costs`. An error refuses the run.
    fn set_up(&mut self, _costs: &mut Costs, _watch: &Watch<'_>) -> Result<Finished, PrepareError> {
        Ok(Finished::Done)
    }

    /// Number of nonempty parts of the work, where it is known only after the setup.
    fn parts(&self) -> Option<usize> {
        None
    }

    /// Fills the result with NaN, so that elements an execution does not write are detected; does nothing in
    /// place.
    fn spoil(&mut self);

    /// Executes the kernel once.
    fn run(&mut self, watch: &Watch<'_>) -> Result<Finished, KernelError>;

    /// Computes y = A·x once for the caller's vectors; `None` unless it is an SpMV in their precision.
    #[cfg(not(target_family = "wasm"))]
    fn multiply(&mut self, _vectors: Operands<'_>) -> Option<Result<(), KernelError>> {
        None
    }

    /// Waits, after a batch of executions, until no thread of this task takes time from others. Never timed.
    fn rest(&mut self) {}

    /// Seconds of the last execution that do not count towards its time, such as computing the error of its
    /// result.
    fn left_out(&self) -> f64 {
        0.0
    }

    /// The result of the last execution.
    fn output(&self) -> Output;

    /// The groups found among its rows, if the kernel groups them.
    fn groups(&self) -> Option<Groups> {
        None
    }
}

/// Groups of rows that a kernel updates at once, one group after another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Groups {
    /// Dependency levels of the ascending and of the descending sweep.
    Levels([usize; 2]),
    /// Colours.
    Colors(usize),
}

/// A kernel bound to its input for a configuration, with the costs of binding.
#[cfg(not(target_family = "wasm"))]
pub(super) struct Bound<'p> {
    /// The kernel.
    pub task: Box<dyn Task + 'p>,
    /// Number of nonempty parts of the work, where it may differ from the requested number of threads.
    pub parts: Option<usize>,
    /// Costs of preparation.
    pub costs: Costs,
    /// Effective parameters, by name.
    pub params: BTreeMap<String, String>,
}
