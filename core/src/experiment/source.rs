//! Where a matrix comes from: a path, `gen:KIND?key=value&…` or `suite:NAME`.

use std::fmt;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use super::loaded::{LoadedMatrix, ReadMatrix, matrix_name};
use crate::bundle::Source;
use crate::generate::{GenerateError, GeneratorSpec, SpecError, SuiteEntry, generate, suite_entry};
use crate::io::{AnyMatrix, Field, IoError, MatrixFile, Progress, Symmetry, open_matrix};
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
                let name = path.file_name().unwrap_or(path.as_os_str());
                matrix_name(&name.to_string_lossy()).to_owned()
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
        let file = match self {
            Self::File(path) => open_matrix(path, limit, progress.cancelled_by(cancel))?,
            Self::Generated(spec) | Self::Suite(_, spec) => MatrixFile {
                matrix: AnyMatrix::Real(generate(spec, limit, cancel)?),
                field: Field::Real,
                symmetry: Symmetry::General,
                warnings: Vec::new(),
            },
        };
        Ok(ReadMatrix::new(file, start.elapsed().as_secs_f64()))
    }

    /// Reads or generates the matrix and describes it. `limit` bounds what is allocated.
    pub fn load(
        &self,
        limit: MemoryLimit,
        progress: Progress<'_>,
        cancel: &AtomicBool,
    ) -> Result<LoadedMatrix, SourceError> {
        let read = self.load_values(limit, progress, cancel)?;
        let (source, generator) = match self {
            Self::File(_) => (Source::Real, None),
            Self::Generated(spec) | Self::Suite(_, spec) => {
                (Source::Generated, Some(spec.to_string()))
            }
        };
        let mut loaded = LoadedMatrix::describe(self.name(), read);
        loaded.record.source = source;
        loaded.record.generator = generator;
        Ok(loaded)
    }
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
