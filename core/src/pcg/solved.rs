//! What came of a solve.

use std::fmt;

use super::Ritz;

/// A solution with all that is known of it. Norms are Euclidean; residuals are relative to ‖b‖.
#[derive(Clone, Debug, PartialEq)]
pub struct Solved {
    /// The solution, an element a row.
    pub x: Vec<f64>,
    /// Iterations done.
    pub iterations: usize,
    /// Whether the residual of the recurrence reached the tolerance.
    pub converged: bool,
    /// Whether who watched stopped it.
    pub cancelled: bool,
    /// The tolerance asked for.
    pub tol: f64,
    /// ‖b‖.
    pub norm_b: f64,
    /// ‖b − A·x₀‖ / ‖b‖.
    pub initial: f64,
    /// ‖r‖ / ‖b‖ of the recurrence after the last iteration.
    pub recurrence: f64,
    /// ‖b − A·x‖ / ‖b‖, computed anew from x.
    pub true_residual: f64,
    /// 10·ε·‖|A|·|x|‖ / ‖b‖, ε = 2⁻⁵²: how far rounding alone may move the true residual.
    pub rounding_floor: f64,
    /// ‖r‖ / ‖b‖ of the recurrence; index 0 is before the first iteration.
    pub history: Vec<f64>,
    /// Seconds of the iterations, the check of x left out.
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
    /// The recurrence is within the tolerance, the true residual is not: rounding, which may amount to
    /// this, limits it.
    LimitedByRounding(f64),
    /// Neither.
    NotConverged,
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Converged => f.write_str("converged"),
            Self::LimitedByRounding(floor) => {
                write!(f, "converged by recurrence, limited by rounding at {floor:.1e}")
            }
            Self::NotConverged => f.write_str("not converged"),
        }
    }
}

impl Solved {
    /// The most that the true residual of a converged solve may be: 1.1·tol + [`rounding_floor`](Self::rounding_floor).
    pub fn bound(&self) -> f64 {
        1.1 * self.tol + self.rounding_floor
    }

    /// How it ended, in words.
    pub fn outcome(&self) -> Outcome {
        if !self.converged {
            Outcome::NotConverged
        } else if self.true_residual <= self.tol {
            Outcome::Converged
        } else {
            Outcome::LimitedByRounding(self.rounding_floor)
        }
    }

    /// Ritz values of K⁻¹·A; none without an iteration.
    pub fn ritz(&self) -> Option<Ritz> {
        Ritz::of(&self.alphas, &self.betas)
    }
}
