//! The kernels that solve many small dense systems.

use super::descriptor::{DeviceKind, KernelDescriptor, Library, Origin, Reads, Takes};
use super::mapping::Mapping;
use super::parameter::{About, Param, Values};
use sparsescope_kernels::dense::Rhs;
use sparsescope_record::Operation;

/// Right-hand sides of dense systems.
pub static RHS: Param<Rhs> = Param {
    usual: Rhs::LastUnit,
    values: Values::Words(&Rhs::ALL, Rhs::as_str),
    about: About::OPTION.named(28, "rhs", "rhs").described(
        "WHICH,...",
        "Right-hand sides of dense systems: last-unit (the last unit vector) or random (from \
        -1 to 1, from --seed)",
    ),
};

/// A CPU kernel. It flags systems that are not positive definite, so none has to be.
const fn cpu(
    id: &'static str,
    mapping: Mapping,
    origin: &'static [Origin],
    summary: &'static str,
) -> KernelDescriptor {
    let of = (Operation::BatchedDense, Reads::Systems);
    KernelDescriptor {
        parameters: const { &[RHS.any()] },
        ..KernelDescriptor::cpu(of, id, mapping, origin, summary)
    }
}

/// A GPU kernel; `block` says whether the block size can be set.
const fn cuda(
    id: &'static str,
    mapping: Mapping,
    block: bool,
    origin: &'static [Origin],
    summary: &'static str,
) -> KernelDescriptor {
    KernelDescriptor {
        device: DeviceKind::Cuda,
        takes: Takes { threads: false, block, order: false },
        ..cpu(id, mapping, origin, summary)
    }
}

/// Every kernel for batches, in the order in which tables list them.
#[rustfmt::skip]
pub(super) static KERNELS: &[KernelDescriptor] = &[
    cpu("cpu/dense/gauss", Mapping::Serial, &[Origin::Paper003],
        "one thread; Gaussian elimination on [A|b] without pivoting, one system at a time; the reference"),
    cpu("cpu/dense/cholesky", Mapping::OwnSystems, &[Origin::Ours],
        "each thread solves four systems at a time in SIMD lanes, in 3 x 3 tiles"),
    cpu("vendor/faer/cholesky", Mapping::OwnSystems, &[Origin::Vendor(Library::Faer)],
        "the faer library; each thread solves its systems one at a time"),
    cuda("cuda/dense/gauss-shared", Mapping::OwnSystems, true, &[Origin::Paper003],
        "one block per system; [A|b] in shared memory, Gaussian elimination without pivoting"),
    cuda("cuda/dense/cholesky", Mapping::OwnSystems, false, &[Origin::Ours],
        "a square of threads per system; lower triangle in registers, in panels if it is too large"),
    cuda("vendor/cublas/dense", Mapping::Library, false, &[Origin::Vendor(Library::Cublas)],
        "cuBLAS: in-place batched LU without pivoting, then triangular solves"),
    cuda("vendor/cusolver/dense", Mapping::Library, false, &[Origin::Vendor(Library::Cusolver)],
        "cuSOLVER: in-place batched Cholesky, then triangular solves"),
];
