//! What the ranks execute repeatedly together, for any operation.

use std::sync::atomic::AtomicBool;
use std::time::Instant;

use super::matrix::SharedMatrix;
use super::product::{Product, Spent};
use super::world::World;
use sparsescope_bench::experiment::{DeviceFailure, Output};
use sparsescope_record::PairTraffic;

/// An execution on a rank, in step with all others.
pub(super) trait Task: Send {
    /// Overwrites the result, so that missing elements are detected.
    fn spoil(&mut self);

    /// Executes once. `None` if any rank was cancelled, on all ranks together.
    fn run(&mut self, cancel: &AtomicBool) -> Result<Option<Spent>, DeviceFailure>;

    /// Executes `times` times in a row. Returns the total seconds and their breakdown.
    fn time(
        &mut self,
        times: u32,
        cancel: &AtomicBool,
    ) -> Result<Option<(f64, Spent)>, DeviceFailure> {
        let mut spent = Spent::default();
        let start = Instant::now();
        for _ in 0..times {
            match self.run(cancel)? {
                Some(once) => spent += once,
                None => return Ok(None),
            }
        }
        Ok(Some((start.elapsed().as_secs_f64(), spent)))
    }

    /// The rank's part of the last result, in the order of the whole matrix; all ranks ask for it together.
    fn output(&mut self, world: &World, matrix: &SharedMatrix) -> Result<Output, String>;

    /// Messages per SpMV or iteration.
    fn traffic(&self, matrix: &SharedMatrix) -> Traffic;

    /// Whether it is so short that workers stay awake between executions; it then uses the pool for nothing
    /// else.
    fn is_short(&self) -> bool;
}

/// Messages between ranks.
#[derive(Clone, Debug)]
pub(super) struct Traffic {
    /// `mpi`, or `nccl` where devices send.
    pub(super) transport: &'static str,
    pub(super) pairs: Vec<PairTraffic>,
    /// Reductions over all ranks per iteration.
    pub(super) reductions: Option<u32>,
}

/// SpMV with the x of the matrix.
impl Task for Product {
    fn spoil(&mut self) {
        Product::spoil(self);
    }

    fn run(&mut self, _: &AtomicBool) -> Result<Option<Spent>, DeviceFailure> {
        Ok(Some(Product::run(self)))
    }

    fn output(&mut self, _: &World, matrix: &SharedMatrix) -> Result<Output, String> {
        Ok(Output::Vector(matrix.local().in_global_order(self.y())))
    }

    fn traffic(&self, matrix: &SharedMatrix) -> Traffic {
        Traffic { transport: "mpi", pairs: matrix.pairs().to_vec(), reductions: None }
    }

    fn is_short(&self) -> bool {
        true
    }
}
