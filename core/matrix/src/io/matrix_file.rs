//! The contents of a matrix file after reading.

use num_complex::Complex64;

use super::IoError;
use crate::matrix::Csr;

/// A matrix and the properties that its file declares.
#[derive(Clone, Debug, PartialEq)]
pub struct MatrixFile {
    /// The matrix, symmetric storage expanded and duplicates summed.
    pub matrix: AnyMatrix,
    /// Kind of values in the file.
    pub field: Field,
    /// Which nonzeros the file omits.
    pub symmetry: Symmetry,
    /// The form in which the file was read.
    pub form: MatrixForm,
    /// Warnings for the user: rounded integers, summed duplicates, and the like.
    pub warnings: Vec<String>,
}

/// A real or complex matrix.
#[derive(Clone, Debug, PartialEq)]
pub enum AnyMatrix {
    /// Real, integer and pattern files.
    Real(Csr<f64>),
    /// Complex files: shown, but not used in computations.
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

    /// Number of stored nonzeros, explicit zeros included.
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

    /// Converts into the real matrix, or [`IoError::RealOnly`].
    pub fn into_real(self) -> Result<Csr<f64>, IoError> {
        match self {
            Self::Real(a) => Ok(a),
            Self::Complex(_) => Err(IoError::RealOnly),
        }
    }
}

/// The form in which a matrix was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MatrixForm {
    /// Text with a Matrix Market banner.
    MatrixMarket,
    /// Plain triplet text.
    Triplets,
    /// A graph in METIS format.
    Metis,
    /// An edge list whose vertices count from 0.
    EdgesFrom0,
    /// An edge list whose vertices count from 1.
    EdgesFrom1,
    /// A `.npz` file of SciPy's sparse arrays.
    Npz,
    /// A dense NumPy array.
    Npy,
    /// A file of Rutherford and Boeing's collection.
    RutherfordBoeing,
    /// A file of Harwell and Boeing's collection.
    HarwellBoeing,
    /// A MATLAB file of level 4.
    Matlab4,
    /// A MATLAB file of level 5.
    Matlab5,
    /// An HDF5 file: MATLAB 7.3, 10x Genomics, AnnData, Octave.
    Hdf5,
    /// A binary file of PETSc.
    Petsc,
    /// Text of hypre's IJ matrices.
    Hypre,
    /// A graph of the DIMACS challenges.
    Dimacs,
    /// Binary triplets.
    BinaryTriplets,
    /// Not read but generated.
    Generated,
}

impl MatrixForm {
    /// The name of the form.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::MatrixMarket => "Matrix Market",
            Self::Triplets => "triplet text",
            Self::Metis => "METIS graph",
            Self::EdgesFrom0 => "edge list, vertices from 0",
            Self::EdgesFrom1 => "edge list, vertices from 1",
            Self::Npz => "SciPy sparse array (.npz)",
            Self::Npy => "NumPy array (.npy)",
            Self::RutherfordBoeing => "Rutherford-Boeing",
            Self::HarwellBoeing => "Harwell-Boeing",
            Self::Matlab4 => "MATLAB level 4",
            Self::Matlab5 => "MATLAB level 5",
            Self::Hdf5 => "HDF5",
            Self::Petsc => "PETSc binary",
            Self::Hypre => "hypre IJ",
            Self::Dimacs => "DIMACS graph",
            Self::BinaryTriplets => "binary triplets",
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
    /// `pattern`: positions only, each nonzero is 1.
    Pattern,
    /// `complex`: two numbers per nonzero.
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

/// Which nonzeros a Matrix Market file omits, and their values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Symmetry {
    /// None: every nonzero is in the file.
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
