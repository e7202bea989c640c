//! Matrix formats as kernels read them, and their parameters.

use sparsescope_matrix::matrix::{
    BSR_MIN_FILL, DEFAULT_HACK_SIZE, DIA_MIN_FILL, FormatSpec, HllLayout, Order, ValueCoding,
};

/// The matrix format that a kernel reads, with its parameters still open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Coordinate format (COO).
    Coo,
    /// Compressed sparse rows (CSR).
    Csr,
    /// ELLPACK.
    Ell(Order),
    /// ELLPACK plus COO (HYB).
    Hyb(Order),
    /// Hacked ELLPACK (HLL).
    Hll(Order),
    /// Block sparse rows (BSR).
    Bsr,
    /// Diagonal format (DIA).
    Dia,
    /// CSR with 16-bit column differences.
    CsrCompact,
    /// HLL with 16-bit column distances.
    HllCompact,
}

/// Format parameters that a user may set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FormatParams {
    /// Rows per hack (HLL).
    pub hack_size: usize,
    /// Rows per window in which HLL sorts rows by length; 0 or 1 for no sorting.
    pub sigma: usize,
    /// HLL spills rows longer than this to CSR.
    pub spill: Option<usize>,
    /// Width of HYB's ELLPACK part; if absent, by Bell and Garland's rule.
    pub hyb_width: Option<usize>,
    /// Block size of BSR; if absent, the one that moves the fewest bytes.
    pub bsr_block: Option<usize>,
    /// Minimum fill in percent for BSR and DIA; if absent, their own default.
    pub min_fill: Option<u32>,
    /// How compact formats store values.
    pub values: ValueCoding,
}

impl Default for FormatParams {
    fn default() -> Self {
        let (spill, hyb_width, bsr_block, min_fill) = (None, None, None, None);
        let (hack_size, sigma, values) = (DEFAULT_HACK_SIZE, 1, ValueCoding::Auto);
        Self { hack_size, sigma, spill, hyb_width, bsr_block, min_fill, values }
    }
}

impl FormatParams {
    /// The HLL layout.
    fn hll(&self, order: Order) -> HllLayout {
        let Self { hack_size, sigma, spill, .. } = *self;
        HllLayout { hack_size, order, sigma: sigma.max(1), spill }
    }
}

impl Format {
    /// `coo`, `csr`, `ell`, `hyb`, `hll`, `bsr`, `dia`; a compact format has the name of the plain
    /// one.
    pub fn name(self) -> &'static str {
        match self {
            Self::Coo => "coo",
            Self::Csr | Self::CsrCompact => "csr",
            Self::Ell(_) => "ell",
            Self::Hyb(_) => "hyb",
            Self::Hll(_) | Self::HllCompact => "hll",
            Self::Bsr => "bsr",
            Self::Dia => "dia",
        }
    }

    /// The format with its parameters set.
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
            Self::Hll(order) => FormatSpec::Hll(params.hll(order)),
            Self::CsrCompact => FormatSpec::CsrCompact(params.values),
            Self::HllCompact => {
                FormatSpec::HllCompact(params.hll(Order::ColumnMajor), params.values)
            }
        }
    }
}
