//! Errors of the rows of a result against the reference, accumulated over rows that may be spread over ranks.

use sparsescope_record::{Check, Verdict};

/// Rows whose errors are added up one after the other, so that the result does not depend on the number of threads.
pub(super) const BLOCK: usize = 1 << 14;

/// Rows of a block that are compared column by column, while what they are compared with is in the innermost cache.
pub(super) const ROWS: usize = 128;

/// The judgement of a row of a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Judged {
    /// Within its bound, or of the right class if not finite.
    Right,
    /// Outside its bound, or of the wrong class.
    Wrong,
    /// No check can decide whether it is right.
    Undecided(Doubt),
}

/// Why no check can decide whether a row is right.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Doubt {
    /// It is not finite, and whether it should be depends on the summation order.
    Overflow,
    /// Its bound is as large as the sum of its terms, because there are too many of them.
    Length,
}

/// A row compared with its reference.
#[derive(Clone, Copy, Debug)]
pub(super) struct Compared {
    pub(super) found: f64,
    pub(super) expected: f64,
    pub(super) allowed: f64,
    /// The difference in units of the bound.
    pub(super) share: f64,
    pub(super) judged: Judged,
}

impl Compared {
    /// Right if both are finite and differ by at most `allowed`, both are NaN, or both are the same infinity.
    pub(super) fn within(found: f64, expected: f64, allowed: f64) -> Self {
        let difference = (found - expected).abs();
        let right = match found.is_finite() && expected.is_finite() {
            true => difference <= allowed,
            false => (found.is_nan() && expected.is_nan()) || found == expected,
        };
        let judged = if right { Judged::Right } else { Judged::Wrong };
        Self { found, expected, allowed, share: difference / allowed, judged }
    }
}

/// Accumulates the errors of rows.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct RowErrors {
    rows: u64,
    failed: u64,
    first_failed: Option<FailedRow>,
    undecided: u64,
    first_undecided: Option<UndecidedRow>,
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

/// Describes a wrong value next to the right one, with the difference if it is finite.
pub(super) fn how_far_off(found: f64, expected: f64, allowed: f64) -> String {
    let difference = (found - expected).abs();
    match difference.is_finite() && allowed.is_finite() {
        true => {
            format!(
                "{found:e}, expected {expected:e}: difference {difference:e}, bound {allowed:e}"
            )
        }
        false => format!("{found:e}, expected {expected:e}"),
    }
}

/// A row that no check can judge.
#[derive(Clone, Copy, Debug, PartialEq)]
struct UndecidedRow {
    row: u64,
    found: f64,
    doubt: Doubt,
}

impl RowErrors {
    /// Adds a row. `paper_epsilon` is the smallest difference that counts in the Tor Vergata paper's s.
    pub(super) fn add(mut self, row: u64, compared: Compared, paper_epsilon: f64) -> Self {
        let Compared { found, expected, allowed, share, judged } = compared;
        self.rows += 1;
        if found.is_finite() && expected.is_finite() {
            let difference = (found - expected).abs();
            if difference > 0.0 {
                self.worst = self.worst.max(share);
                self.squared_difference += difference * difference;
            }
            if difference >= paper_epsilon {
                self.paper_sum += difference;
            }
            self.squared_norm += expected * expected;
        }
        match judged {
            Judged::Right => {}
            Judged::Wrong => {
                self.failed += 1;
                let failed = FailedRow { row, found, expected, allowed };
                self.first_failed = self.first_failed.or(Some(failed));
            }
            Judged::Undecided(doubt) => {
                self.undecided += 1;
                let undecided = UndecidedRow { row, found, doubt };
                self.first_undecided = self.first_undecided.or(Some(undecided));
            }
        }
        self
    }

    /// Joins the errors of these rows and of the following ones in `next`.
    pub fn join(self, next: Self) -> Self {
        Self {
            rows: self.rows + next.rows,
            failed: self.failed + next.failed,
            first_failed: self.first_failed.or(next.first_failed),
            undecided: self.undecided + next.undecided,
            first_undecided: self.first_undecided.or(next.first_undecided),
            worst: self.worst.max(next.worst),
            paper_sum: self.paper_sum + next.paper_sum,
            squared_difference: self.squared_difference + next.squared_difference,
            squared_norm: self.squared_norm + next.squared_norm,
        }
    }

    /// The verdict over all these rows, with the error measures: one wrong row fails them; otherwise one
    /// undecided row makes the result undecided.
    pub fn check(&self) -> Check {
        if let (0, Some(undecided)) = (self.failed, self.first_undecided) {
            return self.undecided(undecided);
        }
        let finite = |value: f64| value.is_finite().then_some(value);
        let rel_err = if self.squared_difference == 0.0 {
            Some(0.0)
        } else {
            let norm = finite(self.squared_norm);
            norm.and_then(|norm| finite((self.squared_difference / norm).sqrt()))
        };
        let reason = self.first_failed.map(|FailedRow { row, found, expected, allowed }| {
            let off = how_far_off(found, expected, allowed);
            format!("row {row} is {off}; {} of {} rows are wrong", self.failed, self.rows)
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

    fn undecided(&self, UndecidedRow { row, found, doubt }: UndecidedRow) -> Check {
        let why = match doubt {
            Doubt::Overflow => format!(
                "row {row} is {found:e}; whether its sum overflows depends on the summation order"
            ),
            Doubt::Length => {
                format!(
                    "row {row} has too many nonzeros to check: rounding alone could explain any result"
                )
            }
        };
        let reason = format!("{why}; {} of {} rows are undecided", self.undecided, self.rows);
        undecided(row, reason)
    }

    /// Encodes the errors as words to be sent between processes.
    pub fn to_words(self) -> [u64; 15] {
        let failed = self.first_failed.unwrap_or_default();
        let numbers = [self.worst, self.paper_sum, self.squared_difference, self.squared_norm];
        let [worst, paper_sum, difference, norm] = numbers.map(f64::to_bits);
        let [found, expected, allowed] =
            [failed.found, failed.expected, failed.allowed].map(f64::to_bits);
        let is_some = u64::from(self.first_failed.is_some());
        let doubt = match self.first_undecided.map(|undecided| undecided.doubt) {
            None => 0,
            Some(Doubt::Overflow) => 1,
            Some(Doubt::Length) => 2,
        };
        let in_doubt = self.first_undecided.map_or((0, 0.0), |row| (row.row, row.found));
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
            self.undecided,
            doubt,
            in_doubt.0,
            in_doubt.1.to_bits(),
        ]
    }

    /// Decodes such words.
    pub fn from_words(words: [u64; 15]) -> Self {
        let [rows, failed, is_some, row, numbers @ .., undecided, doubt, row_in_doubt, found_there] =
            words;
        let [found, expected, allowed, worst, paper_sum, squared_difference, squared_norm] =
            numbers.map(f64::from_bits);
        let first_failed = (is_some != 0).then_some(FailedRow { row, found, expected, allowed });
        let doubt = match doubt {
            0 => None,
            1 => Some(Doubt::Overflow),
            _ => Some(Doubt::Length),
        };
        let first_undecided = doubt.map(|doubt| {
            let (row, found) = (row_in_doubt, f64::from_bits(found_there));
            UndecidedRow { row, found, doubt }
        });
        Self {
            rows,
            failed,
            first_failed,
            undecided,
            first_undecided,
            worst,
            paper_sum,
            squared_difference,
            squared_norm,
        }
    }
}

/// The check of a row that cannot be judged.
pub fn undecided(row: u64, reason: String) -> Check {
    Check {
        verdict: Verdict::Refused,
        undecided: true,
        reason: Some(reason),
        row: Some(row),
        ..Check::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_of_several_ranks_have_the_verdict_of_one() {
        let row = |errors: RowErrors, i: u64, found: f64| {
            errors.add(i, Compared::within(found, 2.0, 1e-3), 1e-10)
        };
        let good = row(row(RowErrors::default(), 0, 2.0), 1, 2.0005);
        let bad = row(row(RowErrors::default(), 2, 2.5), 3, f64::NAN);
        assert_eq!(good.check().verdict, Verdict::Pass);
        let all = good.join(bad).check();
        assert_eq!((all.verdict, all.row), (Verdict::Fail, Some(2)));
        let expected = "row 2 is 2.5e0, expected 2e0: difference 5e-1, bound 1e-3; 2 of 4 rows are \
            wrong";
        assert_eq!(all.reason.as_deref(), Some(expected));
        assert_eq!(all, row(row(good, 2, 2.5), 3, f64::NAN).check());
        let unknown = Compared {
            judged: Judged::Undecided(Doubt::Overflow),
            ..Compared::within(f64::INFINITY, 2.0, 1e-3)
        };
        let unknown = RowErrors::default().add(4, unknown, 1e-10);
        let undecided = good.join(unknown).check();
        assert_eq!((undecided.verdict, undecided.undecided), (Verdict::Refused, true));
        assert_eq!((undecided.row, undecided.worst), (Some(4), None));
        let expected = "row 4 is inf; whether its sum overflows depends on the summation order; 1 \
            of 3 rows are undecided";
        assert_eq!(undecided.reason.as_deref(), Some(expected));
        // A wrong row decides, whatever is unknown about others.
        assert_eq!(bad.join(unknown).check().verdict, Verdict::Fail);
        for errors in [good, bad, good.join(bad), unknown, bad.join(unknown)] {
            assert_eq!(RowErrors::from_words(errors.to_words()).check(), errors.check());
        }
    }
}
