//! The arguments of a user kernel: those of our own kernels for one of the formats.

use crate::kernel::format::Format;
use sparsescope_matrix::matrix::Order;

/// The type of a parameter, as `common.cuh` names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ArgumentType {
    /// `u32`: a number.
    Number,
    /// `const u32*`: input numbers.
    Numbers,
    /// `const u64*`: wide input numbers.
    WideNumbers,
    /// `const offset*`: row offsets, 32 or 64 bits wide as the matrix requires.
    Offsets,
    /// `const real*`: input values in the precision of the run.
    Values,
    /// `real*`: the result values.
    Result,
}

impl ArgumentType {
    /// The type as the sources write it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Number => "u32",
            Self::Numbers => "const u32*",
            Self::WideNumbers => "const u64*",
            Self::Offsets => "const offset*",
            Self::Values => "const real*",
            Self::Result => "real*",
        }
    }
}

/// The format whose kernel arguments a user kernel takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UserFamily {
    /// CSR.
    Csr,
    /// ELLPACK, slots row by row, every row as wide as the longest.
    Ell,
    /// ELLPACK, slots column by column, with the lengths of the rows.
    EllColumnMajor,
    /// Hacked ELLPACK, slots row by row in each hack.
    Hll,
    /// Hacked ELLPACK, slots column by column in each hack.
    HllColumnMajor,
}

use ArgumentType::{Number, Numbers, Offsets, Result, Values, WideNumbers};

/// The parameters that every family ends with, and their types.
macro_rules! arguments {
    ($($type:ident $name:literal),+) => {
        &[
            $(($type, $name),)+ (Numbers, "col"), (Values, "val"), (Values, "x"), (Result, "y"),
        ]
    };
}

impl UserFamily {
    /// All families.
    pub const ALL: [Self; 5] =
        [Self::Csr, Self::Ell, Self::EllColumnMajor, Self::Hll, Self::HllColumnMajor];

    /// The word in headers and bundles.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Csr => "csr",
            Self::Ell => "ell",
            Self::EllColumnMajor => "ell-column-major",
            Self::Hll => "hll",
            Self::HllColumnMajor => "hll-column-major",
        }
    }

    /// The family for this word.
    pub fn of(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|family| family.as_str() == word)
    }

    /// The format that its kernels read.
    pub fn format(self) -> Format {
        match self {
            Self::Csr => Format::Csr,
            Self::Ell => Format::Ell(Order::RowMajor),
            Self::EllColumnMajor => Format::Ell(Order::ColumnMajor),
            Self::Hll => Format::Hll(Order::RowMajor),
            Self::HllColumnMajor => Format::Hll(Order::ColumnMajor),
        }
    }

    /// Whether its kernels multiply padding by x, since they cannot distinguish it from nonzeros.
    pub fn multiplies_padding(self) -> bool {
        matches!(self, Self::Ell | Self::Hll | Self::HllColumnMajor)
    }

    /// Types and names of the parameters, in order.
    pub fn parameters(self) -> &'static [(ArgumentType, &'static str)] {
        match self {
            Self::Csr => arguments!(Number "rows", Offsets "row_ptr"),
            Self::Ell => arguments!(Number "rows", Number "width"),
            Self::EllColumnMajor => arguments!(Number "rows", Numbers "row_len"),
            Self::Hll | Self::HllColumnMajor => arguments!(
                Number "rows", Number "hack_size", Number "hacks", WideNumbers "offsets",
                Numbers "max_nzr"
            ),
        }
    }
}
