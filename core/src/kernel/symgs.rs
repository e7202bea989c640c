//! The symmetric Gauss–Seidel kernels.

use super::descriptor::{DeviceKind, KernelDescriptor, Needs, Origin, Reads, Takes};
use super::format::Format;
use super::mapping::Mapping;
use super::parameter::{Allowed, Parameter};
use crate::record::{Operation, Precision};

/// A CPU kernel. Its result is the same in every run and equals the serial loop bit by bit, either
/// on the matrix as it is or renumbered by colour.
const fn cpu(
    id: &'static str,
    mapping: Mapping,
    origin: &'static [Origin],
    summary: &'static str,
) -> KernelDescriptor {
    KernelDescriptor {
        id,
        operation: Operation::Symgs,
        reads: Reads::Matrix(Format::Csr),
        device: DeviceKind::Cpu,
        mapping,
        summary,
        origin,
        precisions: &Precision::ALL,
        exact: !matches!(mapping, Mapping::Colors),
        deterministic: true,
        needs: Needs { finite_x: false, spd: false, full_diagonal: true },
        takes: Takes { threads: !matches!(mapping, Mapping::Serial), block: false, order: false },
        parameters: &[(Parameter::Mode, Allowed::Any)],
        model: None,
        user: None,
    }
}

/// A GPU kernel; exact: it equals the serial loop bit by bit.
const fn cuda(
    id: &'static str,
    mapping: Mapping,
    exact: bool,
    origin: &'static [Origin],
    summary: &'static str,
) -> KernelDescriptor {
    KernelDescriptor {
        device: DeviceKind::Cuda,
        exact,
        takes: Takes { threads: false, block: false, order: false },
        ..cpu(id, mapping, origin, summary)
    }
}

/// Every kernel for a symmetric sweep, in the order in which tables list them.
#[rustfmt::skip]
pub(super) static KERNELS: &[KernelDescriptor] = &[
    cpu("cpu/symgs/serial", Mapping::Serial, &[Origin::Paper001],
        "one thread, the rows in ascending and then in descending order; the reference"),
    cpu("cpu/symgs/levels", Mapping::Levels, &[Origin::Ours],
        "the rows of a dependency level at once, level after level; the bits of the serial loop"),
    cpu("cpu/symgs/colored", Mapping::Colors, &[Origin::Ours],
        "the rows of a colour at once, colour after colour: another order, so another iteration"),
    cuda("cuda/symgs/ready-done", Mapping::Passes, false, &[Origin::Paper001],
        "passes: a thread a row asks whether it is ready, a block a row does it if so, until all are done"),
    cuda("cuda/symgs/ready-compact", Mapping::Passes, false, &[Origin::Paper001, Origin::Ours],
        "passes: rows that are ready are listed, and only they get a block"),
    cuda("cuda/symgs/levels", Mapping::Levels, true, &[Origin::Ours],
        "a launch a level, narrow levels merged into one whose blocks wait for one another"),
    cuda("cuda/symgs/sync-free", Mapping::Waiting, true, &[Origin::Ours],
        "one launch a sweep, each row waiting for the elements it needs; in the form that suits the matrix"),
    cuda("cuda/symgs/colored", Mapping::Colors, false, &[Origin::Ours],
        "a launch a colour, the rows of a colour in column-major slices"),
    KernelDescriptor {
        deterministic: false,
        parameters: &[(Parameter::Mode, Allowed::Only(&["standard"]))],
        ..cuda("vendor/cusparse/spsv", Mapping::Library, false, &[Origin::Vendor],
            "cuSPARSE: a product with one strict triangle and a solve with the other, twice")
    },
];
