//! y = A·x in HYB: the ELLPACK part row by row, then the tail's products added.

use std::ops::Range;

use super::partition::RowParts;
use super::{Checked, coo, each_part, ellpack};
use crate::matrix::{Hyb, Order};

/// The ELLPACK part, then the tail.
///
/// x has n elements, y has m; panics otherwise, or when the slots are column-major.
pub fn serial(a: &Hyb, x: &[f64], y: &mut [f64]) {
    rows_into(check(a, x, y), 0..a.ell().shape().rows, 0..a.tail().nnz(), y);
}

/// Equal contiguous parts of the rows with the tail entries of those rows, one a worker.
#[derive(Clone, Debug)]
pub struct HybParts {
    rows: RowParts,
    /// The tail entries of each part.
    tails: Vec<Range<usize>>,
}

impl HybParts {
    /// At most `parts` parts of equally many rows.
    pub fn new(a: &Hyb, parts: usize) -> Self {
        let rows = RowParts::equal_rows(a.ell().shape().rows, parts);
        let first_entry = |row: usize| a.tail().row().partition_point(|&r| (r as usize) < row);
        let tails = rows.iter().map(|r| first_entry(r.start)..first_entry(r.end)).collect();
        Self { rows, tails }
    }

    /// The rows of each part.
    pub fn rows(&self) -> &RowParts {
        &self.rows
    }
}

/// Each part's rows by one worker, tail included.
///
/// x has n elements, y has m; panics otherwise, or when the slots are column-major.
pub fn parts(a: &Hyb, parts: &HybParts, x: &[f64], y: &mut [f64]) {
    let a = check(a, x, y);
    let work: Vec<_> = parts.rows.split(y).into_iter().zip(parts.tails.iter().cloned()).collect();
    each_part(work, |((rows, y), tail)| rows_into(a, rows, tail, y));
}

fn check<'a>(a: &'a Hyb, x: &'a [f64], y: &[f64]) -> Checked<'a, Hyb> {
    let checked = Checked::<Hyb>::new(a, x, y);
    assert_eq!(a.ell().shape().order, Order::RowMajor, "this kernel reads row-major slots");
    checked
}

fn rows_into(a: Checked<'_, Hyb>, rows: Range<usize>, tail: Range<usize>, y: &mut [f64]) {
    ellpack::rows_into(a.ell(), rows.clone(), y);
    let t = a.a().tail();
    let (row, col, val) = (&t.row()[tail.clone()], &t.col()[tail.clone()], &t.val()[tail]);
    coo::add(row, col, val, rows.start, a.x(), y);
}
