//! What of a file was not taken over, in one sentence.

use std::collections::BTreeMap;

use super::left_out::LEFT_OUT;
use crate::bundle::Bundle;
use crate::matrix::sha256;
use crate::record::printable;

/// Names that a sentence lists before it says how many more there are.
const NAMED: usize = 5;

/// Why a run cannot be taken over.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Reason {
    /// No name and no size of a matrix.
    Matrix,
    /// More entries than places.
    Size,
    /// Not y = A·x.
    Operation,
    /// Not f64 or f32.
    Precision,
    /// Only statistics of it.
    Aggregates,
    /// A second run of one key.
    Twice,
}

impl Reason {
    /// What follows a number of runs.
    fn words(self) -> &'static str {
        match self {
            Self::Matrix => "for want of a matrix, of which neither name nor size is told",
            Self::Size => "of a matrix with more nonzeros than places",
            Self::Operation => "of another operation than the product y = A·x",
            Self::Precision => "in another precision than f64 and f32",
            Self::Aggregates => "of which only aggregates are told, no samples",
            Self::Twice => "whose matrix, kernel and parameters another has as well",
        }
    }
}

/// Names of the runs of a file that were left out.
#[derive(Default)]
pub(super) struct LeftOut(BTreeMap<Reason, Vec<String>>);

impl LeftOut {
    pub(super) fn add(&mut self, reason: Reason, name: &str) {
        self.0.entry(reason).or_default().push(printable(name));
    }

    /// How many of `all` runs there are, why, and their names; nothing where there are none.
    pub(super) fn sentence(&self, all: usize) -> Option<String> {
        let reasons = self.0.iter().map(|(reason, names)| {
            let shown: Vec<&str> = names.iter().take(NAMED).map(String::as_str).collect();
            let more = match names.len() - shown.len() {
                0 => String::new(),
                more => format!(" and {more} more"),
            };
            format!("{} {} ({}{more})", names.len(), reason.words(), shown.join(", "))
        });
        let reasons: Vec<String> = reasons.collect();
        let count: usize = self.0.values().map(Vec::len).sum();
        let runs = if all == 1 { "run" } else { "runs" };
        (count > 0).then(|| format!("{count} of {all} {runs} not imported: {}", reasons.join("; ")))
    }

    /// Keeps the sentence in the bundle that was made of a file.
    pub(super) fn keep(&self, all: usize, file: &[u8], bundle: &mut Bundle) {
        if let Some(sentence) = self.sentence(all) {
            let digits: String = sha256(file).chars().take(8).collect();
            bundle.others.insert(format!("{LEFT_OUT}{digits}.txt"), sentence.into_bytes());
        }
    }
}
