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
        name: "Time per rank",
        sentence: "Time each rank of a run spends computing, packing data to send, and waiting for others.",
        nothing: "No matching run on the selected matrix used several ranks.",
        data: times::times,
        of: None,
        operations: BY_RANKS,
    },
    Chart {
        id: "traffic",
        group: Group::Limits,
        name: "Bytes between ranks",
        sentence: "Bytes each rank sends to each other rank per SpMV or iteration; darker is more.",
        nothing: "No matching run on the selected matrix records the traffic between its ranks.",
        data: traffic::traffic,
        of: None,
        operations: BY_RANKS,
    },
    Chart {
        id: "strong-scaling",
        group: Group::Scaling,
        name: "Strong scaling",
        sentence: "One matrix on more and more ranks, relative to the fewest it ran on.",
        nothing: "No kernel has matching runs on one matrix at several rank counts.",
        data: scaling::strong,
        of: Some(scaling::of_strong),
        operations: BY_RANKS,
    },
    Chart {
        id: "weak-scaling",
        group: Group::Scaling,
        name: "Weak scaling",
        sentence: "Rate per rank at constant work per rank, relative to the fewest ranks.",
        nothing: "No kernel has matching runs at several rank counts with the same number of nonzeros per rank.",
        data: scaling::weak,
        of: Some(scaling::of_weak),
        operations: BY_RANKS,
    },
];
