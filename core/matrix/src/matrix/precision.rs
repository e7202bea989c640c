//! Precision of values.

use serde::{Deserialize, Serialize};

use super::Number;

/// The precision in which kernels compute: the format of the matrix's values, and that of vectors and sums.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize,
)]
pub enum Precision {
    /// All in IEEE binary64.
    #[default]
    #[serde(rename = "f64")]
    F64,
    /// All in IEEE binary32.
    #[serde(rename = "f32")]
    F32,
    /// The matrix in binary32, vectors and sums in binary64.
    #[serde(rename = "f32:f64")]
    F32F64,
    /// The matrix in bfloat16, vectors and sums in binary32.
    #[serde(rename = "bf16:f32")]
    Bf16F32,
    /// The matrix in IEEE binary16, vectors and sums in binary32.
    #[serde(rename = "f16:f32")]
    F16F32,
}

impl Precision {
    /// All of them, the default first.
    pub const ALL: [Self; 5] = [Self::F64, Self::F32, Self::F32F64, Self::Bf16F32, Self::F16F32];

    /// Those with one format for matrix, vectors and sums.
    pub const UNIFORM: [Self; 2] = [Self::F64, Self::F32];

    /// `f64`, or the formats of matrix and vectors, where they differ: `f32:f64`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::F64 => "f64",
            Self::F32 => "f32",
            Self::F32F64 => "f32:f64",
            Self::Bf16F32 => "bf16:f32",
            Self::F16F32 => "f16:f32",
        }
    }

    /// The format of the matrix's values.
    pub fn values(self) -> Number {
        match self {
            Self::F64 => Number::F64,
            Self::F32 | Self::F32F64 => Number::F32,
            Self::Bf16F32 => Number::Bf16,
            Self::F16F32 => Number::F16,
        }
    }

    /// The format of vectors and sums.
    pub fn vectors(self) -> Number {
        if self.in_f64() { Number::F64 } else { Number::F32 }
    }

    /// Whether vectors and sums are f64; otherwise they are f32.
    pub fn in_f64(self) -> bool {
        matches!(self, Self::F64 | Self::F32F64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_precision_is_written_as_the_formats_of_matrix_and_vectors() {
        for precision in Precision::ALL {
            let [values, vectors] = [precision.values(), precision.vectors()].map(Number::as_str);
            let is_uniform = Precision::UNIFORM.contains(&precision);
            let word = if is_uniform { values.to_owned() } else { format!("{values}:{vectors}") };
            assert_eq!(precision.as_str(), word);
            assert_eq!((values == vectors, vectors == "f64"), (is_uniform, precision.in_f64()));
            let json = serde_json::to_string(&precision).unwrap();
            assert_eq!(json, format!("\"{word}\""));
            assert_eq!(serde_json::from_str::<Precision>(&json).unwrap(), precision);
        }
    }
}
