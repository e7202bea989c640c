//! The backend of the multi-GPU kernels.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use sparsescope_core::experiment::solving::Asked;
use sparsescope_core::experiment::{
    Availability, Backend, Configuration, PrepareError, Prepared, Problem, SolveProblem,
    SpmvProblem,
};
use sparsescope_core::kernel::parameters::RANKS;
use sparsescope_core::kernel::{Applied, DeviceKind, KernelDescriptor, kernel, kernels};
use sparsescope_core::memory::MemoryLimit;
use sparsescope_core::record::{Gpu, GpuAbsence, Operation};

use super::bandwidth::{PairBandwidth, pairs};
use super::prepared_product::TeamProduct;
use super::prepared_solver::{elements, prepared};
use super::shared_out::Source;
use super::team::Team;
use crate::device::{Device, DeviceError};
use crate::memory::{DeviceBandwidth, bandwidth};
use crate::nccl::Nccl;
use crate::probe::probe;
use crate::refusal::refused;

/// The single-GPU kernel that multiplies each GPU's rows, for each SpMV; conjugate gradients have
/// their own SpMV.
pub(super) const LOCAL: &[(&str, Option<&str>)] = &[
    ("nccl/csr/halo-overlap", Some("cuda/csr/adaptive")),
    ("nccl/hll/halo-overlap", Some("cuda/hll/column-major")),
    ("nccl/pcg/halo-overlap", None),
];

/// Measurements of a team.
struct Measured {
    pairs: Vec<PairBandwidth>,
    memory: Vec<DeviceBandwidth>,
}

/// The multi-GPU kernels on this machine.
pub struct NcclBackend {
    nccl: Arc<Nccl>,
    model: String,
    devices: usize,
    /// By the number of GPUs, from the first one on.
    teams: Mutex<BTreeMap<usize, Arc<Team>>>,
    measured: OnceLock<Result<Measured, DeviceError>>,
}

impl NcclBackend {
    /// Finds the GPUs and NCCL, or returns what is missing.
    pub fn open() -> Result<Self, GpuAbsence> {
        let devices = probe()?.devices;
        let first = Device::open(0)?;
        let nccl = Nccl::find().map_err(GpuAbsence::NcclMissing)?;
        let model = format!("{} through NCCL", first.properties().name);
        let (teams, measured) = Default::default();
        Ok(Self { nccl, model, devices, teams, measured })
    }

    /// Number of GPUs.
    pub fn devices(&self) -> usize {
        self.devices
    }

    /// Version of NCCL, `2.27.3`.
    pub fn version(&self) -> &str {
        self.nccl.version()
    }

    /// The first `ranks` GPUs, connected on first use.
    pub(super) fn team(&self, ranks: usize) -> Result<Arc<Team>, PrepareError> {
        if ranks == 0 || ranks > self.devices {
            return Err(PrepareError::Refused(format!(
                "needs {ranks} GPUs, found {}",
                self.devices
            )));
        }
        let mut teams = self.teams.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(team) = teams.get(&ranks).filter(|team| !team.is_broken()) {
            return Ok(Arc::clone(team));
        }
        let team = Arc::new(Team::start(&self.nccl, ranks).map_err(refused)?);
        teams.insert(ranks, Arc::clone(&team));
        Ok(team)
    }

    /// Memory of all GPUs, and bandwidth of all pairs.
    fn measured(&self) -> &Result<Measured, DeviceError> {
        self.measured.get_or_init(|| {
            let team = self.team(self.devices);
            let team = team.map_err(|error| DeviceError::Arrays(error.to_string()))?;
            let memory = team.each(|rank| bandwidth(rank.device()))?;
            Ok(Measured { pairs: pairs(&team, &|own| own)?, memory })
        })
    }
}

/// Number of GPUs that a configuration runs on.
fn ranks_of(configuration: &Configuration) -> usize {
    configuration.parameters.get(&RANKS)
}

impl Backend for NcclBackend {
    fn model(&self) -> &str {
        &self.model
    }

    fn availability(&self, kernel: &KernelDescriptor) -> Availability {
        match LOCAL.iter().any(|(id, _)| *id == kernel.id) {
            true => Availability::Available,
            false if kernel.device == DeviceKind::Nccl => {
                Availability::Missing("not included in this build".to_owned())
            }
            false => Availability::Missing("runs on one device only".to_owned()),
        }
    }

    fn describe(&self) -> Option<Gpu> {
        let mut details = BTreeMap::new();
        let mut tell = |name: String, value: String| details.insert(name, value);
        tell("nccl".to_owned(), self.version().to_owned());
        tell("gpus".to_owned(), self.devices.to_string());
        let mut copy = None;
        match self.measured() {
            Ok(measured) => {
                for (gpu, one) in measured.memory.iter().enumerate() {
                    tell(format!("gpu_{gpu}_copy_bytes_per_second"), format!("{:.0}", one.copy));
                    tell(format!("gpu_{gpu}_triad_bytes_per_second"), format!("{:.0}", one.triad));
                }
                measured.pairs.iter().flat_map(PairBandwidth::told).for_each(|(name, value)| {
                    tell(name, value);
                });
                copy = measured.memory.iter().map(|one| one.copy).reduce(f64::min);
            }
            Err(error) => {
                tell("bandwidth".to_owned(), format!("not measured: {error}"));
            }
        }
        Some(Gpu { model: self.model.clone(), details, copy })
    }

    fn prepare<'p>(
        &'p self,
        configuration: &Configuration,
        problem: &'p dyn Problem,
        memory: MemoryLimit,
    ) -> Result<Box<dyn Prepared + 'p>, PrepareError> {
        problem.admit(configuration)?;
        let id = configuration.kernel.id;
        let absent = || PrepareError::Unsupported("not included in this build".to_owned());
        let &(_, local) = LOCAL.iter().find(|(known, _)| *known == id).ok_or_else(absent)?;
        let team = self.team(ranks_of(configuration))?;
        match (local.and_then(kernel), problem.of::<SpmvProblem>(), problem.of::<SolveProblem>()) {
            (Some(local), Some(problem), _) => {
                let source: Source = Arc::clone(problem.a()) as Source;
                let x = elements(Arc::clone(problem.double().x()));
                let bound = TeamProduct::kernel(team, (id, local), &source, x, memory)?;
                Ok(Box::new(bound.prepared()))
            }
            (None, _, Some(problem)) => {
                let asked = Asked::new(problem, configuration.parameters.clone());
                if !matches!(asked.applied(), Applied::None | Applied::Jacobi) {
                    let sentence = "on several GPUs, only precond=none and precond=jacobi are \
                        supported";
                    return Err(PrepareError::Unsupported(sentence.to_owned()));
                }
                let params = problem.params(configuration);
                Ok(Box::new(prepared(team, id, asked, params, memory)))
            }
            _ => Err(PrepareError::Unsupported("does not support this operation".to_owned())),
        }
    }
}

/// The kernels of this backend, in the order of their descriptors.
pub fn nccl_kernels() -> impl Iterator<Item = &'static KernelDescriptor> {
    let all = [Operation::Spmv, Operation::Solve].into_iter().flat_map(kernels);
    all.filter(|kernel| kernel.device == DeviceKind::Nccl)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spmv::launcher;

    #[test]
    fn descriptors_and_launchers_match_one_to_one() {
        let described: Vec<&str> = nccl_kernels().map(|kernel| kernel.id).collect();
        let launched: Vec<&str> = LOCAL.iter().map(|&(id, _)| id).collect();
        assert_eq!(described, launched);
        for local in LOCAL.iter().filter_map(|(_, local)| *local) {
            assert!(launcher::<f64>(local).is_some() && kernel(local).is_some(), "{local}");
        }
    }
}
