//! Parameters of a kind of generator: its keys and their values.

use std::collections::BTreeMap;

/// A parameter of a generator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Key {
    /// Its name.
    pub name: &'static str,
    /// Its meaning.
    pub what: &'static str,
    /// Smallest value.
    pub min: u64,
    /// Largest value.
    pub max: u64,
    /// Default value; the key is required if absent.
    pub default: Option<DefaultValue>,
}

/// The default value of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DefaultValue {
    /// This number.
    Is(u64),
    /// The value of another key.
    SameAs(&'static str),
}

impl Key {
    /// Describes range and default in words.
    pub fn explain(&self) -> String {
        let default = match self.default {
            None => String::new(),
            Some(DefaultValue::Is(value)) => format!(", default {value}"),
            Some(DefaultValue::SameAs(key)) => format!(", default {key}"),
        };
        match (self.min, self.max) {
            (0, u64::MAX) => format!("{}{default}", self.what),
            (min, max) => format!("{} ({min} to {max}{default})", self.what),
        }
    }
}

/// Seed used when none is given.
pub const DEFAULT_SEED: u64 = 42;

/// Largest number of rows, columns or points.
pub(super) const MOST: u64 = u32::MAX as u64;

/// The seed of everything random in a kind.
pub(super) const SEED: Key = Key {
    name: "seed",
    what: "seed of the random numbers",
    min: 0,
    max: u64::MAX,
    default: Some(DefaultValue::Is(DEFAULT_SEED)),
};

/// A required key.
pub(super) const fn key(name: &'static str, min: u64, max: u64, what: &'static str) -> Key {
    Key { name, what, min, max, default: None }
}

/// A key with the default `is`.
pub(super) const fn optional(
    name: &'static str,
    min: u64,
    max: u64,
    what: &'static str,
    is: u64,
) -> Key {
    Key { name, what, min, max, default: Some(DefaultValue::Is(is)) }
}

/// The values of a kind's keys.
#[derive(Clone, Debug)]
pub(super) struct Values(pub(super) BTreeMap<&'static str, u64>);

impl Values {
    /// Value of one of the kind's keys; 0 for any other name.
    pub(super) fn value(&self, key: &str) -> u64 {
        self.0.get(key).copied().unwrap_or(0)
    }

    /// A value that counts parts of a matrix.
    pub(super) fn wide(&self, key: &str) -> u128 {
        self.value(key).into()
    }

    /// A value that counts objects in memory.
    pub(super) fn size(&self, key: &str) -> usize {
        usize::try_from(self.value(key)).unwrap_or(usize::MAX)
    }
}
