//! What follows the samples of a run: the checks of its results, and its figures.

use std::sync::atomic::AtomicBool;

use super::{Ready, Runner, TWICE_S, failed};
use crate::experiment::agreement::OwnFailure;
use crate::experiment::configuration::Configuration;
use crate::experiment::output::Output;
use crate::experiment::problem::Problem;
use crate::experiment::references::References;
use crate::experiment::task::Watch;
use crate::experiment::timing::WARM_BY_ITSELF_S;
use sparsescope_model::kernel::DeviceKind;
use sparsescope_model::kernel::parameters::RANKS;
use sparsescope_record::{Bandwidth, Check, Figures, History, Run, Series, Until, Verdict};

impl Runner<'_> {
    /// Checks the result of the last sample and of one more execution, and computes the figures.
    pub(super) async fn conclude(
        &self,
        one: Ready<'_>,
        problem: &dyn Problem,
        references: &mut References,
    ) -> Result<Run, OwnFailure> {
        let Ready { configuration, mut prepared, mut run, work, pace, samples, .. } = one;
        run.repetitions = prepared.repetitions();
        run.costs = prepared.costs();
        if pace > WARM_BY_ITSELF_S && self.cancelled() {
            // The last execution was stopped half-way, and another would keep the user waiting.
            run.samples.clear();
            return Ok(run);
        }
        // A sample that was stopped half-way leaves no result.
        if run.check.verdict == Verdict::Pass && !run.samples.is_empty() && !self.cancelled() {
            let left = prepared.last_output().await;
            let left = self.together(&*prepared, left)?;
            run.check = run.check.worse(check(problem, &configuration, left));
        }
        let mut metered = None;
        if self.settings.energy
            && run.check.verdict == Verdict::Pass
            && !run.samples.is_empty()
            && !self.cancelled()
        {
            metered = match pace > TWICE_S {
                true => Some(Err(format!("one execution takes more than {TWICE_S} s"))),
                false => {
                    let watch = Watch::cancelled_by(self.cancel).agreeing(self.agreement);
                    let energy = prepared.energy(configuration.temperature, &watch).await;
                    energy.transpose()
                }
            };
            if matches!(metered, Some(Ok(_))) {
                let left = prepared.last_output().await;
                let left = self.together(&*prepared, left)?;
                run.check = run.check.worse(check(problem, &configuration, left));
            }
        }
        // A long execution is not repeated a third time for the check.
        if run.check.verdict == Verdict::Pass && !run.samples.is_empty() && pace <= TWICE_S {
            let never = AtomicBool::new(false);
            let watch = Watch::cancelled_by(&never).agreeing(self.agreement);
            let output = prepared.output(&watch).await;
            let output = self.together(&*prepared, output)?;
            let is_stopped = self.agreement.any(matches!(output, Ok(None)));
            let output = match output {
                Ok(Some(output)) if !is_stopped => Ok(output),
                Ok(_) => {
                    let left = prepared.last_output().await;
                    self.together(&*prepared, left)?
                }
                Err(reason) => Err(reason),
            };
            run.check = run.check.worse(check(problem, &configuration, output));
        }
        if run.check.verdict != Verdict::Pass {
            run.samples.clear();
            return Ok(run);
        }
        run.distributed = prepared.distributed();
        let history = joined(prepared.told(), problem.history(&configuration, self.cancel));
        run.history = history.or(run.history);
        run.cut_short = run.samples.len() < samples;
        match metered {
            Some(Ok(energy)) => run.energy = Some(energy),
            Some(Err(reason)) => run.no_energy = Some(reason),
            None => run.cut_short |= self.settings.energy && self.cancelled(),
        }
        let goal = self.settings.until;
        run.until = goal.map(|goal| Until::of(goal.share, goal.at_most_s, &run.samples));
        let bytes = run.costs.minimal_bytes;
        run.figures = Figures::from_samples(&run.samples, work.flops as f64, bytes);
        let Some(figures) = run.figures.as_mut() else {
            run.samples.clear();
            return Ok(run);
        };
        run.work = Some(work);
        run.metric = Some(configuration.kernel.operation.metric(&work, figures.median_s));
        if let Some(copy) = self.copy_bandwidth(&configuration) {
            figures.set_copy(copy);
        }
        references.compare(&configuration, &mut run);
        Ok(run)
    }

    /// Copy bandwidth of the device in bytes per second, with the configuration's number of threads.
    fn copy_bandwidth(&self, configuration: &Configuration) -> Option<f64> {
        match configuration.kernel.device {
            DeviceKind::Cpu | DeviceKind::Ranks => {
                let threads = self.threads(configuration);
                let same_threads = |b: &&Bandwidth| b.threads == threads;
                self.environment.bandwidth.iter().find(same_threads).map(|b| b.copy)
            }
            DeviceKind::Cuda | DeviceKind::Wgpu => {
                let model = self.backend(configuration)?.model();
                self.environment.gpus.iter().find(|gpu| gpu.model == model)?.copy
            }
            // Each of its GPUs copies as fast as the slowest.
            DeviceKind::Nccl => {
                let model = self.backend(configuration)?.model();
                let copy = self.environment.gpus.iter().find(|gpu| gpu.model == model)?.copy?;
                Some(copy * configuration.parameters.get(&RANKS) as f64)
            }
        }
    }
}

/// Merges the steps that an execution reported with the problem's history of repeating it: one history, in
/// which each series has its own steps.
fn joined(told: Option<History>, repeated: Option<History>) -> Option<History> {
    match (told, repeated) {
        (Some(told), Some(mut history)) => {
            history.series.extend(told.series.into_iter().map(|series| {
                let step = series.step.or_else(|| Some(told.step.clone()));
                Series { step, ..series }
            }));
            Some(history)
        }
        (told, repeated) => told.or(repeated),
    }
}

/// Checks a result after the last sample.
fn check(
    problem: &dyn Problem,
    configuration: &Configuration,
    output: Result<Output, String>,
) -> Check {
    match output {
        Ok(output) => problem.check(configuration, &output),
        Err(reason) => failed(reason),
    }
}
