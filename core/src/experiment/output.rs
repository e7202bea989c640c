//! What comes out of an execution.

use crate::skyline::Found;

/// A result, one variant a kind.
#[derive(Clone, Debug, PartialEq)]
pub enum Output {
    /// A vector, one element a row.
    Vector(Vec<f64>),
    /// The same in single precision.
    Single(Vec<f32>),
    /// The points kept, by index, and how many comparisons that took.
    Points(Found),
}

impl Output {
    /// What kind it is, in words.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Vector(_) => "a vector of f64",
            Self::Single(_) => "a vector of f32",
            Self::Points(_) => "a set of points",
        }
    }

    /// The numbers of a vector in f64; the indices of points kept.
    pub fn in_f64(self) -> Vec<f64> {
        match self {
            Self::Vector(vector) => vector,
            Self::Single(vector) => vector.into_iter().map(f64::from).collect(),
            Self::Points(found) => found.indices.into_iter().map(f64::from).collect(),
        }
    }
}

impl From<Vec<f64>> for Output {
    fn from(vector: Vec<f64>) -> Self {
        Self::Vector(vector)
    }
}

impl From<Vec<f32>> for Output {
    fn from(vector: Vec<f32>) -> Self {
        Self::Single(vector)
    }
}
