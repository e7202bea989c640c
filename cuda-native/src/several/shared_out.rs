//! A matrix distributed over the GPUs of a team: the owner of each row, what each GPU holds, and
//! what they send.

use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use sparsescope_core::distributed::{
    BlockCounts, DistributedError, ExchangePlan, LocalMatrix, Partition, Rows,
};
use sparsescope_core::memory::MemoryLimit;
use sparsescope_core::record::{Distributed, PairTraffic, RankShare};

use super::team::Team;
use crate::device::DeviceError;

/// A matrix that can return any of its rows.
pub(crate) type Source = Arc<dyn Rows + Send + Sync>;

/// What each rank holds of a matrix, until it is taken.
pub(crate) struct SharedOut {
    /// What each rank has, and who sends what to whom; nothing is measured yet.
    pub(crate) record: Distributed,
    locals: Mutex<Vec<Option<(LocalMatrix, ExchangePlan)>>>,
}

impl SharedOut {
    /// Distributes contiguous rows with about equal numbers of nonzeros over the ranks of a team;
    /// the threads generate their own rows, in parallel.
    pub(crate) fn among(
        team: &Team,
        source: &Source,
        memory: MemoryLimit,
    ) -> Result<Self, DistributedError> {
        let begun = Instant::now();
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
        // Each rank may use an equal share.
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
        let record = Distributed {
            transport: "nccl".to_owned(),
            partition: "entries".to_owned(),
            threads: 1,
            ranks: locals.iter().map(share_of).collect(),
            pairs: plans.iter().enumerate().flat_map(|(from, plan)| pairs_of(from, plan)).collect(),
            plan_s: begun.elapsed().as_secs_f64(),
            ..Distributed::default()
        };
        let locals = locals.into_iter().zip(plans).map(Some).collect();
        Ok(Self { record, locals: Mutex::new(locals) })
    }

    /// Takes what a rank holds and sends, once: the host keeps none of it.
    pub(crate) fn take(&self, rank: usize) -> Result<(LocalMatrix, ExchangePlan), DeviceError> {
        let mut locals = self.locals.lock().unwrap_or_else(PoisonError::into_inner);
        let taken = locals.get_mut(rank).and_then(Option::take);
        taken.ok_or_else(|| DeviceError::Arrays("the rows of a GPU were already taken".to_owned()))
    }
}

/// A rank's share of a matrix.
fn share_of(local: &LocalMatrix) -> RankShare {
    let rows = local.rows();
    RankShare {
        host: Some(0),
        first_row: rows.start,
        rows: rows.end - rows.start,
        interior_rows: local.interior().rows() as u64,
        entries: local.entries(),
        halo: local.halo().len() as u64,
        ..RankShare::default()
    }
}

/// The messages that a rank sends.
fn pairs_of(from: usize, plan: &ExchangePlan) -> impl Iterator<Item = PairTraffic> {
    let pair = move |(to, bytes): (usize, u64)| PairTraffic {
        from: from as u32,
        to: to as u32,
        bytes,
        messages: 1,
    };
    plan.bytes_sent(size_of::<f64>()).map(pair)
}
