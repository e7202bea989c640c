//! The gate of a solve: what the recurrence calls solved must be so, but for rounding, when the residual is
//! computed anew.

use crate::pcg::{Outcome, Solved};
use crate::record::{Check, Verdict};

/// Checks that a solve converged and that its true residual is at most 1.1·tol + 10·ε·‖|A|·|x|‖/‖b‖. Above
/// the tolerance it passes with words that name what limits it. `worst` is the true residual in units of the
/// bound, `rel_err` the true residual.
pub fn solution(solved: &Solved) -> Check {
    let (residual, bound) = (solved.true_residual, solved.bound());
    let outcome = solved.outcome();
    let finite = |value: f64| value.is_finite().then_some(value);
    let check = Check { rel_err: finite(residual), ..Check::default() };
    if outcome == Outcome::NotConverged {
        let reason = Some(outcome.to_string());
        return Check { verdict: Verdict::Fail, reason, ..check };
    }
    let worst = if residual == 0.0 { Some(0.0) } else { finite(residual / bound) };
    // A residual that is NaN is not within the bound either.
    if residual <= bound {
        let reason = (outcome != Outcome::Converged).then(|| outcome.to_string());
        return Check { verdict: Verdict::Pass, reason, worst, ..check };
    }
    let reason = format!(
        "converged by recurrence at {:e}, but the true relative residual is {residual:e}, more than {bound:e}: 1.1 times the tolerance of {:e} and {:e} of rounding",
        solved.recurrence, solved.tol, solved.rounding_floor
    );
    Check { verdict: Verdict::Fail, reason: Some(reason), worst, ..check }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::matrix::Csr;
    use crate::memory::MemoryLimit;
    use crate::pcg::{Operator, OperatorFormat, Preconditioner, SolveParameters, solve};

    fn solved(max_iterations: usize) -> Solved {
        let triplets: Vec<_> = (0..20).map(|i| (i, i, 1.0 + i as f64)).collect();
        let a = Arc::new(Csr::from_triplets(20, 20, &triplets).unwrap());
        let operator = Operator::new(&a, OperatorFormat::Csr, MemoryLimit::unlimited()).unwrap();
        let parameters = SolveParameters { max_iterations, ..SolveParameters::default() };
        let k = Preconditioner::None;
        solve(&operator, &a, &k, &[1.0; 20], &parameters, &mut |_, _| true).unwrap()
    }

    #[test]
    fn only_what_is_solved_passes() {
        let good = solved(100);
        let check = solution(&good);
        assert_eq!((check.verdict, check.reason), (Verdict::Pass, None));
        assert!(check.worst.unwrap() <= 1.0);
        let check = solution(&solved(5));
        assert_eq!(check.verdict, Verdict::Fail);
        assert_eq!(check.reason.as_deref(), Some("not converged"));
    }

    #[test]
    fn above_the_tolerance_rounding_is_named_and_above_the_bound_nothing_passes() {
        let mut limited = solved(100);
        (limited.rounding_floor, limited.true_residual) = (3e-9, 2e-9);
        let check = solution(&limited);
        let words = "converged by recurrence, limited by rounding at 3.0e-9";
        assert_eq!((check.verdict, check.reason.as_deref()), (Verdict::Pass, Some(words)));
        for residual in [4e-9, f64::NAN, f64::INFINITY] {
            limited.true_residual = residual;
            let check = solution(&limited);
            assert_eq!(check.verdict, Verdict::Fail, "{residual}");
            assert!(check.reason.unwrap().contains("more than 3.11e-9"));
        }
    }
}
