//! How far rows of a result lie from the reference, summed over rows that may lie with several ranks.

use crate::record::{Check, Verdict};

/// What passes over rows collect.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct RowErrors {
    rows: u64,
    failed: u64,
    first_failed: Option<FailedRow>,
    worst: f64,
    paper_sum: f64,
    squared_difference: f64,
    squared_norm: f64,
}

/// A row outside its bound.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct FailedRow {
    row: u64,
    found: f64,
    expected: f64,
    allowed: f64,
}

impl RowErrors {
    /// Adds a row. `paper_epsilon` is the least difference that enters the Tor Vergata paper's s.
    pub(super) fn add(
        mut self,
        row: u64,
        [found, expected, allowed]: [f64; 3],
        paper_epsilon: f64,
    ) -> Self {
        self.rows += 1;
        let passed = if found.is_finite() && expected.is_finite() {
            let difference = (found - expected).abs();
            if difference > 0.0 {
                self.worst = self.worst.max(difference / allowed);
                self.squared_difference += difference * difference;
            }
            if difference >= paper_epsilon {
                self.paper_sum += difference;
            }
            self.squared_norm += expected * expected;
            difference <= allowed
        } else {
            (found.is_nan() && expected.is_nan()) || found == expected
        };
        if !passed {
            self.failed += 1;
            let failed = FailedRow { row, found, expected, allowed };
            self.first_failed = self.first_failed.or(Some(failed));
        }
        self
    }

    /// Those of these rows and of the `next`, which come after them.
    pub fn join(self, next: Self) -> Self {
        Self {
            rows: self.rows + next.rows,
            failed: self.failed + next.failed,
            first_failed: self.first_failed.or(next.first_failed),
            worst: self.worst.max(next.worst),
            paper_sum: self.paper_sum + next.paper_sum,
            squared_difference: self.squared_difference + next.squared_difference,
            squared_norm: self.squared_norm + next.squared_norm,
        }
    }

    /// The verdict over all these rows, with the error measures beside it.
    pub fn check(&self) -> Check {
        let finite = |value: f64| value.is_finite().then_some(value);
        let rel_err = if self.squared_difference == 0.0 {
            Some(0.0)
        } else {
            finite((self.squared_difference / self.squared_norm).sqrt())
        };
        let reason = self.first_failed.map(|FailedRow { row, found, expected, allowed }| {
            format!(
                "row {row} is {found:e} instead of {expected:e}, allowed to differ by {allowed:e}; {} of {} rows \
                 are wrong",
                self.failed, self.rows
            )
        });
        Check {
            verdict: if self.failed == 0 { Verdict::Pass } else { Verdict::Fail },
            reason,
            row: self.first_failed.map(|failed| failed.row),
            worst: finite(self.worst),
            s_paper: finite(if self.rows == 0 { 0.0 } else { self.paper_sum / self.rows as f64 }),
            rel_err,
            ..Check::default()
        }
    }

    /// All of it as words that travel between processes.
    pub fn to_words(self) -> [u64; 11] {
        let failed = self.first_failed.unwrap_or_default();
        let numbers = [self.worst, self.paper_sum, self.squared_difference, self.squared_norm];
        let [worst, paper_sum, difference, norm] = numbers.map(f64::to_bits);
        let [found, expected, allowed] =
            [failed.found, failed.expected, failed.allowed].map(f64::to_bits);
        let is_some = u64::from(self.first_failed.is_some());
        [
            self.rows,
            self.failed,
            is_some,
            failed.row,
            found,
            expected,
            allowed,
            worst,
            paper_sum,
            difference,
            norm,
        ]
    }

    /// The same from such words.
    pub fn from_words(words: [u64; 11]) -> Self {
        let [rows, failed, is_some, row, numbers @ ..] = words;
        let [found, expected, allowed, worst, paper_sum, squared_difference, squared_norm] =
            numbers.map(f64::from_bits);
        let first_failed = (is_some != 0).then_some(FailedRow { row, found, expected, allowed });
        Self { rows, failed, first_failed, worst, paper_sum, squared_difference, squared_norm }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_of_several_ranks_have_the_verdict_of_one() {
        let row = |errors: RowErrors, i: u64, found: f64| errors.add(i, [found, 2.0, 1e-3], 1e-10);
        let good = row(row(RowErrors::default(), 0, 2.0), 1, 2.0005);
        let bad = row(row(RowErrors::default(), 2, 2.5), 3, f64::NAN);
        assert_eq!(good.check().verdict, Verdict::Pass);
        let all = good.join(bad).check();
        assert_eq!((all.verdict, all.row), (Verdict::Fail, Some(2)));
        let expected =
            "row 2 is 2.5e0 instead of 2e0, allowed to differ by 1e-3; 2 of 4 rows are wrong";
        assert_eq!(all.reason.as_deref(), Some(expected));
        assert_eq!(all, row(row(good, 2, 2.5), 3, f64::NAN).check());
        for errors in [good, bad, good.join(bad)] {
            assert_eq!(RowErrors::from_words(errors.to_words()).check(), errors.check());
        }
    }
}
