//! Which of the two operators a sweep applies, and how a sweep from a zero start is computed.

/// The right-hand side of each row update. Rounding is part of the definition: the sum starts at the
/// right-hand side, each product is rounded and subtracted in the order of the row's columns, and nothing is
/// fused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Mode {
    /// `sum = x_i − Σ_j a_ij·x_j + d_i·x_i`, `x_i = sum / d_i`: the right-hand side is the old x_i
    /// itself, and the descending sweep takes the ascending one's result as its own. The diagonal's
    /// product is subtracted like any other and then added (student report on a CUDA smoother, 2022).
    Smoother,
    /// `sum = b_i − Σ_{j≠i} a_ij·x_j`, `x_i = sum / d_i`: as in solvers and in HPCG.
    Standard,
}

impl Mode {
    /// Both modes.
    pub const ALL: [Self; 2] = [Self::Smoother, Self::Standard];

    /// The word used on the command line and in files.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Smoother => "smoother",
            Self::Standard => "standard",
        }
    }
}

/// How z = M⁻¹·r is computed, M = (D + L)·D⁻¹·(D + U). Both begin with
/// `y_i = (r_i − Σ_{j<i} a_ij·y_j) / d_i`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ZeroStart {
    /// `z_i = (r_i − Σ_{j<i} a_ij·y_j − Σ_{j>i} a_ij·z_j) / d_i`: one iteration of [`Mode::Standard`] from x
    /// = 0, bitwise identical if the matrix is finite, except for the sign of zeros.
    Exact,
    /// `z_i = (d_i·y_i − Σ_{j>i} a_ij·z_j) / d_i`: reads only half of the nonzeros again, and rounds
    /// differently.
    Half,
}

impl ZeroStart {
    /// Both forms.
    pub const ALL: [Self; 2] = [Self::Exact, Self::Half];
}
