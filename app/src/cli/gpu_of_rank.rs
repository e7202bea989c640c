//! The GPUs of ranks that a launcher started, one each, connected for the kernels that they share.

use sparsescope_core::experiment::RankDevice;
use sparsescope_core::record::Gpu;
use sparsescope_mpi::World;

use super::outcome::AgreedError;

/// The GPU of this rank, connected with those of all others.
pub(super) struct RankGpu {
    device: Box<dyn RankDevice>,
    told: Gpu,
}

impl RankGpu {
    /// The device that kernels run on.
    pub(super) fn device(&self) -> &dyn RankDevice {
        &*self.device
    }

    /// What the machine record says about all of them.
    pub(super) fn told(&self) -> Gpu {
        self.told.clone()
    }
}

/// Picks a GPU for each rank, connects them through NCCL, whose ids are exchanged by MPI, and measures them.
#[cfg(feature = "cuda")]
pub(super) fn open(world: &World) -> anyhow::Result<RankGpu> {
    use sparsescope_cuda::FoundGpu;
    use sparsescope_mpi::agreed;

    let found = agreed(world, FoundGpu::find(world.place_here(), world.ranks_here()));
    let found = found.map_err(AgreedError)?;
    let own: Vec<u64> = found.uuid().map(u64::from).into();
    let all = world.all_lists(&own);
    let earlier = |(rank, uuid): (usize, &Vec<u64>)| {
        let first = all.iter().take(rank).position(|other| other == uuid)?;
        Some((first, rank))
    };
    if let Some((first, rank)) = all.iter().enumerate().find_map(earlier) {
        let sentence = format!(
            "ranks {first} and {rank} use the same GPU; start each rank with a GPU of its own"
        );
        return Err(AgreedError(sentence).into());
    }
    let names = if world.is_first() { found.names() } else { Ok(Vec::new()) };
    let names = agreed(world, names).map_err(AgreedError)?;
    let names = world.numbers_from_first(names.into_iter().map(u32::from).collect());
    let names: Vec<u8> = names.into_iter().map(|byte| byte as u8).collect();
    // From here on other ranks may be waiting for this one: an error ends them all.
    let device = found.join(world.rank(), world.ranks(), &names).map_err(anyhow::Error::msg)?;
    let told = device.describe(&|own| world.max(own)).map_err(anyhow::Error::msg)?;
    Ok(RankGpu { device: Box::new(device), told })
}

/// This build has none.
#[cfg(not(feature = "cuda"))]
pub(super) fn open(_: &World) -> anyhow::Result<RankGpu> {
    use sparsescope_core::record::GpuAbsence;
    Err(AgreedError(GpuAbsence::NotCompiled.to_string()).into())
}
