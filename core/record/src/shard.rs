//! Which part of a plan a bundle holds.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// Maximum number of parts of a plan.
const MOST_PARTS: u32 = 1_000_000;

/// One of the parts of a plan that several processes measure, each into a bundle of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Shard {
    /// Its number, starting at 1.
    pub part: u32,
    /// Number of parts.
    pub of: u32,
}

impl Shard {
    /// Returns part `part` of `of`, or one sentence that says what is wrong.
    pub fn new(part: u64, of: u64) -> Result<Self, String> {
        let most = u64::from(MOST_PARTS);
        let of = u32::try_from(of)
            .ok()
            .filter(|of| (1..=MOST_PARTS).contains(of))
            .ok_or_else(|| format!("expected 1 to {most} parts, found {of}"))?;
        match u32::try_from(part).ok().filter(|part| (1..=of).contains(part)) {
            Some(part) => Ok(Self { part, of }),
            None => Err(format!("expected a part from 1 to {of}, found {part}")),
        }
    }
}

impl FromStr for Shard {
    type Err = String;

    /// Parses `K/N`.
    fn from_str(text: &str) -> Result<Self, String> {
        let number = |text: &str| text.trim().parse::<u64>().ok();
        let numbers = text.split_once('/').and_then(|(k, n)| Some((number(k)?, number(n)?)));
        let (part, of) = numbers.ok_or_else(|| "expected a part as K/N, such as 2/8".to_owned())?;
        Self::new(part, of)
    }
}

/// Formats as `part 2 of 8`.
impl fmt::Display for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "part {} of {}", self.part, self.of)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_counted_from_one_and_nonsense_is_told() {
        assert_eq!("2/8".parse(), Ok(Shard { part: 2, of: 8 }));
        assert_eq!(" 1 / 1".parse::<Shard>().unwrap().to_string(), "part 1 of 1");
        for bad in ["", "2", "/", "a/b", "1/", "-1/2", "1/2/3", "1.5/2"] {
            assert!(bad.parse::<Shard>().unwrap_err().starts_with("expected a part"), "{bad}");
        }
        assert_eq!("0/8".parse::<Shard>().unwrap_err(), "expected a part from 1 to 8, found 0");
        assert_eq!("9/8".parse::<Shard>().unwrap_err(), "expected a part from 1 to 8, found 9");
        let none = "expected 1 to 1000000 parts, found 0";
        assert_eq!("1/0".parse::<Shard>().unwrap_err(), none);
        assert!("1/4294967297".parse::<Shard>().is_err());
    }
}
