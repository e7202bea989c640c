//! One static descriptor a kernel: what it is called, what it reads and how it maps work to
//! workers. Backends hold the launchers; a test holds both lists together.

use serde::{Deserialize, Serialize};

use crate::matrix::{BSR_MIN_FILL, DEFAULT_HACK_SIZE, DIA_MIN_FILL, FormatSpec, HllLayout, Order};

use super::grid::GridMapping;
use super::mapping::Mapping;

/// What a kernel computes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// y = A·x.
    Spmv,
}

impl Operation {
    /// The word used on the command line and in files.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Spmv => "spmv",
        }
    }
}

/// Kind of device that a kernel runs on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeviceKind {
    /// Processor.
    Cpu,
    /// NVIDIA graphics processor.
    Cuda,
}

impl DeviceKind {
    /// `cpu` or `cuda`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Cpu => "cpu",
            Self::Cuda => "cuda",
        }
    }
}

/// Where a kernel comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// Tor Vergata: SpMV in CSR and HLL.
    Paper000,
    /// Cranfield: SpMV in CSR and ELLPACK.
    Paper002,
    /// The thesis on CG with FSAI: COO, ELLPACK, Hybrid, CSR.
    Paper003,
    /// This project.
    Ours,
    /// A vendor's library.
    Vendor,
}

impl Origin {
    /// The word used in tables and files.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Paper000 => "paper:000",
            Self::Paper002 => "paper:002",
            Self::Paper003 => "paper:003",
            Self::Ours => "ours",
            Self::Vendor => "vendor",
        }
    }
}

/// The matrix format that a kernel reads, its parameters still open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Coordinates.
    Coo,
    /// Compressed sparse rows.
    Csr,
    /// ELLPACK.
    Ell(Order),
    /// ELLPACK plus COO.
    Hyb(Order),
    /// Hacked ELLPACK.
    Hll(Order),
    /// Block sparse rows.
    Bsr,
    /// Diagonals.
    Dia,
}

/// Parameters of formats that a user may set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FormatParams {
    /// Rows a hack of HLL.
    pub hack_size: usize,
    /// Rows of a window in which HLL sorts rows by length; 0 or 1 for none.
    #[serde(default, skip_serializing_if = "is_unsorted")]
    pub sigma: usize,
    /// Rows longer than this HLL keeps apart in CSR.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spill: Option<usize>,
    /// Width of HYB's ELLPACK part; Bell and Garland's rule when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hyb_width: Option<usize>,
    /// Edge of BSR's blocks; the one that moves the fewest bytes when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bsr_block: Option<usize>,
    /// Least share of slots in percent that hold entries, for BSR and DIA; their own when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min_fill: Option<u32>,
}

fn is_unsorted(sigma: &usize) -> bool {
    *sigma <= 1
}

impl Default for FormatParams {
    fn default() -> Self {
        let (spill, hyb_width, bsr_block, min_fill) = (None, None, None, None);
        let (hack_size, sigma) = (DEFAULT_HACK_SIZE, 1);
        Self { hack_size, sigma, spill, hyb_width, bsr_block, min_fill }
    }
}

impl Format {
    /// `coo`, `csr`, `ell`, `hyb`, `hll`, `bsr`, `dia`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Coo => "coo",
            Self::Csr => "csr",
            Self::Ell(_) => "ell",
            Self::Hyb(_) => "hyb",
            Self::Hll(_) => "hll",
            Self::Bsr => "bsr",
            Self::Dia => "dia",
        }
    }

    /// The format with its parameters filled in.
    pub fn with(self, params: &FormatParams) -> FormatSpec {
        match self {
            Self::Coo => FormatSpec::Coo,
            Self::Csr => FormatSpec::Csr,
            Self::Ell(order) => FormatSpec::Ell { order },
            Self::Hyb(order) => FormatSpec::Hyb { width: params.hyb_width, order },
            Self::Bsr => FormatSpec::Bsr {
                block: params.bsr_block,
                min_fill: params.min_fill.unwrap_or(BSR_MIN_FILL),
            },
            Self::Dia => FormatSpec::Dia { min_fill: params.min_fill.unwrap_or(DIA_MIN_FILL) },
            Self::Hll(order) => {
                let FormatParams { hack_size, sigma, spill, .. } = *params;
                FormatSpec::Hll(HllLayout { hack_size, order, sigma: sigma.max(1), spill })
            }
        }
    }
}

/// What is known of a kernel without running it.
#[derive(Clone, Copy, Debug)]
pub struct KernelDescriptor {
    /// `device/format/mapping` for ours, `vendor/library/algorithm` for vendors'.
    pub id: &'static str,
    /// What it computes.
    pub operation: Operation,
    /// What it reads.
    pub format: Format,
    /// Where it runs.
    pub device: DeviceKind,
    /// How rows and entries are given to workers.
    pub mapping: Mapping,
    /// The mapping in one line, for people.
    pub summary: &'static str,
    /// Where it comes from.
    pub origin: &'static [Origin],
    /// It multiplies padding by x, so that an infinite or NaN x would spoil rows that do not
    /// hold that column: such an x is refused.
    pub needs_finite_x: bool,
}

impl KernelDescriptor {
    /// The origins as the words used in files.
    pub fn origin_names(&self) -> Vec<String> {
        self.origin.iter().map(|o| o.as_str().to_owned()).collect()
    }

    /// Runs on one thread of the processor whatever is asked for.
    pub fn is_serial(&self) -> bool {
        self.mapping == Mapping::Serial || self.device == DeviceKind::Cuda
    }

    /// Runs with as many threads a block as is asked for.
    pub fn takes_block(&self) -> bool {
        matches!(self.mapping, Mapping::Grid(_))
    }
}

/// Id of the kernel that every result is checked against and that speed-ups are relative to.
pub const REFERENCE: &str = "cpu/csr/serial";

/// The descriptor with this id.
pub fn kernel(id: &str) -> Option<&'static KernelDescriptor> {
    KERNELS.iter().find(|k| k.id == id)
}

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

/// Every kernel, in the order in which tables list them.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_have_three_lower_case_parts_and_are_unique() {
        for k in KERNELS {
            assert_eq!(k.id.split('/').count(), 3, "{}", k.id);
            assert_eq!(k.id, k.id.to_lowercase());
            assert_eq!(KERNELS.iter().filter(|other| other.id == k.id).count(), 1, "{}", k.id);
            let (device, format) = (k.device.as_str(), k.format.name());
            match k.origin {
                [Origin::Vendor] => assert!(k.id.starts_with("vendor/"), "{}", k.id),
                _ => assert!(k.id.starts_with(&format!("{device}/{format}/")), "{}", k.id),
            }
        }
        assert!(kernel(REFERENCE).is_some());
        assert!(kernel("cpu/csr/none").is_none());
    }
}
