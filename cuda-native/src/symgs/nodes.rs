//! Sweeps whose nodes, rows with the same columns, wait for one another within one launch.

use std::time::Instant;

use sparsescope_core::experiment::Groups;
use sparsescope_core::matrix::Offset;
use sparsescope_core::symgs::Nodes;

use super::plan::parts;
use super::system::{Iteration, Sweeps, System, Vectors};
use crate::arguments::{Element, Reads, SweepOfNodes, SweepRest, Writes};
use crate::device::DeviceError;
use crate::guarded::Written;
use crate::launch::{Bound, Launch, Shape, Step};
use crate::setup::Setup;
use crate::value::DeviceReal;

/// Threads per block of the launch whose nodes wait, with one warp per node.
const NODE_BLOCK: u32 = 128;
const NODE_LANES: u32 = 32;

/// Threads per block of the other launch, and lanes per row.
const REST_BLOCK: u32 = 256;
const REST_LANES: u32 = 8;

pub(super) fn bind<T: DeviceReal, O: Offset + Element>(
    system: &System<'_, T, O>,
    _: &Iteration<'_, T>,
) -> Result<Sweeps, DeviceError> {
    let begun = Instant::now();
    let nodes = Nodes::of(system.a);
    let plan_s = begun.elapsed().as_secs_f64();
    let setup = Setup::new(system.device);
    let node_ptr = setup.upload("the first row of each node", nodes.first())?;
    let order = setup.upload("the nodes by level", nodes.order())?;
    let vector = |what| setup.array::<T>(what, system.rows as usize);
    let (other, sums) = (vector("the vector between the sweeps")?, vector("the sums of rows")?);
    // SAFETY: counted from zero.
    let counts = unsafe { setup.filled::<u32>("tickets", 3, 0)? };
    let [forward, backward, stuck] = parts(&counts);
    let tickets = counts.part(0..2).expect("there are three"); // invariant
    // SAFETY: counted from zero.
    let mut steps = vec![unsafe { Step::fill_numbers(&tickets, 0) }];
    let sweeps = system.operator.there_and_back(system.b, system.x, &other);
    for (vectors, ticket) in sweeps.into_iter().zip([&forward, &backward]) {
        let Vectors { backward, rhs, old, new, .. } = vectors;
        let (row_ptr, col) = (Reads(system.row_ptr), Reads(&system.slots.col));
        let val = Reads(&system.slots.val);
        let (rhs, old) = (Reads(rhs), Reads(old));
        let rows = system.rows;
        let rest = SweepRest { rows, backward, row_ptr, col, val, rhs, old, sums: Writes(&sums) };
        let grid = (u64::from(rows) * u64::from(REST_LANES)).div_ceil(REST_BLOCK.into());
        let shape = Shape { grid, block: REST_BLOCK, shared_bytes: 0 };
        // SAFETY: a CSR matrix has rows + 1 ascending offsets up to the length of col and val, and
        // columns that are rows; the vectors have one element per row. Lanes beyond the last row
        // access none.
        let rest = unsafe { Launch::new(system.device, "symgs_nodes_rest", shape, &rest)? };
        let of_nodes = SweepOfNodes {
            nodes: nodes.order().len() as u32,
            node_ptr: Reads(&node_ptr),
            order: Reads(&order),
            backward,
            row_ptr,
            col,
            val,
            sums: Reads(&sums),
            out: Writes(new),
            ticket: Writes(ticket),
            stuck: Writes(&stuck),
        };
        let grid = (order.len() as u64).div_ceil((NODE_BLOCK / NODE_LANES).into());
        let shape = Shape { grid, block: NODE_BLOCK, shared_bytes: 0 };
        // SAFETY: as above; a node has at most as many rows as the kernel takes, with the same
        // columns. Warps beyond the last node access none.
        let of_nodes = unsafe { Launch::new(system.device, "symgs_nodes", shape, &of_nodes)? };
        steps.extend([Step::Launch(rest), Step::fill(new, 0xff), Step::Launch(of_nodes)]);
    }
    let bound = Bound {
        reset: system.reset(),
        stuck: Some(stuck),
        workspace_bytes: other.bytes() + sums.bytes() + node_ptr.bytes() + order.bytes(),
        spent: setup.spent(),
        ..Bound::of(steps)
    };
    let groups = Some(Groups::Levels([nodes.levels(); 2]));
    let between: Option<Box<dyn Written>> = Some(Box::new(other));
    Ok(Sweeps { plan_s, groups, between, ..Sweeps::of(bound) })
}

#[cfg(test)]
mod tests {
    use sparsescope_core::symgs::NODE_ROWS;

    #[test]
    fn a_node_has_as_many_rows_on_either_side() {
        let (_, source) = crate::Family::SymgsNodes.source();
        assert!(source.contains(&format!("const u32 NODE = {NODE_ROWS};")));
    }
}
