//! What a solver of A·x = b reports about an execution and about the setup before it.

use serde::{Deserialize, Serialize};

/// How a solve ended, and the cost of setting up its preconditioner. Residuals are relative to ‖b‖.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Solve {
    /// Iterations done.
    pub iterations: u64,
    /// Whether the recurrence residual reached the requested tolerance.
    pub converged: bool,
    /// How it ended in words: `converged`, `not converged`, …
    pub ended: String,
    /// The requested relative residual.
    pub tolerance: f64,
    /// ‖b‖₂.
    pub b_norm: f64,
    /// Before the first iteration; like the others, absent if it is not finite.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub initial_residual: Option<f64>,
    /// After the last iteration, from the recurrence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub residual: Option<f64>,
    /// ‖b − A·x‖ / ‖b‖, computed from x.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub true_residual: Option<f64>,
    /// 10·ε·‖|A|·|x|‖ / ‖b‖: the true residual cannot be expected to fall below this.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rounding_floor: Option<f64>,
    /// Seconds to set up the preconditioner, in all phases.
    pub setup_s: f64,
    /// The phases of the setup, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub phases: Vec<Phase>,
    /// Sizes found in the setup of a factorised sparse approximate inverse; absent for other preconditioners.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sizes: Option<SetUpSizes>,
    /// Eigenvalues of the preconditioned matrix, as far as the iterations resolved them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spectrum: Option<Spectrum>,
}

/// A phase of a setup.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Phase {
    /// Its name: `pattern`, `values`, …
    pub name: String,
    /// How long it took.
    pub seconds: f64,
}

/// Nonzeros and dense systems of a factorised sparse approximate inverse K⁻¹ = GᵀG.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SetUpSizes {
    /// Nonzeros of Ã, which is A after the prefilter.
    pub prefiltered: u64,
    /// Nonzeros of the pattern S.
    pub pattern: u64,
    /// Nonzeros of G before the postfilter.
    pub before_filter: u64,
    /// Nonzeros of G.
    pub factor: u64,
    /// Dense systems that were solved: one per row, or per group if rows were merged.
    pub systems: u64,
    /// Rows of the largest of them.
    pub largest: u64,
}

/// Ritz values after a number of iterations: inner bounds on the eigenvalues of the preconditioned matrix.
/// The run's history holds all of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Spectrum {
    /// Iterations that they are computed from.
    pub steps: u64,
    /// The smallest.
    pub smallest: f64,
    /// The largest.
    pub largest: f64,
    /// The largest over the smallest: a lower bound on the condition number.
    pub condition: f64,
}

impl Solve {
    /// The recorded relative residuals, by their names in files.
    pub fn residuals(&self) -> [(&'static str, Option<f64>); 4] {
        [
            ("solve.initial_residual", self.initial_residual),
            ("solve.residual", self.residual),
            ("solve.true_residual", self.true_residual),
            ("solve.rounding_floor", self.rounding_floor),
        ]
    }
}
