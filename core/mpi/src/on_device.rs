//! SpMV on the ranks' devices, as tasks.

use std::sync::atomic::AtomicBool;

use super::matrix::SharedMatrix;
use super::product::Spent;
use super::task::{Task, Traffic};
use super::world::World;
use sparsescope_bench::experiment::{DeviceFailure, DeviceProduct, Output};

/// SpMV with the rows distributed over the devices of the ranks.
pub(super) struct ProductOnDevice {
    product: Box<dyn DeviceProduct>,
    /// Why y could not be overwritten, which counts as a wrong result.
    unspoilt: Option<String>,
    /// Seconds of multiplying and of packing, each on its own.
    apart: [f64; 2],
}

impl ProductOnDevice {
    /// Measures what the product consists of, on all ranks together, before any result counts.
    pub(super) fn new(mut product: Box<dyn DeviceProduct>) -> Result<Self, DeviceFailure> {
        let apart = product.apart()?;
        Ok(Self { product, unspoilt: None, apart })
    }
}

impl Task for ProductOnDevice {
    fn spoil(&mut self) {
        self.unspoilt = self.product.spoil().err();
    }

    fn run(&mut self, _: &AtomicBool) -> Result<Option<Spent>, DeviceFailure> {
        self.product.run(1).map(|_| Some(Spent::default()))
    }

    /// The remaining time of an SpMV is waiting.
    fn time(&mut self, times: u32, _: &AtomicBool) -> Result<Option<(f64, Spent)>, DeviceFailure> {
        let [computing, packing] = self.apart;
        let seconds = self.product.run(times)?;
        let (computing, packing) = (computing * f64::from(times), packing * f64::from(times));
        let waiting = (seconds - computing - packing).max(0.0);
        Ok(Some((seconds, Spent { computing, packing, waiting })))
    }

    fn output(&mut self, _: &World, _: &SharedMatrix) -> Result<Output, String> {
        match self.unspoilt.take() {
            Some(why) => Err(why),
            None => self.product.y().map(Output::Vector),
        }
    }

    fn traffic(&self, matrix: &SharedMatrix) -> Traffic {
        Traffic { transport: "nccl", pairs: matrix.pairs().to_vec(), reductions: None }
    }

    fn is_short(&self) -> bool {
        false
    }
}
