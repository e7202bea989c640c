//! A matrix shared out among the GPUs of a team: which rows are whose, what each holds, and what they send.

use std::ops::Range;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, PoisonError};

use sparsescope_core::distributed::{
    BlockCounts, DistributedError, ExchangePlan, LocalMatrix, Partition, Rows,
};
use sparsescope_core::memory::MemoryLimit;

use super::team::Team;
use crate::device::DeviceError;

/// A matrix that gives any of its rows.
pub(crate) type Source = Arc<dyn Rows + Send + Sync>;

/// Elements of a vector, by their places in it.
pub(crate) type Elements = Arc<dyn Fn(Range<u64>) -> Vec<f64> + Send + Sync>;

/// What each rank holds of a matrix, until it is taken.
pub(crate) struct SharedOut {
    /// Bytes that all ranks send before a product.
    pub(crate) bytes_sent: u64,
    /// Messages of all ranks before a product.
    pub(crate) messages: u64,
    /// Of the longest share over the mean one, in entries; 1 where there are none.
    pub(crate) imbalance: f64,
    locals: Mutex<Vec<Option<(LocalMatrix, ExchangePlan)>>>,
}

impl SharedOut {
    /// Among the ranks of a team, contiguous rows of about equal entries; the threads make their own rows,
    /// side by side.
    pub(crate) fn among(
        team: &Team,
        source: &Source,
        memory: MemoryLimit,
    ) -> Result<Self, DistributedError> {
        let ranks = team.ranks();
        let never = AtomicBool::new(false);
        let blocks = source.rows().div_ceil(BlockCounts::block_of(source.rows(), ranks));
        let sums = BlockCounts::count(&**source, ranks, 0..blocks, &never)?;
        let block = BlockCounts::block_of(source.rows(), ranks);
        let rows = Partition::equal_entries(&BlockCounts::new(source.rows(), block, sums), ranks);
        let cols = match source.rows() == source.cols() {
            true => rows.clone(),
            false => Partition::equal_rows(source.cols(), ranks),
        };
        // What one rank may take is its share.
        let memory = MemoryLimit::bytes(memory.get() / ranks as u64);
        let locals: Result<Vec<LocalMatrix>, DistributedError> = std::thread::scope(|scope| {
            let make = |rank| {
                let (rows, cols, never) = (&rows, &cols, &never);
                scope.spawn(move || LocalMatrix::new(&**source, rank, rows, cols, memory, never))
            };
            let threads: Vec<_> = (0..ranks).map(make).collect();
            let joined = threads.into_iter().map(|thread| {
                thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
            });
            joined.collect()
        });
        let locals = locals?;
        let plans = ExchangePlan::of_all(&locals)?;
        let bytes_sent = plans.iter().map(|plan| 8 * plan.sent() as u64).sum();
        let messages = plans.iter().map(|plan| plan.sends().len() as u64).sum();
        let entries = locals.iter().map(LocalMatrix::entries);
        let (most, all) = (entries.clone().max().unwrap_or(0), entries.sum::<u64>());
        let imbalance = if all == 0 { 1.0 } else { (most * ranks as u64) as f64 / all as f64 };
        let locals = locals.into_iter().zip(plans).map(Some).collect();
        Ok(Self { bytes_sent, messages, imbalance, locals: Mutex::new(locals) })
    }

    /// What a rank holds and sends, once: the host keeps none of it.
    pub(crate) fn take(&self, rank: usize) -> Result<(LocalMatrix, ExchangePlan), DeviceError> {
        let mut locals = self.locals.lock().unwrap_or_else(PoisonError::into_inner);
        let taken = locals.get_mut(rank).and_then(Option::take);
        taken.ok_or_else(|| DeviceError::Arrays("the rows of a GPU are taken already".to_owned()))
    }
}
