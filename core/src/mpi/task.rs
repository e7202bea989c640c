//! What a runner executes again and again with all other ranks, whatever it computes.

use super::matrix::SharedMatrix;
use super::product::{Product, Spent};
use super::world::World;
use crate::experiment::Solution;
use crate::gate::RowErrors;
use crate::record::{Check, PairTraffic, Run, Work};

/// An execution of a rank, in step with those of all others.
pub(super) trait Task: Send {
    /// Spoils the result, so that what is not computed is seen.
    fn spoil(&mut self);

    /// Executes once. Nothing where any rank was told to stop; a sentence where it cannot be done. Both on all ranks
    /// alike.
    fn run(&mut self) -> Result<Option<Spent>, String>;

    /// The verdict over the rows of all ranks, the same on each.
    fn check(&mut self, world: &World, matrix: &SharedMatrix) -> Check;

    /// What an execution did, over all ranks.
    fn work(&self, matrix: &SharedMatrix) -> Work;

    /// The rank's part of the result, in the order of the whole matrix.
    fn result(&self, matrix: &SharedMatrix) -> Vec<f64>;

    /// What a solver gave last, its x as [`result`](Self::result) has it; nothing of others.
    fn solution(&self) -> Option<&Solution> {
        None
    }

    /// What the last execution tells of itself goes into the record of its run.
    fn tell(&self, run: &mut Run);

    /// What is sent in a product, or an iteration; how many reductions it has.
    fn traffic(&self, matrix: &SharedMatrix) -> (Vec<PairTraffic>, Option<u32>);

    /// Whether it is so short that workers stay awake between two executions, and leaves other work of the pool
    /// alone.
    fn is_short(&self) -> bool;
}

/// A product with the x of the matrix, which is checked against x made by index.
impl Task for Product {
    fn spoil(&mut self) {
        Product::spoil(self);
    }

    fn run(&mut self) -> Result<Option<Spent>, String> {
        Ok(Some(Product::run(self)))
    }

    fn check(&mut self, world: &World, matrix: &SharedMatrix) -> Check {
        let y = matrix.local().in_global_order(self.y());
        let own = matrix.reference().errors(&y).to_words();
        let all = world.all_lists(&own).into_iter().filter_map(|words| words.try_into().ok());
        all.map(RowErrors::from_words).fold(RowErrors::default(), RowErrors::join).check()
    }

    fn work(&self, matrix: &SharedMatrix) -> Work {
        Work { flops: 2 * matrix.nnz(), ..Work::default() }
    }

    fn result(&self, matrix: &SharedMatrix) -> Vec<f64> {
        matrix.local().in_global_order(self.y())
    }

    fn tell(&self, _: &mut Run) {}

    fn traffic(&self, matrix: &SharedMatrix) -> (Vec<PairTraffic>, Option<u32>) {
        (matrix.pairs().to_vec(), None)
    }

    fn is_short(&self) -> bool {
        true
    }
}
