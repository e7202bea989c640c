//! y = A·x on several GPUs, ready to run.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Instant;

use sparsescope_core::distributed::DistributedError;
use sparsescope_core::experiment::{
    KernelError, Output, PrepareError, Prepared, Temperature, Watch,
};
use sparsescope_core::kernel::KernelDescriptor;
use sparsescope_core::memory::MemoryLimit;
use sparsescope_core::record::Costs;

use super::product::{LocalProduct, Took};
use super::shared_out::{Elements, SharedOut, Source};
use super::team::Team;
use crate::clock::to_picoseconds;
use crate::device::DeviceError;
use crate::refusal::refused;
use crate::sampling::{Execution, cold, hot};

/// What is known of a matrix that is shared out, for the parameters and costs of a run.
pub(super) fn told_of(shared: &SharedOut, ranks: usize) -> BTreeMap<String, String> {
    let numbers = [
        ("ranks", ranks.to_string()),
        ("halo_bytes", shared.bytes_sent.to_string()),
        ("halo_messages", shared.messages.to_string()),
        ("imbalance", format!("{:.4}", shared.imbalance)),
    ];
    numbers.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

/// Why a matrix is not shared out, for who asked.
pub(super) fn not_shared(error: &DistributedError) -> PrepareError {
    PrepareError::Refused(error.to_string())
}

/// Products of a team.
pub(super) struct PreparedProducts {
    team: Arc<Team>,
    number: u64,
    kernel: &'static str,
    costs: Costs,
    params: BTreeMap<String, String>,
    once: Option<f64>,
    repetitions: u32,
}

/// Products one after another, with a clock on each GPU: a sample is what the slowest takes.
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
    /// Of a matrix and a vector by their parts, multiplied on each GPU by `local`, a kernel of a single one.
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
        let params = told_of(&shared, team.ranks());
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
        Ok(Self { team, number, kernel, costs, params, once: None, repetitions: 1 })
    }

    fn failed(&self, error: &DeviceError) -> KernelError {
        KernelError { kernel: self.kernel.to_owned(), reason: error.to_string() }
    }

    /// Executes once, with a spoilt result before.
    fn execute(&mut self) -> Result<(), DeviceError> {
        let number = self.number;
        self.team.each(move |rank| {
            rank.with(number, |rank, product: &mut LocalProduct| product.spoil(rank))
        })?;
        let seconds = Timed { team: &self.team, number }.time(1)?;
        self.once = Some(to_picoseconds(seconds));
        Ok(())
    }

    /// All parts of y, one after another, or what is wrong with one.
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
    fn sample(
        &mut self,
        n: usize,
        temperature: Temperature,
        watch: &Watch<'_>,
    ) -> Result<Vec<f64>, KernelError> {
        let stop = || watch.is_cancelled();
        let mut timed = Timed { team: &self.team, number: self.number };
        let samples = match temperature {
            Temperature::Hot => hot(&mut timed, n, self.once, &stop),
            Temperature::Cold => cold(&mut timed, n, self.once, &stop),
        };
        let samples = samples.map_err(|error| self.failed(&error))?;
        self.repetitions = self.repetitions.max(samples.repetitions);
        Ok(samples.seconds.into_iter().map(to_picoseconds).collect())
    }

    fn output(&mut self, _: &Watch<'_>) -> Result<Option<Output>, KernelError> {
        self.execute().map_err(|error| self.failed(&error))?;
        self.last_output().map(Some)
    }

    fn last_output(&mut self) -> Result<Output, KernelError> {
        let read = self.read().map_err(|error| self.failed(&error))?;
        let failed = |reason| KernelError { kernel: self.kernel.to_owned(), reason };
        read.map(Output::Vector).map_err(failed)
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

    fn params(&self) -> BTreeMap<String, String> {
        self.params.clone()
    }
}

impl Drop for PreparedProducts {
    fn drop(&mut self) {
        let number = self.number;
        // What cannot be let go of in order goes with the team.
        let _ = self.team.each(move |rank| rank.forget(number));
    }
}
