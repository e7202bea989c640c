//! The values of G: dense systems gathered, factored and solved, one at a time per thread.

use super::Cancelled;
use super::error::{FsaiError, Stop};
use super::groups::Groups;
use super::pattern::Pattern;
use super::report::SetUp;
use super::system::{Lower, Solver};
use super::workers::in_order;
use crate::dense::Factored;
use sparsescope_matrix::matrix::{Csr, RowPtr};
use sparsescope_matrix::memory::{MemoryLimit, zeroed};

/// Approximate number of operations per task: a few milliseconds.
const TASK: f64 = 4e6;

/// The dense systems: which rows and columns of A each has, and which rows of G it gives.
#[derive(Clone, Debug)]
pub(super) enum Systems {
    /// One per row.
    Rows(Pattern),
    /// One per group.
    Groups(Groups, usize),
}

impl Systems {
    /// Number of rows of G.
    pub(super) fn rows(&self) -> usize {
        match self {
            Self::Rows(pattern) => pattern.rows(),
            Self::Groups(_, rows) => *rows,
        }
    }

    fn count(&self) -> usize {
        match self {
            Self::Rows(pattern) => pattern.rows(),
            Self::Groups(groups, _) => groups.count(),
        }
    }

    /// The rows and columns of A in a system, ascending.
    fn columns(&self, system: usize) -> &[u32] {
        match self {
            Self::Rows(pattern) => pattern.row(system),
            Self::Groups(groups, _) => groups.union(system),
        }
    }

    /// Calls `each` for each row of G that a system gives, with the place of its diagonal in the system.
    fn for_members(&self, system: usize, mut each: impl FnMut(usize, usize)) {
        match self {
            Self::Rows(pattern) => each(system, pattern.row(system).len() - 1),
            Self::Groups(groups, _) => {
                let (rows, places) = groups.members(system);
                for (&row, &place) in rows.iter().zip(places) {
                    each(row as usize, place as usize);
                }
            }
        }
    }

    fn row_ptr(&self) -> RowPtr {
        match self {
            Self::Rows(pattern) => pattern.row_ptr().clone(),
            Self::Groups(..) => {
                let mut lengths = vec![0usize; self.rows()];
                for system in 0..self.count() {
                    self.for_members(system, |row, place| lengths[row] = place + 1);
                }
                RowPtr::from_lengths(lengths.into_iter())
            }
        }
    }

    /// The index of the system that gives each row of G.
    pub(super) fn of_rows(&self) -> Vec<u32> {
        let mut found = vec![0; self.rows()];
        for system in 0..self.count() {
            self.for_members(system, |row, _| found[row] = system as u32);
        }
        found
    }

    /// Adds the counts of the systems to the report.
    pub(super) fn tell(&self, report: &mut SetUp) {
        report.systems = self.count() as u64;
        for system in 0..self.count() {
            let m = self.columns(system).len();
            report.largest = report.largest.max(m as u64);
            report.gathered += (m as u128).pow(2);
            report.flops += (m as f64).powi(3) / 3.0;
        }
    }
}

/// A row of G to be filled in: its place in the system, columns and values.
type Row<'g> = (usize, &'g mut [u32], &'g mut [f64]);

/// Consecutive systems, and the rows of G that they give.
struct Task<'g> {
    systems: std::ops::Range<usize>,
    rows: Vec<Row<'g>>,
}

/// The rows of G that the systems give, over all columns, before the postfilter.
pub(super) fn values(
    lower: &Lower<'_>,
    systems: &Systems,
    limit: MemoryLimit,
    cancelled: &Cancelled<'_>,
) -> Result<Csr, Stop> {
    let rows = systems.rows();
    let threads = rayon::current_num_threads() as u128;
    let largest = (0..systems.count()).map(|system| systems.columns(system).len()).max();
    let in_flight = threads * Solver::bytes(lower.rows(), largest.unwrap_or(0));
    limit.check("the dense systems of FSAI", in_flight)?;
    let row_ptr = systems.row_ptr();
    let entries = row_ptr.get(rows);
    limit.check("the FSAI factor", 12 * entries as u128 + 48 * rows as u128)?;
    let (mut col, mut val) = (zeroed(0u32, entries), zeroed(0.0f64, entries));

    let mut to: Vec<Option<(&mut [u32], &mut [f64])>> = Vec::with_capacity(rows);
    let (mut col_rest, mut val_rest) = (&mut col[..], &mut val[..]);
    for i in 0..rows {
        let len = row_ptr.range(i).len();
        let (col, after) = col_rest.split_at_mut(len);
        col_rest = after;
        let (val, after) = val_rest.split_at_mut(len);
        val_rest = after;
        to.push(Some((col, val)));
    }
    let mut next = 0;
    let tasks = std::iter::from_fn(|| {
        let (start, mut rows, mut cost) = (next, Vec::new(), 0.0);
        while next < systems.count() && cost < TASK {
            let m = systems.columns(next).len() as f64;
            systems.for_members(next, |row, place| {
                rows.extend(to[row].take().map(|(col, val)| (place, col, val)));
                cost += m * m;
            });
            cost += m * (m * m / 3.0 + 50.0);
            next += 1;
        }
        (start < next).then_some(Task { systems: start..next, rows })
    });
    let scratch = || Solver::new(lower);
    in_order(tasks, cancelled, scratch, |solver, Task { systems: range, rows }| {
        let mut rows = rows.into_iter();
        for system in range {
            solve(solver, systems, system, &mut rows, cancelled)?;
        }
        Ok(())
    })?;
    Ok(Csr::try_new(rows, lower.rows(), row_ptr, col, val)?)
}

/// Solves one system for each of its rows.
fn solve<'g>(
    solver: &mut Solver<'_, '_>,
    systems: &Systems,
    system: usize,
    rows: &mut impl Iterator<Item = Row<'g>>,
    cancelled: &Cancelled<'_>,
) -> Result<(), Stop> {
    let columns = systems.columns(system);
    match solver.factor(columns, cancelled) {
        Factored::Whole => {}
        Factored::Cancelled => return Err(Stop::Cancelled),
        Factored::NotPositive(at) => {
            let mut first = None;
            systems.for_members(system, |row, place| {
                if place >= at && first.is_none() {
                    first = Some(FsaiError::NotPositiveDefinite { row, size: place + 1 });
                }
            });
            let last = columns.last().map_or(0, |&c| c as usize);
            let size = columns.len();
            let whole = FsaiError::NotPositiveDefinite { row: last, size };
            return Err(first.unwrap_or(whole).into());
        }
    }
    let mut members = 0;
    systems.for_members(system, |_, _| members += 1);
    for (place, col, val) in rows.take(members) {
        col.copy_from_slice(&columns[..=place]);
        val.copy_from_slice(solver.row(place));
    }
    Ok(())
}
