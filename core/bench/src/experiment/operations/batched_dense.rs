//! Many small dense systems as a problem: the matrices, their right-hand sides, and the check of results.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use crate::experiment::configuration::Configuration;
use crate::experiment::output::Output;
use crate::experiment::problem::Problem;
use crate::experiment::resident::Resident;
use crate::experiment::task::Finished;
use crate::measure::DEFAULT_SEED;
use sparsescope_kernels::dense::{
    Flagged, Rhs, RightHandSides, Solutions, Systems, random_right_hand_sides,
};
use sparsescope_kernels::gate::Definiteness;
use sparsescope_matrix::matrix::Batches;
use sparsescope_matrix::memory::MemoryLimit;
use sparsescope_matrix::parallel::lock;
use sparsescope_model::kernel::parameters::RHS;
use sparsescope_record::{Check, Operation, Verdict, Work};

/// A_s·x_s = b_s for every matrix of the batches.
#[derive(Debug)]
pub struct BatchedDenseProblem {
    batches: Arc<Batches>,
    seed: u64,
    /// Random right-hand sides, by size; drawn on first use.
    random: Mutex<Option<Arc<Vec<Vec<f64>>>>>,
    /// Definiteness, by size; found before the first check.
    definiteness: Mutex<Option<Arc<Vec<Definiteness>>>>,
}

/// The right-hand sides of a configuration.
#[derive(Clone, Debug)]
pub(in crate::experiment) enum Given {
    LastUnit,
    Numbers(Arc<Vec<Vec<f64>>>),
}

impl Given {
    /// The right-hand sides of the systems of one size, as passed to kernels.
    pub(in crate::experiment) fn view(&self, size: usize) -> RightHandSides<'_> {
        match self {
            Self::LastUnit => RightHandSides::LastUnit,
            Self::Numbers(b) => RightHandSides::Given(&b[size]),
        }
    }
}

impl BatchedDenseProblem {
    /// The problem of these matrices, with random right-hand sides drawn from the default seed.
    pub fn new(batches: Arc<Batches>) -> Self {
        let (random, definiteness) = Default::default();
        Self { batches, seed: DEFAULT_SEED, random, definiteness }
    }

    /// The matrices.
    pub fn batches(&self) -> &Arc<Batches> {
        &self.batches
    }

    /// The right-hand sides that a configuration requests, where they are not e_n: n numbers per system,
    /// system after system, by size.
    pub fn given_right_hand_sides(
        &self,
        configuration: &Configuration,
    ) -> Option<Arc<Vec<Vec<f64>>>> {
        match self.right_hand_sides(configuration) {
            Given::LastUnit => None,
            Given::Numbers(numbers) => Some(numbers),
        }
    }

    /// Minimal bytes moved: the lower triangles are read once, and the solutions written.
    pub fn minimal_bytes(&self) -> u64 {
        let of = |n: u64, systems: u64| 8 * systems * (n * (n + 1) / 2 + n);
        let sizes = self.batches.sizes().iter().map(|sized| sized.batch());
        sizes.map(|batch| of(batch.unknowns() as u64, batch.len() as u64)).sum()
    }

    /// The right-hand sides that a configuration requests.
    pub(in crate::experiment) fn right_hand_sides(&self, configuration: &Configuration) -> Given {
        match configuration.parameters.get(&RHS) {
            Rhs::LastUnit => Given::LastUnit,
            Rhs::Random => {
                let sizes = self.batches.sizes().iter().map(|sized| sized.batch());
                let drawn = sizes
                    .map(|batch| random_right_hand_sides(batch.unknowns(), batch.len(), self.seed));
                let made = || Arc::new(drawn.collect());
                Given::Numbers(Arc::clone(lock(&self.random).get_or_insert_with(made)))
            }
        }
    }

    fn definiteness(
        &self,
        cancelled: &(dyn Fn() -> bool + Sync),
    ) -> Option<Arc<Vec<Definiteness>>> {
        let mut found = lock(&self.definiteness);
        if found.is_none() {
            let of = |batch: &sparsescope_matrix::matrix::Batch| {
                Definiteness::of(batch.view(), cancelled)
            };
            let sizes = self.batches.sizes().iter().map(|sized| of(sized.batch()));
            *found = Some(Arc::new(sizes.collect::<Option<_>>()?));
        }
        found.clone()
    }
}

impl Problem for BatchedDenseProblem {
    fn operation(&self) -> Operation {
        Operation::BatchedDense
    }

    fn is_empty(&self) -> bool {
        self.batches.is_empty()
    }

    /// Host memory that a configuration needs besides the matrices.
    fn resident(&self, configuration: &Configuration, _: MemoryLimit) -> Vec<Resident> {
        let sizes = || self.batches.sizes().iter().map(|s| (s.batch().unknowns(), s.batch().len()));
        let bytes = sizes().map(|(n, systems)| Solutions::bytes(n, systems)).sum();
        let mut resident = vec![Resident::own("solutions", configuration, bytes)];
        if configuration.parameters.get(&RHS) == Rhs::Random {
            let bytes = sizes().map(|(n, systems)| 8 * n as u64 * systems as u64).sum();
            resident.push(Resident { name: "random right-hand sides".to_owned(), bytes });
        }
        resident
    }

    /// Determines once which systems have a solution, with independent loops.
    fn find_reference(&self, cancel: &AtomicBool) -> Finished {
        match self.definiteness(&|| cancel.load(Ordering::Relaxed)) {
            Some(_) => Finished::Done,
            None => Finished::Cancelled,
        }
    }

    /// Returns the check of the first size that fails, or the worst check of all sizes.
    fn compare(&self, configuration: &Configuration, output: &Output) -> Option<Check> {
        let Output::Systems(found) = output else { return None };
        let (right, sizes) = (self.right_hand_sides(configuration), self.batches.sizes());
        if found.len() != sizes.len() {
            let (found, sizes) = (found.len(), sizes.len());
            let reason = Some(format!(
                "the result has solutions for {found} system sizes, expected {sizes}"
            ));
            return Some(Check { verdict: Verdict::Fail, reason, ..Check::default() });
        }
        let definiteness = self.definiteness(&|| false)?;
        let mut worst = Check { verdict: Verdict::Pass, worst: Some(0.0), ..Check::default() };
        for (k, ((sized, definiteness), found)) in
            sizes.iter().zip(&*definiteness).zip(found).enumerate()
        {
            let systems = Systems::new(sized.batch().view(), right.view(k));
            let check = definiteness.check(systems, found, &|s| sized.number(s));
            if check.verdict != Verdict::Pass {
                return Some(check);
            }
            if check.worst > worst.worst {
                worst = check;
            }
        }
        Some(worst)
    }

    /// Lists the systems that are not positive definite, once a result has been checked.
    fn files(&self, _: u64) -> BTreeMap<String, Vec<u8>> {
        let Some(definiteness) = lock(&self.definiteness).clone() else { return BTreeMap::new() };
        let mut numbers: Vec<u64> = Vec::new();
        for (sized, definiteness) in self.batches.sizes().iter().zip(&*definiteness) {
            numbers.extend(definiteness.indefinite().map(|s| sized.number(s)));
        }
        numbers.sort_unstable();
        Flagged::of(self.batches.len(), numbers).to_files()
    }

    /// n³/3 + 2·n² operations per solved system.
    fn work(&self, output: &Output) -> Work {
        let Output::Systems(found) = output else { return Work::default() };
        let flops = self.batches.sizes().iter().zip(found).map(|(sized, found)| {
            let solved = (found.flagged.len() - found.flagged().count()) as u64;
            let n = sized.batch().unknowns() as u64;
            (n * n * (n + 6)).saturating_mul(solved)
        });
        Work { flops: flops.fold(0u64, u64::saturating_add) / 3, ..Work::default() }
    }

    fn reseed(&mut self, seed: u64) {
        self.seed = seed;
        self.release();
    }

    fn release(&self) {
        *lock(&self.random) = None;
    }
}
