//! Gathers the ranks' sizes and times for the record of a run.

use super::matrix::SharedMatrix;
use super::numbering::Numbering;
use super::product::Spent;
use super::task::Traffic;
use super::world::World;
use sparsescope_record::{Distributed, RankShare};

/// The record of a run, on every rank. `spent` are the rank's seconds of one execution, `traffic` the
/// messages of an SpMV or an iteration.
pub(super) fn distributed(
    world: &World,
    matrix: &SharedMatrix,
    threads: u32,
    spent: Spent,
    Traffic { transport, pairs, reductions }: Traffic,
) -> Distributed {
    let local = matrix.local();
    let bits = [spent.computing, spent.packing, spent.waiting].map(f64::to_bits);
    let rows = local.rows();
    let mut own = vec![
        rows.start,
        rows.end - rows.start,
        local.interior().rows() as u64,
        local.entries(),
        local.halo().len() as u64,
    ];
    own.extend(bits);
    let ranks = world.all_lists(&own).into_iter().zip(world.hosts()).map(|(words, &host)| {
        let word = |k: usize| words.get(k).copied().unwrap_or_default();
        let seconds = |k: usize| f64::from_bits(word(k));
        RankShare {
            host: Some(host),
            first_row: word(0),
            rows: word(1),
            interior_rows: word(2),
            entries: word(3),
            halo: word(4),
            computing_s: seconds(5),
            packing_s: seconds(6),
            waiting_s: seconds(7),
        }
    });
    // The links between ranks are not those between their devices.
    let is_of_processors = transport == "mpi";
    let links = if is_of_processors { matrix.links() } else { &[] };
    Distributed {
        transport: transport.to_owned(),
        partition: match matrix.numbering().and_then(Numbering::partition) {
            Some(_) => "file".to_owned(),
            None => "entries".to_owned(),
        },
        threads,
        ranks: ranks.collect(),
        pairs,
        plan_s: matrix.plan_seconds(),
        reductions,
        reduction_s: is_of_processors.then(|| matrix.reduction_seconds()),
        links: links.to_vec(),
    }
}
