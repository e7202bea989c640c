//! Many small dense systems as a problem: the matrices, their right-hand sides, and what results are held
//! against.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use super::side::lock;
use crate::dense::{Flagged, Rhs, RightHandSides, Solutions, Systems, random_right_hand_sides};
use crate::experiment::configuration::Configuration;
use crate::experiment::output::Output;
use crate::experiment::resident::Resident;
use crate::gate::Definiteness;
use crate::matrix::Batch;
use crate::measure::DEFAULT_SEED;
use crate::record::{Check, Work};

/// A_s·x_s = b_s for every matrix of a batch.
#[derive(Debug)]
pub struct BatchedDenseProblem {
    batch: Arc<Batch>,
    seed: u64,
    /// Drawn on first use.
    random: Mutex<Option<Arc<Vec<f64>>>>,
    definiteness: Mutex<Option<Arc<Definiteness>>>,
}

/// The right-hand sides of a configuration.
#[derive(Clone, Debug)]
pub(in crate::experiment) enum Given {
    LastUnit,
    Numbers(Arc<Vec<f64>>),
}

impl Given {
    /// As kernels are given them.
    pub(in crate::experiment) fn view(&self) -> RightHandSides<'_> {
        match self {
            Self::LastUnit => RightHandSides::LastUnit,
            Self::Numbers(b) => RightHandSides::Given(b),
        }
    }
}

impl BatchedDenseProblem {
    /// Of these matrices, random right-hand sides drawn from the usual seed.
    pub fn new(batch: Arc<Batch>) -> Self {
        let (random, definiteness) = Default::default();
        Self { batch, seed: DEFAULT_SEED, random, definiteness }
    }

    /// The same with random right-hand sides from another seed.
    pub fn seeded(self, seed: u64) -> Self {
        Self { seed, random: Mutex::default(), ..self }
    }

    /// The matrices.
    pub fn batch(&self) -> &Arc<Batch> {
        &self.batch
    }

    /// The right-hand sides that a configuration asks for.
    pub(in crate::experiment) fn right_hand_sides(&self, configuration: &Configuration) -> Given {
        match configuration.parameters.rhs() {
            Rhs::LastUnit => Given::LastUnit,
            Rhs::Random => {
                let (n, systems) = (self.batch.unknowns(), self.batch.len());
                let made = || Arc::new(random_right_hand_sides(n, systems, self.seed));
                Given::Numbers(Arc::clone(lock(&self.random).get_or_insert_with(made)))
            }
        }
    }

    pub(in crate::experiment) fn resident(&self, configuration: &Configuration) -> Vec<Resident> {
        let (n, systems) = (self.batch.unknowns(), self.batch.len());
        let bytes = Solutions::bytes(n, systems);
        let mut resident =
            vec![Resident { name: format!("solutions of {}", configuration.kernel.id), bytes }];
        if configuration.parameters.rhs() == Rhs::Random {
            let bytes = 8 * n as u64 * systems as u64;
            resident.push(Resident { name: "random right-hand sides".to_owned(), bytes });
        }
        resident
    }

    /// Which systems have a solution, found once by loops of its own.
    fn definiteness(&self) -> Arc<Definiteness> {
        let found = || Arc::new(Definiteness::of(self.batch.view()));
        Arc::clone(lock(&self.definiteness).get_or_insert_with(found))
    }

    pub(in crate::experiment) fn check(
        &self,
        configuration: &Configuration,
        output: &Output,
    ) -> Option<Check> {
        let Output::Systems(solutions) = output else { return None };
        let right = self.right_hand_sides(configuration);
        let systems = Systems::new(self.batch.view(), right.view());
        Some(self.definiteness().check(systems, solutions))
    }

    /// Which systems are not positive definite, once a result has been checked.
    pub(in crate::experiment) fn files(&self) -> BTreeMap<String, Vec<u8>> {
        let Some(definiteness) = lock(&self.definiteness).clone() else { return BTreeMap::new() };
        Flagged::of(self.batch.len(), definiteness.indefinite()).to_files()
    }

    /// n³/3 + 2·n² operations for each system that was solved.
    pub(in crate::experiment) fn work(&self, output: &Output) -> Work {
        let Output::Systems(solutions) = output else { return Work::default() };
        let solved = solutions.flagged.len() - solutions.flagged().count();
        let n = self.batch.unknowns() as u64;
        let flops = (n * n * (n + 6)).saturating_mul(solved as u64) / 3;
        Work { flops, ..Work::default() }
    }

    pub(in crate::experiment) fn release(&self) {
        *lock(&self.random) = None;
    }
}
