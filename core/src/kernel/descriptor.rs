//! One static descriptor a kernel: what it is called, what it reads and how it maps work to
//! workers. Backends hold the launchers; a test holds both lists together.

use serde::{Deserialize, Serialize};

use crate::matrix::{BSR_MIN_FILL, DEFAULT_HACK_SIZE, DIA_MIN_FILL, FormatSpec, HllLayout, Order};

use super::mapping::Mapping;
use crate::record::Operation;

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
