//! The charts of solves: their texts, and the functions that compute their numbers.

use sparsescope_core::record::Operation;

use super::{break_even, formats, parameters, phases, spectrum};
use crate::views::charts::chart::{Chart, Group, Operations};

const SOLVE: Operations = Operations::Only(&[Operation::Solve]);

/// In display order within their groups, after those of all operations.
pub(in crate::views::charts) const CHARTS: [Chart; 6] = [
    Chart {
        id: "set-up-and-solve",
        group: Group::Compare,
        name: "Set-up and solve",
        sentence: "How long each preconditioner takes from the matrix to its solution: the phases of its set-up, then the iterations.",
        nothing: "No solve with a time of what is selected passes the filters.",
        data: phases::phases,
        of: Some(phases::shown),
        operations: SOLVE,
    },
    Chart {
        id: "parameters",
        group: Group::Compare,
        name: "Parameters of FSAI",
        sentence: "What power, filters and merging bring: how dense the factor G is, how many iterations it leaves, and what that takes.",
        nothing: "No solves that pass the filters differ in power, filters or merging alone.",
        data: parameters::by_parameter,
        of: Some(parameters::choices),
        operations: SOLVE,
    },
    Chart {
        id: "groups",
        group: Group::Cost,
        name: "Groups of rows",
        sentence: "How many dense systems are left where rows with similar patterns share one, against how much more work that may be.",
        nothing: "No solves that pass the filters differ in merging alone.",
        data: parameters::groups,
        of: None,
        operations: SOLVE,
    },
    Chart {
        id: "spectrum",
        group: Group::Limits,
        name: "Spectrum",
        sentence: "Eigenvalues of the matrix as each preconditioner leaves it, as far as the iterations saw them: the nearer to one another, the fewer iterations.",
        nothing: "No solve of what is selected that passes the filters tells its Ritz values.",
        data: spectrum::spectrum,
        of: None,
        operations: SOLVE,
    },
    Chart {
        id: "set-up-break-even",
        group: Group::Cost,
        name: "Break-even of set-ups",
        sentence: "After how many solves with one matrix, or one pattern, a preconditioner is ahead of another one in all.",
        nothing: "No kernel has a time that passes the filters both with this preconditioner and with another one.",
        data: break_even::break_even,
        of: Some(break_even::bases),
        operations: SOLVE,
    },
    Chart {
        id: "solve-formats",
        group: Group::Compare,
        name: "Formats of A and G",
        sentence: "How long an iteration takes with A and G in CSR, HYB and HLL.",
        nothing: "No preconditioner has times that pass the filters with several formats.",
        data: formats::by_format,
        of: Some(formats::ways),
        operations: SOLVE,
    },
];
