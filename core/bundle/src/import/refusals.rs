//! What was not imported from a file, in one sentence.

use std::collections::BTreeMap;

use super::left_out::LEFT_OUT;
use crate::Bundle;
use sparsescope_matrix::matrix::sha256;
use sparsescope_record::printable;

/// Names that a sentence lists before it gives the number of the rest.
const NAMED: usize = 5;

/// Why a run cannot be imported.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Reason {
    /// Neither name nor size of a matrix.
    Matrix,
    /// More nonzeros than places.
    Size,
    /// Not y = A·x.
    Operation,
    /// Not f64 or f32.
    Precision,
    /// Only aggregates.
    Aggregates,
    /// A second run with the same key.
    Twice,
}

impl Reason {
    /// The text after a number of runs.
    fn words(self) -> &'static str {
        match self {
            Self::Matrix => "without a matrix name or size",
            Self::Size => "of a matrix with more nonzeros than rows x columns",
            Self::Operation => "of an operation other than SpMV (y = A·x)",
            Self::Precision => "in a precision other than f64 and f32",
            Self::Aggregates => "with aggregates but no samples",
            Self::Twice => "that repeat the matrix, kernel and parameters of another run",
        }
    }
}

/// Names of the runs of a file that were left out, by reason.
#[derive(Default)]
pub(super) struct LeftOut(BTreeMap<Reason, Vec<String>>);

impl LeftOut {
    pub(super) fn add(&mut self, reason: Reason, name: &str) {
        self.0.entry(reason).or_default().push(printable(name));
    }

    /// How many of `all` runs were left out, why, and their names; `None` if none were.
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

    /// Stores the sentence in the bundle made from a file.
    pub(super) fn keep(&self, all: usize, file: &[u8], bundle: &mut Bundle) {
        if let Some(sentence) = self.sentence(all) {
            let digits: String = sha256(file).chars().take(8).collect();
            bundle.others.insert(format!("{LEFT_OUT}{digits}.txt"), sentence.into_bytes());
        }
    }
}
