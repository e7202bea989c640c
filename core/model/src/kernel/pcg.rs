//! The conjugate gradient kernels.

use super::descriptor::{DeviceKind, KernelDescriptor, Library, Needs, Origin, Reads, Takes};
use super::format::{Format, HYB_WIDTH, VALUES};
use super::inverse::{
    GAIN, MERGE, MERGE_BLOCK, PATTERN, PER_STEP, POSTFILTER, POWER, PREFILTER, SET_UP, SHIFT, STEPS,
};
use super::mapping::Mapping;
use super::parameter::{Allowed, Parameter};
use super::ranks::RANKS;
use super::solver::{FORMAT_A, FORMAT_G, MAX_ITER, PRECOND, RIGHT_SIDE, START, TOL};
use sparsescope_record::Operation;

/// A CPU kernel.
const fn cpu(
    id: &'static str,
    mapping: Mapping,
    origin: &'static [Origin],
    summary: &'static str,
) -> KernelDescriptor {
    let of = (Operation::Solve, Reads::Matrix(Format::Csr));
    KernelDescriptor {
        needs: Needs { finite_x: false, spd: true, full_diagonal: true },
        parameters: PARAMETERS,
        ..KernelDescriptor::cpu(of, id, mapping, origin, summary)
    }
}

/// A GPU kernel.
const fn cuda(
    id: &'static str,
    mapping: Mapping,
    origin: &'static [Origin],
    parameters: &'static [(Parameter, Allowed)],
    summary: &'static str,
) -> KernelDescriptor {
    KernelDescriptor {
        device: DeviceKind::Cuda,
        deterministic: !matches!(mapping, Mapping::Library),
        takes: Takes { threads: false, block: false, order: false },
        parameters,
        ..cpu(id, mapping, origin, summary)
    }
}

/// What all kernels of a single process take: the inverse, stopping criteria and the system.
const COMMON: &[(Parameter, Allowed)] = &[
    PATTERN.any(),
    POWER.any(),
    PREFILTER.any(),
    POSTFILTER.any(),
    STEPS.any(),
    PER_STEP.any(),
    GAIN.any(),
    MERGE.any(),
    MERGE_BLOCK.any(),
    SHIFT.any(),
    TOL.any(),
    MAX_ITER.any(),
    RIGHT_SIDE.any(),
    START.any(),
];

/// [`COMMON`] and more, which must be as many as `N` has places for.
const fn with<const N: usize>(more: &[(Parameter, Allowed)]) -> [(Parameter, Allowed); N] {
    let mut all = [START.any(); N];
    let (common, rest) = all.split_at_mut(COMMON.len());
    common.copy_from_slice(COMMON);
    rest.copy_from_slice(more);
    all
}

const PARAMETERS: &[(Parameter, Allowed)] = &with::<{ COMMON.len() + 4 }>(&[
    HYB_WIDTH.any(),
    PRECOND.any(),
    FORMAT_A.any(),
    FORMAT_G.any(),
]);

const ON_DEVICE: &[(Parameter, Allowed)] = &with::<{ COMMON.len() + 6 }>(&[
    HYB_WIDTH.any(),
    VALUES.only(&["auto", "plain"]),
    PRECOND.any(),
    FORMAT_A.any(),
    FORMAT_G.any(),
    SET_UP.any(),
]);

/// The parameters in CSR, with the preconditioners for which a library has the routines.
const fn of_library(
    preconditioners: &'static [&'static str],
) -> [(Parameter, Allowed); COMMON.len() + 4] {
    let csr = &["csr"];
    with(&[PRECOND.only(preconditioners), FORMAT_A.only(csr), FORMAT_G.only(csr), SET_UP.any()])
}

const LIBRARY: &[(Parameter, Allowed)] = &of_library(&["none", "jacobi", "fsai"]);
const TRANSPOSED: &[(Parameter, Allowed)] = &of_library(&["fsai"]);

/// The parameters of kernels for several GPUs.
const OF_SEVERAL: &[(Parameter, Allowed)] = &[
    RANKS.any(),
    PRECOND.only(&["none", "jacobi"]),
    FORMAT_A.only(&["csr", "hll"]),
    TOL.any(),
    MAX_ITER.any(),
    RIGHT_SIDE.any(),
    START.any(),
];

/// Every solver kernel, in the order in which tables list them.
#[rustfmt::skip]
pub(super) static KERNELS: &[KernelDescriptor] = &[
    cpu("cpu/pcg/serial", Mapping::Serial, &[Origin::Paper003],
        "one thread for setup and iterations; the reference"),
    cpu("cpu/pcg/threads", Mapping::EqualEntries, &[Origin::Paper003, Origin::Ours],
        "threads take blocks of rows, their own share first; dot products are summed block by block and match the serial loop bit for bit"),
    cuda("cuda/pcg/device", Mapping::EqualEntries, &[Origin::Ours], ON_DEVICE,
        "all on the GPU: SpMV fused with dot products, scalars in device memory, CUDA graphs of iterations"),
    cuda("vendor/cusparse/pcg", Mapping::Library, &[Origin::Vendor(Library::Cusparse)], LIBRARY,
        "as in paper 003: separate cuSPARSE and cuBLAS calls, scalars on the host"),
    cuda("vendor/cusparse/pcg-transposed", Mapping::Library, &[Origin::Vendor(Library::Cusparse)], TRANSPOSED,
        "the same, but multiplies by G with the transpose option instead of storing the transpose"),
    KernelDescriptor {
        device: DeviceKind::Nccl,
        ..cuda("nccl/pcg/halo-overlap", Mapping::EqualEntries, &[Origin::Ours], OF_SEVERAL,
            "several GPUs, one block of rows each; halo exchange overlaps SpMV, dot products are summed by NCCL, CUDA graphs of iterations")
    },
];
