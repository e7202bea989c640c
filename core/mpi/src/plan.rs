//! Exchange plans: every rank requests its halo from the owners.

use super::agreed::agreed;
use super::world::World;
use sparsescope_matrix::distributed::{ExchangePlan, LocalMatrix};

/// What a rank sends and receives before an SpMV with a distributed matrix.
pub(super) fn planned(world: &World, local: &LocalMatrix) -> Result<ExchangePlan, String> {
    let requests: Vec<(usize, &[u64])> = ExchangePlan::requests(local).collect();
    let asked = world.exchange(&requests)?;
    let asked = asked.iter().enumerate().map(|(peer, columns)| (peer, columns.as_slice()));
    agreed(world, ExchangePlan::new(local, asked))
}
