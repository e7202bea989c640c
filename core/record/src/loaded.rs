//! A matrix in memory with everything that a bundle records of it.

use std::pin::Pin;
use std::sync::Arc;

use num_complex::Complex64;

use crate::{MatrixRecord, Source, matrix_id};
use sparsescope_matrix::io::{AnyMatrix, Field, MatrixFile, MatrixForm, Symmetry};
use sparsescope_matrix::matrix::{CanonicalValue, Csr, Statistics, identity, identity_at};
use sparsescope_matrix::pace::Pace;

/// A matrix as read or generated.
#[derive(Clone, Debug)]
pub struct ReadMatrix {
    /// The matrix.
    pub values: LoadedValues,
    /// Kind of values in the file.
    pub field: Field,
    /// Symmetry declared by the file.
    pub symmetry: Symmetry,
    /// How the file was interpreted.
    pub form: MatrixForm,
    /// Warnings about how it was read.
    pub warnings: Vec<String>,
    /// Seconds from opening the file to finished CSR.
    pub seconds: f64,
}

/// A matrix ready for experiments, with its description.
#[derive(Clone, Debug)]
pub struct LoadedMatrix {
    /// The matrix.
    pub values: LoadedValues,
    /// Warnings about how it was read.
    pub warnings: Vec<String>,
    /// How the file was interpreted.
    pub form: MatrixForm,
    /// Name, origin, identity and statistics, as recorded in a bundle.
    pub record: MatrixRecord,
    /// The original row and column of each new one, if the matrix was reordered.
    pub order: Option<Vec<u32>>,
}

/// Values of a matrix, shared with its other owners.
#[derive(Clone, Debug)]
pub enum LoadedValues {
    /// Real values, which kernels run on.
    Real(Arc<Csr<f64>>),
    /// Complex values, which are shown but not computed with.
    Complex(Arc<Csr<Complex64>>),
}

impl ReadMatrix {
    /// The contents of a file that was read in `seconds`.
    pub fn new(file: MatrixFile, seconds: f64) -> Self {
        let values = match file.matrix {
            AnyMatrix::Real(a) => LoadedValues::Real(Arc::new(a)),
            AnyMatrix::Complex(a) => LoadedValues::Complex(Arc::new(a)),
        };
        let MatrixFile { field, symmetry, form, warnings, .. } = file;
        Self { values, field, symmetry, form, warnings, seconds }
    }
}

impl LoadedMatrix {
    /// Describes a real matrix of this name: its identity and its statistics, computed in parallel on the
    /// ambient pool.
    pub fn describe(name: String, read: ReadMatrix) -> Self {
        let described = match &read.values {
            LoadedValues::Real(a) => describe(a),
            LoadedValues::Complex(a) => describe(a),
        };
        Self::described(name, read, described)
    }

    /// The same in steps, for a caller that polls and does other work in between.
    pub fn describe_in_steps(
        name: String,
        read: ReadMatrix,
    ) -> Pin<Box<dyn Future<Output = Self>>> {
        // Boxed, so that crates that await it do not contain its code again.
        Box::pin(async move {
            let described = match &read.values {
                LoadedValues::Real(a) => describe_in_steps(a).await,
                LoadedValues::Complex(a) => describe_in_steps(a).await,
            };
            Self::described(name, read, described)
        })
    }

    fn described(
        name: String,
        read: ReadMatrix,
        (sha256, statistics): (String, Statistics),
    ) -> Self {
        let record = MatrixRecord {
            id: matrix_id(&name, &sha256),
            name,
            source: Source::Real,
            generator: None,
            reordered: None,
            sha256,
            field: read.field.as_str().to_owned(),
            symmetry: read.symmetry.as_str().to_owned(),
            read_seconds: read.seconds,
            statistics,
        };
        let ReadMatrix { values, form, warnings, .. } = read;
        Self { values, warnings, form, record, order: None }
    }
}

fn describe<T: CanonicalValue>(a: &Csr<T>) -> (String, Statistics) {
    sparsescope_matrix::parallel::join(|| identity(a), || Statistics::of(a))
}

async fn describe_in_steps<T: CanonicalValue>(a: &Csr<T>) -> (String, Statistics) {
    (identity_at(a, Pace::InSteps).await, Statistics::at(a, Pace::InSteps).await)
}
