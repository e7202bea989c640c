//! `cuda/spmv/auto`: runs whichever of our other kernels is fastest in a short trial, on A or on its
//! transpose.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Instant;

use sparsescope_core::experiment::choosing::{
    ADAPTIVE, Candidate, GpuTraits, csr_bytes, on_gpu, why,
};
use sparsescope_core::experiment::{
    Configuration, PrepareError, Problem, SpmvProblem, SpmvSide, Watch,
};
use sparsescope_core::kernel::parameters::{COMPACT, OP, SCALE};
use sparsescope_core::kernel::{Parameter, Parameters};
use sparsescope_core::memory::MemoryLimit;
use sparsescope_core::record::{Choice, Costs, Tried};

use super::launchers::AUTO;
use super::product::{Sides, Spmv, product};
use crate::guarded::GuardedVector;
use crate::machine::Machine;
use crate::one_gpu::OneGpu;
use crate::prepared::PreparedKernel;
use crate::upload::Uploads;
use crate::value::DeviceReal;

/// A kernel of another format must be better by this factor: smaller differences are noise.
const BETTER: f64 = 0.98;

/// Kernels expected to be slower than the best by this factor are not tried, except those on CSR,
/// whose format exists already.
const BEHIND: f64 = 2.0;

/// What to choose for.
pub(crate) struct Choosing<'p, T: DeviceReal> {
    pub(crate) machine: &'p Machine,
    pub(crate) uploads: &'p Uploads<T>,
    pub(crate) problem: &'p SpmvProblem,
    /// That of A, or of its transpose if the configuration requests it.
    pub(crate) side: Arc<SpmvSide<T>>,
    pub(crate) configuration: Configuration,
    pub(crate) memory: MemoryLimit,
}

/// The leading kernel of the trial.
struct Leader<'p, T> {
    spmv: Spmv<'p, T>,
    configuration: Configuration,
    /// Seconds of its fastest SpMV.
    least_s: f64,
    /// Its index among the candidates.
    place: usize,
    /// Whether its format was made only for this trial.
    is_new: bool,
}

/// Why a kernel need not be tried against the expected best, if so.
fn behind(candidate: &Candidate, first: Option<(&str, f64)>) -> Option<String> {
    let ((first, least), expected) = (first?, candidate.expected_s?);
    let times = expected / least;
    (times > BEHIND && candidate.kernel.id != ADAPTIVE)
        .then(|| format!("expected to take {times:.1} times as long as {first}"))
}

impl<'p, T: DeviceReal> Choosing<'p, T> {
    /// Prepared; the setup makes the choice.
    pub(crate) fn prepared(self) -> PreparedKernel<'p, OneGpu<'p, GuardedVector<T>>> {
        let choose = move |watch: &Watch<'_>| self.choose(watch);
        PreparedKernel::chosen_by(AUTO, Box::new(choose))
    }

    /// Effective parameters, whichever kernel is chosen.
    fn params(&self) -> BTreeMap<String, String> {
        let value = self.configuration.parameters.text(COMPACT.id()).unwrap_or_default();
        let mut params = self.computed();
        params.insert(COMPACT.id().name().to_owned(), value);
        params
    }

    /// The operation and the scale, where they are not the default.
    fn computed(&self) -> BTreeMap<String, String> {
        self.configuration.kernel.computed(&self.configuration.parameters)
    }

    /// The fastest of the candidates that the statistics suggest, with the costs of the choice;
    /// `None` when cancelled.
    pub(crate) fn choose(&self, watch: &Watch<'_>) -> Result<Option<Spmv<'p, T>>, PrepareError> {
        let copy = self.machine.bandwidth().ok().map(|bandwidth| bandwidth.copy);
        let start = Instant::now();
        let Configuration { precision, parameters, .. } = &self.configuration;
        let properties = self.machine.device().properties();
        let gpu = GpuTraits {
            copy,
            multiprocessors: properties.multiprocessors as usize,
            shared_bytes: properties.shared_per_block as usize,
        };
        let (a, compact) = (&**self.side.a(), parameters.get(&COMPACT));
        let all = on_gpu(a, compact, *precision, gpu);
        let mut choice =
            Choice { statistics_s: start.elapsed().as_secs_f64(), ..Choice::default() };
        let mut leader: Option<Leader<'p, T>> = None;
        let many = all.len();
        // Every kernel reads the previous y where one is added.
        let adds = parameters.get(&SCALE).beta != 0.0;
        let added = if adds { (T::BYTES * a.rows()) as u64 } else { 0 };
        let first = all.iter().find_map(|one| Some((one.kernel.id, one.expected_s?)));
        for (place, candidate) in all.into_iter().enumerate() {
            watch.tell(place as f64 / many as f64);
            let mut tried = Tried {
                kernel: candidate.kernel.id.to_owned(),
                params: candidate.parameters.names(),
                minimal_bytes: candidate.minimal_bytes + added,
                expected_s: candidate.expected_s,
                left_out: behind(&candidate, first),
                ..Tried::default()
            };
            if tried.left_out.is_some() {
                choice.tried.push(tried);
                continue;
            }
            let entered = self.enter((place, candidate), &mut tried, &mut choice, watch);
            if watch.is_cancelled() {
                return Ok(None);
            }
            match entered {
                Ok(entered) => {
                    leader = Some(match leader.take() {
                        None => entered,
                        Some(best) => self.better_of(best, entered),
                    });
                }
                Err(reason) => tried.left_out = Some(reason),
            }
            choice.tried.push(tried);
        }
        let Some(leader) = leader else {
            let reason = choice.tried.iter().find_map(|tried| tried.left_out.clone());
            let reason = reason.unwrap_or_else(|| "no kernel can run on this matrix".to_owned());
            return Err(PrepareError::Refused(reason));
        };
        let Leader { mut spmv, configuration, place, .. } = leader;
        if let Some(tried) = choice.tried.get_mut(place) {
            tried.minimal_bytes = spmv.costs.minimal_bytes;
        }
        choice.kernel = configuration.kernel.id.to_owned();
        choice.params = std::mem::replace(&mut spmv.params, self.params());
        let computed = self.computed();
        choice.params.retain(|name, _| !computed.contains_key(name));
        choice.why = why(&choice, place, ADAPTIVE, csr_bytes(a, *precision) + added);
        spmv.costs = Costs {
            conversion_s: self.problem.transposition_s(&self.configuration) + choice.conversion_s,
            plan_s: choice.seconds() - choice.conversion_s,
            choice: Some(choice),
            ..spmv.costs
        };
        Ok(Some(spmv))
    }

    /// Prepares a candidate and times it; returns a sentence if it takes no part.
    fn enter(
        &self,
        (place, candidate): (usize, Candidate),
        tried: &mut Tried,
        choice: &mut Choice,
        watch: &Watch<'_>,
    ) -> Result<Leader<'p, T>, String> {
        let with = |all: Parameters, of: Parameter| match self.configuration.parameters.text(of) {
            Some(value) => all.with(of, &value),
            None => all,
        };
        let configuration = Configuration {
            kernel: candidate.kernel,
            parameters: [OP.id(), SCALE.id()].into_iter().fold(candidate.parameters, with),
            block: candidate.block,
            ..self.configuration.clone()
        };
        self.problem.admit(&configuration).map_err(|error| error.to_string())?;
        let is_new = !self.side.has(SpmvProblem::spec(&configuration));
        let of = Sides { problem: self.problem, turned: &self.side, before: None };
        let made = product(self.machine, self.uploads, &configuration, &of, self.memory);
        let mut spmv = made.map_err(|error| error.to_string())?;
        tried.conversion_s = spmv.costs.conversion_s;
        choice.conversion_s += spmv.costs.conversion_s;
        choice.plan_s += spmv.costs.plan_s;
        let start = Instant::now();
        let least_s = spmv.trial(watch).map_err(|error| error.to_string())?;
        choice.trial_s += start.elapsed().as_secs_f64();
        tried.least_s = Some(least_s);
        Ok(Leader { spmv, configuration, least_s, place, is_new })
    }

    /// The better of two. The other's format is freed, unless the winner or another kernel uses it.
    fn better_of(&self, best: Leader<'p, T>, other: Leader<'p, T>) -> Leader<'p, T> {
        let (winner, loser) = match other.least_s < BETTER * best.least_s {
            true => (other, best),
            false => (best, other),
        };
        let spec = |one: &Leader<'p, T>| SpmvProblem::spec(&one.configuration);
        if loser.is_new && spec(&loser) != spec(&winner) {
            self.side.forget(spec(&loser));
        }
        winner
    }
}
