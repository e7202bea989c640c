//! Where batches of dense systems come from: a generator or a suite.

use std::fmt;
use std::sync::atomic::AtomicBool;

use super::source::SourceError;
use crate::generate::{BatchEntry, BatchSpec, SpecError, batch_suite_entry, generate_batch};
use crate::matrix::{Batch, BatchExtent};
use crate::memory::MemoryLimit;

/// A batch as a user names it.
#[derive(Clone, Debug)]
pub enum BatchSource {
    /// What a generator makes.
    Generated(BatchSpec),
    /// An entry of a suite.
    Suite(&'static BatchEntry),
}

impl BatchSource {
    /// Understands `gen:spd-batch?…` and `suite:…`.
    pub fn parse(text: &str) -> Result<Self, SourceError> {
        if let Some(name) = text.strip_prefix("suite:") {
            let unknown = || SourceError::UnknownBatch(name.to_owned());
            return batch_suite_entry(name).map(Self::Suite).ok_or_else(unknown);
        }
        match text.starts_with("gen:") {
            true => Ok(Self::Generated(BatchSpec::parse(text)?)),
            false => Err(SourceError::NoBatch(text.to_owned())),
        }
    }

    fn spec(&self) -> Result<BatchSpec, SpecError> {
        match self {
            Self::Generated(spec) => Ok(spec.clone()),
            Self::Suite(entry) => BatchSpec::parse(entry.spec),
        }
    }

    /// Name shown to people: the entry's, or the generator's parameters.
    pub fn name(&self) -> String {
        match self {
            Self::Generated(spec) => spec.to_string().trim_start_matches("gen:").to_owned(),
            Self::Suite(entry) => entry.name.to_owned(),
        }
    }

    /// What makes it.
    pub fn recipe(&self) -> String {
        match self {
            Self::Generated(spec) => spec.to_string(),
            Self::Suite(entry) => entry.spec.to_owned(),
        }
    }

    /// How large it is, without making it.
    pub fn probe(&self) -> Result<BatchExtent, SourceError> {
        Ok(self.spec()?.extent())
    }

    /// Generates it. `limit` bounds what is allocated.
    pub fn load(&self, limit: MemoryLimit, cancel: &AtomicBool) -> Result<Batch, SourceError> {
        Ok(generate_batch(&self.spec()?, limit, cancel)?)
    }
}

impl fmt::Display for BatchSource {
    /// As a user writes it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Generated(spec) => spec.fmt(f),
            Self::Suite(entry) => write!(f, "suite:{}", entry.name),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_generator_and_an_entry_are_told_apart_and_named_and_a_path_is_neither() {
        let named = |text: &str| {
            let source = BatchSource::parse(text).unwrap();
            (source.name(), source.recipe(), source.to_string())
        };
        let spec = "gen:spd-batch?n=8&count=10";
        assert_eq!(named(spec), ("spd-batch?n=8&count=10".into(), spec.into(), spec.into()));
        let entry = named("suite:spd-28");
        assert_eq!(entry.0, "spd-28");
        assert_eq!(entry.1, "spd-batch?n=28&count=20000");
        assert_eq!(entry.2, "suite:spd-28");
        let wrong = |text: &str| BatchSource::parse(text).unwrap_err().to_string();
        assert!(wrong("suite:none").contains("`none`"));
        assert!(wrong("cant.mtx").contains("gen:spd-batch?n=28&count=20000"));
    }
}
