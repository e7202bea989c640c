//! The recipe of a matrix.

use std::fmt;

use super::assemble::{GenerateError, Rule};
use super::keys::Values;
use super::kinds::{Kind, kinds};
use super::recipe::{self, SpecError};
use crate::matrix::Extent;
use crate::memory::MemoryLimit;

/// A generator and the values of all its keys.
#[derive(Clone, Debug)]
pub struct GeneratorSpec {
    kind: &'static Kind,
    values: Values,
}

impl GeneratorSpec {
    /// Parses `KIND?key=value&key=value`, with an optional `gen:` prefix. Numbers may be written
    /// `1000000`, `1_000_000`, `1e6` or `1M`.
    pub fn parse(text: &str) -> Result<Self, SpecError> {
        let (kind, values) = recipe::parse(text, kinds())?;
        Ok(Self { kind, values })
    }

    /// Rows, columns and nonzeros of the matrix, without generating it.
    pub fn extent(&self) -> Extent {
        (self.kind.extent)(&self.values)
    }

    /// Builds the rule for its rows.
    pub(super) fn rule(&self, limit: MemoryLimit) -> Result<Box<dyn Rule>, GenerateError> {
        self.kind.make(&self.values, limit)
    }
}

/// Writes `gen:KIND?key=value&…` with the keys in the kind's order, omitting defaults.
impl fmt::Display for GeneratorSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        recipe::write(f, self.kind, &self.values)
    }
}
