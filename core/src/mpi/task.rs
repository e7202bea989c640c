//! What a runner executes again and again with all other ranks, whatever it computes.

use std::time::Instant;

use super::matrix::SharedMatrix;
use super::product::{Product, Spent};
use super::world::World;
use crate::experiment::{DeviceFailure, Solution};
use crate::gate::RowErrors;
use crate::record::{Check, PairTraffic, Run, Solve, Verdict, Work};

/// An execution of a rank, in step with those of all others. What it did and gave is that of its solution, unless it
/// has none.
pub(super) trait Task: Send {
    /// Spoils the result, so that what is not computed is seen.
    fn spoil(&mut self);

    /// Executes once. Nothing where any rank was told to stop, on all ranks alike.
    fn run(&mut self) -> Result<Option<Spent>, DeviceFailure>;

    /// Executes so often in a row. Seconds of all of it, and how they were spent.
    fn time(&mut self, times: u32) -> Result<Option<(f64, Spent)>, DeviceFailure> {
        let mut spent = Spent::default();
        let start = Instant::now();
        for _ in 0..times {
            match self.run()? {
                Some(once) => spent += once,
                None => return Ok(None),
            }
        }
        Ok(Some((start.elapsed().as_secs_f64(), spent)))
    }

    /// Whether there is a result to be checked: an execution that was stopped may have left none.
    fn has_result(&self) -> bool {
        true
    }

    /// The verdict over the rows of all ranks, the same on each.
    fn check(&mut self, world: &World, matrix: &SharedMatrix) -> Check;

    /// What an execution did, over all ranks.
    fn work(&self, _: &SharedMatrix) -> Work {
        let Some(solution) = self.solution() else { return Work::default() };
        let Solve { iterations, .. } = solution.solve;
        Work { flops: solution.flops, iterations, ..Work::default() }
    }

    /// The rank's part of the result, in the order of the whole matrix.
    fn result(&self, _: &SharedMatrix) -> Vec<f64> {
        self.solution().map(|solution| solution.x.clone()).unwrap_or_default()
    }

    /// What a solver gave last, its x as [`result`](Self::result) has it; nothing of others.
    fn solution(&self) -> Option<&Solution> {
        None
    }

    /// What the last execution tells of itself goes into the record of its run.
    fn tell(&self, run: &mut Run) {
        if let Some(solution) = self.solution() {
            (run.solve, run.history) = (Some(solution.solve.clone()), Some(solution.history()));
        }
    }

    /// What is sent in a product, or an iteration.
    fn traffic(&self, matrix: &SharedMatrix) -> Traffic;

    /// Whether it is so short that workers stay awake between two executions, and leaves other work of the pool
    /// alone.
    fn is_short(&self) -> bool;
}

/// What ranks send one another.
#[derive(Clone, Debug)]
pub(super) struct Traffic {
    /// `mpi`, or `nccl` where devices send.
    pub(super) transport: &'static str,
    pub(super) pairs: Vec<PairTraffic>,
    /// Sums over all ranks, of an iteration.
    pub(super) reductions: Option<u32>,
}

/// The verdict over all ranks' parts of y, this rank's in the order of the whole matrix, or what is wrong with it.
pub(super) fn checked(world: &World, matrix: &SharedMatrix, y: Result<&[f64], String>) -> Check {
    let (y, why) = match y {
        Ok(y) => (y, None),
        Err(why) => (&[][..], Some(why)),
    };
    if let Some(why) = world.objection(why) {
        return Check { verdict: Verdict::Fail, reason: Some(why), ..Check::default() };
    }
    let own = matrix.reference().errors(y).to_words();
    let all = world.all_lists(&own).into_iter().filter_map(|words| words.try_into().ok());
    all.map(RowErrors::from_words).fold(RowErrors::default(), RowErrors::join).check()
}

/// A product with the x of the matrix, which is checked against x made by index.
impl Task for Product {
    fn spoil(&mut self) {
        Product::spoil(self);
    }

    fn run(&mut self) -> Result<Option<Spent>, DeviceFailure> {
        Ok(Some(Product::run(self)))
    }

    fn check(&mut self, world: &World, matrix: &SharedMatrix) -> Check {
        checked(world, matrix, Ok(&matrix.local().in_global_order(self.y())))
    }

    fn work(&self, matrix: &SharedMatrix) -> Work {
        Work { flops: 2 * matrix.nnz(), ..Work::default() }
    }

    fn result(&self, matrix: &SharedMatrix) -> Vec<f64> {
        matrix.local().in_global_order(self.y())
    }

    fn traffic(&self, matrix: &SharedMatrix) -> Traffic {
        Traffic { transport: "mpi", pairs: matrix.pairs().to_vec(), reductions: None }
    }

    fn is_short(&self) -> bool {
        true
    }
}
