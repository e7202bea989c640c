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
        name: "Setup and solve",
        sentence: "Time of each preconditioner from the matrix to the solution: the phases of its setup, then the iterations.",
        nothing: "No timed solve of the selected matrix passes the filters.",
        data: phases::phases,
        of: Some(phases::shown),
        operations: SOLVE,
    },
    Chart {
        id: "parameters",
        group: Group::Compare,
        name: "Parameters of FSAI",
        sentence: "Effect of power, filters and merging on the density of the factor G, the iterations and the time.",
        nothing: "No matching solves differ only in power, filters or merging.",
        data: parameters::by_parameter,
        of: Some(parameters::choices),
        operations: SOLVE,
    },
    Chart {
        id: "groups",
        group: Group::Cost,
        name: "Groups of rows",
        sentence: "Number of dense systems when rows with similar patterns share one, against the extra work allowed.",
        nothing: "No matching solves differ only in merging.",
        data: parameters::groups,
        of: None,
        operations: SOLVE,
    },
    Chart {
        id: "spectrum",
        group: Group::Limits,
        name: "Spectrum",
        sentence: "Eigenvalues of the preconditioned matrix, as estimated by the iterations: the closer together, the fewer iterations.",
        nothing: "No matching solve of the selected matrix records its Ritz values.",
        data: spectrum::spectrum,
        of: None,
        operations: SOLVE,
    },
    Chart {
        id: "set-up-break-even",
        group: Group::Cost,
        name: "Setup break-even",
        sentence: "Solves with one matrix, or one pattern, after which a preconditioner beats another in total time.",
        nothing: "No kernel has matching runs both with this preconditioner and with another one.",
        data: break_even::break_even,
        of: Some(break_even::bases),
        operations: SOLVE,
    },
    Chart {
        id: "solve-formats",
        group: Group::Compare,
        name: "Formats of A and G",
        sentence: "Time per iteration with A and G in CSR, HYB and HLL.",
        nothing: "No preconditioner has matching runs with several formats.",
        data: formats::by_format,
        of: Some(formats::ways),
        operations: SOLVE,
    },
];
