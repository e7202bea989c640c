//! The kernels of symmetric Gauss–Seidel.

use super::descriptor::{DeviceKind, KernelDescriptor, Needs, Origin, Reads, Takes};
use super::format::Format;
use super::mapping::Mapping;
use super::parameter::{Allowed, Parameter};
use crate::record::{Operation, Precision};

/// A kernel of the processor. Its result is the same in every run, and has the bits of the serial
/// loop: that of the matrix as it is, or numbered colour by colour.
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
        takes: Takes { threads: !matches!(mapping, Mapping::Serial), block: false },
        parameters: &[(Parameter::Mode, Allowed::Any)],
        model: None,
    }
}

/// Every kernel of a symmetric sweep, in the order in which tables list them.
#[rustfmt::skip]
pub(super) static KERNELS: &[KernelDescriptor] = &[
    cpu("cpu/symgs/serial", Mapping::Serial, &[Origin::Paper001],
        "one thread, the rows in ascending and then in descending order; the reference"),
    cpu("cpu/symgs/levels", Mapping::Levels, &[Origin::Ours],
        "the rows of a dependency level at once, level after level; the bits of the serial loop"),
    cpu("cpu/symgs/colored", Mapping::Colors, &[Origin::Ours],
        "the rows of a colour at once, colour after colour: another order, so another iteration"),
];
