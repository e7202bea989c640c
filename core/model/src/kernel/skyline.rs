//! The kernels of the skyline (Pareto front) operator.

use super::counting::Counting;
use super::descriptor::{DeviceKind, KernelDescriptor, Origin, Reads, Takes, Version};
use super::mapping::Mapping;
use super::parameter::{About, Group, Param, Values};
use sparsescope_record::Operation;

/// Where a GPU kernel counts the points that it keeps.
pub static COUNTING: Param<Counting> = Param {
    usual: Counting::Device,
    values: Values::Words(&Counting::ALL, Counting::as_str),
    about: About {
        group: Group::Kernels,
        ..About::OPTION.named(9, "counting", "counting").described(
            "WHERE,...",
            "Skyline: where all CUDA kernels but fast count skyline points: device (with atomics) or \
            host",
        )
    },
};

/// A CPU kernel. All keep the same points.
const fn cpu(
    id: &'static str,
    mapping: Mapping,
    origin: &'static [Origin],
    summary: &'static str,
) -> KernelDescriptor {
    let of = (Operation::Skyline, Reads::Points);
    KernelDescriptor { exact: true, ..KernelDescriptor::cpu(of, id, mapping, origin, summary) }
}

/// A GPU kernel that compares each point with the others, one thread per point.
const fn cuda(id: &'static str, summary: &'static str) -> KernelDescriptor {
    KernelDescriptor {
        device: DeviceKind::Cuda,
        takes: Takes { threads: false, block: true, order: false },
        parameters: const { &[COUNTING.any()] },
        ..cpu(id, Mapping::OwnPoints, &[Origin::Paper004], summary)
    }
}

const fn way(place: u8) -> Version {
    Version::Way { place, is_local: false }
}

/// A way with the thread's own point in local memory.
const fn local(place: u8) -> Version {
    Version::Way { place, is_local: true }
}

/// Every skyline kernel, in the order in which tables list them.
#[rustfmt::skip]
pub(super) static KERNELS: &[KernelDescriptor] = &[
    cpu("cpu/skyline/serial", Mapping::Serial, &[Origin::Paper004],
        "one thread; compares each point with all others until one dominates it; the reference"),
    cpu("cpu/skyline/own-points", Mapping::OwnPoints, &[Origin::Paper004],
        "each thread tests an equal part of the points").of_version(Version::Older),
    cpu("cpu/skyline/shared-marks", Mapping::Marks, &[Origin::Paper004],
        "each thread marks the points that its part dominates, in an array shared by all threads")
        .of_version(Version::Final),
    cpu("cpu/skyline/fast", Mapping::Sorted, &[Origin::Ours],
        "sorts points so that none dominates an earlier one, then compares each with the skyline so far"),
    cuda("cuda/skyline/row-major",
        "one thread per point; coordinates of a point are contiguous").of_version(way(0)),
    cuda("cuda/skyline/row-major-local",
        "the same, with the thread's own point in local memory").of_version(local(1)),
    cuda("cuda/skyline/coalesced-local",
        "one thread per point, its own point in local memory; coalesced loads")
        .of_version(local(3)),
    cuda("cuda/skyline/coalesced",
        "the same, without a copy of the thread's own point").of_version(way(2)),
    KernelDescriptor {
        origin: &[Origin::Ours],
        ..cuda("cuda/skyline/coalesced-registers",
            "the same, with the thread's own point in registers").of_version(way(4))
    },
    KernelDescriptor {
        mapping: Mapping::Sorted,
        origin: &[Origin::Ours],
        // Whether a point is found dominated before it is compared again depends on the block
        // order.
        deterministic: false,
        takes: Takes { threads: false, block: false, order: false },
        parameters: &[],
        ..cuda("cuda/skyline/fast",
            "filters all points against the best ones, then compares the rest in order with bit-encoded tiles of 1024 points")
    },
];
