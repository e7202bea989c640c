//! The charts of skylines: their texts, and the functions that compute their numbers.

use sparsescope_core::record::Operation;

use super::{crossover, gpu, sets, times, versions};
use crate::views::charts::chart::{Chart, Group, Operations};

const SKYLINE: Operations = Operations::Only(&[Operation::Skyline]);

const NO_GPU: &str = "No matching run of a GPU kernel records its transfers and allocation.";

/// In display order within their groups, after those of all operations.
pub(in crate::views::charts) const CHARTS: [Chart; 11] = [
    Chart {
        id: "time-points",
        group: Group::Compare,
        name: "Time against points",
        sentence: "Time of each kernel, at its best setting, against the number of points of one kind.",
        nothing: "No matching runs on two point sets of the same kind and dimension.",
        data: times::by_points,
        of: Some(sets::of_points),
        operations: SKYLINE,
    },
    Chart {
        id: "time-dimensions",
        group: Group::Compare,
        name: "Time against dimensions",
        sentence: "Time of each kernel, at its best setting, against the dimension, for the same number of points.",
        nothing: "No matching runs on two point sets of the same kind and size but different dimensions.",
        data: times::by_dimensions,
        of: Some(sets::of_dimensions),
        operations: SKYLINE,
    },
    Chart {
        id: "time-bytes",
        group: Group::Compare,
        name: "Time against bytes",
        sentence: "Time of each kernel, at its best setting, against the size of its input, one mark per set.",
        nothing: "No timed run on a point set passes the filters.",
        data: times::by_bytes,
        of: None,
        operations: SKYLINE,
    },
    Chart {
        id: "versions",
        group: Group::Compare,
        name: "Older and final versions",
        sentence: "The skyline report's two CPU versions: each thread checks whether its own points are dominated, or marks the points they dominate for all threads.",
        nothing: "No timed run of cpu/skyline/own-points or cpu/skyline/shared-marks passes the filters.",
        data: versions::old_and_final,
        of: Some(versions::about),
        operations: SKYLINE,
    },
    Chart {
        id: "ways",
        group: Group::Compare,
        name: "Row-major, coalesced, local",
        sentence: "How GPU kernels read points: row-major or coalesced, with the thread's own point in local memory, in registers, or only in global memory.",
        nothing: "No timed run of the skyline report's GPU kernels passes the filters.",
        data: times::ways,
        of: None,
        operations: SKYLINE,
    },
    Chart {
        id: "gpu-gain",
        group: Group::Compare,
        name: "GPU over CPU",
        sentence: "Speed-up of each GPU kernel over the CPU on the same points.",
        nothing: "No bundle has matching runs of a GPU kernel and of the CPU baseline on the same points.",
        data: gpu::gain,
        of: Some(gpu::baselines),
        operations: SKYLINE,
    },
    Chart {
        id: "crossover",
        group: Group::Compare,
        name: "Where the GPU pays off",
        sentence: "Total time of each CPU and GPU kernel against the number of points of one kind.",
        nothing: "No bundle has matching runs of a CPU kernel, and of a GPU kernel with recorded transfers and allocation, on several sets of this kind.",
        data: crossover::crossover,
        of: Some(sets::of_points),
        operations: SKYLINE,
    },
    Chart {
        id: "weak",
        group: Group::Scaling,
        name: "Weak efficiency",
        sentence: "One thread on N₀ points against p threads on N₀·√p (within 1 %) of the same kind and dimensions: the work grows as N².",
        nothing: "No kernel has matching runs with one thread on N₀ points and with p threads on N₀·√p (within 1 %) of the same kind and dimensions.",
        data: versions::weak,
        of: None,
        operations: SKYLINE,
    },
    Chart {
        id: "transfer",
        group: Group::Cost,
        name: "Transfer and allocation",
        sentence: "Share of a GPU kernel's total time spent copying and allocating memory; each is measured once.",
        nothing: NO_GPU,
        data: gpu::transfer,
        of: None,
        operations: SKYLINE,
    },
    Chart {
        id: "counting",
        group: Group::Cost,
        name: "Counting",
        sentence: "GPU kernels that count the skyline points on the host, against the same kernels with atomic additions. Times include the copy back.",
        nothing: "No GPU kernel has matching runs that count on the device and on the host.",
        data: gpu::counting,
        of: None,
        operations: SKYLINE,
    },
    Chart {
        id: "comparisons",
        group: Group::Limits,
        name: "Comparisons",
        sentence: "Point comparisons made by the fastest run of each kernel, as a share of all N·(N − 1); the line spans its other runs.",
        nothing: "No matching run records its comparisons.",
        data: times::comparisons,
        of: None,
        operations: SKYLINE,
    },
];
