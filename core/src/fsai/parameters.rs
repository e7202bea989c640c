//! What can be chosen.

use std::sync::Arc;

use super::FsaiError;
use crate::matrix::Csr;

/// Rows to a block: groups close at its end, so that blocks are grouped at once.
pub const MERGE_BLOCK: usize = 8192;

/// Columns that a group's union may have.
pub const MERGE_CAP: usize = 200;

/// Open groups that a row is compared with: the last ones.
pub const MERGE_WINDOW: usize = 10;

/// How a factorised inverse is set up. The default is the thesis's: the recursive pattern of power 2, no
/// filters, no merging, no shift.
#[derive(Clone, Debug)]
pub struct FsaiParameters {
    /// Which entries G may have.
    pub pattern: PatternRule,
    /// δ ≥ 0: only entries with a_ij² > δ·a_ii·a_jj make patterns of powers.
    pub prefilter: f64,
    /// τ ≥ 0: entries of G with g_ij² ≤ τ·Σ_k g_ik² are dropped and rows scaled anew; 0 drops nothing.
    pub postfilter: f64,
    /// Rows with similar patterns share one dense system.
    pub merge: Option<Merging>,
    /// S ≥ 0: A + S·diag(A) in place of A.
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
    /// S₁ = Low(Ã), S_{l+1} = Low(S_l·Ã) (the thesis): paths that climb above the diagonal are lost.
    Recursive {
        /// At least 1.
        power: u32,
    },
    /// Low(Ã^power).
    Power {
        /// At least 1.
        power: u32,
    },
    /// Each row begins with its diagonal and takes, step by step, the columns that lessen g·A·gᵀ most. It
    /// looks at A, not at Ã.
    Adaptive {
        /// Steps at most.
        steps: u32,
        /// Columns taken in one step, at least 1.
        per_step: u32,
        /// The share of g·A·gᵀ that a step must gain for another one to follow.
        gain: f64,
    },
    /// The lower triangle of this matrix and the diagonal; its values mean nothing.
    Given(Arc<Csr>),
}

impl PatternRule {
    /// The adaptive rule with 5 steps of 3 columns, up to a gain of a thousandth.
    pub fn adaptive() -> Self {
        Self::Adaptive { steps: 5, per_step: 3, gain: 1e-3 }
    }
}

/// How rows are merged.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Merging {
    /// α ≥ 1: how much more one system may cost than two.
    pub alpha: f64,
    /// Rows to a block; without it all rows are one block (the thesis), and grouped by one thread.
    pub block: Option<usize>,
}

impl Merging {
    /// In blocks of [`MERGE_BLOCK`] rows.
    pub fn new(alpha: f64) -> Self {
        Self { alpha, block: Some(MERGE_BLOCK) }
    }
}

impl FsaiParameters {
    /// Fails when one of them is out of its range; names the first.
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
