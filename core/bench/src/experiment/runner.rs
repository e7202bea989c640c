//! Runs every configuration on one problem: check, warm up, sample in rounds, check again.

mod conclusion;
mod progress;
mod sampling;
mod steps;
mod together;

use std::sync::atomic::AtomicBool;

use web_time::Instant;

use super::agreement::{Agreement, OwnFailure};
use super::backend::{Backend, Prepared};
use super::configuration::Configuration;
use super::error::PrepareError;
use super::plan::Settings;
use super::predictions::Predictions;
use super::problem::Problem;
use super::references::References;
use super::task::Finished;
use sparsescope_matrix::memory::MemoryLimit;
use sparsescope_matrix::pace::set_down;
use sparsescope_model::kernel::DeviceKind;
use sparsescope_record::{Check, Environment, Run, Verdict, Work};

use progress::Progress;

pub use progress::Observer;
pub use steps::{Ending, Step, Steps};

/// Executions longer than this run exactly twice: once for the first check and once timed; the result of the
/// timed one is checked, too.
const TWICE_S: f64 = 10.0;

/// State shared by all runs.
pub struct Runner<'r> {
    /// Backends by the device they run on.
    pub backends: Vec<(DeviceKind, &'r dyn Backend)>,
    /// Sample counts and kernel settings.
    pub settings: &'r Settings,
    /// The machine, with its measured bandwidth.
    pub environment: &'r Environment,
    /// Memory limit for the formats of a problem; determined for each problem if `None`.
    pub memory: Option<MemoryLimit>,
    /// Set from elsewhere to stop; read between samples.
    pub cancel: &'r AtomicBool,
    /// The ranks that run the same in step, this one included.
    pub agreement: &'r dyn Agreement,
}

/// A configuration that is ready to be timed.
struct Ready<'p> {
    configuration: Configuration,
    prepared: Box<dyn Prepared + 'p>,
    run: Run,
    work: Work,
    /// Seconds per sample including overhead, as last measured.
    pace: f64,
    /// Number of samples to take.
    samples: usize,
    /// Seconds spent on sampling it so far.
    spent: f64,
}

/// Result of preparing a configuration.
enum Start<'p> {
    /// It can be timed.
    Ready(Box<Ready<'p>>),
    /// It ended as a run without times.
    Ended(Box<Run>),
    /// It was cancelled.
    Cancelled,
}

impl Runner<'_> {
    /// Runs all `configurations` on `problem`, whose subject has the id `subject`, except those among the
    /// runs `measured` earlier. Kernels whose arrays fit into memory together are sampled in turns, round by
    /// round. Where several ranks run in step, only the first has to know earlier runs, and the others pass
    /// `None` as the observer. Fails with a reason known to this rank only: the others may be waiting for it.
    #[cfg(not(target_family = "wasm"))]
    pub fn run(
        &self,
        subject: &str,
        problem: &dyn Problem,
        configurations: &[Configuration],
        measured: &[Run],
        observer: &mut dyn Observer,
    ) -> Result<Ending, OwnFailure> {
        self.begin(subject, problem, configurations, measured, observer).finish()
    }

    /// The same in steps.
    pub fn begin<'s>(
        &'s self,
        subject: &'s str,
        problem: &'s dyn Problem,
        configurations: &'s [Configuration],
        measured: &'s [Run],
        observer: &'s mut dyn Observer,
    ) -> Steps<'s> {
        Steps::new(self.run_all(subject, problem, configurations, measured, observer))
    }

    async fn run_all(
        &self,
        subject: &str,
        problem: &dyn Problem,
        configurations: &[Configuration],
        measured: &[Run],
        observer: &mut dyn Observer,
    ) -> Result<Ending, OwnFailure> {
        let configurations = self.remaining(configurations, measured);
        let memory = self.memory.unwrap_or_else(MemoryLimit::of_machine);
        let memory = MemoryLimit::bytes(self.agreement.min(memory.get()));
        let samples = self.settings.runs + self.settings.warmup;
        let mut progress =
            Progress { done: 0, total: configurations.len() * samples, samples, observer };
        let mut references = References::among(measured, problem.operation());
        let mut predictions = Predictions::default();
        for group in self.groups(problem, configurations, memory) {
            let about = (&mut references, &mut predictions);
            let ending =
                self.run_group(subject, problem, &group, memory, about, &mut progress).await?;
            problem.release();
            if ending == Ending::Cancelled {
                return Ok(ending);
            }
        }
        Ok(Ending::Complete)
    }

    /// Records every configuration as refused for one reason, if the problem could not be made.
    pub fn refuse(
        &self,
        subject: &str,
        configurations: &[Configuration],
        reason: &str,
        measured: &[Run],
        observer: &mut dyn Observer,
    ) -> Ending {
        for configuration in &self.remaining(configurations, measured) {
            let mut run = self.empty_run(subject, configuration);
            run.check = unmet(Verdict::Refused, reason.to_owned());
            if self.agreement.any(!observer.finished(run)) {
                return Ending::Cancelled;
            }
        }
        Ending::Complete
    }

    fn empty_run(&self, subject: &str, configuration: &Configuration) -> Run {
        let backend = self.backend(configuration);
        let device = backend.map_or("", Backend::model);
        let mut run = configuration.empty_run(subject, &self.environment.id, device);
        run.source =
            run.source.or_else(|| backend.and_then(|backend| backend.source(configuration.kernel)));
        Run { threads: self.threads(configuration), ..run }
    }

    /// The threads of all ranks together, which runs record.
    fn threads(&self, configuration: &Configuration) -> u32 {
        configuration.threads * self.backend(configuration).map_or(1, Backend::ranks)
    }

    fn backend(&self, configuration: &Configuration) -> Option<&dyn Backend> {
        let device = configuration.kernel.device;
        self.backends.iter().find(|(of, _)| *of == device).map(|&(_, backend)| backend)
    }

    async fn run_group(
        &self,
        subject: &str,
        problem: &dyn Problem,
        group: &[Configuration],
        memory: MemoryLimit,
        (references, predictions): (&mut References, &mut Predictions),
        progress: &mut Progress<'_>,
    ) -> Result<Ending, OwnFailure> {
        let mut starts = Vec::new();
        for configuration in group {
            if self.cancelled() {
                return Ok(Ending::Cancelled);
            }
            progress.tell(configuration.kernel.id);
            let start = self.prepare(subject, problem, configuration, memory, progress).await?;
            set_down().await;
            match start {
                Start::Cancelled => return Ok(Ending::Cancelled),
                Start::Ended(_) => progress.done += progress.samples,
                Start::Ready(_) => {}
            }
            starts.push(start);
        }
        let mut ending = self.sample(&mut starts, progress).await?;
        for start in starts {
            let run = match start {
                Start::Ready(ready) => {
                    let configuration = ready.configuration.clone();
                    if self.settings.energy {
                        progress.tell(configuration.kernel.id);
                    }
                    let mut run = self.conclude(*ready, problem, references).await?;
                    if run.figures.is_some() && !self.cancelled() {
                        progress.tell(configuration.kernel.id);
                        run.costs.predicted =
                            predictions.of(&configuration, problem, memory, self.cancel);
                    }
                    run
                }
                Start::Ended(run) => *run,
                Start::Cancelled => continue,
            };
            let is_untimed = run.samples.is_empty() && run.check.verdict == Verdict::Pass;
            let is_left_out = is_untimed && self.cancelled();
            if is_left_out || (run.cut_short && self.cancelled()) {
                ending = Ending::Cancelled;
            }
            if is_left_out {
                continue; // Cancelled before its first sample.
            }
            if self.agreement.any(!progress.observer.finished(run)) {
                return Ok(Ending::Cancelled);
            }
            set_down().await;
        }
        Ok(ending)
    }

    /// Prepares one configuration and checks its result; ends as a run without times if that fails.
    async fn prepare<'p>(
        &'p self,
        subject: &str,
        problem: &'p dyn Problem,
        configuration: &Configuration,
        memory: MemoryLimit,
        progress: &mut Progress<'_>,
    ) -> Result<Start<'p>, OwnFailure> {
        let mut run = self.empty_run(subject, configuration);
        let ended = |mut run: Run, check: Check| {
            run.check = check;
            Ok(Start::Ended(Box::new(run)))
        };
        let prepared = problem.admit(configuration).and_then(|()| {
            let missing =
                || PrepareError::Unsupported("no backend here runs this kernel".to_owned());
            let backend = self.backend(configuration).ok_or_else(missing)?;
            backend.prepare(configuration, problem, memory)
        });
        let mut prepared = match self.met(prepared) {
            Ok(prepared) => prepared,
            Err((verdict, reason)) => return ended(run, unmet(verdict, reason)),
        };
        let set_up = {
            let told = progress.telling();
            let tell = |share| told.tell(share);
            prepared.set_up(&self.watch(&tell)).await
        };
        if let (Err(_), Some(failure)) = (&set_up, prepared.own_failure()) {
            return Err(failure);
        }
        match self.met(set_up) {
            Ok(finished) if self.agreement.any(finished == Finished::Cancelled) => {
                return Ok(Start::Cancelled);
            }
            Ok(_) => {}
            Err((verdict, reason)) => return ended(run, unmet(verdict, reason)),
        }
        run.parts = prepared.parts().and_then(|parts| u32::try_from(parts).ok());
        run.params = prepared.params();
        run.costs = prepared.costs();
        let start = Instant::now();
        let output = {
            let told = progress.telling();
            let tell = |share| told.tell(share);
            prepared.output(&self.watch(&tell)).await
        };
        let elapsed = start.elapsed().as_secs_f64();
        let output = match self.together(&*prepared, output)? {
            Ok(output) => output,
            Err(reason) => return ended(run, failed(reason)),
        };
        let is_stopped = self.agreement.any(output.is_none());
        let Some(output) = output.filter(|_| !is_stopped) else { return Ok(Start::Cancelled) };
        let pace = self.agreement.max(elapsed);
        if self.agreement.any(problem.find_reference(self.cancel) == Finished::Cancelled) {
            return Ok(Start::Cancelled);
        }
        while problem.extend_reference(configuration) {
            if self.cancelled() {
                return Ok(Start::Cancelled);
            }
            set_down().await;
        }
        let mut check = problem.check(configuration, &output);
        (run.solve, run.history) = output.told();
        if check.verdict == Verdict::Pass && problem.is_empty() {
            check.reason = Some("there is nothing to compute".to_owned());
            return ended(run, check);
        }
        if check.verdict != Verdict::Pass {
            return ended(run, check);
        }
        run.check = check;
        let (configuration, work) = (configuration.clone(), problem.work(&output));
        let samples = if pace > TWICE_S { 1 } else { self.settings.runs };
        let spent = 0.0;
        let ready = Ready { configuration, prepared, run, work, pace, samples, spent };
        Ok(Start::Ready(Box::new(ready)))
    }
}

fn failed(reason: String) -> Check {
    unmet(Verdict::Fail, reason)
}

fn unmet(verdict: Verdict, reason: String) -> Check {
    Check { verdict, reason: Some(reason), ..Check::default() }
}

#[cfg(test)]
#[cfg(not(target_family = "wasm"))]
mod tests;
