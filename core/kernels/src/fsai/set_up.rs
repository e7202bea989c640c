//! The setup of the factorised inverse, phase by phase.

use std::ops::Range;
use std::sync::Arc;

use web_time::Instant;

use super::Cancelled;
use super::error::{FsaiError, Stop, unless_cancelled};
use super::filter::{Drops, filtered};
use super::groups::Groups;
use super::parameters::{FsaiParameters, PatternRule};
use super::pattern::Pattern;
use super::report::SetUp;
use super::rules::{follow, kept_entries};
use super::system::Lower;
use super::transpose::transposed;
use super::values::{Systems, values};
use sparsescope_matrix::matrix::Csr;
use sparsescope_matrix::memory::MemoryLimit;

/// A factorised sparse approximate inverse GᵀG of a symmetric positive definite n × n matrix.
///
/// ```
/// use sparsescope_kernels::fsai::{Fsai, FsaiParameters};
/// use sparsescope_matrix::matrix::Csr;
/// use sparsescope_matrix::memory::MemoryLimit;
/// let a = Csr::from_triplets(2, 2, &[(0, 0, 4.0), (0, 1, 2.0), (1, 0, 2.0), (1, 1, 2.0)])?;
/// let inverse = Fsai::set_up(&a, &FsaiParameters::default(), MemoryLimit::unlimited(), &|| false)?;
/// let inverse = inverse.expect("nothing cancels it");
/// assert_eq!(inverse.g().val(), [0.5, -0.5, 1.0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Fsai {
    g: Arc<Csr>,
    gt: Arc<Csr>,
    systems: Systems,
    postfilter: f64,
    shift: f64,
    report: SetUp,
}

impl Fsai {
    /// Sets up the inverse of A, whose values are read from the lower triangle with the diagonal. `None` when
    /// cancelled. Fails if A is not square, a parameter is out of range, memory does not suffice, or A is not
    /// positive definite on the pattern of a row, which is named.
    pub fn set_up(
        a: &Csr,
        parameters: &FsaiParameters,
        limit: MemoryLimit,
        cancelled: &Cancelled<'_>,
    ) -> Result<Option<Self>, FsaiError> {
        parameters.check()?;
        unless_cancelled(Self::begun(a, parameters, limit, cancelled))
    }

    fn begun(
        a: &Csr,
        parameters: &FsaiParameters,
        limit: MemoryLimit,
        cancelled: &Cancelled<'_>,
    ) -> Result<Self, Stop> {
        let mut report = SetUp::default();
        let rows = 0..a.rows();
        let (lower, pattern) = patterned(a, rows, parameters, &mut report, limit, cancelled)?;
        let systems = match parameters.merge {
            None => Systems::Rows(pattern),
            Some(merging) => {
                let start = Instant::now();
                let groups = Groups::of(&pattern, merging, limit, cancelled)?;
                report.ended("group", start);
                Systems::Groups(groups, a.rows())
            }
        };
        systems.tell(&mut report);

        let start = Instant::now();
        let g = values(&lower, &systems, limit, cancelled)?;
        report.ended("values", start);
        let drops = (parameters.postfilter > 0.0).then_some(Drops::Small(parameters.postfilter));
        let (g, gt) = finished(&lower, g, drops, &mut report, limit, cancelled)?;
        let (g, gt) = (Arc::new(g), Arc::new(gt));
        let &FsaiParameters { postfilter, shift, .. } = parameters;
        Ok(Self { g, gt, systems, postfilter, shift, report })
    }

    /// Builds the inverse from a given G. Fails unless G is lower triangular and each row ends on a positive
    /// diagonal; names the first row that does not.
    pub fn from_factor(g: Arc<Csr>) -> Result<Self, FsaiError> {
        let (rows, cols) = (g.rows(), g.cols());
        if rows != cols {
            return Err(FsaiError::NotSquare { rows, cols });
        }
        let ends_well = |i: usize| {
            let (col, val) = g.row(i);
            let positive = val.last().is_some_and(|v| *v > 0.0 && v.is_finite());
            positive && col.last() == Some(&(i as u32))
        };
        if let Some(row) = (0..rows).find(|&i| !ends_well(i)) {
            return Err(FsaiError::NotAFactor { row });
        }
        let mut report = SetUp::default();
        let start = Instant::now();
        let gt = Arc::new(g.transpose());
        report.ended("transpose", start);
        let systems = Systems::Rows(Pattern::of(&g));
        let entries = g.nnz() as u64;
        report = SetUp {
            entries_pattern: entries,
            entries_before_filter: entries,
            entries,
            phases: report.phases,
            ..SetUp::default()
        };
        Ok(Self { g, gt, systems, postfilter: 0.0, shift: 0.0, report })
    }

    /// Recomputes the values for a matrix of the same size, with the existing pattern (before the postfilter)
    /// and groups; nonzeros that it lacks are 0. The postfilter is applied again or, with `keep_filter`,
    /// drops the same nonzeros as before. `None` when cancelled; then and on errors, nothing changes.
    pub fn refresh(
        &mut self,
        a: &Csr,
        keep_filter: bool,
        limit: MemoryLimit,
        cancelled: &Cancelled<'_>,
    ) -> Result<Option<()>, FsaiError> {
        let (expected, found) = (self.g.rows(), a.rows());
        if expected != found {
            return Err(FsaiError::OtherSize { expected, found });
        }
        let renewed = self.renewed(a, keep_filter, limit, cancelled);
        Ok(unless_cancelled(renewed)?.map(|(g, gt, report)| {
            self.g = Arc::new(g);
            self.gt = Arc::new(gt);
            self.report = report;
        }))
    }

    fn renewed(
        &self,
        a: &Csr,
        keep_filter: bool,
        limit: MemoryLimit,
        cancelled: &Cancelled<'_>,
    ) -> Result<(Csr, Csr, SetUp), Stop> {
        let mut report = SetUp { phases: Vec::new(), ..self.report.clone() };
        let start = Instant::now();
        let lower = Lower::of(a, self.shift, limit, cancelled)?;
        let g = values(&lower, &self.systems, limit, cancelled)?;
        report.ended("values", start);
        let dropped = self.report.entries < self.report.entries_before_filter;
        let drops = match keep_filter {
            true => dropped.then_some(Drops::Absent(&self.g)),
            false => (self.postfilter > 0.0).then_some(Drops::Small(self.postfilter)),
        };
        let (g, gt) = finished(&lower, g, drops, &mut report, limit, cancelled)?;
        Ok((g, gt, report))
    }

    /// G, n × n, lower triangular with a positive diagonal.
    pub fn g(&self) -> &Arc<Csr> {
        &self.g
    }

    /// The transpose of G.
    pub fn gt(&self) -> &Arc<Csr> {
        &self.gt
    }

    /// For each row of G, the index of its dense system, from 0: merged rows share one.
    pub fn systems_of_rows(&self) -> Vec<u32> {
        self.systems.of_rows()
    }

    /// Time and sizes of the setup; after [`refresh`](Self::refresh), those of the refresh.
    pub fn report(&self) -> &SetUp {
        &self.report
    }
}

/// Some rows of the factor G of a symmetric positive definite matrix, over its columns, with the bits that
/// they have in the whole of G, and the time and sizes. Of A only those rows and columns are read that the
/// patterns of these rows reach; others may be left out. Rows are not merged. `None` when cancelled; fails as
/// [`Fsai::set_up`] does. Panics if there are no such rows.
pub fn factor_rows(
    a: &Csr,
    rows: Range<usize>,
    parameters: &FsaiParameters,
    limit: MemoryLimit,
    cancelled: &Cancelled<'_>,
) -> Result<Option<(Csr, SetUp)>, FsaiError> {
    assert!(rows.start <= rows.end && rows.end <= a.rows(), "the rows are the matrix's");
    parameters.check()?;
    let first = rows.start;
    let found = unless_cancelled(rows_of_factor(a, rows, parameters, limit, cancelled));
    found.map_err(|error| match error {
        FsaiError::NotPositiveDefinite { row, size } => {
            FsaiError::NotPositiveDefinite { row: first + row, size }
        }
        error => error,
    })
}

fn rows_of_factor(
    a: &Csr,
    rows: Range<usize>,
    parameters: &FsaiParameters,
    limit: MemoryLimit,
    cancelled: &Cancelled<'_>,
) -> Result<(Csr, SetUp), Stop> {
    let mut report = SetUp::default();
    let (lower, pattern) = patterned(a, rows, parameters, &mut report, limit, cancelled)?;
    let systems = Systems::Rows(pattern);
    systems.tell(&mut report);
    let start = Instant::now();
    let g = values(&lower, &systems, limit, cancelled)?;
    report.ended("values", start);
    let drops = (parameters.postfilter > 0.0).then_some(Drops::Small(parameters.postfilter));
    let g = postfiltered(&lower, g, drops, &mut report, limit, cancelled)?;
    Ok((g, report))
}

/// The lower triangle of the matrix, and the pattern of some rows.
fn patterned<'a>(
    a: &'a Csr,
    rows: Range<usize>,
    parameters: &FsaiParameters,
    report: &mut SetUp,
    limit: MemoryLimit,
    cancelled: &Cancelled<'_>,
) -> Result<(Lower<'a>, Pattern), Stop> {
    let start = Instant::now();
    let lower = Lower::of(a, parameters.shift, limit, cancelled)?;
    let kept = match parameters.pattern {
        PatternRule::Recursive { .. } | PatternRule::Power { .. } => {
            Some(kept_entries(&lower, parameters.prefilter, limit, cancelled)?)
        }
        PatternRule::Adaptive { .. } | PatternRule::Given(_) => None,
    };
    let entries = |i: usize| kept.as_ref().map_or(a.row_len(i), |kept| kept.row(i).len()) as u64;
    report.entries_prefiltered = rows.clone().map(entries).sum();
    report.ended("prefilter", start);

    let start = Instant::now();
    let pattern = follow(&parameters.pattern, &lower, kept.as_ref(), rows, limit, cancelled)?;
    report.entries_pattern = pattern.entries() as u64;
    report.ended("pattern", start);
    Ok((lower, pattern))
}

/// Runs the postfilter and the transpose.
fn finished(
    lower: &Lower<'_>,
    g: Csr,
    drops: Option<Drops<'_>>,
    report: &mut SetUp,
    limit: MemoryLimit,
    cancelled: &Cancelled<'_>,
) -> Result<(Csr, Csr), Stop> {
    let g = postfiltered(lower, g, drops, report, limit, cancelled)?;
    let start = Instant::now();
    let gt = transposed(&g, limit, cancelled)?;
    report.ended("transpose", start);
    Ok((g, gt))
}

fn postfiltered(
    lower: &Lower<'_>,
    g: Csr,
    drops: Option<Drops<'_>>,
    report: &mut SetUp,
    limit: MemoryLimit,
    cancelled: &Cancelled<'_>,
) -> Result<Csr, Stop> {
    report.entries_before_filter = g.nnz() as u64;
    let g = match drops {
        None => g,
        Some(drops) => {
            let start = Instant::now();
            let g = filtered(lower, &g, drops, limit, cancelled)?;
            report.ended("postfilter", start);
            g
        }
    };
    report.entries = g.nnz() as u64;
    Ok(g)
}
