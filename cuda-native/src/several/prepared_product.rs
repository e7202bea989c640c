//! y = A·x on several GPUs, ready to run.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Instant;

use sparsescope_core::distributed::DistributedError;
use sparsescope_core::experiment::{
    Elements, Executed, KernelError, LastOutput, Output, PrepareError, Prepared, Sampled,
    Temperature, Ticket, Watch,
};
use sparsescope_core::gate::RowErrors;
use sparsescope_core::kernel::KernelDescriptor;
use sparsescope_core::kernel::parameters::RANKS;
use sparsescope_core::memory::MemoryLimit;
use sparsescope_core::record::{Check, Costs, Distributed, Verdict};

use super::by_index::errors_of_product;
use super::product::{LocalProduct, Took};
use super::shared_out::{SharedOut, Source};
use super::team::Team;
use crate::clock::to_picoseconds;
use crate::device::DeviceError;
use crate::refusal::refused;
use crate::sampling::{Execution, sampled};

/// The number of GPUs, as a run's parameter.
pub(super) fn told_of(ranks: usize) -> BTreeMap<String, String> {
    BTreeMap::from([(RANKS.id().name().to_owned(), ranks.to_string())])
}

/// Why a matrix cannot be distributed, as the caller's error.
pub(super) fn not_shared(error: &DistributedError) -> PrepareError {
    PrepareError::Refused(error.to_string())
}

/// SpMVs of a team.
pub(super) struct PreparedProducts {
    team: Arc<Team>,
    number: u64,
    kernel: &'static str,
    costs: Costs,
    params: BTreeMap<String, String>,
    record: Distributed,
    /// Seconds of the samples so far.
    samples: Vec<f64>,
    once: Option<f64>,
    repetitions: u32,
}

/// SpMVs one after another, with a clock on each GPU: a sample is the time of the slowest.
struct Timed<'a> {
    team: &'a Team,
    number: u64,
}

impl Execution for Timed<'_> {
    type Error = DeviceError;

    fn is_in_place(&self) -> bool {
        false
    }

    fn reset(&mut self) -> Result<(), DeviceError> {
        Ok(())
    }

    fn spoil(&mut self) -> Result<(), DeviceError> {
        let number = self.number;
        self.team.each(move |rank| {
            rank.with(number, |rank, product: &mut LocalProduct| product.spoil(rank))
        })?;
        Ok(())
    }

    fn flush(&mut self) -> Result<(), DeviceError> {
        self.team.each(|rank| rank.flush()).map(|_| ())
    }

    fn time(&mut self, executions: u32) -> Result<f64, DeviceError> {
        let number = self.number;
        let seconds = self.team.jointly(move |rank| {
            rank.with(number, |rank, product: &mut LocalProduct| {
                rank.time(|| (0..executions).try_for_each(|_| product.enqueue(rank)))
            })
        });
        Ok(seconds?.into_iter().fold(0.0, f64::max))
    }
}

impl PreparedProducts {
    /// For a matrix and a vector in parts, multiplied on each GPU by `local`, a single-GPU kernel.
    pub(super) fn new(
        team: Arc<Team>,
        (kernel, local): (&'static str, &'static KernelDescriptor),
        source: &Source,
        x: Elements,
        memory: MemoryLimit,
    ) -> Result<Self, PrepareError> {
        let begun = Instant::now();
        let shared = SharedOut::among(&team, source, memory).map_err(|error| not_shared(&error))?;
        let plan_s = begun.elapsed().as_secs_f64();
        let params = told_of(team.ranks());
        let record = shared.record.clone();
        let shared = Arc::new(shared);
        let number = team.number();
        let made = team.each(move |rank| {
            let held = shared.take(rank.number())?;
            let (product, took) = LocalProduct::of(rank, held, local, &x, memory)?;
            rank.hold(number, product);
            Ok(took)
        });
        let took = Took::of_all(&made.map_err(refused)?);
        let vectors = 8 * (source.rows() + source.cols());
        let costs = Costs {
            conversion_s: took.conversion_s,
            plan_s,
            upload_s: Some(took.spent.upload_s),
            allocate_s: Some(took.spent.allocate_s),
            format_bytes: took.bytes,
            minimal_bytes: took.bytes + vectors,
            ..Costs::default()
        };
        let (samples, once) = Default::default();
        Ok(Self { team, number, kernel, costs, params, record, samples, once, repetitions: 1 })
    }

    fn failed(&self, error: &DeviceError) -> KernelError {
        KernelError { kernel: self.kernel.to_owned(), reason: error.to_string() }
    }

    /// Executes once, on a spoilt result.
    pub(super) fn execute(&mut self) -> Result<(), DeviceError> {
        let mut timed = Timed { team: &self.team, number: self.number };
        timed.spoil()?;
        let seconds = timed.time(1)?;
        self.once = Some(to_picoseconds(seconds));
        Ok(())
    }

    /// Checks each rank's part of y with regenerated rows, and x computed from its indices: errors
    /// in the halo exchange are found, and no process holds the whole of anything.
    pub(super) fn check_by_rows(
        &mut self,
        source: &Source,
        seed: u64,
    ) -> Result<Check, DeviceError> {
        let (number, source) = (self.number, Arc::clone(source));
        let checked = self.team.each(move |rank| {
            rank.with(number, |rank, product: &mut LocalProduct| {
                let (y, _) = product.read(rank)?;
                Ok(y.map(|y| errors_of_product(&*source, seed, product.first_row(), &y)))
            })
        })?;
        let joined = checked
            .into_iter()
            .try_fold(RowErrors::default(), |all, one| one.map(|one| all.join(one)));
        Ok(match joined {
            Ok(errors) => errors.check(),
            Err(why) => Check { verdict: Verdict::Fail, reason: Some(why), ..Check::default() },
        })
    }

    /// All parts of y, concatenated, or what is wrong with one.
    fn read(&mut self) -> Result<Result<Vec<f64>, String>, DeviceError> {
        let number = self.number;
        let parts = self.team.each(move |rank| {
            rank.with(number, |rank, product: &mut LocalProduct| product.read(rank))
        })?;
        self.costs.download_s = Some(parts.iter().map(|&(_, seconds)| seconds).fold(0.0, f64::max));
        let parts: Result<Vec<Vec<f64>>, String> = parts.into_iter().map(|(y, _)| y).collect();
        Ok(parts.map(|parts| parts.concat()))
    }
}

impl Prepared for PreparedProducts {
    fn sample<'t>(
        &'t mut self,
        n: usize,
        temperature: Temperature,
        watch: &'t Watch<'_>,
    ) -> Sampled<'t> {
        Ticket::at_once(|| {
            let stop = || watch.is_cancelled();
            let mut timed = Timed { team: &self.team, number: self.number };
            let samples = sampled(&mut timed, temperature, n, self.once, &stop);
            let samples = samples.map_err(|error| self.failed(&error))?;
            self.repetitions = self.repetitions.max(samples.repetitions);
            self.samples.extend(&samples.seconds);
            Ok(samples.seconds.into_iter().map(to_picoseconds).collect())
        })
    }

    fn output<'t>(&'t mut self, _: &'t Watch<'_>) -> Executed<'t> {
        Ticket::at_once(|| {
            self.execute().map_err(|error| self.failed(&error))?;
            self.last_output().wait().map(Some)
        })
    }

    fn last_output(&mut self) -> LastOutput<'_> {
        Ticket::at_once(|| {
            let read = self.read().map_err(|error| self.failed(&error))?;
            let failed = |reason| KernelError { kernel: self.kernel.to_owned(), reason };
            read.map(Output::Vector).map_err(failed)
        })
    }

    fn repetitions(&self) -> u32 {
        self.repetitions
    }

    fn parts(&self) -> Option<usize> {
        None
    }

    fn costs(&self) -> Costs {
        self.costs.clone()
    }

    /// Times each rank's parts of the work separately; the rest of an SpMV is waiting.
    fn distributed(&mut self) -> Option<Distributed> {
        let number = self.number;
        let apart = self.team.jointly(move |rank| {
            rank.with(number, |rank, product: &mut LocalProduct| product.apart(rank))
        });
        let mut record = self.record.clone();
        self.samples.sort_by(f64::total_cmp);
        if let (Ok(apart), Some(&median)) = (apart, self.samples.get(self.samples.len() / 2)) {
            for (share, one) in record.ranks.iter_mut().zip(apart) {
                let without_clock = |seconds: f64| to_picoseconds((seconds - one.clock_s).max(0.0));
                share.packing_s = without_clock(one.packing_s);
                share.computing_s = without_clock(one.computing_s);
                let busy = share.packing_s + share.computing_s;
                share.waiting_s = to_picoseconds((median - busy).max(0.0));
            }
        }
        Some(record)
    }

    fn params(&self) -> BTreeMap<String, String> {
        self.params.clone()
    }
}

impl Drop for PreparedProducts {
    fn drop(&mut self) {
        let number = self.number;
        // What cannot be released in order is dropped with the team.
        let _ = self.team.each(move |rank| rank.forget(number));
    }
}
