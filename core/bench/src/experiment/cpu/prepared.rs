//! Times a CPU task of any operation.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Instant;

use super::machine::{Machine, awake};
use crate::experiment::agreement::agreed;
use crate::experiment::backend::Prepared;
use crate::experiment::configuration::Temperature;
use crate::experiment::error::{KernelError, PrepareError};
use crate::experiment::task::{Bound, Finished, Groups, Task, Watch};
use crate::experiment::ticket::{Executed, LastOutput, Sampled, SetUp, Ticket};
use crate::experiment::timing::{WARM_BY_ITSELF_S, repetitions};
use sparsescope_record::Costs;

/// Minimum warm-up before samples of executions shorter than this.
const WARM_UP_S: f64 = 2e-3;

pub(super) struct CpuPrepared<'p> {
    kernel: &'static str,
    machine: &'p Machine,
    pool: Arc<rayon::ThreadPool>,
    bound: Bound<'p>,
    repetitions: u32,
    /// Seconds of the execution that returned the last checked result.
    once: Option<f64>,
}

/// A result of an execution; a cancelled or failed one ends the sampling.
type Tried<T> = Result<Option<T>, KernelError>;

impl<'p> CpuPrepared<'p> {
    pub(super) fn new(
        kernel: &'static str,
        machine: &'p Machine,
        pool: Arc<rayon::ThreadPool>,
        bound: Bound<'p>,
    ) -> Self {
        Self { kernel, machine, pool, bound, repetitions: 1, once: None }
    }

    fn failed(&self, reason: String) -> KernelError {
        KernelError::new(self.kernel, reason)
    }

    /// Runs `work` inside the pool, SpMV with its workers kept awake; a panic of the kernel becomes an error.
    fn install<R: Send>(
        &mut self,
        work: impl FnOnce(&mut dyn Task) -> Result<R, KernelError> + Send,
    ) -> Result<R, KernelError> {
        let Self { pool, bound, .. } = self;
        let task = bound.task.as_mut();
        let run = AssertUnwindSafe(|| {
            pool.install(|| match task.is_product() {
                true => awake(|| work(task)),
                false => work(task),
            })
        });
        catch_unwind(run).unwrap_or_else(|_| {
            Err(self.failed("it panicked; this is a bug in Sparsescope".to_owned()))
        })
    }

    /// The same; afterwards no thread of the kernel takes time from others.
    fn install_and_rest<R: Send>(
        &mut self,
        work: impl FnOnce(&mut dyn Task) -> Result<R, KernelError> + Send,
    ) -> Result<R, KernelError> {
        self.install(|task| {
            let done = work(task);
            task.rest();
            done
        })
    }

    /// Takes samples of an execution that can be repeated as it is.
    fn sample_hot(&mut self, n: usize, watch: &Watch<'_>) -> Result<Vec<f64>, KernelError> {
        let known = self.once.filter(|&once| once > WARM_BY_ITSELF_S);
        let (samples, repetitions) = self.install_and_rest(|task| {
            let once = match known {
                Some(once) => Some(once),
                None => time(task, 1, watch)?.map(|once| watch.agreement().max(once)),
            };
            let Some(once) = once else { return Ok((Vec::new(), 1)) };
            if warm_up(task, once, watch)?.is_none() {
                return Ok((Vec::new(), 1));
            }
            let repetitions = repetitions(once);
            // The timed execution must recompute whatever the warm-up left.
            task.spoil();
            // One thread has just written the whole result, which would slow down a short sample: discard
            // one.
            if once < WARM_UP_S && time(task, repetitions, watch)?.is_none() {
                return Ok((Vec::new(), 1));
            }
            Ok((collect(n, || time(task, repetitions, watch))?, repetitions))
        })?;
        self.repetitions = self.repetitions.max(repetitions);
        Ok(samples)
    }

    fn sample_cold(&mut self, n: usize, watch: &Watch<'_>) -> Result<Vec<f64>, KernelError> {
        let flusher = agreed(watch.agreement(), self.machine.flusher());
        let flusher = flusher.map_err(|reason| self.failed(reason))?;
        self.install_and_rest(|task| {
            collect(n, || {
                task.reset();
                task.spoil();
                flusher.flush();
                time(task, 1, watch)
            })
        })
    }

    /// Takes samples of an in-place execution: each is the mean of several, all of which start with the same
    /// input, and only the execution is timed.
    fn sample_in_place(&mut self, n: usize, watch: &Watch<'_>) -> Result<Vec<f64>, KernelError> {
        let known = self.once;
        let (samples, repetitions) = self.install(|task| {
            let once = match known {
                Some(once) => Some(once),
                None => time_in_place(task, 1, watch)?.map(|once| watch.agreement().max(once)),
            };
            let Some(once) = once else { return Ok((Vec::new(), 1)) };
            let repetitions = repetitions(once);
            Ok((collect(n, || time_in_place(task, repetitions, watch))?, repetitions))
        })?;
        self.repetitions = self.repetitions.max(repetitions);
        self.bound.costs.clock_s.get_or_insert_with(clock_seconds);
        Ok(samples)
    }
}

/// Repeats executions of `once` seconds until caches, threads and clock frequency have settled: other kernels
/// ran before.
fn warm_up(task: &mut dyn Task, once: f64, watch: &Watch<'_>) -> Tried<()> {
    let start = Instant::now();
    while watch.agreement().any(start.elapsed().as_secs_f64() + once < WARM_UP_S) {
        if time(task, 1, watch)?.is_none() {
            return Ok(None);
        }
    }
    Ok(Some(()))
}

/// Mean time of `repetitions` consecutive executions, which all ranks begin together; `None` when cancelled.
fn time(task: &mut dyn Task, repetitions: u32, watch: &Watch<'_>) -> Tried<f64> {
    watch.agreement().barrier();
    let start = Instant::now();
    for _ in 0..repetitions {
        if task.run(watch)? == Finished::Cancelled {
            return Ok(None);
        }
    }
    let each = start.elapsed().as_secs_f64() / f64::from(repetitions);
    Ok(Some((each - task.left_out()).max(0.0)))
}

/// The same for in-place executions, each after an untimed reset.
fn time_in_place(task: &mut dyn Task, repetitions: u32, watch: &Watch<'_>) -> Tried<f64> {
    let mut total = 0.0;
    for _ in 0..repetitions {
        task.reset();
        match time(task, 1, watch)? {
            Some(seconds) => total += seconds,
            None => return Ok(None),
        }
    }
    Ok(Some(total / f64::from(repetitions)))
}

/// Collects `n` samples; fewer when cancelled.
fn collect(n: usize, mut sample: impl FnMut() -> Tried<f64>) -> Result<Vec<f64>, KernelError> {
    let mut samples = Vec::with_capacity(n);
    while samples.len() < n {
        match sample()? {
            Some(seconds) => samples.push(seconds),
            None => break,
        }
    }
    Ok(samples)
}

/// Overhead of starting and stopping the clock: the median of many measurements.
fn clock_seconds() -> f64 {
    let mut tries: Vec<f64> = std::iter::repeat_with(|| {
        let start = Instant::now();
        std::hint::black_box(start.elapsed()).as_secs_f64()
    })
    .take(101)
    .collect();
    tries.sort_unstable_by(f64::total_cmp);
    tries.get(50).copied().unwrap_or_default()
}

impl Prepared for CpuPrepared<'_> {
    fn set_up<'t>(&'t mut self, watch: &'t Watch<'_>) -> SetUp<'t> {
        Ticket::at_once(|| {
            let Self { pool, bound, .. } = self;
            let Bound { task, costs, .. } = bound;
            let run = AssertUnwindSafe(|| {
                pool.install(|| {
                    let done = task.set_up(costs, watch);
                    task.rest();
                    done
                })
            });
            catch_unwind(run).unwrap_or_else(|_| {
                let reason = "its setup panicked; this is a bug in Sparsescope".to_owned();
                Err(PrepareError::Unsupported(reason))
            })
        })
    }

    fn sample<'t>(
        &'t mut self,
        n: usize,
        temperature: Temperature,
        watch: &'t Watch<'_>,
    ) -> Sampled<'t> {
        Ticket::at_once(|| match (temperature, self.bound.task.is_in_place()) {
            (Temperature::Cold, _) => self.sample_cold(n, watch),
            (Temperature::Hot, false) => self.sample_hot(n, watch),
            (Temperature::Hot, true) => self.sample_in_place(n, watch),
        })
    }

    fn output<'t>(&'t mut self, watch: &'t Watch<'_>) -> Executed<'t> {
        Ticket::at_once(|| {
            let executed = self.install_and_rest(|task| {
                task.reset();
                task.spoil();
                Ok(time(task, 1, watch)?.map(|seconds| (task.output(), seconds)))
            })?;
            let Some((output, seconds)) = executed else { return Ok(None) };
            self.once = Some(watch.agreement().max(seconds));
            Ok(Some(output))
        })
    }

    fn last_output(&mut self) -> LastOutput<'_> {
        Ticket::at_once(|| Ok(self.bound.task.output()))
    }

    fn once(&self) -> Option<f64> {
        self.once
    }

    fn groups(&self) -> Option<Groups> {
        self.bound.task.groups()
    }

    fn repetitions(&self) -> u32 {
        self.repetitions
    }

    fn parts(&self) -> Option<usize> {
        self.bound.task.parts().or(self.bound.parts)
    }

    fn costs(&self) -> Costs {
        self.bound.costs.clone()
    }

    fn params(&self) -> BTreeMap<String, String> {
        self.bound.params.clone()
    }
}

#[cfg(test)]
mod tests;
