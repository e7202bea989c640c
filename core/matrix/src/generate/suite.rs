//! A suite of matrices and their known figures.

/// A set of matrices that are run together.
#[derive(Debug)]
pub struct Suite {
    /// Its name.
    pub name: &'static str,
    /// Its purpose.
    pub what: &'static str,
    /// The matrices.
    pub entries: &'static [SuiteEntry],
}

/// One matrix of a suite.
#[derive(Debug)]
pub struct SuiteEntry {
    /// Its name.
    pub name: &'static str,
    /// Its generator.
    pub spec: &'static str,
    /// Its description.
    pub what: &'static str,
    /// The real matrix that the generated one stands in for, if any.
    pub wanted: Option<Wanted>,
}

/// Figures of a real matrix. Absent figures are unknown and have no target.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Wanted {
    /// Rows.
    pub rows: u64,
    /// Columns.
    pub cols: u64,
    /// Nonzeros, both triangles of a symmetric matrix.
    pub nnz: u64,
    /// Whether a_ij = a_ji for all nonzeros, which the stand-in preserves exactly.
    pub symmetric: bool,
    /// Longest row.
    pub max: Option<Figure<u64>>,
    /// Average deviation of the row lengths in percent of their mean.
    pub percent_average_deviation: Option<Figure<f64>>,
    /// Largest |i − j|.
    pub bandwidth: Option<Figure<u64>>,
}

/// A figure of a real matrix and its certainty.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Figure<T> {
    /// Published, or counted in the real file.
    Known(T),
    /// Estimated from the kind of structure.
    Guessed(T),
}

impl<T: Copy> Figure<T> {
    /// The number, known or guessed.
    pub fn value(self) -> T {
        match self {
            Self::Known(value) | Self::Guessed(value) => value,
        }
    }
}
