//! The kernels of y = A·x.

use super::descriptor::{DeviceKind, KernelDescriptor, Library, Origin, Reads, Takes, Version};
use super::format::{
    BSR_BLOCK, COMPACT, Format, HACK_SIZE, HYB_WIDTH, MIN_FILL, SIGMA, SPILL, VALUES,
};
use super::grid::GridMapping;
use super::mapping::Mapping;
use super::model::{Model, Unrolling};
use super::parameter::{Allowed, Parameter};
use super::ranks::RANKS;
use super::scaled::{OP, PLAIN_OP, PLAIN_SCALE, SCALE};
use sparsescope_matrix::matrix::Order;
use sparsescope_record::{Operation, Precision};

/// An SpMV kernel with the defaults; the functions below override some.
const fn product(
    id: &'static str,
    format: Format,
    device: DeviceKind,
    mapping: Mapping,
    origin: &'static [Origin],
    summary: &'static str,
) -> KernelDescriptor {
    let of = (Operation::Spmv, Reads::Matrix(format));
    KernelDescriptor {
        device,
        precisions: &Precision::UNIFORM,
        takes: Takes { threads: false, block: false, order: false },
        parameters: parameters(format, device),
        ..KernelDescriptor::cpu(of, id, mapping, origin, summary)
    }
}

/// A or its transpose, and any alpha and beta.
const SCALED: &[(Parameter, Allowed)] = &[OP.any(), SCALE.any()];

/// The transpose of A alone, and any alpha and beta.
const ONLY_TRANSPOSED: &[(Parameter, Allowed)] = &[OP.only(&["t"]), SCALE.any()];

/// The parameters of HLL with rows in any order.
const HACKS: &[(Parameter, Allowed)] =
    &[HACK_SIZE.any(), SIGMA.any(), SPILL.any(), OP.any(), SCALE.any()];

/// The parameters of a format. On a GPU, HLL keeps all rows in their original order. CPUs and CUDA
/// also take the transpose of a matrix in each format, and a scale.
const fn parameters(format: Format, device: DeviceKind) -> &'static [(Parameter, Allowed)] {
    match (format, device) {
        (Format::Hll(_), DeviceKind::Cpu) => HACKS,
        (Format::Hll(_), DeviceKind::Cuda) => {
            const { &[HACK_SIZE.any(), SIGMA.only(&["1"]), SPILL.only(&[]), OP.any(), SCALE.any()] }
        }
        (Format::Hll(_), DeviceKind::Ranks | DeviceKind::Nccl | DeviceKind::Wgpu) => {
            const { &[HACK_SIZE.any(), SIGMA.only(&["1"]), SPILL.only(&[]), PLAIN_OP, PLAIN_SCALE] }
        }
        (Format::HllCompact, DeviceKind::Cuda | DeviceKind::Nccl) => {
            const {
                &[
                    HACK_SIZE.only(&["32"]),
                    SIGMA.any(),
                    SPILL.only(&[]),
                    VALUES.any(),
                    OP.any(),
                    SCALE.any(),
                ]
            }
        }
        (Format::HllCompact, _) => {
            const { &[HACK_SIZE.any(), SIGMA.any(), SPILL.any(), VALUES.any(), OP.any(), SCALE.any()] }
        }
        (Format::CsrCompact, _) => const { &[VALUES.any(), OP.any(), SCALE.any()] },
        (Format::Coo | Format::Csr | Format::Ell(_), DeviceKind::Wgpu) => {
            const { &[PLAIN_OP, PLAIN_SCALE] }
        }
        (Format::Coo | Format::Csr | Format::Ell(_), _) => SCALED,
        (Format::Hyb(_), _) => const { &[HYB_WIDTH.any(), OP.any(), SCALE.any()] },
        (Format::Bsr, _) => const { &[BSR_BLOCK.any(), MIN_FILL.any(), OP.any(), SCALE.any()] },
        (Format::Dia, _) => const { &[MIN_FILL.any(), OP.any(), SCALE.any()] },
    }
}

const fn cpu_spmv(
    id: &'static str,
    format: Format,
    mapping: Mapping,
    origin: &'static [Origin],
    summary: &'static str,
) -> KernelDescriptor {
    let mut kernel = product(id, format, DeviceKind::Cpu, mapping, origin, summary);
    // The papers' kernels multiply the padding of padded formats and the zeros in blocks and
    // diagonals.
    let stops_at_entries =
        matches!(format, Format::Coo | Format::Csr | Format::CsrCompact | Format::HllCompact);
    kernel.needs.finite_x = !stops_at_entries;
    kernel.takes.threads = !matches!(mapping, Mapping::Serial);
    let is_modelled =
        !matches!(format, Format::Bsr | Format::Dia | Format::CsrCompact | Format::HllCompact);
    if is_modelled {
        kernel.model = Some(Model { unrolling: Unrolling::None, keeps_x: false });
    }
    kernel
}

/// A CPU kernel that multiplies by the transpose of A, of which it reads the CSR, and only by that. The layout model
/// follows the rows of the matrix that is multiplied by, which are not stored here.
const fn cpu_transposed(id: &'static str, summary: &'static str) -> KernelDescriptor {
    let mut kernel = cpu_spmv(id, Format::Csr, Mapping::EqualEntries, &[Origin::Ours], summary);
    kernel.parameters = ONLY_TRANSPOSED;
    kernel.model = None;
    kernel
}

/// A CPU kernel that runs the fastest of the others. The choice differs between machines, and so
/// may the last bits of its result.
const fn cpu_choice(id: &'static str, summary: &'static str) -> KernelDescriptor {
    let (format, device) = (Format::Csr, DeviceKind::Cpu);
    let mut kernel = product(id, format, device, Mapping::Chosen, &[Origin::Ours], summary);
    kernel.reads = Reads::Chosen;
    kernel.deterministic = false;
    kernel.takes.threads = true;
    kernel.parameters = const { &[COMPACT.any(), OP.any(), SCALE.any()] };
    kernel
}

/// The kernel without multiplying padding.
const fn any_x(mut kernel: KernelDescriptor) -> KernelDescriptor {
    kernel.needs.finite_x = false;
    kernel
}

/// A GPU kernel. `padding` says whether it multiplies padding, as the papers' kernels do.
pub(super) const fn cuda_spmv(
    id: &'static str,
    format: Format,
    mapping: GridMapping,
    (padding, unrolling): (bool, Unrolling),
    origin: &'static [Origin],
    summary: &'static str,
) -> KernelDescriptor {
    let mapping = Mapping::Grid(mapping);
    let mut kernel = product(id, format, DeviceKind::Cuda, mapping, origin, summary);
    kernel.needs.finite_x = padding;
    kernel.takes.block = true;
    kernel.model = Some(Model { unrolling, keeps_x: false });
    kernel
}

/// A kernel in WGSL, which has no f64. `padding` says whether it multiplies padding. Kernels whose
/// threads are known in advance are modelled as warps of 32.
const fn wgpu_spmv(
    id: &'static str,
    format: Format,
    mapping: Mapping,
    padding: bool,
    origin: &'static [Origin],
    summary: &'static str,
) -> KernelDescriptor {
    let mut kernel = product(id, format, DeviceKind::Wgpu, mapping, origin, summary);
    kernel.precisions = &[Precision::F32];
    kernel.needs.finite_x = padding;
    kernel.takes.block = true;
    kernel.rank = u8::MAX; // after all others
    if matches!(mapping, Mapping::Grid(_)) {
        kernel.model = Some(Model { unrolling: Unrolling::None, keeps_x: false });
    }
    kernel
}

/// The kernel with a fixed block size.
const fn own_block(mut kernel: KernelDescriptor) -> KernelDescriptor {
    kernel.takes.block = false;
    kernel
}

/// The kernel with rows sorted by length and long rows spilled.
const fn sorting(mut kernel: KernelDescriptor) -> KernelDescriptor {
    kernel.takes.order = true;
    kernel.parameters = HACKS;
    kernel
}

/// A GPU kernel that runs the fastest of the others.
const fn cuda_choice(id: &'static str, summary: &'static str) -> KernelDescriptor {
    let mut kernel = cpu_choice(id, summary);
    kernel.device = DeviceKind::Cuda;
    kernel.takes.threads = false;
    kernel
}

/// The kernel with the first elements of x in shared memory.
const fn keeping_x(mut kernel: KernelDescriptor) -> KernelDescriptor {
    if let Some(Model { unrolling, .. }) = kernel.model {
        kernel.model = Some(Model { unrolling, keeps_x: true });
    }
    kernel
}

/// A vendor library's kernel on a GPU.
const fn vendor_spmv(
    id: &'static str,
    format: Format,
    deterministic: bool,
    summary: &'static str,
) -> KernelDescriptor {
    let origin = &[Origin::Vendor(Library::Cusparse)];
    let mut kernel = product(id, format, DeviceKind::Cuda, Mapping::Library, origin, summary);
    kernel.needs.finite_x = matches!(format, Format::Hll(_));
    kernel.deterministic = deterministic;
    kernel
}

/// cuSPARSE's SpMVOp: version 12.9 gives NaN for rows whose sum is infinite, as if it multiplied padding.
const fn vendor_spmv_op(id: &'static str, summary: &'static str) -> KernelDescriptor {
    let mut kernel = vendor_spmv(id, Format::Csr, false, summary);
    kernel.needs.finite_x = true;
    kernel
}

/// cuSPARSE's SpMV with the transpose of A, which it does not store: only for that.
const fn vendor_transposed(id: &'static str, summary: &'static str) -> KernelDescriptor {
    let mut kernel = vendor_spmv(id, Format::Csr, false, summary);
    kernel.parameters = ONLY_TRANSPOSED;
    kernel
}

/// A oneMKL kernel on the CPU. The matrix that its inspector builds may have padding.
const fn mkl_spmv(id: &'static str, finite_x: bool, summary: &'static str) -> KernelDescriptor {
    let origin = &[Origin::Vendor(Library::Mkl)];
    let mut kernel = product(id, Format::Csr, DeviceKind::Cpu, Mapping::Library, origin, summary);
    kernel.needs.finite_x = finite_x;
    // The library does not guarantee it.
    kernel.deterministic = false;
    kernel.takes.threads = true;
    kernel
}

use GridMapping::{
    BlockPerTile, LanesPerRow, ThreadPerHack, ThreadPerRow, WarpPerBlockRow, WarpPerHack,
    WarpPerRow, WarpPerSpan,
};
use Order::{ColumnMajor, RowMajor};
use Origin::{Ours, Paper000, Paper002, Paper003};
use Unrolling::{FoursRestLast, RestFirst, RestLast};

/// A kernel for several GPUs, each with contiguous rows.
const fn nccl_spmv(id: &'static str, format: Format, summary: &'static str) -> KernelDescriptor {
    let (device, mapping) = (DeviceKind::Nccl, Mapping::EqualEntries);
    let mut kernel = product(id, format, device, mapping, &[Origin::Ours], summary);
    kernel.precisions = &[Precision::F64];
    kernel.parameters = const { &[RANKS.any(), PLAIN_OP, PLAIN_SCALE] };
    kernel
}

/// Every SpMV kernel, in the order in which tables list them.
#[rustfmt::skip]
pub(super) static KERNELS: &[KernelDescriptor] = &[
    cpu_spmv("cpu/csr/serial", Format::Csr, Mapping::Serial, &[Paper000, Paper002],
        "one thread, rows in order; the reference of every check"),
    cpu_spmv("cpu/csr/rows", Format::Csr, Mapping::EqualRows, &[Paper002],
        "equal contiguous parts of the rows, one per thread"),
    cpu_spmv("cpu/csr/nnz", Format::Csr, Mapping::EqualEntries, &[Paper000],
        "contiguous parts of the rows with about the same number of nonzeros, one per thread").of_version(Version::Final),
    cpu_spmv("cpu/csr/merge", Format::Csr, Mapping::MergePath, &[Ours],
        "equal pieces of rows plus nonzeros, one per thread; threads share long rows"),
    cpu_spmv("cpu/csr/simd", Format::Csr, Mapping::EqualPieces, &[Ours],
        "equal pieces of rows plus nonzeros, adjacent pieces per thread; SIMD along rows, or along all nonzeros with cuts at row ends").ranked(2),
    cpu_transposed("cpu/csr/transposed",
        "A'·x from the CSR of A (only with --op t); each thread has columns with about the same number of nonzeros, or rows and a y of its own").ranked(21),
    cpu_spmv("cpu/coo/serial", Format::Coo, Mapping::Serial, &[Paper003],
        "one thread, nonzeros in order, each added to its row"),
    cpu_spmv("cpu/ell/serial", Format::Ell(RowMajor), Mapping::Serial, &[Paper002, Paper003],
        "one thread, rows in order, padding multiplied"),
    cpu_spmv("cpu/ell/rows", Format::Ell(RowMajor), Mapping::EqualRows, &[Paper002, Paper003],
        "equal contiguous parts of the rows, one per thread, padding multiplied"),
    cpu_spmv("cpu/hyb/serial", Format::Hyb(RowMajor), Mapping::Serial, &[Paper003],
        "one thread, the ELLPACK part row by row, then the COO tail"),
    cpu_spmv("cpu/hyb/rows", Format::Hyb(RowMajor), Mapping::EqualRows, &[Paper003],
        "equal contiguous parts of the rows with their COO tail, one per thread"),
    cpu_spmv("cpu/hll/serial", Format::Hll(RowMajor), Mapping::Serial, &[Paper000],
        "one thread, hack by hack, rows in order, padding multiplied"),
    cpu_spmv("cpu/hll/guided", Format::Hll(RowMajor), Mapping::GuidedHacks, &[Paper000],
        "hacks in shrinking chunks for the next free thread; four partial sums per row, prefetch"),
    any_x(cpu_spmv("cpu/hll/simd", Format::Hll(ColumnMajor), Mapping::EqualSlots, &[Ours],
        "equal pieces of slots plus rows, adjacent hacks per thread; SIMD across rows, each only to its end")).ranked(9),
    cpu_spmv("cpu/bsr/rows", Format::Bsr, Mapping::EqualBlockRows, &[Ours],
        "equal contiguous parts of the block rows, one per thread, SIMD, zeros multiplied"),
    cpu_spmv("cpu/dia/rows", Format::Dia, Mapping::EqualRows, &[Ours],
        "equal contiguous parts of the rows, one per thread, SIMD over four diagonals at a time, zeros multiplied"),
    cpu_spmv("cpu/csr/compact", Format::CsrCompact, Mapping::EqualEntries, &[Ours],
        "contiguous parts with about the same number of nonzeros, one per thread; SIMD along rows, 16-bit column deltas and coded values decoded in registers").ranked(3),
    cpu_spmv("cpu/hll/compact", Format::HllCompact, Mapping::EqualSlots, &[Ours],
        "as hll/simd, but 16-bit columns and coded values decoded in registers").ranked(10),
    cpu_choice("cpu/spmv/auto",
        "the fastest CPU kernel in a short trial of those that suit the matrix's statistics").ranked(11),
    mkl_spmv("vendor/mkl/csr", false,
        "oneMKL SpMV on the CSR arrays as they are").ranked(4),
    mkl_spmv("vendor/mkl/optimized", true,
        "oneMKL SpMV on a matrix that its inspector optimized (and may have copied) for many calls").ranked(5),

    cuda_spmv("cuda/csr/thread-per-row", Format::Csr, ThreadPerRow, (false, RestFirst), &[Paper000, Paper002],
        "one thread per row").of_any_values(),
    cuda_spmv("cuda/csr/warp-shuffle", Format::Csr, WarpPerRow, (false, RestFirst), &[Paper000],
        "one warp per row, lane sums reduced by shuffles").of_any_values(),
    cuda_spmv("cuda/csr/warp-shared", Format::Csr, WarpPerRow, (false, RestFirst), &[Paper000],
        "one warp per row, lane sums reduced in shared memory").of_any_values(),
    cuda_spmv("cuda/csr/warp-ldg", Format::Csr, WarpPerRow, (false, RestFirst), &[Paper000],
        "one warp per row, loads through the read-only cache").of_any_values(),
    cuda_spmv("cuda/csr/vector-mining", Format::Csr, WarpPerRow, (false, RestFirst), &[Paper002],
        "one warp per row, each lane accumulates in shared memory").of_any_values(),
    cuda_spmv("cuda/ell/thread-per-row", Format::Ell(RowMajor), ThreadPerRow, (true, RestLast), &[Paper002],
        "one thread per row, row-major slots, padding multiplied"),
    cuda_spmv("cuda/ell/column-major", Format::Ell(ColumnMajor), ThreadPerRow, (false, RestLast), &[Ours],
        "one thread per row, column-major slots: coalesced loads"),
    cuda_spmv("cuda/hll/thread-per-hack", Format::Hll(RowMajor), ThreadPerHack, (true, RestLast), &[Paper000],
        "one thread per hack, on the paper's grid of one thread per row: most threads idle"),
    cuda_spmv("cuda/hll/thread-per-row", Format::Hll(RowMajor), ThreadPerRow, (true, RestLast), &[Paper000],
        "one thread per row, row-major hacks, padding multiplied"),
    keeping_x(cuda_spmv("cuda/hll/shared-x", Format::Hll(RowMajor), ThreadPerRow, (true, FoursRestLast), &[Paper000],
        "one thread per row, the first elements of x in shared memory")),
    cuda_spmv("cuda/hll/warp-per-row", Format::Hll(RowMajor), WarpPerRow, (true, RestFirst), &[Paper000],
        "one warp per row, lane sums reduced by shuffles, padding multiplied"),
    cuda_spmv("cuda/coo/segmented", Format::Coo, WarpPerSpan, (false, Unrolling::None), &[Ours],
        "one warp per span of nonzeros, summed per row by a segmented scan; rows shared by spans are added separately"),
    cuda_spmv("cuda/hyb/ell-coo", Format::Hyb(ColumnMajor), WarpPerSpan, (false, RestLast), &[Paper003],
        "one thread per row for the ELLPACK part, then one warp per span of the COO tail"),
    own_block(cuda_spmv("cuda/csr/adaptive", Format::Csr, BlockPerTile, (false, Unrolling::None), &[Ours],
        "one block per tile with a fixed number of nonzeros, products staged in shared memory, lanes per row by row length; long rows span several blocks, which keep a part of x if x is large")).of_any_values().ranked(1),
    own_block(cuda_spmv("cuda/csr/lanes", Format::Csr, LanesPerRow, (false, Unrolling::None), &[Ours],
        "2 to 32 adjacent lanes per row by the mean row length, up to six nonzeros per lane in flight, lane sums reduced by shuffles")).of_any_values().ranked(22),
    cuda_spmv("cuda/hll/column-major", Format::Hll(ColumnMajor), LanesPerRow, (false, Unrolling::None), &[Ours],
        "adjacent lanes on adjacent rows, several lanes per row if rows are few, three slots per lane in flight").ranked(6),
    sorting(cuda_spmv("cuda/hll/sigma", Format::Hll(ColumnMajor), LanesPerRow, (false, Unrolling::None), &[Ours],
        "as hll/column-major, but rows sorted by length, and one block for each very long row")).ranked(7),
    cuda_spmv("cuda/hll/compact", Format::HllCompact, WarpPerHack, (false, Unrolling::None), &[Ours],
        "one warp per hack, four 16-bit columns and coded values per load, decoded in registers").of_any_values().ranked(8),
    cuda_spmv("cuda/bsr/warp", Format::Bsr, WarpPerBlockRow, (true, Unrolling::None), &[Ours],
        "one warp per block row, as many columns at once as fit, zeros multiplied").ranked(12),
    cuda_spmv("cuda/dia/thread-per-row", Format::Dia, ThreadPerRow, (true, Unrolling::None), &[Ours],
        "one thread per row, eight diagonals in flight, zeros multiplied").ranked(13),
    cuda_choice("cuda/spmv/auto",
        "the fastest of our GPU kernels in a short trial of those that suit the matrix's statistics").of_any_values().ranked(14),

    vendor_spmv("vendor/cusparse/csr-alg1", Format::Csr, false,
        "cuSPARSE SpMV on CSR, algorithm 1, preprocessed"),
    vendor_spmv("vendor/cusparse/csr-alg2", Format::Csr, true,
        "cuSPARSE SpMV on CSR, algorithm 2 (deterministic), preprocessed"),
    vendor_spmv("vendor/cusparse/coo", Format::Coo, false,
        "cuSPARSE SpMV on COO, algorithm 1, preprocessed"),
    vendor_spmv("vendor/cusparse/sell", Format::Hll(ColumnMajor), true,
        "cuSPARSE SpMV on sliced ELLPACK, one slice per hack, preprocessed"),
    vendor_spmv_op("vendor/cusparse/op",
        "cuSPARSE SpMVOp on CSR, default algorithm, with a plan linked for the matrix").ranked(17),
    vendor_spmv_op("vendor/cusparse/op-alg1",
        "cuSPARSE SpMVOp on CSR, algorithm 1, with a plan linked for the matrix").ranked(18),
    vendor_spmv_op("vendor/cusparse/op-alg2",
        "cuSPARSE SpMVOp on CSR, algorithm 2, with a plan linked for the matrix").ranked(19),
    vendor_transposed("vendor/cusparse/csr-transposed",
        "cuSPARSE SpMV with the transpose of CSR, which is not stored, algorithm 1, preprocessed (only with --op t)").ranked(20),

    nccl_spmv("nccl/csr/halo-overlap", Format::Csr,
        "several GPUs, one block of rows each, in tiles of nonzeros; halo exchange overlaps SpMV of the interior rows").ranked(15),
    nccl_spmv("nccl/hll/halo-overlap", Format::Hll(ColumnMajor),
        "several GPUs, one block of rows each, in column-major hacks; halo exchange overlaps SpMV of the interior rows").ranked(16),

    wgpu_spmv("wgpu/csr/thread-per-row", Format::Csr, Mapping::Grid(ThreadPerRow), false, &[Paper000, Paper002],
        "one invocation per row"),
    wgpu_spmv("wgpu/csr/subgroup-per-row", Format::Csr, Mapping::Subgroups, false, &[Paper000],
        "one subgroup of any size per row, sums reduced by subgroupAdd"),
    wgpu_spmv("wgpu/csr/shared-per-row", Format::Csr, Mapping::Grid(WarpPerRow), false, &[Paper000],
        "32 invocations per row, sums reduced in workgroup memory"),
    wgpu_spmv("wgpu/ell/thread-per-row", Format::Ell(RowMajor), Mapping::Grid(ThreadPerRow), true, &[Paper002],
        "one invocation per row, row-major slots, padding multiplied"),
    wgpu_spmv("wgpu/ell/column-major", Format::Ell(ColumnMajor), Mapping::Grid(ThreadPerRow), false, &[Ours],
        "one invocation per row, column-major slots: coalesced loads"),
    wgpu_spmv("wgpu/hll/thread-per-hack", Format::Hll(RowMajor), Mapping::Grid(ThreadPerHack), true, &[Paper000],
        "one invocation per hack, on the paper's grid of one per row: most idle"),
    wgpu_spmv("wgpu/hll/thread-per-row", Format::Hll(RowMajor), Mapping::Grid(ThreadPerRow), true, &[Paper000],
        "one invocation per row, row-major hacks, padding multiplied"),
    wgpu_spmv("wgpu/hll/subgroup-per-row", Format::Hll(RowMajor), Mapping::Subgroups, true, &[Paper000],
        "one subgroup of any size per row, sums reduced by subgroupAdd, padding multiplied"),
    wgpu_spmv("wgpu/hll/column-major", Format::Hll(ColumnMajor), Mapping::Grid(LanesPerRow), false, &[Ours],
        "adjacent invocations on adjacent rows, several per row if rows are few, three slots per invocation in flight"),
    wgpu_spmv("wgpu/coo/segmented", Format::Coo, Mapping::WorkgroupSpans, false, &[Ours],
        "one workgroup per span of nonzeros, four per invocation, summed per row by a segmented scan; rows shared by spans are added separately"),
];
