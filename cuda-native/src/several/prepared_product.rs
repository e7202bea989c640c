//! y = A·x on several GPUs, ready to run.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Instant;

use sparsescope_core::distributed::DistributedError;
use sparsescope_core::experiment::{Elements, Output, PrepareError, Temperature};
use sparsescope_core::gate::RowErrors;
use sparsescope_core::kernel::KernelDescriptor;
use sparsescope_core::kernel::parameters::RANKS;
use sparsescope_core::memory::MemoryLimit;
use sparsescope_core::record::{Check, Costs, Distributed, Verdict};

use super::by_index::errors_of_product;
use super::held::Held;
use super::product::{LocalProduct, Took};
use super::shared_out::{SharedOut, Source};
use super::team::Team;
use crate::clock::to_picoseconds;
use crate::device::DeviceError;
use crate::prepared::{Executes, Kernel};
use crate::refusal::refused;
use crate::sampling::{Execution, Samples};

/// The number of GPUs, as a run's parameter.
pub(super) fn told_of(ranks: usize) -> BTreeMap<String, String> {
    BTreeMap::from([(RANKS.id().name().to_owned(), ranks.to_string())])
}

/// Why a matrix cannot be distributed, as the caller's error.
pub(super) fn not_shared(error: &DistributedError) -> PrepareError {
    PrepareError::Refused(error.to_string())
}

/// An SpMV on a team, timed by a clock on each GPU: a sample is the time of the slowest.
pub(super) struct TeamProduct {
    held: Held<LocalProduct>,
    record: Distributed,
    /// Seconds of the samples so far.
    samples: Vec<f64>,
}

impl Execution for TeamProduct {
    type Error = DeviceError;

    fn is_in_place(&self) -> bool {
        false
    }

    fn reset(&mut self) -> Result<(), DeviceError> {
        Ok(())
    }

    fn spoil(&mut self) -> Result<(), DeviceError> {
        self.held.each(|rank, product| product.spoil(rank)).map(|_| ())
    }

    fn flush(&mut self) -> Result<(), DeviceError> {
        self.held.each(|rank, _| rank.flush()).map(|_| ())
    }

    fn time(&mut self, executions: u32) -> Result<f64, DeviceError> {
        let seconds = self.held.jointly(move |rank, product| {
            rank.time(|| (0..executions).try_for_each(|_| product.enqueue(rank)))
        });
        Ok(seconds?.into_iter().fold(0.0, f64::max))
    }
}

impl TeamProduct {
    /// For a matrix and a vector in parts, multiplied on each GPU by `local`, a single-GPU kernel.
    pub(super) fn kernel(
        team: Arc<Team>,
        (id, local): (&'static str, &'static KernelDescriptor),
        source: &Source,
        x: Elements,
        memory: MemoryLimit,
    ) -> Result<Kernel<'static, Self>, PrepareError> {
        let begun = Instant::now();
        let shared = SharedOut::among(&team, source, memory).map_err(|error| not_shared(&error))?;
        let plan_s = begun.elapsed().as_secs_f64();
        let params = told_of(team.ranks());
        let record = shared.record.clone();
        let shared = Arc::new(shared);
        let number = team.number();
        let made = team.each(move |rank| {
            let rows = shared.take(rank.number())?;
            let (product, took) = LocalProduct::of(rank, rows, local, &x, memory)?;
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
        let execution = Self { held: Held::of(team, number), record, samples: Vec::new() };
        Ok(Kernel::new(id, execution, None, costs, params))
    }

    /// Checks each rank's part of y with regenerated rows, and x computed from its indices: errors
    /// in the halo exchange are found, and no process holds the whole of anything.
    pub(super) fn check_by_rows(
        &mut self,
        source: &Source,
        seed: u64,
    ) -> Result<Check, DeviceError> {
        let source = Arc::clone(source);
        let checked = self.held.each(move |rank, product| {
            let (y, _) = product.read(rank)?;
            Ok(y.map(|y| errors_of_product(&*source, seed, product.first_row(), &y)))
        })?;
        let joined = checked
            .into_iter()
            .try_fold(RowErrors::default(), |all, one| one.map(|one| all.join(one)));
        Ok(match joined {
            Ok(errors) => errors.check(),
            Err(why) => Check { verdict: Verdict::Fail, reason: Some(why), ..Check::default() },
        })
    }
}

impl Executes for TeamProduct {
    /// All parts of y, concatenated, or what is wrong with one.
    fn read(&mut self) -> Result<(Result<Output, String>, f64), DeviceError> {
        let parts = self.held.each(|rank, product| product.read(rank))?;
        let seconds = parts.iter().map(|&(_, seconds)| seconds).fold(0.0, f64::max);
        let parts: Result<Vec<Vec<f64>>, String> = parts.into_iter().map(|(y, _)| y).collect();
        Ok((parts.map(|parts| Output::Vector(parts.concat())), seconds))
    }

    fn follow(
        &mut self,
        samples: &Samples,
        _: Temperature,
        _: &mut Costs,
    ) -> Result<(), DeviceError> {
        self.samples.extend(&samples.seconds);
        Ok(())
    }

    /// Times each rank's parts of the work separately; the rest of an SpMV is waiting.
    fn distributed(&mut self) -> Option<Distributed> {
        let apart = self.held.jointly(|rank, product| product.apart(rank));
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
}
