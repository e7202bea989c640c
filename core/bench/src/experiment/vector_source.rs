//! Sources of vectors to increment.

use std::fmt;
use std::sync::atomic::AtomicBool;

use super::operations::IncrementProblem;
use super::other_source::{LoadedOther, OtherSource, record};
use super::source::SourceError;
use sparsescope_matrix::io::Progress;
use sparsescope_matrix::memory::MemoryLimit;
use sparsescope_record::Source;

/// A vector of this many elements, counting from 0.
#[derive(Clone, Debug)]
pub(super) struct VectorSource(pub(super) usize);

impl VectorSource {
    pub(super) fn parse(text: &str) -> Result<Self, SourceError> {
        let length = text.strip_prefix("gen:vector?n=").and_then(|n| n.parse().ok());
        length.map(Self).ok_or_else(|| SourceError::UnknownSubject(text.to_owned()))
    }
}

impl OtherSource for VectorSource {
    fn name(&self) -> String {
        format!("vector?n={}", self.0)
    }

    fn origin(&self) -> Source {
        Source::Generated
    }

    fn recipe(&self) -> Option<String> {
        Some(self.name())
    }

    fn cost(&self) -> Result<u64, SourceError> {
        Ok(self.0 as u64)
    }

    fn subject(
        &self,
        _: MemoryLimit,
        _: Progress<'_>,
        _: &AtomicBool,
    ) -> Result<LoadedOther, SourceError> {
        let problem = Box::new(IncrementProblem::counting(self.0));
        let record = record(self, "vector", problem.identity(), &[("elements", self.0)], None);
        Ok(LoadedOther { folder: "increment", record, problem, taken: None })
    }

    fn boxed(&self) -> Box<dyn OtherSource> {
        Box::new(self.clone())
    }
}

impl fmt::Display for VectorSource {
    /// Formats it as the user writes it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "gen:vector?n={}", self.0)
    }
}
