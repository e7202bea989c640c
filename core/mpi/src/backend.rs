//! The backends of several ranks: their CPUs, or a GPU of each.

use std::sync::{Arc, Mutex, PoisonError};

use super::agreed::agreed;
use super::launch::rank_pool;
use super::prepared::RankPrepared;
use super::problem::{SharedProduct, SharedSolve};
use super::set_up::Place;
use sparsescope_bench::experiment::{
    Availability, Backend, Configuration, PrepareError, Prepared, Problem, RankDevice, Temperature,
};
use sparsescope_bench::measure::{CacheFlusher, CacheSizes, cpu};
use sparsescope_matrix::memory::MemoryLimit;
use sparsescope_model::kernel::{DeviceKind, KernelDescriptor, kernels_of_ranks};

/// Runs the kernels of several ranks on problems that they share.
pub struct RankBackend<'d> {
    model: String,
    ranks: u32,
    caches: CacheSizes,
    device: Option<&'d dyn RankDevice>,
    /// For up to this many threads.
    flusher: Mutex<Option<(u32, Arc<CacheFlusher>)>>,
}

impl RankBackend<'static> {
    /// The CPUs of this many ranks.
    pub fn on_cpus(ranks: usize) -> Self {
        let cpu = cpu();
        let (caches, flusher) = (CacheSizes::of(&cpu), Mutex::default());
        Self { model: cpu.model, ranks: ranks as u32, caches, device: None, flusher }
    }
}

impl<'d> RankBackend<'d> {
    /// A GPU of each rank, this one with `device`. Runs count GPUs, not threads.
    pub fn on_devices(device: &'d dyn RankDevice) -> Self {
        let (model, caches) = (device.model().to_owned(), CacheSizes::of(&cpu()));
        Self { model, ranks: 1, caches, device: Some(device), flusher: Mutex::default() }
    }

    /// The flusher for the threads of a rank, each of which has its own on the same machine.
    fn flusher(&self, threads: u32, memory: MemoryLimit) -> Result<Arc<CacheFlusher>, String> {
        let mut flusher = self.flusher.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((most, made)) = flusher.as_ref()
            && *most >= threads
        {
            return Ok(Arc::clone(made));
        }
        let caches = CacheSizes { logical: self.caches.logical.min(threads), ..self.caches };
        let made = CacheFlusher::new(caches, memory);
        let made = Arc::new(made.map_err(|error| error.to_string())?);
        *flusher = Some((threads, Arc::clone(&made)));
        Ok(made)
    }
}

impl Backend for RankBackend<'_> {
    fn model(&self) -> &str {
        &self.model
    }

    fn ranks(&self) -> u32 {
        self.ranks
    }

    fn availability(&self, kernel: &KernelDescriptor) -> Availability {
        let on_device = kernel.device == DeviceKind::Nccl;
        let is_known = kernels_of_ranks(kernel.operation).any(|known| known.id == kernel.id);
        match is_known && on_device == self.device.is_some() {
            true => Availability::Available,
            false => Availability::Missing("does not run on several ranks".to_owned()),
        }
    }

    fn prepare<'p>(
        &'p self,
        configuration: &Configuration,
        problem: &'p dyn Problem,
        memory: MemoryLimit,
    ) -> Result<Box<dyn Prepared + 'p>, PrepareError> {
        let unsupported = |reason: &str| PrepareError::Unsupported(reason.to_owned());
        problem.admit(configuration)?;
        if let Availability::Missing(reason) = self.availability(configuration.kernel) {
            return Err(PrepareError::Unsupported(reason));
        }
        if self.device.is_some() && configuration.temperature == Temperature::Cold {
            return Err(unsupported("on the GPUs of several ranks, only hot caches are supported"));
        }
        let shared = match (problem.of::<SharedProduct>(), problem.of::<SharedSolve>()) {
            (Some(SharedProduct(shared)), _) | (_, Some(SharedSolve(shared))) => shared,
            (None, None) => return Err(unsupported("runs on matrices of several ranks only")),
        };
        let world = &*shared.world;
        let pool = agreed(world, rank_pool(world, configuration.threads));
        let pool = pool.map_err(PrepareError::Unsupported)?;
        let place = Place {
            world,
            matrix: &shared.matrix,
            device: self.device,
            near_bytes: self.caches.private_bytes,
            memory,
        };
        let threads = configuration.threads;
        let flusher = Box::new(move || self.flusher(threads, memory));
        Ok(Box::new(RankPrepared::new(place, configuration.clone(), pool, flusher)))
    }
}
