//! Shared by all tasks of the backend: the thread pools and the cache flusher.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use crate::measure::{CacheFlusher, CacheSizes, ThreadsError, binds_threads, pool};
use sparsescope_kernels::spmv::gather;
use sparsescope_matrix::memory::MemoryLimit;

/// Both are created on first use.
pub(super) struct Machine {
    caches: CacheSizes,
    pools: Mutex<BTreeMap<usize, Arc<rayon::ThreadPool>>>,
    /// Single-thread callers, by the number of threads that a library starts for each.
    callers: Mutex<BTreeMap<usize, Arc<rayon::ThreadPool>>>,
    flusher: Mutex<Option<Arc<CacheFlusher>>>,
}

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

    /// A single thread that calls a library, which starts `threads` threads of its own for it. The same
    /// thread is returned for the same count, so that the library's threads are the same, too.
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
    match u32::try_from(rayon::current_num_threads()).is_ok_and(binds_threads) {
        true => gather(work),
        false => work(),
    }
}

/// The pool under `key`, of `threads` threads, created on first use.
fn kept(
    pools: &Mutex<BTreeMap<usize, Arc<rayon::ThreadPool>>>,
    key: usize,
    threads: usize,
) -> Result<Arc<rayon::ThreadPool>, ThreadsError> {
    let mut pools = pools.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(pool) = pools.get(&key) {
        return Ok(Arc::clone(pool));
    }
    let made = Arc::new(pool(u32::try_from(threads).unwrap_or(u32::MAX))?);
    pools.insert(key, Arc::clone(&made));
    Ok(made)
}
