//! Precision of values.

use serde::{Deserialize, Serialize};

/// The precision in which kernels compute.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize,
)]
#[serde(rename_all = "lowercase")]
pub enum Precision {
    /// IEEE binary64.
    #[default]
    F64,
    /// IEEE binary32.
    F32,
}

impl Precision {
    /// Both, the default first.
    pub const ALL: [Self; 2] = [Self::F64, Self::F32];

    /// `f64` or `f32`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::F64 => "f64",
            Self::F32 => "f32",
        }
    }

    /// Largest finite value.
    pub fn largest(self) -> f64 {
        match self {
            Self::F64 => f64::MAX,
            Self::F32 => f64::from(f32::MAX),
        }
    }

    /// Smallest positive value: 2⁻¹⁰⁷⁴ or 2⁻¹⁴⁹.
    pub fn smallest(self) -> f64 {
        match self {
            Self::F64 => f64::from_bits(1),
            Self::F32 => f64::from(f32::from_bits(1)),
        }
    }

    /// Bytes of a value.
    pub fn bytes(self) -> u64 {
        match self {
            Self::F64 => 8,
            Self::F32 => 4,
        }
    }

    /// Largest relative error of one rounding: 2⁻⁵³ or 2⁻²⁴.
    pub fn unit_roundoff(self) -> f64 {
        match self {
            Self::F64 => f64::EPSILON / 2.0,
            Self::F32 => f64::from(f32::EPSILON) / 2.0,
        }
    }
}
