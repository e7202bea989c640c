//! What a user's kernel is given: the arguments of one of the formats that ours are given.

use crate::kernel::format::Format;
use crate::matrix::Order;

/// The type of a parameter, as `common.cuh` names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ArgumentType {
    /// `u32`: a number.
    Number,
    /// `const u32*`: numbers that are read.
    Numbers,
    /// `const u64*`: wide numbers that are read.
    WideNumbers,
    /// `const offset*`: row offsets, of 32 or 64 bits as the matrix needs.
    Offsets,
    /// `const real*`: values that are read, of the precision of the run.
    Values,
    /// `real*`: the values of the result.
    Result,
}

impl ArgumentType {
    /// As the sources write it.
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

/// Whose arguments a user's kernel takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UserFamily {
    /// CSR.
    Csr,
    /// ELLPACK, slots row by row, each row as wide as the longest.
    Ell,
    /// ELLPACK, slots column by column, with the lengths of the rows.
    EllColumnMajor,
    /// Hacked ELLPACK, slots row by row in each hack.
    Hll,
    /// Hacked ELLPACK, slots column by column in each hack.
    HllColumnMajor,
}

use ArgumentType::{Number, Numbers, Offsets, Result, Values, WideNumbers};

/// Names of the parameters that every family ends with, and their types.
macro_rules! arguments {
    ($($type:ident $name:literal),+) => {
        &[
            $(($type, $name),)+ (Numbers, "col"), (Values, "val"), (Values, "x"), (Result, "y"),
        ]
    };
}

impl UserFamily {
    /// Every family.
    pub const ALL: [Self; 5] =
        [Self::Csr, Self::Ell, Self::EllColumnMajor, Self::Hll, Self::HllColumnMajor];

    /// Its word in headers and bundles.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Csr => "csr",
            Self::Ell => "ell",
            Self::EllColumnMajor => "ell-column-major",
            Self::Hll => "hll",
            Self::HllColumnMajor => "hll-column-major",
        }
    }

    /// The family of this word.
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

    /// Its kernels cannot tell padding from entries, which they multiply by x.
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
