//! Selects the dense systems of a matrix that form a batch.

use std::fmt;

use crate::generate::keys::{Key, MOST, Values, optional};
use crate::generate::recipe::{self, Named, SpecError};

/// `fsai?k=…&most=…`: the systems solved by the rows of a factorised sparse approximate inverse.
#[derive(Clone, Debug)]
pub struct RowsSpec {
    kind: &'static RowsKind,
    values: Values,
}

/// The only kind.
#[derive(Debug)]
struct RowsKind;

static KINDS: &[RowsKind] = &[RowsKind];

static KEYS: &[Key] = &[
    optional("k", 1, 20, "power of the pattern", 2),
    optional("most", 0, MOST, "maximum number of rows, evenly spaced; 0 for all", 0),
];

impl Named for RowsKind {
    fn name(&self) -> &'static str {
        "fsai"
    }

    fn keys(&self) -> &'static [Key] {
        KEYS
    }
}

impl RowsSpec {
    /// Parses `fsai` and `fsai?k=1&most=100k`, with numbers as in recipes.
    pub fn parse(text: &str) -> Result<Self, SpecError> {
        let (kind, values) = recipe::parse(text, KINDS)?;
        Ok(Self { kind, values })
    }

    /// The power of the recursive pattern, at least 1.
    pub fn power(&self) -> u32 {
        u32::try_from(self.values.value("k")).unwrap_or(u32::MAX)
    }

    /// Maximum number of rows; `None` for all rows.
    pub fn most(&self) -> Option<usize> {
        Some(self.values.size("most")).filter(|most| *most > 0)
    }
}

/// Writes `fsai?key=value&…`, omitting defaults.
impl fmt::Display for RowsSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        struct Recipe<'s>(&'s RowsSpec);
        impl fmt::Display for Recipe<'_> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                recipe::write(f, self.0.kind, &self.0.values)
            }
        }
        f.write_str(Recipe(self).to_string().trim_start_matches("gen:"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn specs_read_back_and_say_what_is_wrong_with_them() {
        let read = |text: &str| RowsSpec::parse(text).unwrap();
        let usual = read("fsai");
        assert_eq!((usual.power(), usual.most(), usual.to_string().as_str()), (2, None, "fsai"));
        let few = read("fsai?most=1k&k=1");
        assert_eq!((few.power(), few.most()), (1, Some(1000)));
        assert_eq!(few.to_string(), "fsai?k=1&most=1000");
        let error = |text: &str| RowsSpec::parse(text).unwrap_err().to_string();
        assert_eq!(error("fsai?k=0"), "k is `0`, expected an integer from 1 to 20");
        assert_eq!(error("fsai?tau=0"), "fsai has no key `tau`, expected one of: k, most");
    }
}
