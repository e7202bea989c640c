//! The kernels for several ranks: each rank multiplies its own rows with a single-process kernel.

use super::descriptor::{DeviceKind, KernelDescriptor, Needs, Origin, Reads, Takes};
use super::format::Format;
use super::mapping::Mapping;
use super::parameter::{Allowed, Parameter};
use sparsescope_matrix::matrix::Order;
use sparsescope_record::{Operation, Precision};

const fn over_mpi(
    id: &'static str,
    format: Format,
    mapping: Mapping,
    parameters: &'static [(Parameter, Allowed)],
    summary: &'static str,
) -> KernelDescriptor {
    KernelDescriptor {
        id,
        operation: Operation::Spmv,
        reads: Reads::Matrix(format),
        device: DeviceKind::Cpu,
        mapping,
        summary,
        origin: &[Origin::Ours],
        precisions: &[Precision::F64],
        exact: false,
        deterministic: true,
        needs: Needs { finite_x: false, spd: false, full_diagonal: false },
        takes: Takes { threads: true, block: false, order: false },
        parameters,
        model: None,
        user: None,
    }
}

const HACKS: &[(Parameter, Allowed)] = &[
    (Parameter::HackSize, Allowed::Any),
    (Parameter::Sigma, Allowed::Any),
    (Parameter::Spill, Allowed::Any),
];

/// Preconditioner, formats, iteration, system and stopping criteria.
const SOLVER: &[(Parameter, Allowed)] = &[
    (Parameter::Preconditioner, Allowed::Only(&["none", "jacobi", "fsai"])),
    (Parameter::Pattern, Allowed::Only(&["recursive", "power"])),
    (Parameter::Power, Allowed::Any),
    (Parameter::Prefilter, Allowed::Any),
    (Parameter::Postfilter, Allowed::Any),
    (Parameter::Shift, Allowed::Any),
    (Parameter::FormatA, Allowed::Only(&["csr", "hll"])),
    (Parameter::FormatG, Allowed::Only(&["csr", "hll"])),
    (Parameter::Tolerance, Allowed::Any),
    (Parameter::MaxIterations, Allowed::Any),
    (Parameter::RightSide, Allowed::Any),
    (Parameter::Start, Allowed::Any),
    (Parameter::Cg, Allowed::Any),
];

/// They run on the ranks that `mpirun` starts; no rank holds the whole matrix.
pub(super) static KERNELS: &[KernelDescriptor] = &[
    over_mpi(
        "mpi/csr/halo",
        Format::Csr,
        Mapping::EqualPieces,
        &[],
        "one block of rows per rank; exchanges the halo of x, then multiplies as csr/simd",
    ),
    over_mpi(
        "mpi/csr/halo-overlap",
        Format::Csr,
        Mapping::EqualPieces,
        &[],
        "one block of rows per rank; multiplies the interior as csr/simd during the halo exchange, \
        then the boundary",
    ),
    over_mpi(
        "mpi/hll/halo-overlap",
        Format::Hll(Order::ColumnMajor),
        Mapping::EqualSlots,
        HACKS,
        "as mpi/csr/halo-overlap, but interior and boundary as hll/simd",
    ),
    KernelDescriptor {
        operation: Operation::Solve,
        needs: Needs { finite_x: false, spd: true, full_diagonal: true },
        ..over_mpi(
            "mpi/pcg/halo-overlap",
            Format::Csr,
            Mapping::EqualPieces,
            SOLVER,
            "conjugate gradients, one block of rows per rank; SpMV as mpi/csr/halo-overlap, dot \
            products by allreduce",
        )
    },
];
