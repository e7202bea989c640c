//! What all tasks of the backend share: the pools of threads, and the flusher of the caches.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use crate::measure::{CacheFlusher, CacheSizes, ThreadsError, pool};
use crate::memory::MemoryLimit;

/// Both are made when first asked for.
pub(super) struct Machine {
    caches: CacheSizes,
    pools: Mutex<BTreeMap<usize, Arc<rayon::ThreadPool>>>,
    flusher: Mutex<Option<Arc<CacheFlusher>>>,
}

impl Machine {
    pub(super) fn new(caches: CacheSizes) -> Self {
        Self { caches, pools: Mutex::default(), flusher: Mutex::default() }
    }

    pub(super) fn caches(&self) -> CacheSizes {
        self.caches
    }

    pub(super) fn pool(&self, threads: usize) -> Result<Arc<rayon::ThreadPool>, ThreadsError> {
        let mut pools = self.pools.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(pool) = pools.get(&threads) {
            return Ok(Arc::clone(pool));
        }
        let made = Arc::new(pool(u32::try_from(threads).unwrap_or(u32::MAX))?);
        pools.insert(threads, Arc::clone(&made));
        Ok(made)
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
