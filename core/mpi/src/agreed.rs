//! The decisions of all ranks, through MPI.

use super::world::World;
use sparsescope_bench::experiment::Agreement;

pub use sparsescope_bench::experiment::agreed;

impl Agreement for World {
    fn any(&self, own: bool) -> bool {
        World::any(self, own)
    }

    fn max(&self, own: f64) -> f64 {
        World::max(self, own)
    }

    fn min(&self, own: u64) -> u64 {
        self.least(own)
    }

    fn of_first(&self, own: Vec<u32>) -> Vec<u32> {
        self.numbers_from_first(own)
    }

    fn objection(&self, own: Option<String>) -> Option<String> {
        World::objection(self, own)
    }

    fn barrier(&self) {
        World::barrier(self);
    }
}
