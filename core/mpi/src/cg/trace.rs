//! History of an iteration in progress: residuals, coefficients, and whether it ends.

use std::time::Instant;

use sparsescope_kernels::pcg::{Breakdown, Recurrence};

/// The residuals so far, identical on every rank, bit for bit.
pub(super) struct Trace {
    tol: f64,
    max_iterations: usize,
    norm_b: f64,
    history: Vec<f64>,
    alphas: Vec<f64>,
    betas: Vec<f64>,
    cancelled: bool,
    begun: Instant,
    seconds: f64,
}

/// Initial capacity of the history; longer ones grow.
const EXPECTED: usize = 10_000;

impl Trace {
    /// Starts the history of a solve with this ‖b‖².
    pub(super) fn new((tol, max_iterations): (f64, usize), square_b: f64, begun: Instant) -> Self {
        let history = Vec::with_capacity(1 + max_iterations.min(EXPECTED));
        Self {
            tol,
            max_iterations,
            norm_b: square_b.sqrt(),
            history,
            alphas: Vec::new(),
            betas: Vec::new(),
            cancelled: false,
            begun,
            seconds: 0.0,
        }
    }

    /// Iterations completed.
    pub(super) fn done(&self) -> usize {
        self.history.len().saturating_sub(1)
    }

    /// Records ‖r‖² before the first iteration or after one, and whether any rank wants to stop. Returns
    /// whether that iteration was the last.
    pub(super) fn residual(&mut self, square_r: f64, stop: bool) -> Result<bool, Breakdown> {
        let relative = if self.norm_b == 0.0 { 0.0 } else { square_r.sqrt() / self.norm_b };
        self.history.push(relative);
        let iteration = self.done();
        if !relative.is_finite() {
            return Err(Breakdown::Overflow { iteration, what: "the residual", value: relative });
        }
        if self.is_converged() || iteration == self.max_iterations {
            return Ok(true);
        }
        self.cancelled = stop;
        Ok(stop)
    }

    /// Records the coefficients of an iteration, from which Ritz values are computed.
    pub(super) fn coefficients(&mut self, alpha: f64, beta: f64) {
        self.alphas.push(alpha);
        self.betas.push(beta);
    }

    /// Checks r·z of the next iteration, which must be positive.
    pub(super) fn of_preconditioner(&self, value: f64) -> Result<(), Breakdown> {
        let iteration = self.done();
        match value {
            value if !value.is_finite() => {
                Err(Breakdown::Overflow { iteration, what: "r·z", value })
            }
            value if value <= 0.0 => Err(Breakdown::Preconditioner { iteration, value }),
            _ => Ok(()),
        }
    }

    /// Checks p·Ap of the next iteration, which must be positive.
    pub(super) fn of_matrix(&self, value: f64) -> Result<(), Breakdown> {
        let iteration = self.done() + 1;
        match value {
            value if !value.is_finite() => {
                Err(Breakdown::Overflow { iteration, what: "p·Ap", value })
            }
            value if value <= 0.0 => Err(Breakdown::NotPositive { iteration }),
            _ => Ok(()),
        }
    }

    /// Stops the clock.
    pub(super) fn ended(&mut self) {
        self.seconds = self.begun.elapsed().as_secs_f64();
    }

    fn is_converged(&self) -> bool {
        self.norm_b == 0.0 || self.history.last().is_some_and(|last| *last <= self.tol)
    }

    /// Completes the history with the rank's elements of x; where b is 0, so is x.
    pub(super) fn with(self, mut x: Vec<f64>) -> Recurrence {
        if self.norm_b == 0.0 {
            x.fill(0.0);
        }
        let mut betas = self.betas.clone();
        betas.truncate(self.alphas.len().saturating_sub(1));
        Recurrence {
            iterations: self.done(),
            converged: self.is_converged(),
            cancelled: self.cancelled,
            tol: self.tol,
            norm_b: self.norm_b,
            history: self.history,
            seconds: self.seconds,
            alphas: self.alphas,
            betas,
            x,
        }
    }
}
