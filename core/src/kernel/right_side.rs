//! Which right-hand side a system is solved for, where none is given.

use std::fmt;

/// A right-hand side that follows from the matrix, or from nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RightSide {
    /// A·1, whose solution is known unless A is singular.
    TimesOnes,
    /// Ones.
    Ones,
    /// A·z, z being the random numbers from −1 to 1 of this seed: in the range of a singular A, too.
    Range(u64),
}

/// The seed of `range` alone.
const SEED: u64 = 42;

impl RightSide {
    /// What the words are, for people.
    pub(super) const WORDS: &'static str = "a1, ones or range[:SEED]";

    /// That of a word on the command line or in files.
    pub fn of(word: &str) -> Option<Self> {
        match (word, word.strip_prefix("range:")) {
            ("a1", _) => Some(Self::TimesOnes),
            ("ones", _) => Some(Self::Ones),
            ("range", _) => Some(Self::Range(SEED)),
            (_, Some(seed)) => seed.parse().ok().map(Self::Range),
            _ => None,
        }
    }
}

/// The word in files.
impl fmt::Display for RightSide {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TimesOnes => f.write_str("a1"),
            Self::Ones => f.write_str("ones"),
            Self::Range(seed) => write!(f, "range:{seed}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_read_back_and_range_has_a_seed() {
        for (word, written) in
            [("a1", "a1"), ("ones", "ones"), ("range", "range:42"), ("range:007", "range:7")]
        {
            let side = RightSide::of(word).unwrap();
            assert_eq!(side.to_string(), written);
            assert_eq!(RightSide::of(written), Some(side));
        }
        for wrong in ["", "b.mtx", "range:", "range:-1", "range:x", "Range"] {
            assert_eq!(RightSide::of(wrong), None, "{wrong}");
        }
    }
}
