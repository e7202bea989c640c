//! Solves on one GPU, timed by its clock.

use sparsescope_core::experiment::Watch;
use sparsescope_core::experiment::solving::ToldSetUp;
use sparsescope_core::pcg::Recurrence;
use sparsescope_core::record::Costs;

use crate::clock::Clock;
use crate::machine::Machine;
use crate::solves::{Failure, Made, Solves};

/// A system and its solver, set up on one GPU.
pub(super) trait Enqueues {
    /// Undoes the changes of a solve.
    fn reset(&mut self) -> Result<(), Failure>;

    /// Solves, after a reset; all of the work is enqueued between what the caller adds to the
    /// device's stream before and after.
    fn solve(&mut self, watch: &Watch<'_>) -> Result<(), Failure>;

    /// The result of the last solve, which took this many seconds, and the seconds of copying it.
    fn told(&mut self, seconds: f64) -> Result<(Recurrence, f64), Failure>;
}

/// A solver with the GPU that it runs on.
pub(super) struct OnOne<'p, S> {
    machine: &'p Machine,
    solver: S,
}

impl<'p, S> OnOne<'p, S> {
    /// The same setup with the GPU.
    pub(super) fn of(
        machine: &'p Machine,
        (solver, told, costs): (S, ToldSetUp, Costs),
    ) -> Made<Self> {
        (Self { machine, solver }, told, costs)
    }
}

impl<S: Enqueues> Solves for OnOne<'_, S> {
    fn reset(&mut self) -> Result<(), Failure> {
        self.solver.reset()
    }

    fn flush(&mut self) -> Result<(), Failure> {
        let device = self.machine.device();
        Ok(self.machine.memory()?.flush(device)?)
    }

    fn time(&mut self, watch: &Watch<'_>) -> Result<f64, Failure> {
        let device = self.machine.device();
        let mut failure = None;
        let seconds = Clock::new(device)?.time(device, || match self.solver.solve(watch) {
            Ok(()) => Ok(()),
            Err(Failure::Device(error)) => Err(error),
            Err(other) => {
                failure = Some(other);
                Ok(())
            }
        })?;
        failure.map_or(Ok(seconds), Err)
    }

    fn told(&mut self, seconds: f64) -> Result<(Recurrence, f64), Failure> {
        self.solver.told(seconds)
    }
}
