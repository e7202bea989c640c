//! A matrix in memory with everything that a bundle says of it.

use std::pin::Pin;
use std::sync::Arc;

use num_complex::Complex64;

use crate::io::{AnyMatrix, Field, MatrixFile, MatrixForm, Symmetry};
use crate::matrix::{CanonicalValue, Csr, Statistics, identity, identity_at};
use crate::pace::Pace;
use crate::record::{MatrixRecord, Source, matrix_id};

/// A matrix as it was read or generated.
#[derive(Clone, Debug)]
pub struct ReadMatrix {
    /// The matrix.
    pub values: LoadedValues,
    /// Kind of values in the file.
    pub field: Field,
    /// Symmetry that the file declares.
    pub symmetry: Symmetry,
    /// What the file was taken for.
    pub form: MatrixForm,
    /// What a person should know of how it was read.
    pub warnings: Vec<String>,
    /// Opening to finished CSR.
    pub seconds: f64,
}

/// A matrix ready for experiments, and what is known of it.
#[derive(Clone, Debug)]
pub struct LoadedMatrix {
    /// The matrix.
    pub values: LoadedValues,
    /// What a person should know of how it was read.
    pub warnings: Vec<String>,
    /// What the file was taken for.
    pub form: MatrixForm,
    /// Name, origin, identity and statistics, as they enter a bundle.
    pub record: MatrixRecord,
    /// Which row and column of what was read became the first, the second and so on, where they were numbered anew.
    pub order: Option<Vec<u32>>,
}

/// A matrix's values, shared with whoever else holds them.
#[derive(Clone, Debug)]
pub enum LoadedValues {
    /// Real values: kernels run on them.
    Real(Arc<Csr<f64>>),
    /// Complex values: shown, not computed with.
    Complex(Arc<Csr<Complex64>>),
}

impl ReadMatrix {
    /// What a file holds, read in so many seconds.
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
    /// Describes a real matrix of this name: its identity and its statistics, computed side by
    /// side on the ambient pool.
    pub fn describe(name: String, read: ReadMatrix) -> Self {
        let described = match &read.values {
            LoadedValues::Real(a) => describe(a),
            LoadedValues::Complex(a) => describe(a),
        };
        Self::described(name, read, described)
    }

    /// The same in steps, for whoever polls to do something else between.
    pub fn describe_in_steps(
        name: String,
        read: ReadMatrix,
    ) -> Pin<Box<dyn Future<Output = Self>>> {
        // Behind a pointer, so that crates that wait for it do not have its code again.
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
    crate::parallel::join(|| identity(a), || Statistics::of(a))
}

async fn describe_in_steps<T: CanonicalValue>(a: &Csr<T>) -> (String, Statistics) {
    (identity_at(a, Pace::InSteps).await, Statistics::at(a, Pace::InSteps).await)
}
