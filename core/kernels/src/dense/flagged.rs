//! Lists which systems of a batch are not positive definite, as stored in bundles.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// Maximum number of systems listed.
const MOST_LISTED: usize = 100_000;

/// The file next to a batch.
const FILE: &str = "flagged.json";

/// `dense/<id>/flagged.json`: which systems of a batch are not positive definite.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Flagged {
    /// Number of systems.
    pub systems: u64,
    /// Number of systems that are not positive definite.
    pub flagged: u64,
    /// Their indices, 0-based and ascending; the first 100 000.
    pub numbers: Vec<u64>,
}

impl Flagged {
    /// Lists the flagged systems of a batch of `systems` by their ascending indices.
    pub fn of(systems: usize, mut numbers: Vec<u64>) -> Self {
        let flagged = numbers.len() as u64;
        numbers.truncate(MOST_LISTED);
        Self { systems: systems as u64, flagged, numbers }
    }

    /// Returns the file for a bundle, with its name.
    pub fn to_files(&self) -> BTreeMap<String, Vec<u8>> {
        let json = serde_json::to_vec(self).expect("numbers are JSON"); // invariant
        BTreeMap::from([(FILE.to_owned(), json)])
    }

    /// Reads it from the files of a folder; none if the file is missing or implausible.
    pub fn from_files(files: &BTreeMap<String, Vec<u8>>) -> Option<Self> {
        let found: Self = serde_json::from_slice(files.get(FILE)?).ok()?;
        let listed = found.flagged.min(MOST_LISTED as u64);
        let ascend = found.numbers.is_sorted_by(|one, next| one < next);
        let is_possible = found.flagged <= found.systems
            && found.numbers.len() as u64 == listed
            && ascend
            && found.numbers.last().is_none_or(|last| *last < found.systems);
        is_possible.then_some(found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_back_and_what_cannot_be_is_not() {
        for flagged in [Flagged::of(9, vec![2, 5]), Flagged::of(0, Vec::new())] {
            assert_eq!(Flagged::from_files(&flagged.to_files()), Some(flagged));
        }
        let many = Flagged::of(200_000, (0..150_000).collect());
        assert_eq!((many.flagged, many.numbers.len()), (150_000, 100_000));
        assert_eq!(Flagged::from_files(&many.to_files()), Some(many));
        assert_eq!(Flagged::from_files(&BTreeMap::new()), None);
        let read = |json: &str| {
            Flagged::from_files(&BTreeMap::from([(FILE.to_owned(), json.as_bytes().to_vec())]))
        };
        assert!(read(r#"{"systems":3,"flagged":1,"numbers":[2],"more":0}"#).is_some());
        for wrong in [
            "",
            r#"{"systems":3,"flagged":1,"numbers":[3]}"#,
            r#"{"systems":3,"flagged":2,"numbers":[1]}"#,
            r#"{"systems":3,"flagged":2,"numbers":[1,1]}"#,
            r#"{"systems":1,"flagged":2,"numbers":[0,1]}"#,
        ] {
            assert_eq!(read(wrong), None, "{wrong}");
        }
    }
}
