//! Runs every configuration on one problem: check, warm up, sample in rounds, check again.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};

use web_time::Instant;

use super::backend::{Backend, KernelError, PrepareError, Prepared, Setting, Temperature};
use super::plan::{Configuration, Settings};
use super::predict::Predictions;
use super::problem::{Output, Problem};
use crate::kernel::{DeviceKind, REFERENCE};
use crate::matrix::FormatSpec;
use crate::memory::MemoryLimit;
use crate::record::{Bandwidth, Check, Environment, Figures, Run, Verdict};

/// Runs of different kernels interleave in this many rounds, so that drift of the machine hits
/// all of them alike.
const ROUNDS: usize = 5;

/// The cancel flag is looked at this often, unless one sample alone takes longer.
const BETWEEN_LOOKS_S: f64 = 0.1;

/// What a runner tells about its work.
pub trait Observer {
    /// `done` of `total` samples of this problem are taken; `what` is being worked on.
    fn progress(&mut self, done: usize, total: usize, what: &str);
    /// A run is finished. Returning false ends the experiment.
    fn finished(&mut self, run: Run) -> bool;
}

/// How running ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// Every configuration was run, refused or found unsupported.
    Complete,
    /// The cancel flag was set or the observer asked to stop.
    Cancelled,
}

/// Everything that runs share.
pub struct Runner<'r> {
    /// Backends by the device they run on.
    pub backends: Vec<(DeviceKind, &'r dyn Backend)>,
    /// How often and under which settings.
    pub settings: &'r Settings,
    /// The machine, with its measured bandwidth.
    pub environment: &'r Environment,
    /// Bytes that the formats of a problem may take; asked anew for each problem when absent.
    pub memory: Option<MemoryLimit>,
    /// Set from elsewhere to stop; looked at between samples.
    pub cancel: &'r AtomicBool,
}

/// A configuration that is ready to be timed.
struct Ready<'p> {
    configuration: Configuration,
    prepared: Box<dyn Prepared + 'p>,
    run: Run,
    /// Seconds that a sample takes with everything around it, as last seen.
    pace: f64,
}

impl Runner<'_> {
    /// Runs all `configurations` on `problem`, whose matrix has the id `matrix`, but for those
    /// among the runs `measured` before. Kernels whose formats fit into memory together are
    /// sampled in turns, round by round.
    pub fn run(
        &self,
        matrix: &str,
        problem: &Problem,
        configurations: &[Configuration],
        measured: &[Run],
        observer: &mut dyn Observer,
    ) -> Ending {
        let configurations = &remaining(configurations, measured);
        let memory = self.memory.unwrap_or_else(MemoryLimit::of_machine);
        let samples = self.settings.runs + self.settings.warmup;
        let mut progress =
            Progress { done: 0, total: configurations.len() * samples, samples, observer };
        let reference = measured.iter().filter(|run| run.kernel == REFERENCE);
        let mut serial_medians: BTreeMap<bool, f64> =
            reference.filter_map(|run| Some((run.hot, run.figures.as_ref()?.median_s))).collect();
        let mut predictions = Predictions::default();
        for group in self.groups(problem, configurations, memory) {
            let about = (&mut serial_medians, &mut predictions);
            let ending = self.run_group(matrix, problem, &group, memory, about, &mut progress);
            let Problem::Spmv(spmv) = problem;
            spmv.drop_formats();
            if ending == Ending::Cancelled {
                return ending;
            }
        }
        Ending::Complete
    }

    /// Records every configuration as refused for one reason, when there is no problem to run.
    pub fn refuse(
        &self,
        matrix: &str,
        configurations: &[Configuration],
        reason: &str,
        measured: &[Run],
        observer: &mut dyn Observer,
    ) -> Ending {
        for configuration in &remaining(configurations, measured) {
            let mut run = self.empty_run(matrix, configuration);
            let reason = Some(reason.to_owned());
            run.check = Check { verdict: Verdict::Refused, reason, ..Check::default() };
            if !observer.finished(run) {
                return Ending::Cancelled;
            }
        }
        Ending::Complete
    }

    fn empty_run(&self, matrix: &str, configuration: &Configuration) -> Run {
        let device = self.backend(configuration).map_or("", Backend::model);
        configuration.empty_run(matrix, &self.environment.id, device)
    }

    fn backend(&self, configuration: &Configuration) -> Option<&dyn Backend> {
        let device = configuration.kernel.device;
        self.backends.iter().find(|(of, _)| *of == device).map(|&(_, backend)| backend)
    }

    /// The format that a configuration reads.
    fn spec(&self, configuration: &Configuration) -> FormatSpec {
        configuration.kernel.format.with(&self.settings.format())
    }

    /// Consecutive configurations whose formats together stay within `memory`; one that alone
    /// exceeds it forms a group that will be refused.
    fn groups(
        &self,
        problem: &Problem,
        configurations: &[Configuration],
        memory: MemoryLimit,
    ) -> Vec<Vec<Configuration>> {
        let Problem::Spmv(spmv) = problem;
        let mut groups: Vec<Vec<Configuration>> = Vec::new();
        let mut formats = BTreeMap::new();
        for &configuration in configurations {
            let spec = self.spec(&configuration);
            let csr = spec == FormatSpec::Csr;
            let bytes = match spec.size(spmv.a()) {
                Ok(size) if !csr && size.bytes <= memory.get() => size.bytes,
                // CSR is there already, and what is refused takes nothing.
                _ => 0,
            };
            let together: u64 = formats.values().sum();
            let is_new = !formats.contains_key(&spec);
            let overfull = is_new && together.saturating_add(bytes) > memory.get();
            if overfull {
                formats.clear();
            }
            formats.insert(spec, bytes);
            match groups.last_mut() {
                Some(group) if !overfull => group.push(configuration),
                _ => groups.push(vec![configuration]),
            }
        }
        groups
    }

    fn run_group(
        &self,
        matrix: &str,
        problem: &Problem,
        group: &[Configuration],
        memory: MemoryLimit,
        (serial_medians, predictions): (&mut BTreeMap<bool, f64>, &mut Predictions),
        progress: &mut Progress<'_>,
    ) -> Ending {
        let mut ready: Vec<Result<Ready<'_>, Box<Run>>> = Vec::new();
        for configuration in group {
            if self.cancelled() {
                return Ending::Cancelled;
            }
            progress.tell(configuration.kernel.id);
            let one = self.prepare(matrix, problem, configuration, memory);
            progress.done += if one.is_err() { progress.samples } else { 0 };
            ready.push(one);
        }
        let ending = self.sample(&mut ready, progress);
        for one in ready {
            let run = match one {
                Ok(one) => {
                    let configuration = one.configuration;
                    let mut run = self.conclude(one, problem, serial_medians);
                    if run.figures.is_some() && !self.cancelled() {
                        progress.tell(configuration.kernel.id);
                        let format = (self.spec(&configuration), memory);
                        let Problem::Spmv(spmv) = problem;
                        run.costs.predicted =
                            predictions.of(&configuration, spmv, format, self.cancel);
                    }
                    run
                }
                Err(run) => *run,
            };
            if run.samples.is_empty() && run.check.verdict == Verdict::Pass {
                continue; // Cancelled before its first sample.
            }
            if !progress.observer.finished(run) {
                return Ending::Cancelled;
            }
        }
        ending
    }

    /// Makes one configuration ready and checks its result; a run without times otherwise.
    fn prepare<'p>(
        &'p self,
        matrix: &str,
        problem: &'p Problem,
        configuration: &Configuration,
        memory: MemoryLimit,
    ) -> Result<Ready<'p>, Box<Run>> {
        let mut run = self.empty_run(matrix, configuration);
        let setting = Setting {
            threads: configuration.threads as usize,
            block: configuration.block,
            format: self.settings.format(),
            memory,
        };
        let prepared = match self.backend(configuration) {
            Some(backend) => backend.prepare(configuration.kernel, problem, &setting),
            None => Err(PrepareError::Unsupported("no backend runs it here".to_owned())),
        };
        let mut prepared = match prepared {
            Ok(prepared) => prepared,
            Err(error) => {
                let verdict = match error {
                    PrepareError::Refused(_) => Verdict::Refused,
                    PrepareError::Unsupported(_) => Verdict::Unsupported,
                };
                let reason = Some(error.to_string());
                run.check = Check { verdict, reason, ..Check::default() };
                return Err(Box::new(run));
            }
        };
        run.parts = prepared.parts().and_then(|parts| u32::try_from(parts).ok());
        run.params = prepared.params();
        run.costs = prepared.costs();
        let start = Instant::now();
        let output = prepared.output();
        let pace = start.elapsed().as_secs_f64();
        run.check = check(problem, output);
        match run.check.verdict {
            Verdict::Pass => Ok(Ready { configuration: *configuration, prepared, run, pace }),
            _ => Err(Box::new(run)),
        }
    }

    /// Warms up, then takes the samples round by round.
    fn sample(
        &self,
        ready: &mut [Result<Ready<'_>, Box<Run>>],
        progress: &mut Progress<'_>,
    ) -> Ending {
        let Settings { runs, warmup, .. } = *self.settings;
        let rounds = ROUNDS.min(runs);
        for round in 0..=rounds {
            // Round 0 warms up; the others share the samples evenly.
            let n = match round {
                0 => warmup,
                round => runs * round / rounds - runs * (round - 1) / rounds,
            };
            for one in ready.iter_mut().flatten() {
                if one.run.check.verdict != Verdict::Pass {
                    continue; // It failed while it was sampled.
                }
                progress.tell(one.configuration.kernel.id);
                let mut left = n;
                while left > 0 && one.run.check.verdict == Verdict::Pass {
                    if self.cancelled() {
                        return Ending::Cancelled;
                    }
                    let chunk = chunk(left, one.configuration.temperature, one.pace);
                    let start = Instant::now();
                    match one.prepared.sample(chunk, one.configuration.temperature) {
                        Ok(_) if round == 0 => one.run.warmup += chunk as u32,
                        Ok(samples) => one.run.samples.extend(samples),
                        Err(error) => one.run.check = failed(&error),
                    }
                    one.pace = start.elapsed().as_secs_f64() / chunk as f64;
                    left -= chunk;
                    progress.done += chunk;
                }
                progress.done += left;
            }
        }
        Ending::Complete
    }

    /// Checks the result once more after the last sample, and computes the figures.
    fn conclude(
        &self,
        one: Ready<'_>,
        problem: &Problem,
        serial_medians: &mut BTreeMap<bool, f64>,
    ) -> Run {
        let Ready { configuration, mut prepared, mut run, pace: _ } = one;
        run.repetitions = prepared.repetitions();
        run.costs = prepared.costs();
        if run.check.verdict == Verdict::Pass {
            run.check = worse(run.check, check(problem, prepared.output()));
        }
        if run.check.verdict != Verdict::Pass {
            run.samples.clear();
            return run;
        }
        let bytes = run.costs.minimal_bytes;
        run.figures = Figures::from_samples(&run.samples, problem.flops(), bytes);
        let Some(figures) = run.figures.as_mut() else { return run };
        if run.kernel == REFERENCE {
            serial_medians.insert(run.hot, figures.median_s);
        }
        let is_cpu = configuration.kernel.device == DeviceKind::Cpu;
        if let Some(copy) = self.copy_bandwidth(&configuration) {
            figures.set_copy(copy);
        }
        if let Some(&serial) = serial_medians.get(&run.hot) {
            figures.set_serial(serial, is_cpu.then_some(configuration.threads));
            let gain = serial - figures.median_s;
            let cost = run.costs.conversion_s + run.costs.plan_s;
            run.costs.break_even = (gain > 0.0).then(|| (cost / gain).ceil());
        }
        run
    }

    /// What the device copies in a second, with the configuration's number of threads.
    fn copy_bandwidth(&self, configuration: &Configuration) -> Option<f64> {
        match configuration.kernel.device {
            DeviceKind::Cpu => {
                let same_threads = |b: &&Bandwidth| b.threads == configuration.threads;
                self.environment.bandwidth.iter().find(same_threads).map(|b| b.copy)
            }
            DeviceKind::Cuda => {
                let model = self.backend(configuration)?.model();
                self.environment.gpus.iter().find(|gpu| gpu.model == model)?.copy
            }
        }
    }

    fn cancelled(&self) -> bool {
        self.cancel.load(Ordering::Relaxed)
    }
}

/// The configurations that have no run yet.
fn remaining(configurations: &[Configuration], measured: &[Run]) -> Vec<Configuration> {
    let is_of = |run: &Run, c: &Configuration| {
        run.kernel == c.kernel.id
            && run.threads == c.threads
            && run.block == c.block
            && run.hot == (c.temperature == Temperature::Hot)
    };
    let left = configurations.iter().filter(|c| !measured.iter().any(|run| is_of(run, c)));
    left.copied().collect()
}

/// Of `n` samples, those taken before the next look at the cancel flag, at a pace of so many seconds
/// a sample: one when cold; as many as possible when hot, since they come after one untimed product.
fn chunk(n: usize, temperature: Temperature, pace: f64) -> usize {
    // A sample of many quick products takes longer than the one product that gave the first pace.
    const QUICKEST_S: f64 = 1e-4;
    match temperature {
        Temperature::Hot => ((BETWEEN_LOOKS_S / pace.max(QUICKEST_S)) as usize).clamp(1, n.max(1)),
        Temperature::Cold => 1,
    }
}

/// Checks a result that was computed into one filled with NaN.
fn check(problem: &Problem, output: Result<Output, KernelError>) -> Check {
    match output {
        Ok(output) => problem.check(&output),
        Err(error) => failed(&error),
    }
}

fn failed(error: &KernelError) -> Check {
    let reason = Some(error.to_string());
    Check { verdict: Verdict::Fail, reason, ..Check::default() }
}

/// Of two checks of the same kernel, the one that failed or was further off.
fn worse(first: Check, second: Check) -> Check {
    let second_is_worse = second.verdict != Verdict::Pass || second.worst > first.worst;
    if second_is_worse { second } else { first }
}

/// Counts samples for the observer.
struct Progress<'o> {
    done: usize,
    total: usize,
    /// Samples of one configuration, warm-up included.
    samples: usize,
    observer: &'o mut dyn Observer,
}

impl Progress<'_> {
    fn tell(&mut self, what: &str) {
        self.observer.progress(self.done, self.total, what);
    }
}

#[cfg(test)]
mod tests;
