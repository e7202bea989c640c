//! The kernels that solve many small dense systems.

use super::descriptor::{DeviceKind, KernelDescriptor, Needs, Origin, Reads, Takes};
use super::mapping::Mapping;
use super::parameter::{Allowed, Parameter};
use crate::record::{Operation, Precision};

/// A kernel of the processor. What is not positive definite it flags, so that none needs it to be.
const fn cpu(
    id: &'static str,
    mapping: Mapping,
    origin: &'static [Origin],
    summary: &'static str,
) -> KernelDescriptor {
    KernelDescriptor {
        id,
        operation: Operation::BatchedDense,
        reads: Reads::Systems,
        device: DeviceKind::Cpu,
        mapping,
        summary,
        origin,
        precisions: &[Precision::F64],
        exact: false,
        deterministic: true,
        needs: Needs { finite_x: false, spd: false, full_diagonal: false },
        takes: Takes { threads: !matches!(mapping, Mapping::Serial), block: false, order: false },
        parameters: &[(Parameter::Rhs, Allowed::Any)],
        model: None,
        user: None,
    }
}

/// Every kernel of a batch, in the order in which tables list them.
#[rustfmt::skip]
pub(super) static KERNELS: &[KernelDescriptor] = &[
    cpu("cpu/dense/gauss", Mapping::Serial, &[Origin::Paper003],
        "one thread, elimination without pivoting on [A|b], system after system; the reference"),
    cpu("cpu/dense/cholesky", Mapping::OwnSystems, &[Origin::Ours],
        "each thread's systems four at a time in the lanes of vectors, eliminated in tiles of 3 x 3"),
    cpu("vendor/faer/cholesky", Mapping::OwnSystems, &[Origin::Vendor],
        "the library faer factors and solves each thread's systems one after the other"),
];
