//! The check of solves: whatever a solver reports, the residual is recomputed from x.

use crate::pcg::{Judgement, Magnitude, is_seen, rounding_floor};
use sparsescope_matrix::matrix::Csr;
use sparsescope_matrix::parallel::*;
use sparsescope_record::{Check, Solve, Verdict};

/// Euclidean norms, over some or all rows, that decide whether a residual is acceptable.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ResidualNorms {
    /// ‖b − A·x‖.
    residual: f64,
    /// ‖|A|·|x|‖.
    size: f64,
    /// ‖b‖.
    b: f64,
}

impl ResidualNorms {
    /// Computes the norms from b_i − (A·x)_i and (|A|·|x|)_i of each row, and b.
    pub fn of(rows: &[(f64, f64)], b: &[f64]) -> Self {
        Self {
            residual: norm(rows.iter().map(|row| row.0)),
            size: norm(rows.iter().map(|row| row.1)),
            b: norm(b.iter().copied()),
        }
    }

    /// Joins the norms of parts to those of all rows.
    pub fn join(parts: &[Self]) -> Self {
        Self {
            residual: norm(parts.iter().map(|part| part.residual)),
            size: norm(parts.iter().map(|part| part.size)),
            b: norm(parts.iter().map(|part| part.b)),
        }
    }

    /// ‖b − A·x‖.
    pub fn residual(&self) -> f64 {
        self.residual
    }

    /// ‖|A|·|x|‖.
    pub fn size(&self) -> f64 {
        self.size
    }

    /// Encodes the norms as words to be sent between processes.
    pub fn to_words(self) -> [u64; 3] {
        [self.residual, self.size, self.b].map(f64::to_bits)
    }

    /// Decodes such words.
    pub fn from_words(words: [u64; 3]) -> Self {
        let [residual, size, b] = words.map(f64::from_bits);
        Self { residual, size, b }
    }

    /// Judges ‖b − A·x‖ with [`Judgement`] if the solver reports convergence; otherwise the solve has failed,
    /// and the reason says how far it came. `worst` is the residual in units of the bound.
    pub fn check(&self, tolerance: f64, told: &Solve) -> Check {
        let Self { residual, size, b } = *self;
        let floor = rounding_floor(size);
        let bound = Judgement::bound(floor, b, tolerance);
        let part = |norm: f64, whole: f64| if norm == 0.0 { 0.0 } else { norm / whole };
        let (relative, explained) = (part(residual, b), part(floor, b));
        let backward = part(residual, size + b);
        if !told.converged {
            let iterations = told.iterations;
            return failed(
                format!(
                    "not converged after {iterations} iterations: relative residual \
                    {relative:.3e}, tolerance {tolerance:e}"
                ),
                None,
            );
        }
        let passed = Check {
            verdict: Verdict::Pass,
            worst: Some(part(residual, bound)),
            ..Check::default()
        };
        match Judgement::of(residual, floor, b, tolerance) {
            Judgement::Met => passed,
            Judgement::LimitedByRounding => Check {
                limited_by_rounding: true,
                reason: Some(format!(
                    "the relative residual is {relative:.3e}, tolerance {tolerance:e}; rounding \
                    alone explains {explained:.3e}; the backward error is {backward:.3e}"
                )),
                ..passed
            },
            Judgement::Undecided => Check {
                verdict: Verdict::Refused,
                undecided: true,
                reason: Some(format!(
                    "rounding alone explains a relative residual of {explained:.3e}, so {relative:.3e} does \
                     not show whether the solution is right; the backward error is {backward:.3e}"
                )),
                ..Check::default()
            },
            Judgement::Missed => failed(
                format!(
                    "the true relative residual is {relative:.3e}, tolerance {tolerance:e}; \
                    rounding alone explains {explained:.3e}"
                ),
                None,
            ),
        }
    }
}

/// Checks a solution with the solver's report, as [`ResidualNorms::check`] does, and that its elements are
/// finite.
pub fn solved(a: &Csr, b: &[f64], x: &[f64], tolerance: f64, told: &Solve) -> Check {
    let rows = a.rows();
    if x.len() != rows {
        return failed(format!("the solution has {} rows, expected {rows}", x.len()), None);
    }
    if let Some(row) = x.iter().position(|x| !x.is_finite()) {
        return failed(format!("row {row} of the solution is {}", x[row]), Some(row as u64));
    }
    let of_row = |i: usize| {
        let (col, val) = a.row(i);
        let terms = col.iter().zip(val).map(|(&c, &v)| v * x[c as usize]);
        terms.fold((b[i], 0.0), |(left, size), term| (left - term, size + term.abs()))
    };
    let rows: Vec<(f64, f64)> = (0..rows).into_par_iter().map(of_row).collect();
    ResidualNorms::of(&rows, b).check(tolerance, told)
}

fn failed(reason: String, row: Option<u64>) -> Check {
    Check { verdict: Verdict::Fail, reason: Some(reason), row, ..Check::default() }
}

/// Why b = A·1 is unusable as a right-hand side, given its norm and ‖|A|·1‖ in `size`: rounding alone may be
/// as large.
pub fn vanishes(b: f64, size: f64) -> Option<String> {
    let floor = rounding_floor(size);
    (floor > 0.0 && floor.is_finite() && !is_seen(floor, b)).then(|| {
        format!(
            "b = A·1 is zero up to rounding: its norm is {b:.1e}, and the rounding error may be \
            {floor:.1e}; use --b range for b = A·z with random z"
        )
    })
}

/// ‖v‖₂, also if the squares of its elements overflow or underflow.
fn norm(v: impl Iterator<Item = f64> + Clone) -> f64 {
    Magnitude::of(v).norm()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(converged: bool) -> Solve {
        Solve { converged, iterations: 7, ..Solve::default() }
    }

    /// diag(1, 2) and its product with (1, 1).
    fn system() -> (Csr, [f64; 2]) {
        (Csr::from_triplets(2, 2, &[(0, 0, 1.0), (1, 1, 2.0)]).unwrap(), [1.0, 2.0])
    }

    #[test]
    fn the_residual_of_x_decides_and_not_what_the_solver_says() {
        let (a, b) = system();
        let verdict = |off: f64| solved(&a, &b, &[1.0 + off, 1.0], 1e-6, &told(true)).verdict;
        // ‖b‖ is √5, and the residual equals the error of x.
        let bound = 1.1e-6 * 5f64.sqrt();
        assert_eq!(verdict(0.0), Verdict::Pass);
        assert_eq!(verdict(bound * 0.999), Verdict::Pass);
        assert_eq!(verdict(bound * 1.001), Verdict::Fail);
        let reason = solved(&a, &b, &[1.5, 1.0], 1e-6, &told(true)).reason.unwrap();
        assert!(
            reason.starts_with("the true relative residual is 2.236e-1, tolerance"),
            "{reason}"
        );
    }

    #[test]
    fn a_solver_that_gave_up_has_failed_and_its_sentence_says_so() {
        let (a, b) = system();
        let check = solved(&a, &b, &[1.0, 1.0], 1e-6, &told(false));
        let expected = "not converged after 7 iterations: relative residual 0.000e0, tolerance \
            1e-6";
        assert_eq!((check.verdict, check.reason.as_deref()), (Verdict::Fail, Some(expected)));
    }

    #[test]
    fn rounding_is_allowed_for_where_b_nearly_cancels() {
        // The row sums of a Laplacian are small compared to its nonzeros.
        let triplets = [(0, 0, 1.0), (0, 1, -1.0), (1, 0, -1.0), (1, 1, 1.0 + 1e-12)];
        let a = Csr::from_triplets(2, 2, &triplets).unwrap();
        let b = [0.0, 1e-12];
        let off = |ulps: f64| [1.0 + ulps * f64::EPSILON, 1.0];
        let check = |ulps: f64| solved(&a, &b, &off(ulps), 1e-10, &told(true));
        let verdict = |ulps: f64| (check(ulps).verdict, check(ulps).limited_by_rounding);
        assert_eq!(
            [0.0, 8.0, 80.0].map(verdict),
            [(Verdict::Pass, false), (Verdict::Pass, true), (Verdict::Fail, false)]
        );
        // x is 8 ulps off in the first element: 8·ε·√2 over ‖b‖ = 1e-12, and over ‖|A|·|x|‖ = 2·√2.
        let reason = check(8.0).reason.unwrap();
        let expected = "the relative residual is 2.512e-3, tolerance 1e-10";
        assert!(reason.starts_with(expected), "{reason}");
        assert!(reason.ends_with("the backward error is 8.882e-16"), "{reason}");
    }

    #[test]
    fn where_rounding_hides_b_nothing_is_decided_but_what_is_worse_is_wrong() {
        // The Laplacian of two nodes: A·x is 0 for every constant x, b is 1 ulp.
        let triplets = [(0, 0, 1.0), (0, 1, -1.0), (1, 0, -1.0), (1, 1, 1.0)];
        let a = Csr::from_triplets(2, 2, &triplets).unwrap();
        let b = [f64::EPSILON, -f64::EPSILON];
        let check = |x: [f64; 2]| solved(&a, &b, &x, 1e-10, &told(true));
        for x in [[1.0, 1.0], [1.0 + f64::EPSILON, 1.0]] {
            let check = check(x);
            assert_eq!((check.verdict, check.undecided), (Verdict::Refused, true));
            let reason = check.reason.unwrap();
            // 10·ε·‖(2, 2)‖ over ‖(ε, ε)‖.
            assert!(reason.contains("explains a relative residual of 2.000e1, so"), "{reason}");
        }
        let wrong = check([1.0, 2.0]);
        assert_eq!((wrong.verdict, wrong.undecided), (Verdict::Fail, false));
    }

    #[test]
    fn a_times_ones_vanishes_where_rows_cancel_and_not_where_they_nearly_do() {
        // The Laplacian of a path of three nodes: |A|·1 = (2, 4, 2).
        let size = 24f64.sqrt();
        assert!(vanishes(0.0, size).unwrap().contains("--b range"));
        // A tenth of b against 10·ε·‖|A|·1‖.
        let least = 100.0 * f64::EPSILON * size;
        assert_eq!([0.99, 1.01].map(|of| vanishes(of * least, size).is_some()), [true, false]);
        assert_eq!(vanishes(0.0, 0.0), None, "no rows");
    }

    #[test]
    fn norms_that_are_none_are_no_solution() {
        let norms = ResidualNorms::of(&[(f64::NAN, f64::NAN); 2], &[1.0, 1.0]);
        assert_eq!(norms.check(1e-6, &told(true)).verdict, Verdict::Fail);
    }

    #[test]
    fn what_is_no_number_or_has_another_length_fails_and_zero_is_solved_by_zero() {
        let (a, b) = system();
        let verdict = |b: &[f64], x: &[f64]| solved(&a, b, x, 1e-6, &told(true)).verdict;
        assert_eq!(verdict(&b, &[f64::NAN, 1.0]), Verdict::Fail);
        assert_eq!(verdict(&b, &[1.0]), Verdict::Fail);
        assert_eq!(verdict(&[0.0; 2], &[0.0; 2]), Verdict::Pass);
        assert_eq!(verdict(&[0.0; 2], &[1e-300, 0.0]), Verdict::Fail);
        assert_eq!(verdict(&[1e-300, 2e-300], &[1e-300; 2]), Verdict::Pass);
    }
}
