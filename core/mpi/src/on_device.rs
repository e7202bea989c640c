//! SpMV on the ranks' devices, as tasks of the runner.

use super::matrix::SharedMatrix;
use super::product::Spent;
use super::task::{Task, Traffic, checked};
use super::world::World;
use sparsescope_bench::experiment::{DeviceFailure, DeviceProduct};
use sparsescope_record::{Check, Work};

/// SpMV with the rows distributed over the devices of the ranks.
pub(super) struct ProductOnDevice {
    product: Box<dyn DeviceProduct>,
    /// Why y could not be overwritten, which counts as a wrong result.
    unspoilt: Option<String>,
    /// The rank's part of y as last read, in the order of the whole matrix.
    y: Vec<f64>,
    /// Seconds of multiplying and of packing, each on its own, once measured.
    apart: Option<[f64; 2]>,
}

impl ProductOnDevice {
    pub(super) fn new(product: Box<dyn DeviceProduct>) -> Self {
        Self { product, unspoilt: None, y: Vec::new(), apart: None }
    }
}

impl Task for ProductOnDevice {
    fn spoil(&mut self) {
        self.unspoilt = self.product.spoil().err();
    }

    fn run(&mut self) -> Result<Option<Spent>, DeviceFailure> {
        self.product.run(1).map(|_| Some(Spent::default()))
    }

    /// The remaining time of an SpMV is waiting.
    fn time(&mut self, times: u32) -> Result<Option<(f64, Spent)>, DeviceFailure> {
        let [computing, packing] = match self.apart {
            Some(apart) => apart,
            None => *self.apart.insert(self.product.apart()?),
        };
        let seconds = self.product.run(times)?;
        let (computing, packing) = (computing * f64::from(times), packing * f64::from(times));
        let waiting = (seconds - computing - packing).max(0.0);
        Ok(Some((seconds, Spent { computing, packing, waiting })))
    }

    fn check(&mut self, world: &World, matrix: &SharedMatrix) -> Check {
        let read = match self.unspoilt.take() {
            Some(why) => Err(why),
            None => self.product.y(),
        };
        let read = read.map(|y| {
            self.y = y;
            self.y.as_slice()
        });
        checked(world, matrix, read)
    }

    fn work(&self, matrix: &SharedMatrix) -> Work {
        Work { flops: 2 * matrix.nnz(), ..Work::default() }
    }

    fn result(&self, _: &SharedMatrix) -> Vec<f64> {
        self.y.clone()
    }

    fn traffic(&self, matrix: &SharedMatrix) -> Traffic {
        Traffic { transport: "nccl", pairs: matrix.pairs().to_vec(), reductions: None }
    }

    fn is_short(&self) -> bool {
        false
    }
}
