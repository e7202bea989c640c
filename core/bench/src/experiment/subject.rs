//! Subjects of operations: where they come from, and what they are once loaded.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use super::input_file::InputFile;
use super::other_source::{LoadedOther, OtherSource};
use super::source::{MatrixSource, SourceError};
use sparsescope_matrix::io::points::{HeaderLine, PointsTaken};
use sparsescope_matrix::io::{Progress, ReadOptions};
use sparsescope_matrix::matrix::{Extent, Reordering};
use sparsescope_matrix::memory::MemoryLimit;
use sparsescope_record::{LoadedMatrix, Subject};

/// A subject as the user specifies it.
#[derive(Clone, Debug)]
pub enum SubjectSource {
    /// A matrix.
    Matrix(MatrixSource),
    /// Anything else.
    Other(Box<dyn OtherSource>),
}

/// A subject in memory, with its description for a bundle.
#[derive(Debug)]
pub enum LoadedSubject {
    /// A matrix.
    Matrix(Box<LoadedMatrix>),
    /// Anything else.
    Other(Box<LoadedOther>),
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
    /// Sets the meaning of the first line of a file of points.
    pub fn with_header(mut self, header: HeaderLine) -> Self {
        if let Self::Other(source) = &mut self {
            source.set_header(header);
        }
        self
    }

    /// Sets how to read a file that is a matrix.
    pub fn with_options(self, options: ReadOptions) -> Self {
        match self {
            Self::Matrix(source) => Self::Matrix(source.with_options(options)),
            other => other,
        }
    }

    /// Display name.
    pub fn name(&self) -> String {
        match self {
            Self::Matrix(source) => source.name(),
            Self::Other(source) => source.name(),
        }
    }

    /// Sizes from the first lines of its file or from its recipe, without reading or generating it. Fails if
    /// a file cannot be opened or holds something else.
    pub fn probe(&self) -> Result<Probed, SourceError> {
        match self {
            Self::Matrix(source) => {
                source.probe().map(|extent| Probed { extent: Some(extent), cost: extent.entries })
            }
            Self::Other(source) => Ok(Probed { extent: None, cost: source.cost()? }),
        }
    }

    /// The file that it is read from, if any.
    pub fn file(&self) -> Option<&Path> {
        match self {
            Self::Matrix(MatrixSource::File(path, _) | MatrixSource::SuiteFile(_, path)) => {
                Some(path)
            }
            Self::Matrix(_) => None,
            Self::Other(source) => source.file(),
        }
    }

    /// The file whose name it has in results.
    fn input(&mut self) -> Option<&mut InputFile> {
        match self {
            Self::Matrix(MatrixSource::File(file, _)) => Some(file),
            Self::Matrix(_) => None,
            Self::Other(source) => source.input(),
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
        self.clone().input().is_some()
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
            Self::Other(source) => {
                Ok(LoadedSubject::Other(Box::new(source.subject(limit, progress, cancel)?)))
            }
        }
    }
}

impl fmt::Display for SubjectSource {
    /// Formats it as the user writes it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Matrix(source) => source.fmt(f),
            Self::Other(source) => source.fmt(f),
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
}

#[cfg(test)]
mod tests {
    use super::*;
    use sparsescope_record::Operation;

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
