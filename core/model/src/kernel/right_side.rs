//! The right-hand side that a system is solved for if none is given.

use std::fmt;

/// A right-hand side derived from the matrix, or fixed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RightSide {
    /// A·1, whose solution is known unless A is singular.
    TimesOnes,
    /// All ones.
    Ones,
    /// A·z for random numbers z from −1 to 1 of this seed; it is in the range of a singular A too.
    Range(u64),
}

/// The seed of plain `range`.
const SEED: u64 = 42;

impl RightSide {
    /// The accepted words, for messages.
    pub(super) const WORDS: &'static str = "a1, ones or range[:SEED]";

    /// The right-hand side for a word on the command line or in files.
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
