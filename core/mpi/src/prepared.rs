//! A kernel of several ranks, ready to run and to be timed.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::launch::RankPool;
use super::product::Spent;
use super::set_up::{Made, Place};
use super::task::Task;
use super::told::distributed;
use sparsescope_bench::experiment::{
    Configuration, DeviceFailure, Executed, Finished, KernelError, LastOutput, OwnFailure,
    PrepareError, Prepared, Sampled, SetUp, Temperature, Ticket, WARM_BY_ITSELF_S, Watch, agreed,
    repetitions,
};
use sparsescope_bench::measure::CacheFlusher;
use sparsescope_kernels::spmv::gather;
use sparsescope_record::{Costs, Distributed};

/// Makes the cache flusher, or finds the one that it made before.
pub(super) type Flusher<'p> = Box<dyn Fn() -> Result<Arc<CacheFlusher>, String> + 'p>;

pub(super) struct RankPrepared<'p> {
    place: Place<'p>,
    configuration: Configuration,
    pool: RankPool,
    flusher: Flusher<'p>,
    /// Set up at first.
    task: Option<Box<dyn Task>>,
    costs: Costs,
    params: BTreeMap<String, String>,
    repetitions: u32,
    /// Seconds of the execution that returned the last result, on the slowest rank.
    once: Option<f64>,
    /// Seconds that this rank has spent in the timed executions, and their number.
    spent: Spent,
    executions: u32,
    failure: Option<OwnFailure>,
}

impl<'p> RankPrepared<'p> {
    pub(super) fn new(
        place: Place<'p>,
        configuration: Configuration,
        pool: RankPool,
        flusher: Flusher<'p>,
    ) -> Self {
        Self {
            place,
            configuration,
            pool,
            flusher,
            task: None,
            costs: Costs::default(),
            params: BTreeMap::new(),
            repetitions: 1,
            once: None,
            spent: Spent::default(),
            executions: 0,
            failure: None,
        }
    }

    fn error(&self, reason: String) -> KernelError {
        KernelError::new(self.configuration.kernel.id, reason)
    }

    /// The reason of a failure, which is kept if the other ranks do not know it.
    fn reason(&mut self, failure: DeviceFailure) -> String {
        match failure {
            DeviceFailure::Alike(reason) => reason,
            DeviceFailure::Own(reason) => {
                self.failure = Some(OwnFailure(reason.clone()));
                reason
            }
        }
    }

    fn spoil(&mut self) {
        if let Some(task) = &mut self.task {
            task.spoil();
        }
    }

    /// Executes `times` times in a row, with all ranks starting together. Returns the total seconds and their
    /// breakdown; `None` if any rank was cancelled.
    fn executed(
        &mut self,
        times: u32,
        watch: &Watch<'_>,
    ) -> Result<Option<(f64, Spent)>, KernelError> {
        let RankPool { pool, is_bound } = &self.pool;
        let Some(task) = &mut self.task else {
            return Err(self.error("it was not set up".to_owned()));
        };
        watch.agreement().barrier();
        let is_awake = *is_bound && task.is_short();
        let cancel = watch.flag();
        let begin = || task.time(times, cancel);
        let timed = match is_awake {
            true => pool.install(|| gather(begin)),
            false => pool.install(begin),
        };
        timed.map_err(|failure| {
            let reason = self.reason(failure);
            self.error(reason)
        })
    }

    /// Takes samples, cold ones of a single execution.
    fn samples(
        &mut self,
        n: usize,
        temperature: Temperature,
        watch: &Watch<'_>,
    ) -> Result<Vec<f64>, KernelError> {
        let flusher = match temperature {
            Temperature::Hot => None,
            Temperature::Cold => {
                let made = agreed(watch.agreement(), (self.flusher)());
                Some(made.map_err(|reason| self.error(reason))?)
            }
        };
        let mut times = 1;
        if flusher.is_none() {
            let once = self.once.unwrap_or_default();
            times = repetitions(once);
            let is_warm = once > WARM_BY_ITSELF_S;
            if !is_warm && self.executed(times, watch)?.is_none() {
                return Ok(Vec::new());
            }
            // The timed execution must recompute whatever the warm-up left.
            self.spoil();
        }
        let mut samples = Vec::with_capacity(n);
        while samples.len() < n {
            if let Some(flusher) = &flusher {
                self.spoil();
                self.pool.pool.install(|| flusher.flush());
            }
            let Some((seconds, spent)) = self.executed(times, watch)? else { break };
            samples.push(seconds / f64::from(times));
            self.spent += spent;
            self.executions += times;
        }
        self.repetitions = self.repetitions.max(times);
        Ok(samples)
    }
}

impl Prepared for RankPrepared<'_> {
    fn set_up<'t>(&'t mut self, watch: &'t Watch<'_>) -> SetUp<'t> {
        Ticket::at_once(|| {
            let made = self.place.made(&self.configuration, &self.pool.pool, watch.flag());
            match made {
                Ok(Some(Made { task, costs, params })) => {
                    (self.task, self.costs, self.params) = (Some(task), costs, params);
                    Ok(Finished::Done)
                }
                Ok(None) => Ok(Finished::Cancelled),
                Err(failure) => Err(PrepareError::Refused(self.reason(failure))),
            }
        })
    }

    fn sample<'t>(
        &'t mut self,
        n: usize,
        temperature: Temperature,
        watch: &'t Watch<'_>,
    ) -> Sampled<'t> {
        Ticket::at_once(|| self.samples(n, temperature, watch))
    }

    fn output<'t>(&'t mut self, watch: &'t Watch<'_>) -> Executed<'t> {
        Ticket::at_once(|| {
            self.spoil();
            let Some((seconds, _)) = self.executed(1, watch)? else { return Ok(None) };
            self.once = Some(watch.agreement().max(seconds));
            self.last_output().wait().map(Some)
        })
    }

    fn last_output(&mut self) -> LastOutput<'_> {
        Ticket::at_once(|| {
            let Place { world, matrix, .. } = self.place;
            let output = match &mut self.task {
                Some(task) => task.output(world, matrix),
                None => Err("it was not set up".to_owned()),
            };
            output.map_err(|reason| self.error(reason))
        })
    }

    fn own_failure(&self) -> Option<OwnFailure> {
        self.failure.clone()
    }

    fn once(&self) -> Option<f64> {
        self.once
    }

    fn repetitions(&self) -> u32 {
        self.repetitions
    }

    fn costs(&self) -> Costs {
        self.costs.clone()
    }

    fn params(&self) -> BTreeMap<String, String> {
        self.params.clone()
    }

    fn distributed(&mut self) -> Option<Distributed> {
        let Place { world, matrix, .. } = self.place;
        let traffic = self.task.as_ref()?.traffic(matrix);
        let spent = self.spent.over(self.executions);
        Some(distributed(world, matrix, self.configuration.threads, spent, traffic))
    }
}
