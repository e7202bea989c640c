//! Every chart: its texts, and the function that computes its numbers.

use sparsescope_core::record::Operation;

use super::chart::{Chart, Group, Operations};
use super::{
    batches, choices, compare, convergence, costs, entries, errors, matrices, planes, ranks,
    rounding, settings, sizes, skylines, solves, spread, sweeps, vectors,
};
use crate::state::ViewState;

const SPMV: Operations = Operations::Only(&[Operation::Spmv]);
const PRODUCTS: Operations = Operations::Only(&[Operation::Spmv, Operation::Spmm]);
const SYMGS: Operations = Operations::Only(&[Operation::Symgs]);
const ON_MATRICES: Operations = Operations::Only(&[Operation::Spmv, Operation::Symgs]);
const ITERATIVE: Operations = Operations::Only(&[Operation::Symgs, Operation::Solve]);

const NO_THREADS: &str = "No matching runs with several thread counts.";
const NO_BLOCKS: &str = "No matching runs with several block sizes.";
const NO_RUNS: &str = "No run with a time passes the filters.";
const NO_SERIAL: &str = "No matching run has a serial reference time to compare with.";

const NO_RESIDUALS: &str = "No residual history for the matching runs of the selected matrix: solves and standard-mode sweeps record one.";

/// All charts except those specific to one operation, in display order within their groups.
pub(super) const CHARTS: [Chart; 33] = [
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
        nothing: "No timed run of a kernel of this format passes the filters.",
        data: matrices::of_format,
        of: Some(matrices::formats),
        operations: SPMV,
    },
    Chart {
        id: "serial",
        group: Group::Compare,
        name: "Serial kernels",
        sentence: "Single-thread speed of each format on each matrix.",
        nothing: "No run of a serial kernel passes the filters.",
        data: matrices::serial,
        of: None,
        operations: SPMV,
    },
    Chart {
        id: "csr-hll",
        group: Group::Compare,
        name: "Best CSR vs best HLL",
        sentence: "The fastest CSR kernel against the fastest HLL kernel on each matrix.",
        nothing: "No run of a CSR or HLL kernel passes the filters.",
        data: matrices::csr_hll,
        of: None,
        operations: SPMV,
    },
    Chart {
        id: "parallel",
        group: Group::Compare,
        name: "Best parallel vs serial",
        sentence: "The fastest multithreaded CPU kernel against cpu/csr/serial on each matrix.",
        nothing: NO_RUNS,
        data: matrices::parallel,
        of: None,
        operations: SPMV,
    },
    Chart {
        id: "four",
        group: Group::Compare,
        name: "CSR four ways",
        sentence: "CSR on each matrix: one CPU thread, several threads, one GPU thread per row, one warp per row.",
        nothing: NO_RUNS,
        data: matrices::four,
        of: None,
        operations: SPMV,
    },
    Chart {
        id: "ell-four",
        group: Group::Compare,
        name: "ELLPACK four ways",
        sentence: "ELLPACK speed-up over one thread: several threads, and a GPU in both storage orders.",
        nothing: "No matrix has matching runs of both cpu/ell/serial and another ELLPACK kernel.",
        data: matrices::ell_four,
        of: None,
        operations: SPMV,
    },
    Chart {
        id: "time-entries",
        group: Group::Scaling,
        name: "Time per nonzero",
        sentence: "Time per nonzero of each kernel, at its best setting, against the number of nonzeros.",
        nothing: NO_RUNS,
        data: entries::time,
        of: Some(entries::families),
        operations: ON_MATRICES,
    },
    Chart {
        id: "threads",
        group: Group::Scaling,
        name: "Threads",
        sentence: "Mean rate of each CPU kernel against threads, over the inputs it ran on at every thread count.",
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
        nothing: "No matching CSR or ELLPACK runs of the selected matrix with several thread counts.",
        data: settings::one_matrix,
        of: None,
        operations: SPMV,
    },
    Chart {
        id: "speedup",
        group: Group::Scaling,
        name: "Speed-up",
        sentence: "Mean speed-up of a kernel over the serial reference against threads, by number of nonzeros, point set or preconditioner.",
        nothing: NO_THREADS,
        data: settings::speedup,
        of: Some(settings::parallel_kernels),
        operations: Operations::Any,
    },
    Chart {
        id: "efficiency",
        group: Group::Scaling,
        name: "Efficiency",
        sentence: "Mean speed-up of a kernel divided by its threads, by number of nonzeros, point set or preconditioner.",
        nothing: NO_THREADS,
        data: settings::efficiency,
        of: Some(settings::parallel_kernels),
        operations: Operations::Any,
    },
    Chart {
        id: "blocks",
        group: Group::Scaling,
        name: "Threads per block",
        sentence: "Mean rate of each GPU kernel against threads per block.",
        nothing: NO_BLOCKS,
        data: settings::by_block,
        of: None,
        operations: Operations::Any,
    },
    Chart {
        id: "matrix-blocks",
        group: Group::Scaling,
        name: "Block size by matrix",
        sentence: "One GPU kernel on every matrix, at each block size.",
        nothing: "No run of this GPU kernel passes the filters.",
        data: matrices::blocks,
        of: Some(settings::block_kernels),
        operations: Operations::Any,
    },
    Chart {
        id: "occupancy",
        group: Group::Scaling,
        name: "Occupancy",
        sentence: "Occupancy of each GPU kernel against threads per block: the lowest of its launches on any input.",
        nothing: "No matching run records launch resources; GPU kernels do.",
        data: settings::occupancy,
        of: None,
        operations: Operations::Any,
    },
    Chart {
        id: "best-block",
        group: Group::Scaling,
        name: "Best block size",
        sentence: "Each GPU kernel at its best block size, by mean over the matrices and by peak.",
        nothing: NO_BLOCKS,
        data: settings::best_block,
        of: None,
        operations: Operations::Any,
    },
    Chart {
        id: "deviation",
        group: Group::Limits,
        name: "Row lengths",
        sentence: "GFLOPS of the fastest kernel of each format against the variation of row lengths.",
        nothing: NO_RUNS,
        data: planes::deviation,
        of: None,
        operations: SPMV,
    },
    Chart {
        id: "roofline",
        group: Group::Limits,
        name: "Roofline",
        sentence: "The fastest kernel of each format, for SpMM each kernel at each k, under the measured bandwidth; small hollow marks include padding bytes.",
        nothing: NO_RUNS,
        data: planes::roofline,
        of: None,
        operations: PRODUCTS,
    },
    Chart {
        id: "profile",
        group: Group::Compare,
        name: "Performance profile",
        sentence: "Share of a bundle's matrices on which a kernel takes at most τ times as long as the best (Dolan and Moré).",
        nothing: NO_RUNS,
        data: spread::profile,
        of: None,
        operations: Operations::Any,
    },
    Chart {
        id: "samples",
        group: Group::Raw,
        name: "Raw times",
        sentence: "Every measured time on the selected input, with median and quartiles, at each kernel's best setting.",
        nothing: "No timed run on the selected input passes the filters.",
        data: spread::samples,
        of: None,
        operations: Operations::Any,
    },
    Chart {
        id: "bytes",
        group: Group::Cost,
        name: "Bytes and padding",
        sentence: "Bytes per nonzero in each format, without padding (full) and with it (hollow).",
        nothing: "No matrix with nonzeros passes the filters.",
        data: sizes::bytes_of_formats,
        of: None,
        operations: PRODUCTS,
    },
    Chart {
        id: "hot-cold",
        group: Group::Limits,
        name: "Warm and flushed caches",
        sentence: "Rate of each kernel with warm caches against flushed caches, one mark per matrix.",
        nothing: "No matching runs with both warm and flushed caches.",
        data: planes::hot_cold,
        of: None,
        operations: Operations::Any,
    },
    Chart {
        id: "energy",
        group: Group::Limits,
        name: "Energy",
        sentence: "GFLOPS per watt against GFLOPS: each kernel at its best setting, one mark per input.",
        nothing: "No matching run has a measured energy; bench --energy measures it on NVIDIA GPUs.",
        data: planes::energy,
        of: None,
        operations: Operations::Any,
    },
    Chart {
        id: "expected",
        group: Group::Limits,
        name: "Expected and measured",
        sentence: "Kernel times that cuda/spmv/auto expected from the matrix alone, against the times its trial measured.",
        nothing: "No matching run chose a kernel by its expected time.",
        data: choices::expected,
        of: None,
        operations: SPMV,
    },
    Chart {
        id: "conversion",
        group: Group::Cost,
        name: "Conversion",
        sentence: "Cost of conversion and planning, in executions of the serial reference.",
        nothing: NO_SERIAL,
        data: costs::conversion,
        of: None,
        operations: Operations::Any,
    },
    Chart {
        id: "break-even",
        group: Group::Cost,
        name: "Break-even",
        sentence: "Executions after which conversion and planning pay off against the serial reference.",
        nothing: NO_SERIAL,
        data: costs::break_even,
        of: None,
        operations: Operations::Any,
    },
    Chart {
        id: "errors",
        group: Group::Raw,
        name: "Errors",
        sentence: "Error of each result against the reference, one mark per run.",
        nothing: "No matching run records the error of its result.",
        data: errors::errors,
        of: Some(errors::measures),
        operations: Operations::Any,
    },
    Chart {
        id: "convergence",
        group: Group::Compare,
        name: "Convergence",
        sentence: "Residual after each symmetric sweep or iteration: a faster kernel may need more of them. Kernels with the same residuals share a line.",
        nothing: NO_RESIDUALS,
        data: convergence::by_steps,
        of: None,
        operations: ITERATIVE,
    },
    Chart {
        id: "convergence-time",
        group: Group::Compare,
        name: "Convergence in time",
        sentence: "Residual against time, at each kernel's best setting.",
        nothing: NO_RESIDUALS,
        data: convergence::by_time,
        of: None,
        operations: ITERATIVE,
    },
    Chart {
        id: "parallelism",
        group: Group::Limits,
        name: "Parallelism",
        sentence: "Time of a symmetric sweep against the width or number of the levels of a matrix.",
        nothing: "No open bundle has both a matching run with a time and the levels of its matrix.",
        data: sweeps::parallelism,
        of: Some(sweeps::against),
        operations: SYMGS,
    },
    Chart {
        id: "passes",
        group: Group::Limits,
        name: "Blocks with work",
        sentence: "Blocks launched in each pass over the rows, and how many of them find work.",
        nothing: "No matching run on the selected matrix records passes; kernels that repeatedly pass over all rows do.",
        data: sweeps::passes,
        of: None,
        operations: SYMGS,
    },
    Chart {
        id: "compare",
        group: Group::Compare,
        name: "Changes between bundles",
        sentence: "Time of each run relative to the baseline, with 95 % intervals: left of 1 is faster, hollow is unclear, an arrow marks an interval that goes on beyond the axis.",
        nothing: "No matching run has a time in two open bundles.",
        data: compare::compare,
        of: None,
        operations: Operations::Any,
    },
];

/// Every chart.
fn all() -> impl Iterator<Item = &'static Chart> {
    let of_one = skylines::CHARTS.iter().chain(&solves::CHARTS).chain(&batches::CHARTS);
    let of_some = ranks::CHARTS.iter().chain(&vectors::CHARTS).chain(&rounding::CHARTS);
    CHARTS.iter().chain(of_one).chain(of_some)
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
