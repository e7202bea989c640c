//! Shared by all tasks of the backend: the thread pools and the cache flusher.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Instant;

use crate::measure::{CacheFlusher, CacheSizes, ThreadsError, binds_threads, pool};
use sparsescope_kernels::spmv::gather;
use sparsescope_matrix::memory::MemoryLimit;

/// Both are created on first use; a pool ends with the last task that holds it.
pub(super) struct Machine {
    caches: CacheSizes,
    pools: Mutex<Pools>,
    /// Single-thread callers, by the number of threads that a library starts for each.
    callers: Mutex<Pools>,
    flusher: Mutex<Option<Arc<CacheFlusher>>>,
}

/// Pools in use, by number of threads.
type Pools = BTreeMap<usize, Weak<rayon::ThreadPool>>;

impl Machine {
    pub(super) fn new(caches: CacheSizes) -> Self {
        Self {
            caches,
            pools: Mutex::default(),
            callers: Mutex::default(),
            flusher: Mutex::default(),
        }
    }

    pub(super) fn caches(&self) -> CacheSizes {
        self.caches
    }

    pub(super) fn pool(&self, threads: usize) -> Result<Arc<rayon::ThreadPool>, ThreadsError> {
        kept(&self.pools, threads, threads)
    }

    /// A single thread that calls a library, which starts `threads` threads of its own for it. While it is in
    /// use, the same thread is returned for the same count, so that the library's threads are the same, too.
    pub(super) fn caller(&self, threads: usize) -> Result<Arc<rayon::ThreadPool>, ThreadsError> {
        kept(&self.callers, threads, 1)
    }

    pub(super) fn flusher(&self) -> Result<Arc<CacheFlusher>, String> {
        let mut flusher = self.flusher.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(made) = flusher.as_ref() {
            return Ok(Arc::clone(made));
        }
        let made = CacheFlusher::new(self.caches, MemoryLimit::of_machine());
        let made = Arc::new(made.map_err(|error| error.to_string())?);
        *flusher = Some(Arc::clone(&made));
        Ok(made)
    }
}

/// Calls `work` with the workers of the ambient pool kept awake, if there is a core for each of its threads.
pub(super) fn awake<R: Send>(work: impl FnOnce() -> R + Send) -> R {
    match has_cores_for(rayon::current_num_threads()) {
        true => gather(work),
        false => work(),
    }
}

fn has_cores_for(threads: usize) -> bool {
    u32::try_from(threads).is_ok_and(binds_threads)
}

/// Calls that are timed to find how long waking takes; an odd number.
const WAKES: usize = 21;

/// Seconds that a call into a pool from outside takes longer than one that finds its workers [`awake`]: those of
/// waking all of them and waiting for them, the median of several calls. 0 if they would not be kept awake.
pub(super) fn wake_s(pool: &rayon::ThreadPool) -> f64 {
    if !has_cores_for(pool.current_num_threads()) {
        return 0.0;
    }
    let call = || {
        let start = Instant::now();
        pool.install(|| rayon::broadcast(|_| ()));
        start.elapsed().as_secs_f64()
    };
    let mut calls: Vec<f64> = std::iter::repeat_with(call).take(WAKES).collect();
    calls.sort_unstable_by(f64::total_cmp);
    calls.get(WAKES / 2).copied().unwrap_or_default()
}

/// The pool under `key`, of `threads` threads, created unless it is in use.
fn kept(
    pools: &Mutex<Pools>,
    key: usize,
    threads: usize,
) -> Result<Arc<rayon::ThreadPool>, ThreadsError> {
    let mut pools = pools.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(pool) = pools.get(&key).and_then(Weak::upgrade) {
        return Ok(pool);
    }
    let made = Arc::new(pool(u32::try_from(threads).unwrap_or(u32::MAX))?);
    pools.insert(key, Arc::downgrade(&made));
    Ok(made)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::cpu;

    #[test]
    fn a_pool_is_shared_while_it_is_in_use_and_then_ends() {
        let machine = Machine::new(CacheSizes::of(&cpu()));
        let first = machine.pool(2).unwrap();
        assert!(Arc::ptr_eq(&first, &machine.pool(2).unwrap()));
        assert!(!Arc::ptr_eq(&first, &machine.caller(2).unwrap()));
        let (gone, held) = (Arc::downgrade(&first), machine.pool(3).unwrap());
        drop(first);
        assert!(gone.upgrade().is_none(), "its threads end");
        assert_eq!(machine.pool(2).unwrap().current_num_threads(), 2);
        assert!(Arc::ptr_eq(&held, &machine.pool(3).unwrap()));
    }

    #[test]
    fn waking_takes_time() {
        let machine = Machine::new(CacheSizes::of(&cpu()));
        let seconds = wake_s(&machine.pool(2).unwrap());
        assert_eq!(seconds > 0.0, binds_threads(2), "{seconds}");
        assert!(seconds < 1.0, "{seconds}");
        let many = (1..).find(|&threads: &u32| !binds_threads(threads)).unwrap();
        assert_eq!(wake_s(&machine.pool(many as usize).unwrap()), 0.0);
    }
}
