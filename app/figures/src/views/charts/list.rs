//! Every chart: its texts, and the function that computes its numbers.

use sparsescope_core::record::Operation;

use super::chart::{Chart, Group, Operations};
use super::{
    batches, choices, compare, convergence, costs, entries, errors, matrices, planes, ranks,
    settings, sizes, skylines, solves, spread, sweeps,
};
use crate::state::ViewState;

const SPMV: Operations = Operations::Only(&[Operation::Spmv]);
const SYMGS: Operations = Operations::Only(&[Operation::Symgs]);
const ON_MATRICES: Operations = Operations::Only(&[Operation::Spmv, Operation::Symgs]);
const ITERATIVE: Operations = Operations::Only(&[Operation::Symgs, Operation::Solve]);

const NO_THREADS: &str =
    "No opened bundle has runs that pass the filters with several thread counts.";
const NO_BLOCKS: &str = "No opened bundle has runs that pass the filters with several block sizes.";
const NO_RUNS: &str = "No run with a time passes the filters.";
const NO_SERIAL: &str =
    "No run that passes the filters has a time of the serial reference to be compared with.";

const NO_RESIDUALS: &str = "No run on what is selected that passes the filters tells its residuals: solves do, and sweeps of mode standard.";

/// All charts except those specific to one operation, in display order within their groups.
pub(super) const CHARTS: [Chart; 32] = [
    Chart {
        id: "kernels",
        group: Group::Compare,
        name: "Kernels by matrix",
        sentence: "How fast each kernel is on each matrix, at its best thread count or block size.",
        nothing: NO_RUNS,
        data: matrices::kernels,
        of: None,
        operations: Operations::Any,
    },
    Chart {
        id: "format",
        group: Group::Compare,
        name: "Kernels of a format",
        sentence: "How fast the kernels of one format are on each matrix.",
        nothing: "No run with a time of a kernel of this format passes the filters.",
        data: matrices::of_format,
        of: Some(matrices::formats),
        operations: SPMV,
    },
    Chart {
        id: "serial",
        group: Group::Compare,
        name: "Serial kernels",
        sentence: "How fast one thread is on each matrix with each format.",
        nothing: "No run of a serial kernel passes the filters.",
        data: matrices::serial,
        of: None,
        operations: SPMV,
    },
    Chart {
        id: "csr-hll",
        group: Group::Compare,
        name: "Best CSR and best HLL",
        sentence: "The fastest CSR kernel against the fastest HLL kernel on each matrix.",
        nothing: "No run of a CSR or HLL kernel passes the filters.",
        data: matrices::csr_hll,
        of: None,
        operations: SPMV,
    },
    Chart {
        id: "parallel",
        group: Group::Compare,
        name: "Best parallel and serial",
        sentence: "The fastest CPU kernel with several threads against cpu/csr/serial on each matrix.",
        nothing: NO_RUNS,
        data: matrices::parallel,
        of: None,
        operations: SPMV,
    },
    Chart {
        id: "four",
        group: Group::Compare,
        name: "Serial, parallel, scalar, vector",
        sentence: "CSR four ways on each matrix: one thread, several, a GPU thread a row, a warp a row.",
        nothing: NO_RUNS,
        data: matrices::four,
        of: None,
        operations: SPMV,
    },
    Chart {
        id: "ell-four",
        group: Group::Compare,
        name: "ELLPACK four ways",
        sentence: "ELLPACK on each matrix with one thread, with several, and on a GPU in both orders of storage, over one thread.",
        nothing: "No matrix has a time of cpu/ell/serial and one of another ELLPACK kernel that pass the filters.",
        data: matrices::ell_four,
        of: None,
        operations: SPMV,
    },
    Chart {
        id: "time-entries",
        group: Group::Scaling,
        name: "Time an entry",
        sentence: "How long each kernel takes for an entry, at its best setting, the more entries a matrix has.",
        nothing: NO_RUNS,
        data: entries::time,
        of: Some(entries::families),
        operations: ON_MATRICES,
    },
    Chart {
        id: "threads",
        group: Group::Scaling,
        name: "Threads",
        sentence: "Mean rate of each CPU kernel over what it ran on with all thread counts.",
        nothing: NO_THREADS,
        data: settings::by_threads,
        of: None,
        operations: Operations::Any,
    },
    Chart {
        id: "csr-hll-threads",
        group: Group::Scaling,
        name: "CSR and HLL by threads",
        sentence: "Mean GFLOPS of the fastest parallel CSR and HLL kernels against threads.",
        nothing: NO_THREADS,
        data: settings::csr_hll_by_threads,
        of: None,
        operations: SPMV,
    },
    Chart {
        id: "matrix-threads",
        group: Group::Scaling,
        name: "One matrix by threads",
        sentence: "CSR and ELLPACK kernels on the selected matrix against threads.",
        nothing: "No opened bundle has CSR or ELLPACK runs of the selected matrix with several thread counts.",
        data: settings::one_matrix,
        of: None,
        operations: SPMV,
    },
    Chart {
        id: "speedup",
        group: Group::Scaling,
        name: "Speed-up",
        sentence: "Mean speed-up of a kernel over the serial reference against threads, by number of entries, set or preconditioner.",
        nothing: NO_THREADS,
        data: settings::speedup,
        of: Some(settings::parallel_kernels),
        operations: Operations::Any,
    },
    Chart {
        id: "efficiency",
        group: Group::Scaling,
        name: "Efficiency",
        sentence: "Mean speed-up of a kernel over its threads, by number of entries, set or preconditioner.",
        nothing: NO_THREADS,
        data: settings::efficiency,
        of: Some(settings::parallel_kernels),
        operations: Operations::Any,
    },
    Chart {
        id: "blocks",
        group: Group::Scaling,
        name: "Threads a block",
        sentence: "Mean rate of each GPU kernel against the size of its blocks.",
        nothing: NO_BLOCKS,
        data: settings::by_block,
        of: None,
        operations: Operations::Any,
    },
    Chart {
        id: "matrix-blocks",
        group: Group::Scaling,
        name: "Block size by matrix",
        sentence: "One GPU kernel on every matrix, at each size of its blocks.",
        nothing: "No run of this GPU kernel passes the filters.",
        data: matrices::blocks,
        of: Some(settings::block_kernels),
        operations: Operations::Any,
    },
    Chart {
        id: "occupancy",
        group: Group::Scaling,
        name: "Occupancy",
        sentence: "How much of a multiprocessor the blocks of each GPU kernel fill, against their size; the least of its launches on any subject.",
        nothing: "No run that passes the filters tells what its launches take of a multiprocessor: GPU kernels do.",
        data: settings::occupancy,
        of: None,
        operations: Operations::Any,
    },
    Chart {
        id: "best-block",
        group: Group::Scaling,
        name: "Best block size",
        sentence: "Each GPU kernel at its best block size (beside the mark), by the mean over the matrices and by the peak.",
        nothing: NO_BLOCKS,
        data: settings::best_block,
        of: None,
        operations: Operations::Any,
    },
    Chart {
        id: "deviation",
        group: Group::Limits,
        name: "Row lengths",
        sentence: "GFLOPS of the fastest kernel of each format against how uneven the rows of a matrix are.",
        nothing: NO_RUNS,
        data: planes::deviation,
        of: None,
        operations: SPMV,
    },
    Chart {
        id: "roofline",
        group: Group::Limits,
        name: "Roofline",
        sentence: "The fastest kernel of each format under the measured bandwidth; small hollow marks count the bytes of padding too.",
        nothing: NO_RUNS,
        data: planes::roofline,
        of: None,
        operations: SPMV,
    },
    Chart {
        id: "profile",
        group: Group::Compare,
        name: "Performance profile",
        sentence: "On how many of a bundle's matrices a kernel takes at most τ times as long as the best (Dolan and Moré).",
        nothing: NO_RUNS,
        data: spread::profile,
        of: None,
        operations: Operations::Any,
    },
    Chart {
        id: "samples",
        group: Group::Raw,
        name: "Raw times",
        sentence: "Every time that was measured on what is selected, with median and quartiles, at each kernel's best setting.",
        nothing: "No run with a time on what is selected passes the filters.",
        data: spread::samples,
        of: None,
        operations: Operations::Any,
    },
    Chart {
        id: "bytes",
        group: Group::Cost,
        name: "Bytes and padding",
        sentence: "Bytes an entry in each format, without padding (full) and with it (hollow).",
        nothing: "No matrix with entries passes the filters.",
        data: sizes::bytes_of_formats,
        of: None,
        operations: SPMV,
    },
    Chart {
        id: "hot-cold",
        group: Group::Limits,
        name: "Warm and flushed caches",
        sentence: "The rate of each kernel with warm caches against that with flushed ones, a mark a matrix.",
        nothing: "No opened bundle has a run that passes the filters both with warm and with flushed caches.",
        data: planes::hot_cold,
        of: None,
        operations: Operations::Any,
    },
    Chart {
        id: "expected",
        group: Group::Limits,
        name: "Expected and measured",
        sentence: "How long kernels were expected to take from the matrix alone, against what the trial of cuda/spmv/auto measured.",
        nothing: "No run that passes the filters has chosen a kernel by what it was expected to take.",
        data: choices::expected,
        of: None,
        operations: SPMV,
    },
    Chart {
        id: "conversion",
        group: Group::Cost,
        name: "Conversion",
        sentence: "What conversion and planning cost, counted in executions of the serial reference.",
        nothing: NO_SERIAL,
        data: costs::conversion,
        of: None,
        operations: Operations::Any,
    },
    Chart {
        id: "break-even",
        group: Group::Cost,
        name: "Break-even",
        sentence: "After how many executions conversion and plan have paid against the serial reference.",
        nothing: NO_SERIAL,
        data: costs::break_even,
        of: None,
        operations: Operations::Any,
    },
    Chart {
        id: "errors",
        group: Group::Raw,
        name: "Errors",
        sentence: "How far each result is from the reference, though within its bound: a mark a run.",
        nothing: "No run that passes the filters records how far its result is off.",
        data: errors::errors,
        of: Some(errors::measures),
        operations: Operations::Any,
    },
    Chart {
        id: "convergence",
        group: Group::Compare,
        name: "Convergence",
        sentence: "How far the residual falls with each symmetric sweep or iteration: what is faster may need more of them; kernels that go the same way share a line.",
        nothing: NO_RESIDUALS,
        data: convergence::by_steps,
        of: None,
        operations: ITERATIVE,
    },
    Chart {
        id: "convergence-time",
        group: Group::Compare,
        name: "Convergence in time",
        sentence: "How far the residual has fallen after how long, at each kernel's best setting.",
        nothing: NO_RESIDUALS,
        data: convergence::by_time,
        of: None,
        operations: ITERATIVE,
    },
    Chart {
        id: "parallelism",
        group: Group::Limits,
        name: "Parallelism",
        sentence: "How long a symmetric sweep takes on matrices whose levels are wide or narrow, few or many.",
        nothing: "No opened bundle has a time that passes the filters and the levels of its matrix.",
        data: sweeps::parallelism,
        of: Some(sweeps::against),
        operations: SYMGS,
    },
    Chart {
        id: "passes",
        group: Group::Limits,
        name: "Blocks with work",
        sentence: "How many blocks each pass over the rows launches, and how many of them find work.",
        nothing: "No run on what is selected that passes the filters counted its passes: kernels that go over all rows again and again do.",
        data: sweeps::passes,
        of: None,
        operations: SYMGS,
    },
    Chart {
        id: "compare",
        group: Group::Compare,
        name: "Changes between bundles",
        sentence: "How many times as long each run takes as in the baseline, with 95 % intervals: left of 1 is faster, hollow is unclear.",
        nothing: "No timed run that passes the filters is in two opened bundles.",
        data: compare::compare,
        of: None,
        operations: Operations::Any,
    },
];

/// Every chart.
fn all() -> impl Iterator<Item = &'static Chart> {
    let of_one = skylines::CHARTS.iter().chain(&solves::CHARTS).chain(&batches::CHARTS);
    CHARTS.iter().chain(of_one).chain(&ranks::CHARTS)
}

/// The chart that the state names; the first one if it does not exist for the operation.
pub fn current(state: &ViewState) -> &'static Chart {
    let [first, ..] = &CHARTS;
    let is_named = |chart: &&Chart| chart.id == state.charts.chart;
    offered(state).find(is_named).unwrap_or(first)
}

/// The charts for the operation that is shown.
pub fn offered(state: &ViewState) -> impl Iterator<Item = &'static Chart> {
    all().filter(|chart| chart.is_for(&state.filter.operation))
}

/// The ids of the charts for an operation.
pub fn ids_for(operation: &str) -> impl Iterator<Item = &'static str> {
    all().filter(move |chart| chart.is_for(operation)).map(|chart| chart.id)
}

/// The ids of all charts.
pub fn ids() -> impl Iterator<Item = &'static str> {
    all().map(|chart| chart.id)
}
