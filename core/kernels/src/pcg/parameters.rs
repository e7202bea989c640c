//! When a solve starts and stops.

use super::Breakdown;
use sparsescope_matrix::memory::MemoryLimit;

/// x before the first iteration.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Start {
    /// x₀ = 0.
    #[default]
    Zero,
    /// x₀ = K⁻¹·b.
    Preconditioned,
    /// This vector, one element per row.
    Given(Vec<f64>),
}

/// How a system is solved.
#[derive(Clone, Debug, PartialEq)]
pub struct SolveParameters {
    /// Converged when ‖r‖₂ ≤ `tol`·‖b‖₂, r being the residual of the recurrence.
    pub tol: f64,
    /// Maximum number of iterations.
    pub max_iterations: usize,
    /// x before the first iteration.
    pub start: Start,
    /// Whether to run on the ambient rayon pool rather than the caller's thread. The result has the same
    /// bits.
    pub parallel: bool,
    /// Memory limit for the vectors.
    pub limit: MemoryLimit,
}

/// The defaults of the thesis: 1e-10, at most 10 000 iterations, from zero; on the ambient pool.
impl Default for SolveParameters {
    fn default() -> Self {
        Self {
            tol: 1e-10,
            max_iterations: 10_000,
            start: Start::Zero,
            parallel: true,
            limit: MemoryLimit::unlimited(),
        }
    }
}

impl SolveParameters {
    /// Fails unless the right-hand side and any starting vector have `rows` elements, all finite.
    pub fn admit(&self, rows: usize, b: &[f64]) -> Result<(), Breakdown> {
        let start = match &self.start {
            Start::Given(x) => Some(("the starting vector", x.as_slice())),
            Start::Zero | Start::Preconditioned => None,
        };
        for (what, v) in [Some(("the right-hand side", b)), start].into_iter().flatten() {
            if v.len() != rows {
                return Err(Breakdown::Length { what, expected: rows, found: v.len() });
            }
            if let Some(row) = v.iter().position(|v| !v.is_finite()) {
                return Err(Breakdown::NotFinite { what, row, value: v[row] });
            }
        }
        Ok(())
    }
}
