//! A solver ready to run: its setup, its solution with its facts, and its times.

use std::collections::BTreeMap;

use sparsescope_core::experiment::solving::{Asked, ToldSetUp};
use sparsescope_core::experiment::{
    Executed, Finished, KernelError, LastOutput, Output, PrepareError, Prepared, Sampled,
    Temperature, Ticket, Watch,
};
use sparsescope_core::memory::MemoryLimit;
use sparsescope_core::pcg::{Breakdown, Recurrence};
use sparsescope_core::record::Costs;

use crate::clock::{Clock, to_picoseconds};
use crate::device::DeviceError;
use crate::machine::Machine;
use crate::nvml::Nvml;
use crate::sampling::{Execution, cold, hot};
use crate::throttle::Throttling;

/// Why a solve has no solution.
pub(super) enum Failure {
    /// It was stopped.
    Cancelled,
    /// The device or a library failed.
    Device(DeviceError),
    /// The iteration broke down.
    Broke(Breakdown),
    /// Another reason, as a sentence.
    Beside(String),
}

impl From<DeviceError> for Failure {
    fn from(error: DeviceError) -> Self {
        Self::Device(error)
    }
}

impl From<Breakdown> for Failure {
    fn from(error: Breakdown) -> Self {
        Self::Broke(error)
    }
}

/// A system and its solver, set up.
pub(super) trait Solves {
    /// Undoes the changes of a solve.
    fn reset(&mut self) -> Result<(), Failure>;

    /// Solves, after a reset; all of the work is enqueued between what the caller adds to the
    /// device's stream before and after.
    fn solve(&mut self, watch: &Watch<'_>) -> Result<(), Failure>;

    /// The result of the last solve, which took this many seconds, and the seconds of copying it.
    fn told(&mut self, seconds: f64) -> Result<(Recurrence, f64), Failure>;
}

/// The result of a setup: the solver, the report on the preconditioner, and the costs.
pub(super) type Made<S> = (S, ToldSetUp, Costs);

/// Sets a solver up; `None` when cancelled.
type SetUp<'p, S> = dyn Fn(&Asked<'p>, &Watch<'_>) -> Result<Option<Made<S>>, PrepareError> + 'p;

/// A solver of a system, to be set up.
pub(super) struct PreparedSolver<'p, S> {
    machine: &'p Machine,
    kernel: &'static str,
    asked: Asked<'p>,
    params: BTreeMap<String, String>,
    set_up: Box<SetUp<'p, S>>,
    made: Option<Made<S>>,
    /// Seconds of the last solve, and of the one whose solution was requested.
    last: f64,
    once: Option<f64>,
    download_s: Option<f64>,
    repetitions: u32,
    throttling: Throttling,
}

/// Timed solves, each after a reset.
struct Timed<'a, S> {
    machine: &'a Machine,
    solver: &'a mut S,
    clock: Clock,
    watch: &'a Watch<'a>,
    last: &'a mut f64,
}

impl<S: Solves> Execution for Timed<'_, S> {
    type Error = Failure;

    fn is_in_place(&self) -> bool {
        true
    }

    fn reset(&mut self) -> Result<(), Failure> {
        self.solver.reset()
    }

    fn flush(&mut self) -> Result<(), Failure> {
        let device = self.machine.device();
        Ok(self.machine.memory()?.flush(device)?)
    }

    fn time(&mut self, executions: u32) -> Result<f64, Failure> {
        let mut failure = None;
        let seconds = self.clock.time(self.machine.device(), || {
            for _ in 0..executions {
                match self.solver.solve(self.watch) {
                    Ok(()) => {}
                    Err(Failure::Device(error)) => return Err(error),
                    Err(other) => {
                        failure = Some(other);
                        break;
                    }
                }
            }
            Ok(())
        });
        let seconds = seconds?;
        *self.last = seconds;
        failure.map_or(Ok(seconds), Err)
    }
}

impl<'p, S: Solves> PreparedSolver<'p, S> {
    /// To be set up by `set_up`.
    pub(super) fn new(
        machine: &'p Machine,
        kernel: &'static str,
        asked: Asked<'p>,
        params: BTreeMap<String, String>,
        set_up: Box<SetUp<'p, S>>,
    ) -> Self {
        let (made, once, download_s, throttling) = Default::default();
        let (last, repetitions) = (0.0, 1);
        Self {
            machine,
            kernel,
            asked,
            params,
            set_up,
            made,
            last,
            once,
            download_s,
            repetitions,
            throttling,
        }
    }

    fn failed(&self, failure: Failure) -> KernelError {
        let reason = match failure {
            Failure::Cancelled => "it was cancelled".to_owned(),
            Failure::Device(error) => error.to_string(),
            Failure::Broke(error) => error.to_string(),
            Failure::Beside(sentence) => sentence,
        };
        KernelError { kernel: self.kernel.to_owned(), reason }
    }

    fn timed<'a>(&'a mut self, watch: &'a Watch<'a>) -> Result<Timed<'a, S>, Failure> {
        let Self { machine, made, last, .. } = self;
        let not_set_up = || Failure::Beside("it was not set up".to_owned());
        let (solver, ..) = made.as_mut().ok_or_else(not_set_up)?;
        let clock = Clock::new(machine.device())?;
        Ok(Timed { machine, solver, clock, watch, last })
    }

    /// Seconds of a solve; `None` if it was stopped.
    fn execute(&mut self, watch: &Watch<'_>) -> Result<Option<f64>, Failure> {
        let mut timed = self.timed(watch)?;
        timed.reset()?;
        match timed.time(1) {
            Ok(seconds) => Ok(Some(seconds)),
            Err(Failure::Cancelled) => Ok(None),
            Err(other) => Err(other),
        }
    }

    /// The last solution, with its facts.
    fn solution(&mut self) -> Result<Output, Failure> {
        let seconds = self.last;
        let not_set_up = || Failure::Beside("it was not set up".to_owned());
        let (solver, told, _) = self.made.as_mut().ok_or_else(not_set_up)?;
        let (recurrence, download_s) = solver.told(seconds)?;
        self.download_s = Some(download_s);
        let a = self.asked.problem().a();
        let solved = recurrence.checked(a, &self.asked.b());
        Ok(Output::Solution(Box::new(told.solution(&self.asked, &solved))))
    }

    /// Samples, retaken while the GPU is throttled.
    fn samples(
        &mut self,
        n: usize,
        temperature: Temperature,
        watch: &Watch<'_>,
    ) -> Result<Vec<f64>, Failure> {
        let (machine, once, mut throttling) = (self.machine, self.once, self.throttling);
        let stop = || watch.is_cancelled();
        let mut timed = self.timed(watch)?;
        let chunk = || match temperature {
            Temperature::Hot => hot(&mut timed, n, once, &stop),
            Temperature::Cold => cold(&mut timed, n, once, &stop),
        };
        let samples = throttling.watch(|| machine.nvml().and_then(Nvml::reasons), chunk, &stop);
        self.throttling = throttling;
        match samples {
            Ok(samples) => {
                self.repetitions = self.repetitions.max(samples.repetitions);
                Ok(samples.seconds)
            }
            Err(Failure::Cancelled) => Ok(Vec::new()),
            Err(other) => Err(other),
        }
    }
}

impl<'p, S: Solves> Prepared for PreparedSolver<'p, S> {
    fn set_up<'t>(
        &'t mut self,
        watch: &'t Watch<'_>,
    ) -> Ticket<'t, Result<Finished, PrepareError>> {
        Ticket::at_once(|| {
            self.made = (self.set_up)(&self.asked, watch)?;
            Ok(if self.made.is_some() { Finished::Done } else { Finished::Cancelled })
        })
    }

    fn sample<'t>(
        &'t mut self,
        n: usize,
        temperature: Temperature,
        watch: &'t Watch<'_>,
    ) -> Sampled<'t> {
        Ticket::at_once(|| {
            let samples =
                self.samples(n, temperature, watch).map_err(|failure| self.failed(failure))?;
            Ok(samples.into_iter().map(to_picoseconds).collect())
        })
    }

    fn output<'t>(&'t mut self, watch: &'t Watch<'_>) -> Executed<'t> {
        Ticket::at_once(|| {
            // Non-finite numbers are reported as the CPU kernels report them.
            let how = self.asked.how(false, MemoryLimit::unlimited());
            let admitted = how.admit(self.asked.problem().a().rows(), &self.asked.b());
            admitted.map_err(|error| self.failed(Failure::Broke(error)))?;
            let seconds = self.execute(watch).map_err(|failure| self.failed(failure))?;
            let Some(seconds) = seconds else { return Ok(None) };
            self.once = Some(to_picoseconds(seconds));
            self.last_output().wait().map(Some)
        })
    }

    fn last_output(&mut self) -> LastOutput<'_> {
        Ticket::at_once(|| self.solution().map_err(|failure| self.failed(failure)))
    }

    fn once(&self) -> Option<f64> {
        self.once
    }

    fn repetitions(&self) -> u32 {
        self.repetitions
    }

    fn parts(&self) -> Option<usize> {
        None
    }

    fn costs(&self) -> Costs {
        let (retaken, throttled) = (self.throttling.retaken(), self.throttling.throttled());
        let costs = self.made.as_ref().map(|(_, _, costs)| costs.clone()).unwrap_or_default();
        Costs { retaken, throttled, download_s: self.download_s, ..costs }
    }

    fn params(&self) -> BTreeMap<String, String> {
        self.params.clone()
    }
}
