//! The result of a solve.

use std::fmt;

use super::Ritz;
use super::judgement::{Judgement, rounding_floor};
use super::residual::residual;
use sparsescope_matrix::matrix::Csr;

/// What the iteration itself reports. Residuals are relative to ‖b‖.
#[derive(Clone, Debug, PartialEq)]
pub struct Recurrence {
    /// The solution, one element per row.
    pub x: Vec<f64>,
    /// Number of iterations.
    pub iterations: usize,
    /// Whether the residual reached the tolerance.
    pub converged: bool,
    /// Whether `watch` stopped it.
    pub cancelled: bool,
    /// The requested tolerance.
    pub tol: f64,
    /// ‖b‖.
    pub norm_b: f64,
    /// The residual history; index 0 is before the first iteration. Not empty.
    pub history: Vec<f64>,
    /// Seconds spent in the iterations.
    pub seconds: f64,
    /// α of each iteration.
    pub alphas: Vec<f64>,
    /// β of each iteration but the last.
    pub betas: Vec<f64>,
}

impl Recurrence {
    /// Adds the true residual, computed from x on the ambient rayon pool; if ‖b‖ is 0, all residuals are 0.
    /// Panics unless vectors have one element per row and the history is not empty.
    pub fn checked(self, a: &Csr, b: &[f64]) -> Solved {
        let (off, size) = residual(a, b, &self.x);
        self.with_residual(off, size)
    }

    /// The same with ‖b − A·x‖ and ‖|A|·|x|‖ computed elsewhere.
    pub fn with_residual(self, off: f64, size: f64) -> Solved {
        let relative = |norm: f64| if self.norm_b == 0.0 { 0.0 } else { norm / self.norm_b };
        let (first, last) = (self.history.first(), self.history.last());
        let told = "the history has what was before the first iteration"; // invariant
        Solved {
            iterations: self.iterations,
            converged: self.converged,
            cancelled: self.cancelled,
            tol: self.tol,
            norm_b: self.norm_b,
            initial: *first.expect(told),
            recurrence: *last.expect(told),
            true_residual: relative(off),
            rounding_floor: relative(rounding_floor(size)),
            history: self.history,
            seconds: self.seconds,
            alphas: self.alphas,
            betas: self.betas,
            x: self.x,
        }
    }
}

/// A solution with everything known about it. Norms are Euclidean; residuals are relative to ‖b‖.
#[derive(Clone, Debug, PartialEq)]
pub struct Solved {
    /// The solution, one element per row.
    pub x: Vec<f64>,
    /// Number of iterations.
    pub iterations: usize,
    /// Whether the residual of the recurrence reached the tolerance.
    pub converged: bool,
    /// Whether `watch` stopped it.
    pub cancelled: bool,
    /// The requested tolerance.
    pub tol: f64,
    /// ‖b‖.
    pub norm_b: f64,
    /// ‖b − A·x₀‖ / ‖b‖.
    pub initial: f64,
    /// ‖r‖ / ‖b‖ of the recurrence after the last iteration.
    pub recurrence: f64,
    /// ‖b − A·x‖ / ‖b‖, recomputed from x.
    pub true_residual: f64,
    /// 10·ε·‖|A|·|x|‖ / ‖b‖, ε = 2⁻⁵²: how far rounding alone may move the true residual.
    pub rounding_floor: f64,
    /// ‖r‖ / ‖b‖ of the recurrence; index 0 is before the first iteration.
    pub history: Vec<f64>,
    /// Seconds spent in the iterations, without the check of x.
    pub seconds: f64,
    /// α of each iteration.
    pub alphas: Vec<f64>,
    /// β of each iteration but the last.
    pub betas: Vec<f64>,
}

/// How a solve ended.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Outcome {
    /// The true residual is within the tolerance.
    Converged,
    /// b is zero, and so is x.
    ZeroRightSide,
    /// The recurrence is within the tolerance, the true residual is not: it is limited by rounding, which may
    /// reach this value.
    LimitedByRounding(f64),
    /// The recurrence is within the tolerance, but rounding, which may reach this value, hides whether x is.
    Undecided(f64),
    /// The recurrence is within the tolerance, but the true residual has this value, which rounding does not
    /// explain.
    Missed(f64),
    /// The recurrence is not within the tolerance.
    NotConverged,
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Converged => f.write_str("converged"),
            Self::ZeroRightSide => f.write_str("b is zero, so x = 0"),
            Self::LimitedByRounding(floor) => {
                write!(f, "converged by recurrence, limited by rounding at {floor:.1e}")
            }
            Self::Undecided(floor) => {
                write!(f, "converged by recurrence, undecided: rounding may be {floor:.1e}")
            }
            Self::Missed(residual) => {
                write!(f, "converged by recurrence, but the true residual is {residual:.1e}")
            }
            Self::NotConverged => f.write_str("not converged"),
        }
    }
}

impl Solved {
    /// The outcome in words.
    pub fn outcome(&self) -> Outcome {
        let judged = Judgement::of(self.true_residual, self.rounding_floor, 1.0, self.tol);
        match judged {
            _ if !self.converged => Outcome::NotConverged,
            _ if self.norm_b == 0.0 => Outcome::ZeroRightSide,
            Judgement::Met => Outcome::Converged,
            Judgement::LimitedByRounding => Outcome::LimitedByRounding(self.rounding_floor),
            Judgement::Undecided => Outcome::Undecided(self.rounding_floor),
            Judgement::Missed => Outcome::Missed(self.true_residual),
        }
    }

    /// Ritz values of K⁻¹·A; none without an iteration.
    pub fn ritz(&self) -> Option<Ritz> {
        Ritz::of(&self.alphas, &self.betas)
    }
}
