//! The prefiltered matrix, and the pattern of G that a rule gives.

use std::ops::Range;

use super::Cancelled;
use super::adaptive::Adaptive;
use super::error::{FsaiError, Stop, unless_cancelled};
use super::parameters::{FsaiParameters, PatternRule};
use super::pattern::{Columns, Pattern};
use super::powers::{Leaders, Reach};
use super::system::Lower;
use super::workers::in_order;
use sparsescope_matrix::matrix::Csr;
use sparsescope_matrix::memory::MemoryLimit;

/// Ã: the nonzeros of A with i = j or a_ij² > δ·a_ii·a_jj; δ = 0 drops only stored zeros. `None` when
/// cancelled.
pub fn prefiltered(
    a: &Csr,
    delta: f64,
    limit: MemoryLimit,
    cancelled: &Cancelled<'_>,
) -> Result<Option<Pattern>, FsaiError> {
    let found = Lower::of(a, 0.0, limit, cancelled)
        .and_then(|lower| kept_entries(&lower, delta, limit, cancelled));
    Ok(unless_cancelled(found)?.map(|kept| match kept {
        Columns::Stored(a) => Pattern::of(a),
        Columns::Some(pattern) => pattern,
    }))
}

pub(super) fn kept_entries<'a>(
    lower: &Lower<'a>,
    delta: f64,
    limit: MemoryLimit,
    cancelled: &Cancelled<'_>,
) -> Result<Columns<'a>, Stop> {
    let what = "the prefiltered matrix";
    let a = lower.whole();
    if delta == 0.0 {
        let parts = a.val().chunks(1 << 16);
        let nonzero = |(): &mut (), part: &[f64]| Ok(part.iter().all(|v| *v != 0.0));
        if in_order(parts, cancelled, || (), nonzero)?.into_iter().all(|nonzero| nonzero) {
            return Ok(Columns::Stored(a));
        }
    }
    let diagonal: Vec<f64> = if delta > 0.0 {
        limit.check("the diagonal", 8 * a.rows() as u128)?;
        (0..a.rows()).map(|i| lower.diagonal(i)).collect()
    } else {
        Vec::new()
    };
    let made = Pattern::made(
        a.rows(),
        what,
        limit,
        cancelled,
        || (),
        |(), i, to| {
            let (col, val) = a.row(i);
            let kept = |&(&c, &v): &(&u32, &f64)| {
                let c = c as usize;
                c == i
                    || if delta > 0.0 {
                        v * v > delta * diagonal[i] * diagonal[c]
                    } else {
                        v != 0.0
                    }
            };
            to.extend(col.iter().zip(val).filter(kept).map(|(&c, _)| c));
            Ok(())
        },
    )?;
    Ok(Columns::Some(made))
}

/// The pattern before the postfilter and before merging. `None` when cancelled.
pub fn pattern_of(
    a: &Csr,
    parameters: &FsaiParameters,
    limit: MemoryLimit,
    cancelled: &Cancelled<'_>,
) -> Result<Option<Pattern>, FsaiError> {
    parameters.check()?;
    let found = Lower::of(a, parameters.shift, limit, cancelled).and_then(|lower| {
        let kept = match parameters.pattern {
            PatternRule::Recursive { .. } | PatternRule::Power { .. } => {
                Some(kept_entries(&lower, parameters.prefilter, limit, cancelled)?)
            }
            PatternRule::Adaptive { .. } | PatternRule::Given(_) => None,
        };
        let rows = 0..a.rows();
        follow(&parameters.pattern, &lower, kept.as_ref(), rows, limit, cancelled)
    });
    unless_cancelled(found)
}

const WHAT: &str = "the pattern of the FSAI factor";

/// The pattern that a rule gives these rows, numbered from 0; patterns of powers need Ã.
pub(super) fn follow(
    rule: &PatternRule,
    lower: &Lower<'_>,
    kept: Option<&Columns<'_>>,
    of: Range<usize>,
    limit: MemoryLimit,
    cancelled: &Cancelled<'_>,
) -> Result<Pattern, Stop> {
    let rows = lower.rows();
    match (rule, kept) {
        (PatternRule::Given(given), _) => {
            if (given.rows(), given.cols()) != (rows, rows) {
                let (found_rows, found_cols) = (given.rows(), given.cols());
                return Err(FsaiError::PatternSize { found_rows, found_cols, rows }.into());
            }
            lower_part(of, |i| given.row(i).0, limit, cancelled)
        }
        (&PatternRule::Adaptive { steps, per_step, gain }, _) => {
            let threads = rayon::current_num_threads() as u128;
            let bytes = 8 * rows as u128 + threads * Adaptive::bytes(rows);
            limit.check("working memory for adaptive patterns", bytes)?;
            let diagonal: Vec<f64> = (0..rows).map(|i| lower.diagonal(i)).collect();
            let scratch = || Adaptive::new(lower, &diagonal, (steps, per_step as usize, gain));
            Pattern::made(of.len(), WHAT, limit, cancelled, scratch, |adaptive, k, to| {
                adaptive.row(of.start + k, cancelled)?;
                to.extend_from_slice(adaptive.columns());
                Ok(())
            })
        }
        (PatternRule::Recursive { power: 1 } | PatternRule::Power { power: 1 }, Some(kept)) => {
            lower_part(of, |i| kept.row(i), limit, cancelled)
        }
        (&(PatternRule::Recursive { power } | PatternRule::Power { power }), Some(kept)) => {
            let threads = rayon::current_num_threads() as u128;
            limit.check("working memory for patterns of powers", threads * Reach::bytes(rows))?;
            let leaders = Leaders::of(kept, limit)?;
            let climbing = matches!(rule, PatternRule::Power { .. });
            let scratch = || Reach::new(kept, &leaders);
            Pattern::made(of.len(), WHAT, limit, cancelled, scratch, |reach, k, to| {
                reach.row(of.start + k, power, climbing, to);
                Ok(())
            })
        }
        (PatternRule::Recursive { .. } | PatternRule::Power { .. }, None) => {
            let kept = kept_entries(lower, 0.0, limit, cancelled)?;
            follow(rule, lower, Some(&kept), of, limit, cancelled)
        }
    }
}

/// For each of these rows, the columns before the diagonal, and the diagonal.
fn lower_part<'c>(
    of: Range<usize>,
    columns: impl Fn(usize) -> &'c [u32] + Sync,
    limit: MemoryLimit,
    cancelled: &Cancelled<'_>,
) -> Result<Pattern, Stop> {
    let row = |(): &mut (), k: usize, to: &mut Vec<u32>| {
        let i = of.start + k;
        let columns = columns(i);
        to.extend_from_slice(&columns[..columns.partition_point(|&c| (c as usize) < i)]);
        to.push(i as u32);
        Ok(())
    };
    Pattern::made(of.len(), WHAT, limit, cancelled, || (), row)
}
