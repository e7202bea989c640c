//! Matrix formats as kernels read them, and their parameters.

use super::number::{integer, plain};
use super::parameter::{About, Alias, Group, Param, Parameters, Values};
use super::solver::{FORMAT_A, FORMAT_G, SolverFormat, has_factor};
use sparsescope_matrix::matrix::{
    BSR_BLOCKS, BSR_MIN_FILL, DEFAULT_HACK_SIZE, DIA_MIN_FILL, FormatSpec, HACK_SIZES, HllLayout,
    Order, ValueCoding,
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

/// Options of `spmv` and `bench`.
const FORMAT: About =
    About { group: Group::Formats, commands: &["bench", "spmv"], ..About::OPTION };

/// Options of formats that SpMM reads, too.
const PRODUCTS: About = About { commands: &["bench", "spmv", "spmm"], ..FORMAT };

/// Whether a solver with these values has A or a factor in a format.
fn is_a_format_of(all: &Parameters, format: SolverFormat) -> bool {
    all.get(&FORMAT_A) == format || has_factor(all) && all.get(&FORMAT_G) == format
}

/// Rows per hack (HLL).
pub static HACK_SIZE: Param<usize> = Param {
    usual: DEFAULT_HACK_SIZE,
    values: Values::Text(
        |text| match (integer(text)?, HACK_SIZES) {
            (size, known) if known.contains(&size) => Ok(size),
            (_, [least, .., most]) => Err(format!("a power of two from {least} to {most}")),
        },
        plain,
    ),
    about: PRODUCTS
        .named(0, "hack_size", "hack-size")
        .described("N,...", "Rows per hack of HLL: powers of two from 4 to 256"),
};

/// Rows per window in which HLL sorts rows by length; 1 for no sorting.
pub static SIGMA: Param<usize> = Param {
    usual: 1,
    // Windows of zero rows or one row both mean no sorting.
    values: Values::Text(|text| Ok(integer(text)?.max(1)), plain),
    about: About {
        otherwise: "1, not sorted",
        ..PRODUCTS
            .named(1, "sigma", "sigma")
            .described("N,...", "Rows per window in which HLL sorts rows by length")
    },
};

/// HLL spills rows longer than this to CSR.
pub static SPILL: Param<Option<usize>> = Param {
    usual: None,
    values: Values::Text(|text| integer(text).map(Some), |length| plain(length?)),
    about: About {
        otherwise: "none",
        ..PRODUCTS
            .named(2, "spill", "spill")
            .described("N,...", "Store rows with more than N nonzeros in CSR instead of HLL")
    },
};

/// Width of HYB's ELLPACK part.
pub static HYB_WIDTH: Param<Option<usize>> = Param {
    usual: None,
    values: Values::Text(|text| integer(text).map(Some), |width| plain(width?)),
    about: About {
        otherwise: "the largest that at least 1/3 of the rows fill",
        commands: &["bench", "spmv", "solve"],
        has_effect: |all| is_a_format_of(all, SolverFormat::Hyb),
        ..FORMAT
            .named(3, "hyb_width", "hyb-width")
            .described("N,...", "Width of the ELLPACK part of HYB")
    },
};

/// Block size of BSR.
pub static BSR_BLOCK: Param<Option<usize>> = Param {
    usual: None,
    values: Values::Text(
        |text| match integer(text)? {
            size if BSR_BLOCKS.contains(&size) => Ok(Some(size)),
            _ => Err(format!("a number from {} to {}", BSR_BLOCKS.start(), BSR_BLOCKS.end())),
        },
        |size| plain(size?),
    ),
    about: About {
        otherwise: "the size that moves the fewest bytes",
        ..PRODUCTS
            .named(4, "bsr_block", "bsr-block")
            .described("N,...", "Block size of BSR, 2 to 8")
    },
};

/// Minimum fill in percent for BSR and DIA.
pub static MIN_FILL: Param<Option<u32>> = Param {
    usual: None,
    values: Values::Text(
        |text| match integer(text)? {
            percent @ 0..=100 => Ok(Some(percent as u32)),
            _ => Err("a percentage from 0 to 100".to_owned()),
        },
        |percent| plain(percent?),
    ),
    about: About {
        otherwise: "70 for BSR, 20 for DIA",
        ..PRODUCTS
            .named(5, "min_fill", "min-fill")
            .described("PERCENT,...", "Minimum fill for BSR and DIA to run, in percent")
    },
};

/// How compact formats store values: unchanged, or as 8-bit or 16-bit codes.
pub static VALUES: Param<ValueCoding> = Param {
    usual: ValueCoding::Auto,
    values: Values::Words(&ValueCoding::ALL, ValueCoding::as_str),
    about: About {
        more: "cuda/pcg/device takes auto and plain, for HLL.",
        commands: &["bench", "spmv", "solve"],
        has_effect: |all| is_a_format_of(all, SolverFormat::Hll),
        ..FORMAT.named(6, "values", "values").described(
            "HOW,...",
            "Value encoding of compact formats: auto (the smallest), plain, or 8-bit or 16-bit codes",
        )
    },
};

/// Whether a kernel that picks another one may pick compact formats.
pub static COMPACT: Param<bool> = Param {
    usual: true,
    values: Values::Words(&[true, false], |is_allowed| if is_allowed { "on" } else { "off" }),
    about: About {
        aliases: &[Alias {
            flag: "no-compact",
            value: Some("off"),
            help: "The same as --compact off",
        }],
        ..FORMAT
            .named(7, "compact", "compact")
            .described("HOW,...", "Whether the auto kernels may choose compact formats: on or off")
    },
};

impl Parameters {
    /// The parameters of formats.
    pub fn format(&self) -> FormatParams {
        FormatParams {
            hack_size: self.get(&HACK_SIZE),
            sigma: self.get(&SIGMA),
            spill: self.get(&SPILL),
            hyb_width: self.get(&HYB_WIDTH),
            bsr_block: self.get(&BSR_BLOCK),
            min_fill: self.get(&MIN_FILL),
            values: self.get(&VALUES),
        }
    }
}
