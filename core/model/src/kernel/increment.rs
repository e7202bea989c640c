//! The kernels of x ← x + 1.

use super::descriptor::{DeviceKind, KernelDescriptor, Needs, Origin, Reads, Takes};
use super::mapping::Mapping;
use sparsescope_record::{Operation, Precision};

const fn increment(
    id: &'static str,
    mapping: Mapping,
    threads: bool,
    summary: &'static str,
) -> KernelDescriptor {
    KernelDescriptor {
        id,
        operation: Operation::Increment,
        reads: Reads::Vector,
        device: DeviceKind::Cpu,
        mapping,
        summary,
        origin: &[Origin::Ours],
        precisions: &[Precision::F64],
        exact: true,
        deterministic: true,
        needs: Needs { finite_x: false, spd: false, full_diagonal: false },
        takes: Takes { threads, block: false, order: false },
        parameters: &[],
        model: None,
        user: None,
        rank: 0,
        version: None,
    }
}

/// Every kernel for an increment, in the order in which tables list them.
pub(super) static KERNELS: &[KernelDescriptor] = &[
    increment("cpu/increment/serial", Mapping::Serial, false, "one thread, element by element"),
    increment("cpu/increment/parts", Mapping::EqualRows, true, "equal parts, one per thread"),
];
