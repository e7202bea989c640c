//! The GPU of a process that is one of several ranks, connected to those of the others.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use sparsescope_core::experiment::{
    DeviceCosts, DeviceFailure, DeviceProduct, DeviceSolver, DeviceSystem, Elements, RankDevice,
    RankRows,
};
use sparsescope_core::kernel::kernel;
use sparsescope_core::memory::MemoryLimit;
use sparsescope_core::pcg::{Recurrence, SolveParameters};
use sparsescope_core::record::{Gpu, GpuAbsence};

use super::backend::LOCAL;
use super::bandwidth::{PairBandwidth, pairs};
use super::held::Held;
use super::pace::Pace;
use super::product::{LocalProduct, Took};
use super::rank::Rank;
use super::solver::LocalSolver;
use super::team::Team;
use crate::clock::to_picoseconds;
use crate::device::{Device, DeviceError};
use crate::memory::bandwidth;
use crate::nccl::{Nccl, UniqueId};
use crate::probe::probe;

/// Maximum number of ranks whose pairs are measured one by one.
const MOST_MEASURED: usize = 16;

/// NCCL and a GPU for a rank, not yet connected to the others.
pub struct FoundGpu {
    nccl: Arc<Nccl>,
    ordinal: usize,
    model: String,
    uuid: [u8; 16],
}

impl FoundGpu {
    /// For the rank with index `place` of `ranks_here` on its machine: the GPU with that index, or
    /// the only one visible to the rank.
    pub fn find(place: usize, ranks_here: usize) -> Result<Self, String> {
        let devices = probe().map_err(|absence: GpuAbsence| absence.to_string())?.devices;
        let ordinal = ordinal_of(place, ranks_here, devices)?;
        let nccl = Nccl::find().map_err(|why| GpuAbsence::NcclMissing(why).to_string())?;
        let device = Device::open(ordinal).map_err(|absence| absence.to_string())?;
        let uuid = device.context().uuid().map_err(|error| error.to_string())?;
        let uuid = uuid.bytes.map(|byte| byte as u8);
        let model = format!("{} through NCCL", device.properties().name);
        Ok(Self { nccl, ordinal, model, uuid })
    }

    /// The GPU's unique identifier.
    pub fn uuid(&self) -> [u8; 16] {
        self.uuid
    }

    /// New communicator IDs for all ranks, created by one of them.
    pub fn names(&self) -> Result<Vec<u8>, String> {
        let names = [self.nccl.unique_id(), self.nccl.unique_id()];
        let mut bytes = Vec::new();
        for name in names {
            bytes.extend(name.map_err(|error| error.to_string())?.bytes());
        }
        Ok(bytes)
    }

    /// Connects to the GPUs of all ranks, which received the same IDs. Waits for them.
    pub fn join(self, rank: usize, ranks: usize, names: &[u8]) -> Result<GpuOfRank, String> {
        let (halo, sums) = names.split_at_checked(UniqueId::BYTES).unwrap_or_default();
        let (Some(halo), Some(sums)) = (UniqueId::of(halo), UniqueId::of(sums)) else {
            return Err("the NCCL communicator ids have the wrong length".to_owned());
        };
        let team = Team::join(&self.nccl, (rank, ranks), self.ordinal, [halo, sums]);
        let team = Arc::new(team.map_err(|error| error.to_string())?);
        let version = self.nccl.version().to_owned();
        Ok(GpuOfRank { team, version, model: self.model })
    }
}

/// The index of the GPU that a rank takes.
fn ordinal_of(place: usize, ranks_here: usize, devices: usize) -> Result<usize, String> {
    match devices {
        // Launchers may show each rank only its own GPU.
        1 => Ok(0),
        _ if place < devices => Ok(place),
        _ => Err(format!(
            "its machine has {ranks_here} ranks, but only {devices} GPUs: each rank needs one"
        )),
    }
}

/// The GPU of this rank, connected to those of all others.
pub struct GpuOfRank {
    team: Arc<Team>,
    version: String,
    model: String,
}

impl GpuOfRank {
    /// Measures memory and pairs, together with all ranks, and describes them, with the memory
    /// bandwidth of the slowest GPU. `most` returns the maximum of a number over all ranks.
    pub fn describe(&self, most: &dyn Fn(f64) -> f64) -> Result<Gpu, String> {
        let ranks = self.team.ranks();
        let mut details = BTreeMap::from([
            ("nccl".to_owned(), self.version.clone()),
            ("gpus".to_owned(), ranks.to_string()),
        ]);
        let measured = self.team.each(|rank| bandwidth(rank.device()));
        let measured = measured.map_err(|error| error.to_string())?;
        let own = measured.first().map_or((0.0, 0.0), |one| (one.copy, one.triad));
        let (copy, triad) = (-most(-own.0), -most(-own.1));
        details.insert("slowest_copy_bytes_per_second".to_owned(), format!("{copy:.0}"));
        details.insert("slowest_triad_bytes_per_second".to_owned(), format!("{triad:.0}"));
        if ranks <= MOST_MEASURED {
            let pairs = pairs(&self.team, most).map_err(|error| error.to_string())?;
            details.extend(pairs.iter().flat_map(PairBandwidth::told));
        }
        Ok(Gpu { model: self.model.clone(), details, copy: Some(copy) })
    }
}

impl RankDevice for GpuOfRank {
    fn model(&self) -> &str {
        &self.model
    }

    fn product(
        &self,
        id: &'static str,
        rows: RankRows,
        x: Elements,
        limit: MemoryLimit,
    ) -> Result<Box<dyn DeviceProduct>, String> {
        let known = LOCAL.iter().find(|(known, _)| *known == id);
        let local = known.and_then(|(_, local)| kernel((*local)?));
        let local = local.ok_or_else(|| format!("{id} is not included in this build"))?;
        let (number, rows) = (self.team.number(), once(rows));
        let took = own(self.team.each(move |rank| {
            let (product, took) = LocalProduct::of(rank, rows()?, local, &x, limit)?;
            rank.hold(number, product);
            Ok(took)
        }))?;
        let held = Held::of(Arc::clone(&self.team), number);
        Ok(Box::new(Product { held, costs: costs(&took, 0.0) }))
    }

    fn solver(
        &self,
        rows: RankRows,
        system: DeviceSystem,
        limit: MemoryLimit,
    ) -> Result<Box<dyn DeviceSolver>, String> {
        let (number, rows, how) = (self.team.number(), once(rows), Arc::clone(&system.how));
        let set_up = own(self.team.each(move |rank| {
            let (solver, set_up) = LocalSolver::of(rank, rows()?, &system, limit)?;
            rank.hold(number, solver);
            Ok(set_up)
        }))?;
        let held = Held::of(Arc::clone(&self.team), number);
        let costs = costs(&set_up.took, set_up.diagonal_s);
        Ok(Box::new(Solver { held, costs, how, last: 0.0 }))
    }
}

/// Hands a value out on the first call.
fn once<T: Send>(what: T) -> impl Fn() -> Result<T, DeviceError> + Send + Sync {
    let kept = std::sync::Mutex::new(Some(what));
    move || {
        let taken = kept.lock().unwrap_or_else(std::sync::PoisonError::into_inner).take();
        taken.ok_or_else(|| DeviceError::Arrays("the rows of a GPU were already taken".to_owned()))
    }
}

/// The answer of the only rank of this process, or an error message.
fn own<T>(answers: Result<Vec<T>, DeviceError>) -> Result<T, String> {
    let answer = answers.map_err(|error| error.to_string())?.pop();
    answer.ok_or_else(|| "the GPU of this rank returned nothing".to_owned())
}

fn costs(took: &Took, preconditioner_s: f64) -> DeviceCosts {
    DeviceCosts {
        conversion_s: took.conversion_s,
        allocate_s: took.spent.allocate_s,
        upload_s: took.spent.upload_s,
        preconditioner_s,
        bytes: took.bytes,
    }
}

/// SpMVs of the rank's rows.
struct Product {
    held: Held<LocalProduct>,
    costs: DeviceCosts,
}

impl DeviceProduct for Product {
    fn costs(&self) -> DeviceCosts {
        self.costs
    }

    fn spoil(&mut self) -> Result<(), String> {
        own(self.held.each(|rank, product| product.spoil(rank)))
    }

    fn run(&mut self, times: u32) -> Result<f64, DeviceFailure> {
        let seconds = self.held.jointly(move |rank, product| {
            rank.time(|| (0..times).try_for_each(|_| product.enqueue(rank)))
        });
        own(seconds).map(to_picoseconds).map_err(DeviceFailure::Own)
    }

    fn apart(&mut self) -> Result<[f64; 2], DeviceFailure> {
        let apart = own(self.held.jointly(|rank, product| product.apart(rank)));
        let apart = apart.map_err(DeviceFailure::Own)?;
        let without_clock = |seconds: f64| to_picoseconds((seconds - apart.clock_s).max(0.0));
        Ok([apart.computing_s, apart.packing_s].map(without_clock))
    }

    fn y(&mut self) -> Result<Vec<f64>, String> {
        let (y, _) = own(self.held.each(|rank, product| product.read(rank)))?;
        y
    }
}

/// Solves with the rank's rows.
struct Solver {
    held: Held<LocalSolver>,
    costs: DeviceCosts,
    how: Arc<SolveParameters>,
    /// Seconds of the last solve.
    last: f64,
}

impl DeviceSolver for Solver {
    fn costs(&self) -> DeviceCosts {
        self.costs
    }

    fn rehearse(&mut self) -> Result<Option<String>, DeviceFailure> {
        let rehearsed = self.held.jointly(|rank, solver| solver.rehearse(rank));
        let no_graph = own(rehearsed).map_err(DeviceFailure::Own)?;
        Ok(no_graph.map(|why| format!("none: {why}")))
    }

    fn solve(&mut self, cancel: &AtomicBool) -> Result<Option<f64>, DeviceFailure> {
        let reset = self.held.each(|rank, solver| solver.reset(rank.device()));
        own(reset).map_err(DeviceFailure::Own)?;
        let pace = Arc::new(Pace::default());
        let theirs = Arc::clone(&pace);
        let mut meanwhile = || {
            if cancel.load(Ordering::Relaxed) {
                pace.stop();
            }
        };
        meanwhile();
        let solve = move |rank: &Rank, solver: &mut LocalSolver| {
            let mut finished = false;
            let seconds = rank.time(|| {
                finished = solver.solve(rank, &theirs)?;
                Ok(())
            })?;
            Ok(finished.then_some(seconds))
        };
        let solved = self.held.jointly_watched(solve, &mut meanwhile);
        let seconds = own(solved).map_err(DeviceFailure::Own)?.map(to_picoseconds);
        self.last = seconds.unwrap_or(self.last);
        Ok(seconds)
    }

    fn solved(&mut self) -> Result<Recurrence, String> {
        let told = own(self.held.each(|rank, solver| solver.told(rank)))?;
        let ended = told.ended.map_err(|error| error.to_string())?;
        Ok(ended.with(told.x?, self.how.tol, self.last))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_of_a_machine_take_its_gpus_in_turn_and_one_that_sees_a_single_gpu_takes_that() {
        let all: Result<Vec<usize>, String> = (0..4).map(|k| ordinal_of(k, 4, 4)).collect();
        assert_eq!(all, Ok(vec![0, 1, 2, 3]));
        assert_eq!(ordinal_of(3, 4, 1), Ok(0));
        let sentence = ordinal_of(2, 3, 2).unwrap_err();
        assert!(sentence.contains("3 ranks") && sentence.contains("2 GPUs"), "{sentence}");
    }

    #[test]
    fn what_is_given_once_is_not_given_twice() {
        let give = once(7);
        assert_eq!(give(), Ok(7));
        assert!(give().is_err());
    }
}
