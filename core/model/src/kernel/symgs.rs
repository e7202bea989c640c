//! The symmetric Gauss–Seidel kernels.

use super::descriptor::{DeviceKind, KernelDescriptor, Library, Needs, Origin, Reads, Takes};
use super::format::Format;
use super::mapping::Mapping;
use super::parameter::{About, Param, Values};
use sparsescope_kernels::symgs::Mode;
use sparsescope_record::{Operation, Precision};

/// Right-hand side of each row update in a sweep.
pub static MODE: Param<Mode> = Param {
    usual: Mode::Standard,
    values: Values::Words(&Mode::ALL, Mode::as_str),
    about: About::OPTION.named(8, "mode", "mode").described(
        "MODE,...",
        "Gauss–Seidel: right-hand side of each row update: b (standard) or the previous x \
        (smoother)",
    ),
};

/// A CPU kernel. Its result is the same in every run and equals the serial loop bit by bit, either
/// on the matrix as it is or renumbered by colour.
const fn cpu(
    id: &'static str,
    mapping: Mapping,
    origin: &'static [Origin],
    summary: &'static str,
) -> KernelDescriptor {
    let of = (Operation::Symgs, Reads::Matrix(Format::Csr));
    KernelDescriptor {
        precisions: &Precision::UNIFORM,
        exact: !matches!(mapping, Mapping::Colors),
        needs: Needs { finite_x: false, spd: false, full_diagonal: true },
        parameters: const { &[MODE.any()] },
        ..KernelDescriptor::cpu(of, id, mapping, origin, summary)
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
        "one thread; rows in ascending, then descending order; the reference"),
    cpu("cpu/symgs/levels", Mapping::Levels, &[Origin::Ours],
        "all rows of a dependency level in parallel, one level at a time; matches the serial loop bit for bit"),
    cpu("cpu/symgs/colored", Mapping::Colors, &[Origin::Ours],
        "all rows of a colour in parallel, one colour at a time; a different order, so a different iteration"),
    cuda("cuda/symgs/ready-done", Mapping::Passes, false, &[Origin::Paper001],
        "repeated passes: one thread per row tests whether it is ready, then one block per row updates the ready ones"),
    cuda("cuda/symgs/ready-compact", Mapping::Passes, false, &[Origin::Paper001, Origin::Ours],
        "repeated passes: lists the ready rows, then launches one block for each of them only"),
    cuda("cuda/symgs/levels", Mapping::Levels, true, &[Origin::Ours],
        "one launch per level; narrow levels are merged into one launch whose blocks synchronize"),
    cuda("cuda/symgs/sync-free", Mapping::Waiting, true, &[Origin::Ours],
        "one launch per sweep; each row waits for the elements it needs; the variant depends on the matrix"),
    cuda("cuda/symgs/colored", Mapping::Colors, false, &[Origin::Ours],
        "one launch per colour; rows of a colour in column-major slices"),
    cuda("cuda/symgs/nodes", Mapping::Waiting, false, &[Origin::Ours],
        "per sweep one product with the elements known before, then one launch in which each node (rows with the same columns) waits for the others").ranked(1),
    KernelDescriptor {
        deterministic: false,
        parameters: const { &[MODE.only(&["standard"])] },
        ..cuda("vendor/cusparse/spsv", Mapping::Library, false, &[Origin::Vendor(Library::Cusparse)],
            "cuSPARSE: SpMV with one strict triangle and a solve with the other, twice")
    },
];
