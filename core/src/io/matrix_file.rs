//! What a matrix file holds once it is read.

use num_complex::Complex64;

use super::IoError;
use crate::matrix::Csr;

/// A matrix with what its file says about it.
#[derive(Clone, Debug, PartialEq)]
pub struct MatrixFile {
    /// The matrix, symmetric storage expanded and duplicates summed.
    pub matrix: AnyMatrix,
    /// Kind of values in the file.
    pub field: Field,
    /// Which entries the file leaves out.
    pub symmetry: Symmetry,
    /// What the file was taken for.
    pub form: MatrixForm,
    /// What a person should know: rounded integers, summed duplicates, and the like.
    pub warnings: Vec<String>,
}

/// A matrix of either kind of value.
#[derive(Clone, Debug, PartialEq)]
pub enum AnyMatrix {
    /// Real, integer and pattern files.
    Real(Csr<f64>),
    /// Complex files: shown, not computed with.
    Complex(Csr<Complex64>),
}

impl AnyMatrix {
    /// Number of rows m.
    pub fn rows(&self) -> usize {
        match self {
            Self::Real(a) => a.rows(),
            Self::Complex(a) => a.rows(),
        }
    }

    /// Number of columns n.
    pub fn cols(&self) -> usize {
        match self {
            Self::Real(a) => a.cols(),
            Self::Complex(a) => a.cols(),
        }
    }

    /// Stored entries, explicit zeros included.
    pub fn nnz(&self) -> usize {
        match self {
            Self::Real(a) => a.nnz(),
            Self::Complex(a) => a.nnz(),
        }
    }

    /// The real matrix, or [`IoError::RealOnly`].
    pub fn real(&self) -> Result<&Csr<f64>, IoError> {
        match self {
            Self::Real(a) => Ok(a),
            Self::Complex(_) => Err(IoError::RealOnly),
        }
    }

    /// The real matrix by value, or [`IoError::RealOnly`].
    pub fn into_real(self) -> Result<Csr<f64>, IoError> {
        match self {
            Self::Real(a) => Ok(a),
            Self::Complex(_) => Err(IoError::RealOnly),
        }
    }
}

/// What a matrix was read as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MatrixForm {
    /// Text below a banner of Matrix Market.
    MatrixMarket,
    /// Plain triplet text.
    Triplets,
    /// A graph as METIS reads them.
    Metis,
    /// Nothing: it was generated.
    Generated,
}

impl MatrixForm {
    /// In words.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::MatrixMarket => "Matrix Market",
            Self::Triplets => "triplet text",
            Self::Metis => "METIS graph",
            Self::Generated => "generated",
        }
    }
}

/// Kind of values in a Matrix Market file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Field {
    /// `real` or `double`.
    Real,
    /// `integer` or `unsigned-integer`.
    Integer,
    /// `pattern`: positions only, each entry is 1.
    Pattern,
    /// `complex`: two numbers an entry.
    Complex,
}

impl Field {
    /// The word of a Matrix Market banner.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Real => "real",
            Self::Integer => "integer",
            Self::Pattern => "pattern",
            Self::Complex => "complex",
        }
    }
}

/// Which entries a Matrix Market file leaves out, and what they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Symmetry {
    /// None: every entry is in the file.
    General,
    /// a_ji = a_ij.
    Symmetric,
    /// a_ji = −a_ij, the diagonal zero.
    SkewSymmetric,
    /// a_ji is the conjugate of a_ij.
    Hermitian,
}

impl Symmetry {
    /// The word of a Matrix Market banner.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::General => "general",
            Self::Symmetric => "symmetric",
            Self::SkewSymmetric => "skew-symmetric",
            Self::Hermitian => "hermitian",
        }
    }
}
