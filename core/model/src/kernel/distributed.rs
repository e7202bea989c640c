//! The kernels for several ranks: each rank multiplies its own rows with a single-process kernel.

use super::descriptor::{DeviceKind, KernelDescriptor, Needs, Origin, Reads, Takes};
use super::format::{Format, HACK_SIZE, SIGMA, SPILL};
use super::inverse::{PATTERN, POSTFILTER, POWER, PREFILTER, SHIFT};
use super::mapping::Mapping;
use super::parameter::{Allowed, Parameter};
use super::ranks::CG;
use super::scaled::{PLAIN_OP, PLAIN_SCALE};
use super::solver::{FORMAT_A, FORMAT_G, MAX_ITER, PRECOND, RIGHT_SIDE, START, TOL};
use sparsescope_matrix::matrix::Order;
use sparsescope_record::Operation;

const fn over_mpi(
    id: &'static str,
    format: Format,
    mapping: Mapping,
    parameters: &'static [(Parameter, Allowed)],
    summary: &'static str,
) -> KernelDescriptor {
    let of = (Operation::Spmv, Reads::Matrix(format));
    KernelDescriptor {
        device: DeviceKind::Ranks,
        takes: Takes { threads: true, block: false, order: false },
        parameters,
        ..KernelDescriptor::cpu(of, id, mapping, &[Origin::Ours], summary)
    }
}

const PLAIN: &[(Parameter, Allowed)] = &[PLAIN_OP, PLAIN_SCALE];
const HACKS: &[(Parameter, Allowed)] =
    &[HACK_SIZE.any(), SIGMA.any(), SPILL.any(), PLAIN_OP, PLAIN_SCALE];

/// Preconditioner, formats, iteration, system and stopping criteria.
const SOLVER: &[(Parameter, Allowed)] = &[
    PRECOND.only(&["none", "jacobi", "fsai"]),
    PATTERN.only(&["recursive", "power"]),
    POWER.any(),
    PREFILTER.any(),
    POSTFILTER.any(),
    SHIFT.any(),
    FORMAT_A.only(&["csr", "hll"]),
    FORMAT_G.only(&["csr", "hll"]),
    TOL.any(),
    MAX_ITER.any(),
    RIGHT_SIDE.any(),
    START.any(),
    CG.any(),
];

/// They run on the ranks that `mpirun` starts; no rank holds the whole matrix.
pub(super) static KERNELS: &[KernelDescriptor] = &[
    over_mpi(
        "mpi/csr/halo",
        Format::Csr,
        Mapping::EqualPieces,
        PLAIN,
        "one block of rows per rank; exchanges the halo of x, then multiplies as csr/simd",
    ),
    over_mpi(
        "mpi/csr/halo-overlap",
        Format::Csr,
        Mapping::EqualPieces,
        PLAIN,
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
