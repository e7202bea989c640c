//! Parameters of the factorised inverse.

use std::sync::Arc;

use super::FsaiError;
use sparsescope_matrix::matrix::Csr;

/// Rows per block: groups close at its end, so that blocks are grouped in parallel.
pub const MERGE_BLOCK: usize = 8192;

/// Maximum number of columns in a group's union.
pub const MERGE_CAP: usize = 200;

/// Number of most recently opened groups that a row is compared with.
pub const MERGE_WINDOW: usize = 10;

/// How a factorised inverse is set up. The default is the thesis's: the recursive pattern of power 2, no
/// filters, no merging, no shift.
#[derive(Clone, Debug)]
pub struct FsaiParameters {
    /// The rule for the pattern of G.
    pub pattern: PatternRule,
    /// δ ≥ 0: only nonzeros with a_ij² > δ·a_ii·a_jj enter patterns of powers.
    pub prefilter: f64,
    /// τ ≥ 0: nonzeros of G with g_ij² ≤ τ·Σ_k g_ik² are dropped and rows rescaled; 0 drops nothing.
    pub postfilter: f64,
    /// Whether rows with similar patterns share one dense system.
    pub merge: Option<Merging>,
    /// S ≥ 0: uses A + S·diag(A) instead of A.
    pub shift: f64,
}

impl Default for FsaiParameters {
    fn default() -> Self {
        Self {
            pattern: PatternRule::Recursive { power: 2 },
            prefilter: 0.0,
            postfilter: 0.0,
            merge: None,
            shift: 0.0,
        }
    }
}

/// Where the pattern of G comes from. Low(·) is the lower triangle with the diagonal, Ã the prefiltered
/// matrix.
#[derive(Clone, Debug)]
pub enum PatternRule {
    /// S₁ = Low(Ã), S_{l+1} = Low(S_l·Ã) (the thesis): paths that pass above the diagonal are lost.
    Recursive {
        /// At least 1.
        power: u32,
    },
    /// Low(Ã^power).
    Power {
        /// At least 1.
        power: u32,
    },
    /// Each row starts with its diagonal and adds, step by step, the columns that reduce g·A·gᵀ most. Uses A,
    /// not Ã.
    Adaptive {
        /// Maximum number of steps.
        steps: u32,
        /// Columns added per step, at least 1.
        per_step: u32,
        /// The relative reduction of g·A·gᵀ that a step must reach for another one to follow.
        gain: f64,
    },
    /// The lower triangle of this matrix and the diagonal; its values are ignored.
    Given(Arc<Csr>),
}

impl PatternRule {
    /// The adaptive rule with 5 steps of 3 columns and a gain of a thousandth.
    pub fn adaptive() -> Self {
        Self::Adaptive { steps: 5, per_step: 3, gain: 1e-3 }
    }
}

/// How rows are merged.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Merging {
    /// α ≥ 1: how much more one merged system may cost than two.
    pub alpha: f64,
    /// Rows per block; without it all rows are one block (the thesis), grouped by one thread.
    pub block: Option<usize>,
}

impl Merging {
    /// Merges in blocks of [`MERGE_BLOCK`] rows.
    pub fn new(alpha: f64) -> Self {
        Self { alpha, block: Some(MERGE_BLOCK) }
    }
}

impl FsaiParameters {
    /// Fails if a parameter is out of range; names the first.
    pub fn check(&self) -> Result<(), FsaiError> {
        let number = |name, value: f64, least: f64, expected| {
            let fits = value >= least && value.is_finite();
            let error = || FsaiError::Parameter { name, value: value.to_string(), expected };
            fits.then_some(()).ok_or_else(error)
        };
        let count = |name, value: u64| {
            let expected = "at least 1";
            let error = || FsaiError::Parameter { name, value: value.to_string(), expected };
            (value >= 1).then_some(()).ok_or_else(error)
        };
        let from_zero = "a finite number of at least 0";
        number("the prefilter", self.prefilter, 0.0, from_zero)?;
        number("the postfilter", self.postfilter, 0.0, from_zero)?;
        number("the shift", self.shift, 0.0, from_zero)?;
        if let Some(Merging { alpha, block }) = self.merge {
            number("alpha", alpha, 1.0, "a finite number of at least 1")?;
            count("the merge block", block.map_or(1, |block| block as u64))?;
        }
        match &self.pattern {
            PatternRule::Recursive { power } | PatternRule::Power { power } => {
                count("the power", u64::from(*power))
            }
            PatternRule::Adaptive { steps: _, per_step, gain } => {
                count("the number of columns per step", u64::from(*per_step))?;
                number("the gain", *gain, 0.0, from_zero)
            }
            PatternRule::Given(_) => Ok(()),
        }
    }
}
