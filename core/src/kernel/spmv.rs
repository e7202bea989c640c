//! The kernels of y = A·x.

use super::descriptor::{DeviceKind, Format, KernelDescriptor, Origin};
use super::grid::GridMapping;
use super::mapping::Mapping;
use crate::matrix::Order;
use crate::record::Operation;

const fn cpu_spmv(
    id: &'static str,
    format: Format,
    mapping: Mapping,
    origin: &'static [Origin],
    summary: &'static str,
) -> KernelDescriptor {
    // The papers' kernels on padded formats multiply the padding, those on blocks and diagonals
    // the zeros in them.
    let needs_finite_x = !matches!(format, Format::Coo | Format::Csr);
    let (operation, device) = (Operation::Spmv, DeviceKind::Cpu);
    KernelDescriptor { id, operation, format, device, mapping, summary, origin, needs_finite_x }
}

/// A kernel on a GPU. `padding` says whether it multiplies padding, as the papers' do.
const fn cuda_spmv(
    id: &'static str,
    format: Format,
    mapping: GridMapping,
    padding: bool,
    origin: &'static [Origin],
    summary: &'static str,
) -> KernelDescriptor {
    let (operation, device, mapping) = (Operation::Spmv, DeviceKind::Cuda, Mapping::Grid(mapping));
    let needs_finite_x = padding;
    KernelDescriptor { id, operation, format, device, mapping, summary, origin, needs_finite_x }
}

/// A kernel of a vendor's library on a GPU.
const fn vendor_spmv(id: &'static str, format: Format, summary: &'static str) -> KernelDescriptor {
    let (operation, device, mapping) = (Operation::Spmv, DeviceKind::Cuda, Mapping::Library);
    let needs_finite_x = matches!(format, Format::Hll(_));
    let origin = &[Origin::Vendor];
    KernelDescriptor { id, operation, format, device, mapping, summary, origin, needs_finite_x }
}

use GridMapping::{ThreadPerHack, ThreadPerRow, WarpPerRow, WarpPerSpan};
use Order::{ColumnMajor, RowMajor};
use Origin::{Ours, Paper000, Paper002, Paper003};

/// Every kernel of a product, in the order in which tables list them.
#[rustfmt::skip]
pub static KERNELS: &[KernelDescriptor] = &[
    cpu_spmv("cpu/csr/serial", Format::Csr, Mapping::Serial, &[Paper000, Paper002],
        "one thread, rows in order; the reference of every check"),
    cpu_spmv("cpu/csr/rows", Format::Csr, Mapping::EqualRows, &[Paper002],
        "equal contiguous parts of the rows, one a thread"),
    cpu_spmv("cpu/csr/nnz", Format::Csr, Mapping::EqualEntries, &[Paper000],
        "contiguous parts of the rows with about equally many entries, one a thread"),
    cpu_spmv("cpu/csr/merge", Format::Csr, Mapping::MergePath, &[Ours],
        "equal pieces of rows plus entries, one a thread; long rows are shared"),
    cpu_spmv("cpu/coo/serial", Format::Coo, Mapping::Serial, &[Paper003],
        "one thread, entries in order, each added to its row"),
    cpu_spmv("cpu/ell/serial", Format::Ell(RowMajor), Mapping::Serial, &[Paper002, Paper003],
        "one thread, rows in order, padding multiplied"),
    cpu_spmv("cpu/ell/rows", Format::Ell(RowMajor), Mapping::EqualRows, &[Paper002, Paper003],
        "equal contiguous parts of the rows, one a thread, padding multiplied"),
    cpu_spmv("cpu/hyb/serial", Format::Hyb(RowMajor), Mapping::Serial, &[Paper003],
        "one thread, the ELLPACK part row by row, then the COO tail"),
    cpu_spmv("cpu/hyb/rows", Format::Hyb(RowMajor), Mapping::EqualRows, &[Paper003],
        "equal contiguous parts of the rows with their tail entries, one a thread"),
    cpu_spmv("cpu/hll/serial", Format::Hll(RowMajor), Mapping::Serial, &[Paper000],
        "one thread, hack by hack, rows in order, padding multiplied"),
    cpu_spmv("cpu/hll/guided", Format::Hll(RowMajor), Mapping::GuidedHacks, &[Paper000],
        "hacks in shrinking chunks for the next free thread; four sums a row, prefetch"),
    cpu_spmv("cpu/bsr/rows", Format::Bsr, Mapping::EqualBlockRows, &[Ours],
        "equal contiguous parts of the rows of blocks, one a thread, zeros multiplied"),
    cpu_spmv("cpu/dia/rows", Format::Dia, Mapping::EqualRows, &[Ours],
        "equal contiguous parts of the rows, one a thread, diagonal by diagonal, zeros multiplied"),

    cuda_spmv("cuda/csr/thread-per-row", Format::Csr, ThreadPerRow, false, &[Paper000, Paper002],
        "one thread a row"),
    cuda_spmv("cuda/csr/warp-shuffle", Format::Csr, WarpPerRow, false, &[Paper000],
        "one warp a row, the lanes' sums added by shuffles"),
    cuda_spmv("cuda/csr/warp-shared", Format::Csr, WarpPerRow, false, &[Paper000],
        "one warp a row, the lanes' sums added in shared memory"),
    cuda_spmv("cuda/csr/warp-ldg", Format::Csr, WarpPerRow, false, &[Paper000],
        "one warp a row, loads through the read-only path"),
    cuda_spmv("cuda/csr/vector-mining", Format::Csr, WarpPerRow, false, &[Paper002],
        "one warp a row, each lane accumulating in shared memory"),
    cuda_spmv("cuda/ell/thread-per-row", Format::Ell(RowMajor), ThreadPerRow, true, &[Paper002],
        "one thread a row, slots row-major, padding multiplied"),
    cuda_spmv("cuda/ell/column-major", Format::Ell(ColumnMajor), ThreadPerRow, false, &[Ours],
        "one thread a row, slots column-major, so that a warp's loads are neighbours"),
    cuda_spmv("cuda/hll/thread-per-hack", Format::Hll(RowMajor), ThreadPerHack, true, &[Paper000],
        "one thread a hack, on the paper's grid of one thread a row: most of them idle"),
    cuda_spmv("cuda/hll/thread-per-row", Format::Hll(RowMajor), ThreadPerRow, true, &[Paper000],
        "one thread a row, hacks row-major, padding multiplied"),
    cuda_spmv("cuda/hll/shared-x", Format::Hll(RowMajor), ThreadPerRow, true, &[Paper000],
        "one thread a row, the first elements of x in shared memory"),
    cuda_spmv("cuda/hll/warp-per-row", Format::Hll(RowMajor), WarpPerRow, true, &[Paper000],
        "one warp a row, the lanes' sums added by shuffles, padding multiplied"),
    cuda_spmv("cuda/coo/segmented", Format::Coo, WarpPerSpan, false, &[Ours],
        "one warp a span of entries, equal rows added by a segmented scan, shared rows apart"),
    cuda_spmv("cuda/hyb/ell-coo", Format::Hyb(ColumnMajor), WarpPerSpan, false, &[Paper003],
        "one thread a row for the ELLPACK part, then one warp a span of the COO tail"),

    vendor_spmv("vendor/cusparse/csr-alg1", Format::Csr,
        "cuSPARSE's SpMV on CSR, algorithm 1, preprocessed"),
    vendor_spmv("vendor/cusparse/csr-alg2", Format::Csr,
        "cuSPARSE's SpMV on CSR, algorithm 2 (the same from run to run), preprocessed"),
    vendor_spmv("vendor/cusparse/coo", Format::Coo,
        "cuSPARSE's SpMV on COO, algorithm 1, preprocessed"),
    vendor_spmv("vendor/cusparse/sell", Format::Hll(ColumnMajor),
        "cuSPARSE's SpMV on sliced ELLPACK, one slice a hack, preprocessed"),
];
