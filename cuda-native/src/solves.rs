//! A solver ready to run, on one GPU or several: its setup, its solution with its facts, and its times.

use std::collections::BTreeMap;

use sparsescope_core::experiment::solving::{Asked, ToldSetUp};
use sparsescope_core::experiment::{
    Executed, Finished, KernelError, LastOutput, Metered, Output, PrepareError, Prepared, Sampled,
    Temperature, Ticket, Watch,
};
use sparsescope_core::memory::MemoryLimit;
use sparsescope_core::pcg::{Breakdown, Recurrence};
use sparsescope_core::record::{Costs, Distributed};

use crate::clock::to_picoseconds;
use crate::device::DeviceError;
use crate::energy::energy;
use crate::machine::Machine;
use crate::nvml::Nvml;
use crate::sampling::{Execution, sampled};
use crate::throttle::Throttling;

/// Why a solve has no solution.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    /// It was stopped.
    #[error("it was cancelled")]
    Cancelled,
    /// The device or a library failed.
    #[error(transparent)]
    Device(#[from] DeviceError),
    /// The iteration broke down.
    #[error(transparent)]
    Broke(#[from] Breakdown),
    /// Another reason, as a sentence.
    #[error("{0}")]
    Beside(String),
}

/// A system and its solver, set up.
pub(crate) trait Solves {
    /// Undoes the changes of a solve.
    fn reset(&mut self) -> Result<(), Failure>;

    /// Evicts everything from the caches.
    fn flush(&mut self) -> Result<(), Failure>;

    /// Solves, after a reset; returns its seconds by the device's clock.
    fn time(&mut self, watch: &Watch<'_>) -> Result<f64, Failure>;

    /// The result of the last solve, which took this many seconds, and the seconds of copying it.
    fn told(&mut self, seconds: f64) -> Result<(Recurrence, f64), Failure>;

    /// Effective parameters that only the setup decides.
    fn params(&self) -> BTreeMap<String, String> {
        BTreeMap::new()
    }

    /// How several GPUs share the work.
    fn distributed(&self) -> Option<Distributed> {
        None
    }
}

/// The result of a setup: the solver, the report on the preconditioner, and the costs.
pub(crate) type Made<S> = (S, ToldSetUp, Costs);

/// Sets a solver up; `None` when cancelled.
type SetUp<'p, S> = dyn Fn(&Asked<'p>, &Watch<'_>) -> Result<Option<Made<S>>, PrepareError> + 'p;

/// A solver of a system, to be set up.
pub(crate) struct PreparedSolver<'p, S> {
    /// Where samples are taken again while the GPU is throttled.
    watched: Option<&'p Machine>,
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
    solver: &'a mut S,
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
        self.solver.flush()
    }

    /// Times one solve, ignoring the count: the next needs a reset.
    fn time(&mut self, _: u32) -> Result<f64, Failure> {
        *self.last = self.solver.time(self.watch)?;
        Ok(*self.last)
    }
}

impl<'p, S: Solves> PreparedSolver<'p, S> {
    /// To be set up by `set_up`, on a GPU whose throttling counts, if given.
    pub(crate) fn new(
        watched: Option<&'p Machine>,
        kernel: &'static str,
        asked: Asked<'p>,
        params: BTreeMap<String, String>,
        set_up: Box<SetUp<'p, S>>,
    ) -> Self {
        let (made, once, download_s, throttling) = Default::default();
        let (last, repetitions) = (0.0, 1);
        Self {
            watched,
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
        match &failure {
            Failure::Broke(breakdown) => KernelError::broke(self.kernel, breakdown),
            other => KernelError::new(self.kernel, other.to_string()),
        }
    }

    fn timed<'a>(&'a mut self, watch: &'a Watch<'a>) -> Result<Timed<'a, S>, Failure> {
        let Self { made, last, .. } = self;
        let not_set_up = || Failure::Beside("it was not set up".to_owned());
        let (solver, ..) = made.as_mut().ok_or_else(not_set_up)?;
        Ok(Timed { solver, watch, last })
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
        let (watched, once, mut throttling) = (self.watched, self.once, self.throttling);
        let stop = || watch.is_cancelled();
        let mut timed = self.timed(watch)?;
        let chunk = || sampled(&mut timed, temperature, n, once, &stop);
        let reasons = || watched.and_then(Machine::nvml).and_then(Nvml::reasons);
        let samples = throttling.watch(reasons, chunk, &stop);
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

    fn energy<'t>(&'t mut self, temperature: Temperature, watch: &'t Watch<'_>) -> Metered<'t> {
        Ticket::at_once(|| {
            let watched = self.watched;
            let mut timed = self.timed(watch).map_err(|failure| failure.to_string())?;
            energy(watched, &mut timed, temperature, watch)
        })
    }

    fn once(&self) -> Option<f64> {
        self.once
    }

    fn repetitions(&self) -> u32 {
        self.repetitions
    }

    fn costs(&self) -> Costs {
        let (retaken, throttled) = (self.throttling.retaken(), self.throttling.throttled());
        let costs = self.made.as_ref().map(|(_, _, costs)| costs.clone()).unwrap_or_default();
        Costs { retaken, throttled, download_s: self.download_s, ..costs }
    }

    fn params(&self) -> BTreeMap<String, String> {
        let mut params = self.params.clone();
        params.extend(self.made.iter().flat_map(|(solver, ..)| solver.params()));
        params
    }

    fn distributed(&mut self) -> Option<Distributed> {
        self.made.as_ref().and_then(|(solver, ..)| solver.distributed())
    }
}
