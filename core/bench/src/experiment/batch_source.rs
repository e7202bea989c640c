//! Sources of batches of dense systems: a generator, a suite, or the rows of a matrix.

use std::fmt;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use super::input_file::InputFile;
use super::operations::BatchedDenseProblem;
use super::other_source::{LoadedOther, OtherSource, record};
use super::source::{MatrixSource, SourceError};
use sparsescope_kernels::fsai::{FsaiParameters, PatternRule, row_systems};
use sparsescope_kernels::pcg::check_spd;
use sparsescope_matrix::generate::{
    BatchEntry, BatchSpec, GenerateError, RowsSpec, SpecError, batch_suite_entry, generate_batch,
};
use sparsescope_matrix::io::Progress;
use sparsescope_matrix::matrix::Batches;
use sparsescope_matrix::memory::MemoryLimit;
use sparsescope_record::LoadedValues;
use sparsescope_record::Source;

/// A batch as the user specifies it.
#[derive(Clone, Debug)]
pub enum BatchSource {
    /// Output of a generator.
    Generated(BatchSpec),
    /// An entry of a suite.
    Suite(&'static BatchEntry),
    /// The systems solved for rows of a matrix's factorised inverse.
    Rows(RowsSpec, MatrixSource),
}

impl BatchSource {
    /// Parses `gen:spd-batch?…`, `suite:…`, `fsai:MATRIX` and `fsai?k=1&most=1000:MATRIX`, where MATRIX is
    /// any matrix source. Does not check that a path exists.
    pub fn parse(text: &str) -> Result<Self, SourceError> {
        match text.split_once(':') {
            Some(("suite", name)) => {
                let unknown = || SourceError::UnknownBatch(name.to_owned());
                batch_suite_entry(name).map(Self::Suite).ok_or_else(unknown)
            }
            Some(("gen", _)) => Ok(Self::Generated(BatchSpec::parse(text)?)),
            Some((spec, matrix)) if spec == "fsai" || spec.starts_with("fsai?") => {
                Ok(Self::Rows(RowsSpec::parse(spec)?, MatrixSource::parse(matrix)?))
            }
            _ => Err(SourceError::NoBatch(text.to_owned())),
        }
    }

    fn spec(&self) -> Result<Option<BatchSpec>, SpecError> {
        match self {
            Self::Generated(spec) => Ok(Some(spec.clone())),
            Self::Suite(entry) => BatchSpec::parse(entry.spec).map(Some),
            Self::Rows(..) => Ok(None),
        }
    }

    /// Generates the batch, or reads the matrix and gathers its systems. `limit` bounds the memory allocated.
    pub fn load(
        &self,
        limit: MemoryLimit,
        progress: Progress<'_>,
        cancel: &AtomicBool,
    ) -> Result<Batches, SourceError> {
        if let Some(spec) = self.spec()? {
            return Ok(generate_batch(&spec, limit, cancel)?.into());
        }
        let Self::Rows(spec, matrix) = self else {
            return Err(SourceError::NoBatch(self.to_string()));
        };
        let LoadedValues::Real(a) = matrix.load_values(limit, progress, cancel)?.values else {
            let name = matrix.name();
            return Err(SourceError::NoSystems(format!(
                "{name} has complex values; dense systems can be gathered from real matrices only"
            )));
        };
        check_spd(&a).map_err(|error| SourceError::NoSystems(error.to_string()))?;
        let pattern = PatternRule::Recursive { power: spec.power() };
        let parameters = FsaiParameters { pattern, ..FsaiParameters::default() };
        let cancelled = || cancel.load(Ordering::Relaxed);
        let gathered = row_systems(&a, &parameters, spec.most(), limit, &cancelled)?;
        Ok(gathered.ok_or(GenerateError::Cancelled)?)
    }
}

impl OtherSource for BatchSource {
    /// Display name: that of the suite entry, the generator's parameters, or the matrix's name with the power
    /// of the pattern and the number of rows taken.
    fn name(&self) -> String {
        match self {
            Self::Generated(spec) => spec.to_string().trim_start_matches("gen:").to_owned(),
            Self::Suite(entry) => entry.name.to_owned(),
            Self::Rows(spec, matrix) => {
                let most = spec.most().map(|most| format!("-most-{most}")).unwrap_or_default();
                format!("{}-fsai-k{}{most}", matrix.name(), spec.power())
            }
        }
    }

    fn recipe(&self) -> Option<String> {
        match self {
            Self::Generated(spec) => Some(spec.to_string()),
            Self::Suite(entry) => Some(entry.spec.to_owned()),
            Self::Rows(_, MatrixSource::File(..) | MatrixSource::SuiteFile(..)) => None,
            Self::Rows(..) => Some(self.to_string()),
        }
    }

    /// Whether it comes from a real matrix, a stand-in for one, or a generator only.
    fn origin(&self) -> Source {
        match self {
            Self::Generated(_) | Self::Suite(_) => Source::Generated,
            Self::Rows(_, matrix) => matrix.origin(),
        }
    }

    fn file(&self) -> Option<&Path> {
        match self {
            Self::Rows(_, MatrixSource::File(path, _) | MatrixSource::SuiteFile(_, path)) => {
                Some(path)
            }
            Self::Generated(_) | Self::Suite(_) | Self::Rows(..) => None,
        }
    }

    /// Returns the count of numbers in its matrices, or of nonzeros in the matrix whose rows it is made from.
    fn cost(&self) -> Result<u64, SourceError> {
        match (self, self.spec()?) {
            (Self::Rows(_, matrix), _) => Ok(matrix.probe()?.entries),
            (_, Some(spec)) => Ok(u64::try_from(spec.extent().bytes() / 8).unwrap_or(u64::MAX)),
            (_, None) => Ok(0),
        }
    }

    fn input(&mut self) -> Option<&mut InputFile> {
        match self {
            Self::Rows(_, MatrixSource::File(file, _)) => Some(file),
            Self::Generated(_) | Self::Suite(_) | Self::Rows(..) => None,
        }
    }

    fn subject(
        &self,
        limit: MemoryLimit,
        progress: Progress<'_>,
        cancel: &AtomicBool,
    ) -> Result<LoadedOther, SourceError> {
        let begun = Instant::now();
        let batches = self.load(limit, progress, cancel)?;
        let read_seconds = Some(begun.elapsed().as_secs_f64());
        // With several sizes, none holds for all.
        let unknowns = if batches.sizes().len() == 1 { "unknowns" } else { "unknowns at most" };
        let sizes = [("systems", batches.len()), (unknowns, batches.most_unknowns())];
        let identity = batches.identity(&|| cancel.load(Ordering::Relaxed));
        let sha256 = identity.ok_or(GenerateError::Cancelled)?;
        let record = record(self, "batch", sha256, &sizes, read_seconds);
        let problem = Box::new(BatchedDenseProblem::new(Arc::new(batches)));
        Ok(LoadedOther { folder: "dense", record, problem, taken: None })
    }

    fn boxed(&self) -> Box<dyn OtherSource> {
        Box::new(self.clone())
    }
}

impl fmt::Display for BatchSource {
    /// Formats it as the user writes it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Generated(spec) => spec.fmt(f),
            Self::Suite(entry) => write!(f, "suite:{}", entry.name),
            Self::Rows(spec, matrix) => write!(f, "{spec}:{matrix}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn generators_entries_and_matrices_are_told_apart_and_named_and_a_path_is_none() {
        let named = |text: &str| {
            let source = BatchSource::parse(text).unwrap();
            (source.name(), source.recipe(), source.to_string())
        };
        let spec = "gen:spd-batch?n=8&count=10";
        let recipe = Some(spec.to_owned());
        assert_eq!(named(spec), ("spd-batch?n=8&count=10".into(), recipe, spec.into()));
        let entry = named("suite:spd-28");
        assert_eq!(entry.0, "spd-28");
        assert_eq!(entry.1.as_deref(), Some("spd-batch?n=28&count=20000"));
        assert_eq!(entry.2, "suite:spd-28");
        let rows = "fsai?k=1&most=10:gen:poisson2d?n=5";
        let recipe = Some(rows.to_owned());
        assert_eq!(named(rows), ("poisson2d?n=5-fsai-k1-most-10".into(), recipe, rows.into()));
        assert_eq!(
            named("fsai?k=2:a/cant.mtx"),
            ("cant-fsai-k2".into(), None, "fsai:a/cant.mtx".into())
        );
        let wrong = |text: &str| BatchSource::parse(text).unwrap_err().to_string();
        assert!(wrong("suite:none").contains("`none`"));
        assert!(wrong("cant.mtx").contains("gen:spd-batch?n=28&count=20000"));
        assert!(wrong("fsai?j=1:cant.mtx").contains("expected one of: k, most"));
    }

    #[test]
    fn a_matrix_gives_the_systems_of_its_rows_and_one_that_is_not_symmetric_none() {
        let load = |text: &str| {
            let never = AtomicBool::new(false);
            BatchSource::parse(text).unwrap().load(
                MemoryLimit::unlimited(),
                Progress::none(),
                &never,
            )
        };
        let batches = load("fsai?k=1:gen:poisson2d?n=5").unwrap();
        assert_eq!((batches.len(), batches.most_unknowns()), (25, 3));
        let error = load("fsai:gen:random?m=60&row=3").unwrap_err().to_string();
        assert!(error.starts_with("conjugate gradients need"), "{error}");
    }
}
