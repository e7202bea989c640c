//! Why an iteration could not start or continue.

/// What stopped a solve that neither converged nor reached its last iteration.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Breakdown {
    /// The sizes of matrix, preconditioner and vectors differ.
    #[error("{what} has {found} elements, expected {expected}: one per row of the matrix")]
    #[expect(missing_docs, reason = "the message names the fields")]
    Length { what: &'static str, expected: usize, found: usize },
    /// An input vector contains a NaN or infinity.
    #[error("{what} is {value} in row {row} (0-based), which is not finite")]
    #[expect(missing_docs, reason = "the message names the fields")]
    NotFinite { what: &'static str, row: usize, value: f64 },
    /// p·Ap was negative, beyond what rounding explains.
    #[error(
        "conjugate gradients broke down in iteration {iteration}: p·Ap is {share:.1e} times \
        |p|·|A|·|p|, so the matrix is not positive definite"
    )]
    #[expect(missing_docs, reason = "the message names the fields")]
    Matrix { iteration: usize, share: f64 },
    /// p·Ap was zero up to rounding, but the residual was not.
    #[error(
        "conjugate gradients broke down in iteration {iteration}: p·Ap is {share:.1e} times \
        |p|·|A|·|p|, which is zero up to rounding, so the matrix is numerically singular"
    )]
    #[expect(missing_docs, reason = "the message names the fields")]
    Singular { iteration: usize, share: f64 },
    /// p·Ap was zero up to rounding, and so was the residual.
    #[error(
        "conjugate gradients stagnated in iteration {iteration}: p·Ap is zero up to rounding, and \
        so is the relative residual {residual:.3e}"
    )]
    #[expect(missing_docs, reason = "the message names the fields")]
    Stagnated { iteration: usize, residual: f64 },
    /// p·Ap was not positive, and the rounding error is unknown.
    #[error(
        "conjugate gradients broke down in iteration {iteration}: p·Ap is not positive, so the \
        matrix is not positive definite or is numerically singular"
    )]
    #[expect(missing_docs, reason = "the message names the fields")]
    NotPositive { iteration: usize },
    /// r·z was not positive, z = K⁻¹·r.
    #[error(
        "conjugate gradients broke down in iteration {iteration}: r·z = {value:e} is not positive, so the preconditioner is not positive definite"
    )]
    #[expect(missing_docs, reason = "the message names the fields")]
    Preconditioner { iteration: usize, value: f64 },
    /// A number of the recurrence became NaN or infinite.
    #[error(
        "conjugate gradients broke down in iteration {iteration}: {what} is {value}, which is not finite"
    )]
    #[expect(missing_docs, reason = "the message names the fields")]
    Overflow { iteration: usize, what: &'static str, value: f64 },
    /// The vectors of the iteration do not fit into memory.
    #[error(transparent)]
    Memory(#[from] sparsescope_matrix::memory::MemoryError),
}

impl Breakdown {
    /// Whether the iterations show that the matrix is not positive definite, or not beyond rounding.
    pub fn is_not_definite(&self) -> bool {
        matches!(self, Self::Matrix { .. } | Self::Singular { .. } | Self::NotPositive { .. })
    }
}
