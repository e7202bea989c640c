//! What a solver of A·x = b tells of an execution, and of the set-up before it.

use serde::{Deserialize, Serialize};

/// How a solve ended, and what setting up its preconditioner took. Residuals are relative to ‖b‖.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Solve {
    /// Iterations done.
    pub iterations: u64,
    /// Whether the residual of the recurrence fell to what was asked for.
    pub converged: bool,
    /// How it ended in words: `converged`, `not converged`, …
    pub ended: String,
    /// The relative residual that was asked for.
    pub tolerance: f64,
    /// ‖b‖₂.
    pub b_norm: f64,
    /// Before the first iteration; absent where it was not finite, as are the others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub initial_residual: Option<f64>,
    /// After the last one, as the recurrence has it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub residual: Option<f64>,
    /// ‖b − A·x‖ / ‖b‖, computed from x.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub true_residual: Option<f64>,
    /// 10·ε·‖|A|·|x|‖ / ‖b‖: the true residual cannot be expected below that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rounding_floor: Option<f64>,
    /// Setting the preconditioner up, in all its phases.
    pub setup_s: f64,
    /// The phases of the set-up, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub phases: Vec<Phase>,
    /// What the set-up of a factorised sparse approximate inverse found; absent for other preconditioners.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sizes: Option<SetUpSizes>,
    /// Eigenvalues of the preconditioned matrix as far as the iterations saw them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spectrum: Option<Spectrum>,
}

/// A part of a set-up.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Phase {
    /// Its name: `pattern`, `values`, …
    pub name: String,
    /// How long it took.
    pub seconds: f64,
}

/// Entries and dense systems of a factorised sparse approximate inverse K⁻¹ = GᵀG.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SetUpSizes {
    /// Entries of Ã, which is A after the prefilter.
    pub prefiltered: u64,
    /// Entries of the pattern S.
    pub pattern: u64,
    /// Entries of G before the postfilter.
    pub before_filter: u64,
    /// Entries of G.
    pub factor: u64,
    /// Dense systems that were solved: as many as rows, or as groups where rows were merged.
    pub systems: u64,
    /// Rows of the largest of them.
    pub largest: u64,
}

/// The Ritz values of so many iterations, inner bounds of the eigenvalues of the preconditioned matrix.
/// The run's history has them all.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Spectrum {
    /// Iterations behind them.
    pub steps: u64,
    /// The smallest.
    pub smallest: f64,
    /// The largest.
    pub largest: f64,
    /// The largest over the smallest: the condition number is at least that.
    pub condition: f64,
}

impl Solve {
    /// Relative residuals that it tells, by their names in files.
    pub fn residuals(&self) -> [(&'static str, Option<f64>); 4] {
        [
            ("solve.initial_residual", self.initial_residual),
            ("solve.residual", self.residual),
            ("solve.true_residual", self.true_residual),
            ("solve.rounding_floor", self.rounding_floor),
        ]
    }
}
