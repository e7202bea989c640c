//! The charts of skylines: their texts, and the functions that compute their numbers.

use sparsescope_core::record::Operation;

use super::{crossover, gpu, sets, times, versions};
use crate::views::charts::chart::{Chart, Group, Operations};

const SKYLINE: Operations = Operations::Only(&[Operation::Skyline]);

const NO_GPU: &str =
    "No run of a GPU kernel that passes the filters tells its transfers and allocation.";

/// In display order within their groups, after those of all operations.
pub(in crate::views::charts) const CHARTS: [Chart; 11] = [
    Chart {
        id: "time-points",
        group: Group::Compare,
        name: "Time against points",
        sentence: "How long each kernel takes at its best setting on more and more points of one kind.",
        nothing: "No two sets of points of one kind and as many dimensions have runs that pass the filters.",
        data: times::by_points,
        of: Some(sets::of_points),
        operations: SKYLINE,
    },
    Chart {
        id: "time-dimensions",
        group: Group::Compare,
        name: "Time against dimensions",
        sentence: "How long each kernel takes at its best setting on as many points of more and more dimensions.",
        nothing: "No two sets of as many points of one kind that differ in dimensions have runs that pass the filters.",
        data: times::by_dimensions,
        of: Some(sets::of_dimensions),
        operations: SKYLINE,
    },
    Chart {
        id: "time-bytes",
        group: Group::Compare,
        name: "Time against bytes",
        sentence: "How long each kernel takes at its best setting against the size of its input, a mark a set.",
        nothing: "No run with a time on a set of points passes the filters.",
        data: times::by_bytes,
        of: None,
        operations: SKYLINE,
    },
    Chart {
        id: "versions",
        group: Group::Compare,
        name: "Older and final version",
        sentence: "Paper 004's two versions for processors: each thread decides its own points, or marks what they dominate for all threads.",
        nothing: "No run of cpu/skyline/own-points or cpu/skyline/shared-marks with a time passes the filters.",
        data: versions::old_and_final,
        of: Some(versions::about),
        operations: SKYLINE,
    },
    Chart {
        id: "ways",
        group: Group::Compare,
        name: "Row by row, coalesced, local",
        sentence: "The GPU's ways of reading points: the coordinates of a point side by side, or the same coordinates of all points; a thread's own point in local memory, in registers, or not kept.",
        nothing: "No run of paper 004's kernels for GPUs with a time passes the filters.",
        data: times::ways,
        of: None,
        operations: SKYLINE,
    },
    Chart {
        id: "gpu-gain",
        group: Group::Compare,
        name: "GPU over processor",
        sentence: "How many times as fast each GPU kernel is as the processor on the same points.",
        nothing: "No bundle has runs that pass the filters of a GPU kernel and of the processor kernel that it is compared with on the same points.",
        data: gpu::gain,
        of: Some(gpu::baselines),
        operations: SKYLINE,
    },
    Chart {
        id: "crossover",
        group: Group::Compare,
        name: "Where the GPU pays",
        sentence: "What each kernel takes in all on more and more points of one kind, on the processor and on the GPU.",
        nothing: "No bundle has runs that pass the filters of the processor and of a GPU, with its transfers and allocation, on several sets of this kind.",
        data: crossover::crossover,
        of: Some(sets::of_points),
        operations: SKYLINE,
    },
    Chart {
        id: "weak",
        group: Group::Scaling,
        name: "Weak efficiency",
        sentence: "One thread on N₀ points against p threads on N₀·√p (within 1 %) of the same kind and dimensions: the work grows as N².",
        nothing: "No kernel has a run with one thread on N₀ points and one with p threads on N₀·√p (within 1 %) of the same kind and dimensions that pass the filters.",
        data: versions::weak,
        of: None,
        operations: SKYLINE,
    },
    Chart {
        id: "transfer",
        group: Group::Cost,
        name: "Transfer and allocation",
        sentence: "What share of all that a GPU kernel takes goes into copying and into allocating memory, each measured once.",
        nothing: NO_GPU,
        data: gpu::transfer,
        of: None,
        operations: SKYLINE,
    },
    Chart {
        id: "counting",
        group: Group::Cost,
        name: "Counting",
        sentence: "GPU kernels that leave counting the points kept to the host, against the same that count by atomic additions: kernel and copying back.",
        nothing: "No GPU kernel has runs that pass the filters both counting on the device and counting on the host.",
        data: gpu::counting,
        of: None,
        operations: SKYLINE,
    },
    Chart {
        id: "comparisons",
        group: Group::Limits,
        name: "Comparisons",
        sentence: "How many comparisons of points the fastest run of each kernel made, as a share of all; a line goes to what its other runs made.",
        nothing: "No run that passes the filters tells how many comparisons it made.",
        data: times::comparisons,
        of: None,
        operations: SKYLINE,
    },
];
