//! Every chart: its words, and the function that makes its numbers.

use super::plot::{Data, Plot};
use super::{compare, costs, matrices, planes, settings, sizes, spread};
use crate::state::ViewState;

/// One chart.
pub(super) struct Chart {
    /// Word in a link.
    pub(super) id: &'static str,
    pub(super) name: &'static str,
    /// What it shows, in one sentence.
    pub(super) sentence: &'static str,
    /// Why there is nothing to draw, when there is nothing.
    pub(super) nothing: &'static str,
    pub(super) data: for<'a> fn(&Data<'a>) -> Plot<'a>,
    /// What it can be about, if it offers a choice.
    pub(super) of: Option<fn(&Data<'_>) -> Vec<String>>,
}

const NO_THREADS: &str =
    "No opened bundle has runs that pass the filters with several thread counts.";
const NO_BLOCKS: &str = "No opened bundle has runs that pass the filters with several block sizes.";
const NO_RUNS: &str = "No run with a time passes the filters.";
const NO_SERIAL: &str = "No run that passes the filters has a time of cpu/csr/serial on its matrix to be compared with.";

/// Every chart, in the order offered.
pub(super) const CHARTS: [Chart; 22] = [
    Chart {
        id: "kernels",
        name: "Kernels by matrix",
        sentence: "How fast each kernel is on each matrix, at its best thread count or block size.",
        nothing: NO_RUNS,
        data: matrices::kernels,
        of: None,
    },
    Chart {
        id: "format",
        name: "Kernels of a format",
        sentence: "How fast the kernels of one format are on each matrix.",
        nothing: "No run with a time of a kernel of this format passes the filters.",
        data: matrices::of_format,
        of: Some(matrices::formats),
    },
    Chart {
        id: "serial",
        name: "Serial kernels",
        sentence: "How fast one thread is on each matrix with each format.",
        nothing: "No run of a serial kernel passes the filters.",
        data: matrices::serial,
        of: None,
    },
    Chart {
        id: "csr-hll",
        name: "Best CSR and best HLL",
        sentence: "The fastest CSR kernel against the fastest HLL kernel on each matrix.",
        nothing: "No run of a CSR or HLL kernel passes the filters.",
        data: matrices::csr_hll,
        of: None,
    },
    Chart {
        id: "parallel",
        name: "Best parallel and serial",
        sentence: "The fastest CPU kernel with several threads against cpu/csr/serial on each matrix.",
        nothing: NO_RUNS,
        data: matrices::parallel,
        of: None,
    },
    Chart {
        id: "four",
        name: "Serial, parallel, scalar, vector",
        sentence: "CSR four ways on each matrix: one thread, several, a GPU thread a row, a warp a row.",
        nothing: NO_RUNS,
        data: matrices::four,
        of: None,
    },
    Chart {
        id: "threads",
        name: "Threads",
        sentence: "Mean GFLOPS of each CPU kernel over the matrices that it ran on with all thread counts.",
        nothing: NO_THREADS,
        data: settings::by_threads,
        of: None,
    },
    Chart {
        id: "csr-hll-threads",
        name: "CSR and HLL by threads",
        sentence: "Mean GFLOPS of the fastest parallel CSR and HLL kernels against threads.",
        nothing: NO_THREADS,
        data: settings::csr_hll_by_threads,
        of: None,
    },
    Chart {
        id: "matrix-threads",
        name: "One matrix by threads",
        sentence: "CSR and ELLPACK kernels on the selected matrix against threads.",
        nothing: "No opened bundle has CSR or ELLPACK runs of the selected matrix with several thread counts.",
        data: settings::one_matrix,
        of: None,
    },
    Chart {
        id: "speedup",
        name: "Speed-up",
        sentence: "Mean speed-up of a kernel over cpu/csr/serial against threads, by number of entries.",
        nothing: NO_THREADS,
        data: settings::speedup,
        of: Some(settings::parallel_kernels),
    },
    Chart {
        id: "efficiency",
        name: "Efficiency",
        sentence: "Mean speed-up of a kernel over its threads, by number of entries.",
        nothing: NO_THREADS,
        data: settings::efficiency,
        of: Some(settings::parallel_kernels),
    },
    Chart {
        id: "blocks",
        name: "Threads a block",
        sentence: "Mean GFLOPS of each GPU kernel against the size of its blocks.",
        nothing: NO_BLOCKS,
        data: settings::by_block,
        of: None,
    },
    Chart {
        id: "best-block",
        name: "Best block size",
        sentence: "Each GPU kernel at its best block size (beside the mark), by the mean over the matrices and by the peak.",
        nothing: NO_BLOCKS,
        data: settings::best_block,
        of: None,
    },
    Chart {
        id: "deviation",
        name: "Row lengths",
        sentence: "GFLOPS of the fastest kernel of each format against how uneven the rows of a matrix are.",
        nothing: NO_RUNS,
        data: planes::deviation,
        of: None,
    },
    Chart {
        id: "roofline",
        name: "Roofline",
        sentence: "The fastest kernel of each format under the measured bandwidth; small hollow marks count the bytes of padding too.",
        nothing: NO_RUNS,
        data: planes::roofline,
        of: None,
    },
    Chart {
        id: "profile",
        name: "Performance profile",
        sentence: "On how many of a bundle's matrices a kernel takes at most τ times as long as the best (Dolan and Moré).",
        nothing: NO_RUNS,
        data: spread::profile,
        of: None,
    },
    Chart {
        id: "samples",
        name: "Raw times",
        sentence: "Every time that was measured on the selected matrix, with median and quartiles, at each kernel's best setting.",
        nothing: "No run with a time on the selected matrix passes the filters.",
        data: spread::samples,
        of: None,
    },
    Chart {
        id: "bytes",
        name: "Bytes and padding",
        sentence: "Bytes an entry in each format, without padding (full) and with it (hollow).",
        nothing: "No matrix with entries passes the filters.",
        data: sizes::bytes_of_formats,
        of: None,
    },
    Chart {
        id: "hot-cold",
        name: "Warm and flushed caches",
        sentence: "GFLOPS of each kernel on each matrix with warm caches against those with flushed ones.",
        nothing: "No opened bundle has a run that passes the filters both with warm and with flushed caches.",
        data: planes::hot_cold,
        of: None,
    },
    Chart {
        id: "conversion",
        name: "Conversion",
        sentence: "What conversion from CSR and planning cost, counted in products of cpu/csr/serial.",
        nothing: NO_SERIAL,
        data: costs::conversion,
        of: None,
    },
    Chart {
        id: "break-even",
        name: "Break-even",
        sentence: "After how many products conversion and plan have paid against cpu/csr/serial.",
        nothing: NO_SERIAL,
        data: costs::break_even,
        of: None,
    },
    Chart {
        id: "compare",
        name: "Changes between bundles",
        sentence: "How many times as long each run takes as in the baseline, with 95 % intervals: left of 1 is faster, hollow is unclear.",
        nothing: "No timed run that passes the filters is in two opened bundles.",
        data: compare::compare,
        of: None,
    },
];

/// The chart that the state names; the first where it names none that exists.
pub(super) fn current(state: &ViewState) -> &'static Chart {
    let [first, ..] = &CHARTS;
    CHARTS.iter().find(|chart| chart.id == state.charts.chart).unwrap_or(first)
}

/// The words for all charts.
#[cfg(not(target_family = "wasm"))]
pub(crate) fn ids() -> impl Iterator<Item = &'static str> + Clone {
    CHARTS.iter().map(|chart| chart.id)
}
