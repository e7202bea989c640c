//! The charts of several ranks: their texts, and the functions that compute their numbers.

use sparsescope_core::record::Operation;

use super::{scaling, times, traffic};
use crate::views::charts::chart::{Chart, Group, Operations};

const BY_RANKS: Operations = Operations::Only(&[Operation::Spmv, Operation::Solve]);

/// In display order within their groups, after those of all operations.
pub(in crate::views::charts) const CHARTS: [Chart; 4] = [
    Chart {
        id: "rank-times",
        group: Group::Limits,
        name: "Time by rank",
        sentence: "How long each rank of a run computes, packs what it sends, and waits for the others.",
        nothing: "No run on what is selected that passes the filters was shared by several ranks.",
        data: times::times,
        of: None,
        operations: BY_RANKS,
    },
    Chart {
        id: "traffic",
        group: Group::Limits,
        name: "Bytes between ranks",
        sentence: "How many bytes each rank sends to each other one before a product: the darker, the more.",
        nothing: "No run on what is selected that passes the filters tells what its ranks send one another.",
        data: traffic::traffic,
        of: None,
        operations: BY_RANKS,
    },
    Chart {
        id: "strong-scaling",
        group: Group::Scaling,
        name: "Strong scaling",
        sentence: "What more ranks bring on one matrix, over the fewest that it was run on.",
        nothing: "No kernel has times that pass the filters of one matrix on several numbers of ranks.",
        data: scaling::strong,
        of: Some(scaling::of_strong),
        operations: BY_RANKS,
    },
    Chart {
        id: "weak-scaling",
        group: Group::Scaling,
        name: "Weak scaling",
        sentence: "What is left of the rate of a rank when matrix and ranks grow alike, over the fewest ranks.",
        nothing: "No kernel has times that pass the filters of matrices with as many entries a rank on several numbers of ranks.",
        data: scaling::weak,
        of: Some(scaling::of_weak),
        operations: BY_RANKS,
    },
];
