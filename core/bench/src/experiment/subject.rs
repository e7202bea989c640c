//! Subjects of operations: where they come from, and what they are once loaded.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use web_time::Instant;

use super::batch_source::BatchSource;
use super::input_file::InputFile;
#[cfg(feature = "proof")]
use super::operations::IncrementProblem;
use super::operations::{
    BatchedDenseProblem, Given, SkylineProblem, SolveProblem, SpmvProblem, SymgsProblem,
};
use super::points_source::PointsSource;
use super::problem::Problem;
use super::source::{MatrixSource, SourceError};
use crate::measure::integer_vector;
use sparsescope_kernels::symgs::{Wavefronts, right_hand_side, starting_vector};
use sparsescope_matrix::generate::{
    GenerateError, batch_suite, batch_suites, points_suite, points_suites, suite, suites,
};
use sparsescope_matrix::io::points::{HeaderLine, PointsTaken};
use sparsescope_matrix::io::{Progress, ReadOptions};
use sparsescope_matrix::matrix::{Extent, PointsExtent, Reordering};
use sparsescope_matrix::memory::{MemoryError, MemoryLimit};
#[cfg(feature = "proof")]
use sparsescope_record::Source;
use sparsescope_record::{LoadedMatrix, LoadedValues};
use sparsescope_record::{Operation, Subject, SubjectRecord, matrix_id};

/// A subject as the user specifies it.
#[derive(Clone, Debug)]
pub enum SubjectSource {
    /// A matrix.
    Matrix(MatrixSource),
    /// A set of points.
    Points(PointsSource),
    /// Many small dense systems.
    Batch(BatchSource),
    /// A vector of this many elements, counting from 0.
    #[cfg(feature = "proof")]
    Vector(usize),
}

/// A subject in memory, with its description for a bundle.
#[derive(Debug)]
pub enum LoadedSubject {
    /// A matrix.
    Matrix(Box<LoadedMatrix>),
    /// Anything else.
    Other(Box<LoadedOther>),
}

/// A subject that is not a matrix, ready for experiments.
#[derive(Debug)]
pub struct LoadedOther {
    /// Its folder in bundles.
    pub folder: &'static str,
    /// Name, origin, identity and sizes, as recorded in a bundle.
    pub record: SubjectRecord,
    /// The problem for it.
    pub problem: Box<dyn Problem>,
    /// The parts used of its file, if that is CSV.
    pub taken: Option<PointsTaken>,
}

/// What is known of a subject before it is loaded.
#[derive(Clone, Copy, Debug)]
pub struct Probed {
    /// Rows, columns and nonzeros of a matrix.
    pub extent: Option<Extent>,
    /// Amount of data that one execution processes, by which plans are split: nonzeros of a matrix,
    /// coordinates of points, numbers of a batch.
    pub cost: u64,
}

/// Why a complex matrix has no runs.
const REAL_ONLY: &str = "the matrix is complex; kernels compute with real matrices only";

/// Puts folders before the names of files that have the same name, as many as tell them apart.
pub fn tell_apart(sources: &mut [SubjectSource]) {
    loop {
        let mut files: BTreeMap<String, BTreeSet<PathBuf>> = BTreeMap::new();
        for source in &*sources {
            if let Some(path) = source.file() {
                files.entry(source.name()).or_default().insert(path.to_owned());
            }
        }
        let mut has_changed = false;
        for source in &mut *sources {
            let is_shared = files.get(&source.name()).is_some_and(|paths| paths.len() > 1);
            if let (true, Some(file)) = (is_shared, source.input()) {
                has_changed |= file.add_folder();
            }
        }
        if !has_changed {
            return;
        }
    }
}

impl SubjectSource {
    /// Parses what a user names for an operation. Does not check that a path exists.
    pub fn parse(operation: Operation, text: &str) -> Result<Self, SourceError> {
        match operation {
            Operation::Spmv | Operation::Symgs | Operation::Solve => {
                Ok(Self::Matrix(MatrixSource::parse(text)?))
            }
            Operation::Skyline => Ok(Self::Points(PointsSource::parse(text)?)),
            Operation::BatchedDense => Ok(Self::Batch(BatchSource::parse(text)?)),
            #[cfg(feature = "proof")]
            Operation::Increment => {
                let length = text.strip_prefix("gen:vector?n=").and_then(|n| n.parse().ok());
                let wrong = || SourceError::UnknownSubject(text.to_owned());
                length.map(Self::Vector).ok_or_else(wrong)
            }
        }
    }

    /// Sets the meaning of the first line of a file of points.
    pub fn with_header(self, header: HeaderLine) -> Self {
        match self {
            Self::Points(source) => Self::Points(source.with_header(header)),
            other => other,
        }
    }

    /// Sets how to read a file that is a matrix.
    pub fn with_options(self, options: ReadOptions) -> Self {
        match self {
            Self::Matrix(source) => Self::Matrix(source.with_options(options)),
            other => other,
        }
    }

    /// The default suite of an operation.
    pub fn default_suite(operation: Operation) -> &'static str {
        match operation {
            Operation::Spmv => "mini",
            Operation::Symgs => "sweeps",
            Operation::Skyline => "points",
            Operation::Solve => "solver",
            Operation::BatchedDense => "batches",
            #[cfg(feature = "proof")]
            Operation::Increment => "vectors",
        }
    }

    /// The names of all suites of an operation.
    pub fn suites(operation: Operation) -> Vec<&'static str> {
        match operation {
            Operation::Spmv | Operation::Symgs | Operation::Solve => {
                suites().iter().map(|suite| suite.name).collect()
            }
            Operation::Skyline => points_suites().iter().map(|suite| suite.name).collect(),
            Operation::BatchedDense => batch_suites().iter().map(|suite| suite.name).collect(),
            #[cfg(feature = "proof")]
            Operation::Increment => vec!["vectors"],
        }
    }

    /// The subjects of a suite of an operation; `None` if there is no such suite.
    pub fn of_suite(operation: Operation, name: &str) -> Result<Option<Vec<Self>>, SourceError> {
        match operation {
            Operation::Spmv | Operation::Symgs | Operation::Solve => {
                let Some(suite) = suite(name) else { return Ok(None) };
                let entries = suite.entries.iter();
                let sources = entries.map(|entry| MatrixSource::of_suite(entry).map(Self::Matrix));
                sources.collect::<Result<_, _>>().map(Some)
            }
            Operation::Skyline => {
                let sources = |entries: &'static [_]| {
                    entries.iter().map(|entry| Self::Points(PointsSource::Suite(entry))).collect()
                };
                Ok(points_suite(name).map(|suite| sources(suite.entries)))
            }
            Operation::BatchedDense => {
                let sources = |entries: &'static [_]| {
                    entries.iter().map(|entry| Self::Batch(BatchSource::Suite(entry))).collect()
                };
                Ok(batch_suite(name).map(|suite| sources(suite.entries)))
            }
            #[cfg(feature = "proof")]
            Operation::Increment => {
                let lengths = [1_000, 100_000].map(Self::Vector).to_vec();
                Ok((name == "vectors").then_some(lengths))
            }
        }
    }

    /// Display name.
    pub fn name(&self) -> String {
        match self {
            Self::Matrix(source) => source.name(),
            Self::Points(source) => source.name(),
            Self::Batch(source) => source.name(),
            #[cfg(feature = "proof")]
            Self::Vector(n) => format!("vector?n={n}"),
        }
    }

    /// Sizes from the first lines of its file or from its recipe, without reading or generating it. Fails if
    /// a file cannot be opened or holds something else.
    pub fn probe(&self) -> Result<Probed, SourceError> {
        match self {
            Self::Matrix(source) => {
                source.probe().map(|extent| Probed { extent: Some(extent), cost: extent.entries })
            }
            Self::Points(source) => {
                let PointsExtent { points, dimensions, .. } = source.probe()?;
                Ok(Probed { extent: None, cost: points.saturating_mul(dimensions) })
            }
            Self::Batch(source) => Ok(Probed { extent: None, cost: source.probe()? }),
            #[cfg(feature = "proof")]
            Self::Vector(n) => Ok(Probed { extent: None, cost: *n as u64 }),
        }
    }

    /// The file that it is read from, if any.
    pub fn file(&self) -> Option<&Path> {
        match self {
            Self::Matrix(MatrixSource::File(path, _) | MatrixSource::SuiteFile(_, path)) => {
                Some(path)
            }
            Self::Points(PointsSource::File(path, _)) => Some(path),
            Self::Batch(source) => source.file(),
            Self::Matrix(_) | Self::Points(_) => None,
            #[cfg(feature = "proof")]
            Self::Vector(_) => None,
        }
    }

    /// The file whose name it has in results.
    fn input(&mut self) -> Option<&mut InputFile> {
        match self {
            Self::Matrix(MatrixSource::File(file, _))
            | Self::Points(PointsSource::File(file, _)) => Some(file),
            Self::Batch(BatchSource::Rows(_, MatrixSource::File(file, _))) => Some(file),
            Self::Matrix(_) | Self::Points(_) | Self::Batch(_) => None,
            #[cfg(feature = "proof")]
            Self::Vector(_) => None,
        }
    }

    /// The same with this name, if it is the name of its file with some of the folders before it.
    pub fn called(&self, name: &str) -> Option<Self> {
        let mut source = self.clone();
        if let Some(file) = source.input() {
            file.drop_folders();
        }
        while source.name() != name {
            if !source.input()?.add_folder() {
                return None;
            }
        }
        Some(source)
    }

    /// Whether the user has to name it again to continue a measurement: bundles store the names of files, not
    /// their paths.
    pub fn is_file(&self) -> bool {
        let matrix = matches!(self, Self::Matrix(MatrixSource::File(..)));
        matrix
            || matches!(self, Self::Points(PointsSource::File(..)))
            || matches!(self, Self::Batch(source) if source.is_file())
    }

    /// Reads or generates the subject, and reorders rows and columns of a matrix if requested. `limit` bounds
    /// the memory allocated.
    pub fn load(
        &self,
        reordering: Option<Reordering>,
        limit: MemoryLimit,
        progress: Progress<'_>,
        cancel: &AtomicBool,
    ) -> Result<LoadedSubject, SourceError> {
        match self {
            Self::Matrix(source) => {
                let loaded = source.load_reordered(reordering, limit, progress, cancel)?;
                Ok(LoadedSubject::Matrix(Box::new(loaded)))
            }
            Self::Points(source) => {
                let begun = Instant::now();
                let (points, taken) = source.load(limit, progress, cancel)?;
                let read_seconds = Some(begun.elapsed().as_secs_f64());
                let sizes = [("points", points.len()), ("dimensions", points.dimensions())];
                let sha256 = points.identity();
                let record = SubjectRecord {
                    id: matrix_id(&source.name(), &sha256),
                    name: source.name(),
                    kind: "points".to_owned(),
                    source: source.origin(),
                    generator: source.recipe(),
                    sha256,
                    sizes: sizes.map(|(name, size)| (name.to_owned(), size as u64)).into(),
                    read_seconds,
                };
                let problem = Box::new(SkylineProblem::new(Arc::new(points)));
                let (folder, taken) = ("skyline", taken.filter(|taken| taken.form == "csv"));
                Ok(LoadedSubject::Other(Box::new(LoadedOther { folder, record, problem, taken })))
            }
            Self::Batch(source) => {
                let begun = Instant::now();
                let batches = source.load(limit, progress, cancel)?;
                let read_seconds = Some(begun.elapsed().as_secs_f64());
                // With several sizes, none holds for all.
                let unknowns =
                    if batches.sizes().len() == 1 { "unknowns" } else { "unknowns at most" };
                let sizes = [("systems", batches.len()), (unknowns, batches.most_unknowns())];
                let identity = batches.identity(&|| cancel.load(Ordering::Relaxed));
                let sha256 = identity.ok_or(GenerateError::Cancelled)?;
                let record = SubjectRecord {
                    id: matrix_id(&source.name(), &sha256),
                    name: source.name(),
                    kind: "batch".to_owned(),
                    source: source.origin(),
                    generator: source.recipe(),
                    sha256,
                    sizes: sizes.map(|(name, size)| (name.to_owned(), size as u64)).into(),
                    read_seconds,
                };
                let problem = Box::new(BatchedDenseProblem::new(Arc::new(batches)));
                let folder = "dense";
                let other = LoadedOther { folder, record, problem, taken: None };
                Ok(LoadedSubject::Other(Box::new(other)))
            }
            #[cfg(feature = "proof")]
            Self::Vector(n) => {
                let problem = IncrementProblem::counting(*n);
                let sha256 = problem.identity();
                let record = SubjectRecord {
                    id: matrix_id(&self.name(), &sha256),
                    name: self.name(),
                    kind: "vector".to_owned(),
                    source: Source::Generated,
                    generator: Some(self.name()),
                    sha256,
                    sizes: [("elements".to_owned(), *n as u64)].into(),
                    read_seconds: None,
                };
                let (folder, problem) = ("increment", Box::new(problem));
                let other = LoadedOther { folder, record, problem, taken: None };
                Ok(LoadedSubject::Other(Box::new(other)))
            }
        }
    }
}

impl fmt::Display for SubjectSource {
    /// Formats it as the user writes it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Matrix(source) => source.fmt(f),
            Self::Points(source) => source.fmt(f),
            Self::Batch(source) => source.fmt(f),
            #[cfg(feature = "proof")]
            Self::Vector(n) => write!(f, "gen:vector?n={n}"),
        }
    }
}

impl LoadedSubject {
    /// Its description in a bundle.
    pub fn record(&self) -> Subject<'_> {
        match self {
            Self::Matrix(loaded) => Subject::Matrix(&loaded.record),
            Self::Other(other) => Subject::Other(&other.record),
        }
    }

    /// The parts used of a file of points, if that is CSV.
    pub fn taken(&self) -> Option<&PointsTaken> {
        match self {
            Self::Matrix(_) => None,
            Self::Other(other) => other.taken.as_ref(),
        }
    }

    /// Warnings about how it was read.
    pub fn warnings(&self) -> &[String] {
        match self {
            Self::Matrix(loaded) => &loaded.warnings,
            Self::Other(other) => {
                other.taken.as_ref().map(|taken| taken.warnings.as_slice()).unwrap_or_default()
            }
        }
    }

    /// Files that an operation adds to a matrix's folder besides the picture of its structure, with pictures
    /// limited to `budget` bytes after deflate: the progress of sweeps over the matrix. Empty if there is
    /// nothing to show, or if `limit` leaves no memory to compute it.
    pub fn files_of(
        &self,
        operation: Operation,
        budget: u64,
        limit: MemoryLimit,
    ) -> BTreeMap<String, Vec<u8>> {
        match (operation, self) {
            (Operation::Symgs, Self::Matrix(loaded)) => match &loaded.values {
                LoadedValues::Real(a) => Wavefronts::files_of(a, budget, limit).unwrap_or_default(),
                LoadedValues::Complex(_) => BTreeMap::new(),
            },
            _ => BTreeMap::new(),
        }
    }

    /// The problem of an operation on this subject, with its other input given or drawn from the seed; fails
    /// with the reason. `limit` bounds the memory allocated.
    pub fn into_problem(
        self,
        operation: Operation,
        seed: u64,
        x: Option<&[f64]>,
        limit: MemoryLimit,
    ) -> Result<Box<dyn Problem>, String> {
        let loaded = match self {
            Self::Matrix(loaded) => loaded,
            Self::Other(mut other) if other.problem.operation() == operation => {
                other.problem.reseed(seed);
                return Ok(other.problem);
            }
            Self::Other(other) => {
                let (kind, word) = (other.record.kind, operation.as_str());
                return Err(format!("{word} does not run on a {kind}"));
            }
        };
        let LoadedValues::Real(a) = &loaded.values else { return Err(REAL_ONLY.to_owned()) };
        let too_large = |error: MemoryError| error.to_string();
        match operation {
            Operation::Spmv => {
                SpmvProblem::check_vectors(a, limit).map_err(too_large)?;
                let x = match x {
                    Some(x) if x.len() != a.cols() => {
                        let (elements, columns) = (x.len(), a.cols());
                        return Err(format!(
                            "x has {elements} elements, but the matrix has {columns} columns"
                        ));
                    }
                    Some(x) => x.to_vec(),
                    None => integer_vector(a.cols(), seed),
                };
                Ok(Box::new(SpmvProblem::new(a.clone(), x)))
            }
            Operation::Symgs => {
                SymgsProblem::check_vectors(a, limit).map_err(too_large)?;
                let n = a.rows();
                let start = x.map_or_else(|| starting_vector(n, seed), <[f64]>::to_vec);
                if start.len() != n {
                    let elements = start.len();
                    return Err(format!("x has {elements} elements, but the matrix has {n} rows"));
                }
                let b = right_hand_side(n, seed);
                Ok(Box::new(SymgsProblem::new(a.clone(), b, start)?))
            }
            Operation::Skyline => Err("skyline runs on points, not on a matrix".to_owned()),
            Operation::Solve => {
                SolveProblem::check_vectors(a, limit).map_err(too_large)?;
                if x.is_some() {
                    let no_x = "solve starts from zero or from the preconditioned b and takes no x";
                    return Err(no_x.to_owned());
                }
                Ok(Box::new(SolveProblem::new(a.clone(), Given::default())?))
            }
            Operation::BatchedDense => {
                Err("a matrix is not a batch of systems; use fsai:MATRIX for the systems of its \
                    rows"
                    .to_owned())
            }
            #[cfg(feature = "proof")]
            Operation::Increment => Err("a matrix cannot be incremented".to_owned()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(operation: Operation, texts: &[&str]) -> Vec<String> {
        let parse = |text: &&str| SubjectSource::parse(operation, text).unwrap();
        let mut sources: Vec<_> = texts.iter().map(parse).collect();
        tell_apart(&mut sources);
        sources.iter().map(SubjectSource::name).collect()
    }

    #[test]
    fn files_of_one_name_are_told_apart_by_as_many_folders_as_it_takes() {
        let spmv = |texts: &[&str]| names(Operation::Spmv, texts);
        assert_eq!(spmv(&["a/A.mtx", "b/A.mtx.gz", "c/B.mtx"]), ["a/A", "b/A", "B"]);
        assert_eq!(spmv(&["x/d/A.mtx", "y/d/A.mtx"]), ["x/d/A", "y/d/A"]);
        assert_eq!(spmv(&["A.mtx", "../A.mtx", "/r/A.mtx"]), ["A", "../A", "r/A"]);
        // One file, given twice, and files that no folder tells apart.
        assert_eq!(spmv(&["a/A.mtx", "a/A.mtx"]), ["A", "A"]);
        assert_eq!(spmv(&["a/A.mtx", "a/A.mtx.gz"]), ["a/A", "a/A"]);
        assert_eq!(names(Operation::Skyline, &["a/p.csv", "b/p.txt"]), ["a/p", "b/p"]);
        let batches = names(Operation::BatchedDense, &["fsai:a/A.mtx", "fsai:b/A.mtx"]);
        assert!(batches[0].starts_with("a/A-fsai") && batches[1].starts_with("b/A-fsai"));
    }

    #[test]
    fn a_file_is_found_again_by_its_name_with_any_of_its_folders() {
        let source = SubjectSource::parse(Operation::Spmv, "x/a/A.mtx").unwrap();
        for name in ["A", "a/A", "x/a/A"] {
            assert_eq!(source.called(name).unwrap().name(), name);
        }
        for name in ["b/A", "B", "/x/a/A"] {
            assert!(source.called(name).is_none(), "{name}");
        }
    }
}
