//! Where a matrix comes from: a path, `gen:KIND?key=value&…` or `suite:NAME`.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use num_complex::Complex64;

use crate::bundle::{MatrixRecord, Source, matrix_id};
use crate::generate::{GenerateError, GeneratorSpec, SpecError, SuiteEntry, generate, suite_entry};
use crate::io::{AnyMatrix, Field, IoError, Progress, Symmetry, open_matrix};
use crate::matrix::{CanonicalValue, Csr, Statistics, identity};
use crate::memory::MemoryLimit;

/// A matrix as a user names it.
#[derive(Clone, Debug)]
pub enum MatrixSource {
    /// A file.
    File(PathBuf),
    /// A generator and its parameters.
    Generated(GeneratorSpec),
    /// An entry of one of the suites.
    Suite(&'static SuiteEntry, GeneratorSpec),
}

/// Why a matrix could not be had.
#[derive(Debug, thiserror::Error)]
pub enum SourceError {
    /// The generator's specification is not one.
    #[error(transparent)]
    Spec(#[from] SpecError),
    /// No suite has an entry of this name.
    #[error("no suite has a matrix named `{0}`; `sparsescope generate --list` shows all names")]
    UnknownSuiteEntry(String),
    /// The generator failed.
    #[error(transparent)]
    Generate(#[from] GenerateError),
    /// The file could not be read.
    #[error(transparent)]
    Read(#[from] IoError),
}

/// A matrix as it was read or generated.
#[derive(Clone, Debug)]
pub struct ReadMatrix {
    /// The matrix.
    pub values: LoadedValues,
    /// Kind of values in the file.
    pub field: Field,
    /// Symmetry that the file declares.
    pub symmetry: Symmetry,
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
    /// Name, origin, identity and statistics, as they enter a bundle.
    pub record: MatrixRecord,
}

/// A matrix's values, shared with whoever else holds them.
#[derive(Clone, Debug)]
pub enum LoadedValues {
    /// Real values: kernels run on them.
    Real(Arc<Csr<f64>>),
    /// Complex values: shown, not computed with.
    Complex(Arc<Csr<Complex64>>),
}

impl MatrixSource {
    /// Understands a path, `gen:…` or `suite:…`; a path is not looked up yet.
    pub fn parse(text: &str) -> Result<Self, SourceError> {
        if let Some(name) = text.strip_prefix("suite:") {
            let unknown = || SourceError::UnknownSuiteEntry(name.to_owned());
            return Self::of_suite(suite_entry(name).ok_or_else(unknown)?);
        }
        match text.starts_with("gen:") {
            true => Ok(Self::Generated(GeneratorSpec::parse(text)?)),
            false => Ok(Self::File(PathBuf::from(text))),
        }
    }

    /// An entry of a suite.
    pub fn of_suite(entry: &'static SuiteEntry) -> Result<Self, SourceError> {
        Ok(Self::Suite(entry, GeneratorSpec::parse(entry.spec)?))
    }

    /// Name shown to people: the file's name without `.mtx` and `.gz`, the entry's name, or the
    /// generator's parameters.
    pub fn name(&self) -> String {
        match self {
            Self::File(path) => {
                let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy();
                let name = name.strip_suffix(".gz").unwrap_or(&name);
                name.strip_suffix(".mtx").unwrap_or(name).to_owned()
            }
            Self::Generated(spec) => spec.to_string().trim_start_matches("gen:").to_owned(),
            Self::Suite(entry, _) => entry.name.to_owned(),
        }
    }

    /// Reads or generates the matrix. `limit` bounds what is allocated.
    pub fn load_values(
        &self,
        limit: MemoryLimit,
        progress: Progress<'_>,
        cancel: &AtomicBool,
    ) -> Result<ReadMatrix, SourceError> {
        let start = Instant::now();
        let (matrix, field, symmetry, warnings) = match self {
            Self::File(path) => {
                let file = open_matrix(path, limit, progress.cancelled_by(cancel))?;
                (file.matrix, file.field, file.symmetry, file.warnings)
            }
            Self::Generated(spec) | Self::Suite(_, spec) => {
                let matrix = AnyMatrix::Real(generate(spec, limit, cancel)?);
                (matrix, Field::Real, Symmetry::General, Vec::new())
            }
        };
        let values = match matrix {
            AnyMatrix::Real(a) => LoadedValues::Real(Arc::new(a)),
            AnyMatrix::Complex(a) => LoadedValues::Complex(Arc::new(a)),
        };
        let seconds = start.elapsed().as_secs_f64();
        Ok(ReadMatrix { values, field, symmetry, warnings, seconds })
    }

    /// Reads or generates the matrix and describes it. `limit` bounds what is allocated.
    pub fn load(
        &self,
        limit: MemoryLimit,
        progress: Progress<'_>,
        cancel: &AtomicBool,
    ) -> Result<LoadedMatrix, SourceError> {
        let read = self.load_values(limit, progress, cancel)?;
        let (sha256, statistics) = match &read.values {
            LoadedValues::Real(a) => describe(a),
            LoadedValues::Complex(a) => describe(a),
        };
        let name = self.name();
        let (source, generator) = match self {
            Self::File(_) => (Source::Real, None),
            Self::Generated(spec) | Self::Suite(_, spec) => {
                (Source::Generated, Some(spec.to_string()))
            }
        };
        let record = MatrixRecord {
            id: matrix_id(&name, &sha256),
            name,
            source,
            generator,
            sha256,
            field: read.field.as_str().to_owned(),
            symmetry: read.symmetry.as_str().to_owned(),
            read_seconds: read.seconds,
            statistics,
        };
        Ok(LoadedMatrix { values: read.values, warnings: read.warnings, record })
    }
}

/// Identity and statistics, computed side by side.
fn describe<T: CanonicalValue>(a: &Csr<T>) -> (String, Statistics) {
    rayon::join(|| identity(a), || Statistics::of(a))
}

impl fmt::Display for MatrixSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(path) => write!(f, "{}", path.display()),
            Self::Generated(spec) => write!(f, "{spec}"),
            Self::Suite(entry, _) => write!(f, "suite:{}", entry.name),
        }
    }
}

impl SourceError {
    /// The cancel flag was set.
    pub fn is_cancelled(&self) -> bool {
        match self {
            Self::Generate(error) => error.is_cancelled(),
            Self::Read(error) => error.is_cancelled(),
            Self::Spec(_) | Self::UnknownSuiteEntry(_) => false,
        }
    }
}
