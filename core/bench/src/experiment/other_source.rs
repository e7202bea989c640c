//! Subjects that are not matrices: where they come from, and what they are once loaded.

use std::fmt;
use std::path::Path;
use std::sync::atomic::AtomicBool;

use super::input_file::InputFile;
use super::problem::Problem;
use super::source::SourceError;
use sparsescope_matrix::io::Progress;
use sparsescope_matrix::io::points::{HeaderLine, PointsTaken};
use sparsescope_matrix::memory::MemoryLimit;
use sparsescope_matrix::order;
use sparsescope_record::{Source, SubjectRecord, matrix_id};

/// A subject that is not a matrix, as the user specifies it and, formatted, writes it.
pub trait OtherSource: fmt::Debug + fmt::Display {
    /// Display name.
    fn name(&self) -> String;

    /// Whether it is real, a stand-in for something real, or generated only.
    fn origin(&self) -> Source;

    /// The generator's recipe; `None` where it comes from a file.
    fn recipe(&self) -> Option<String>;

    /// Amount of data that one execution processes, without reading or generating it. Fails if a file cannot
    /// be opened or holds something else.
    fn cost(&self) -> Result<u64, SourceError>;

    /// The file that it is read from, if any.
    fn file(&self) -> Option<&Path> {
        None
    }

    /// The file that the user named, whose name it has in results.
    fn input(&mut self) -> Option<&mut InputFile> {
        None
    }

    /// Sets the meaning of the first line of a file of points.
    fn set_header(&mut self, _header: HeaderLine) {}

    /// Reads or generates it. `limit` bounds the memory allocated.
    fn subject(
        &self,
        limit: MemoryLimit,
        progress: Progress<'_>,
        cancel: &AtomicBool,
    ) -> Result<LoadedOther, SourceError>;

    /// A copy.
    fn boxed(&self) -> Box<dyn OtherSource>;
}

impl Clone for Box<dyn OtherSource> {
    fn clone(&self) -> Self {
        self.boxed()
    }
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

/// The record of a subject of this source, with its identity.
pub(super) fn record(
    source: &dyn OtherSource,
    kind: &str,
    sha256: String,
    sizes: &[(&str, usize)],
    read_seconds: Option<f64>,
) -> SubjectRecord {
    let sizes = sizes.iter().map(|&(name, size)| (name.to_owned(), size as u64));
    SubjectRecord {
        id: matrix_id(&source.name(), &sha256),
        name: source.name(),
        kind: kind.to_owned(),
        source: source.origin(),
        generator: source.recipe(),
        sha256,
        sizes: order::map(sizes),
        read_seconds,
    }
}
