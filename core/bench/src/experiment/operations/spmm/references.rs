//! What results of SpMM are checked with, computed a few columns at a time.

use sparsescope_kernels::gate::{
    BlockReference, COLUMNS_AT_ONCE, ColumnRange, Unrounded, against_f64, check_columns,
};
use sparsescope_matrix::matrix::{Csr, Precision, Real};
use sparsescope_record::Check;

/// Columns of a step: as many as one pass over A multiplies; in the page one, because nothing else happens there during a
/// step, so that it takes no longer than for SpMV.
const COLUMNS: usize = if cfg!(target_family = "wasm") { 1 } else { COLUMNS_AT_ONCE };

/// The operands of Y = A·X in a precision.
pub(super) struct Operands<'a, T> {
    /// A before it is rounded.
    pub(super) a: &'a Csr,
    /// A in the precision.
    pub(super) rounded: &'a Csr<T>,
    pub(super) precision: Precision,
    /// Columns of X.
    pub(super) k: usize,
    /// X in the precision, stored by rows.
    pub(super) x: &'a [T],
    /// X before it is rounded and its number of columns, if rounding changes it.
    pub(super) given: Option<(usize, &'a [f64])>,
}

/// The references of the first columns of Y in a precision.
#[derive(Debug, Default)]
pub(super) struct ColumnReferences {
    references: Vec<BlockReference>,
    /// The same columns in f64, from A and X before they are rounded; none if the precision is f64.
    unrounded: Vec<Unrounded>,
}

impl ColumnReferences {
    /// Computes a few more columns; returns whether others are left.
    pub(super) fn extend<T: Real>(&mut self, of: &Operands<'_, T>) -> bool {
        let &Operands { a, rounded, precision, k, x, given } = of;
        let first: usize = self.references.iter().map(BlockReference::columns).sum();
        if first >= k {
            return false;
        }
        let next = || first..k.min(first + COLUMNS);
        let columns = ColumnRange::new(x, k, next());
        self.references.push(BlockReference::new(rounded, columns));
        if precision != Precision::F64 {
            self.unrounded.push(match given {
                Some((all, x)) => {
                    Unrounded::of_columns(a, ColumnRange::new(x, all, next()), precision)
                }
                None => Unrounded::of_columns(a, columns, precision),
            });
        }
        next().end < k
    }

    /// Checks Y, in fewer bits than f64 also against the result in f64, after computing what is left.
    pub(super) fn check<T: Real>(&mut self, of: &Operands<'_, T>, y: &[T]) -> Check {
        while self.extend(of) {}
        against_f64(check_columns(&self.references, of.k, y), &self.unrounded, of.k, y)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::AtomicBool;

    use super::super::{SpmmProblem, tests::of};
    use super::*;
    use crate::experiment::output::Output;
    use crate::experiment::problem::Problem;
    use crate::experiment::task::Watch;
    use sparsescope_kernels::spmm::serial;
    use sparsescope_matrix::matrix::examples;
    use sparsescope_matrix::parallel::lock;
    use sparsescope_record::Verdict;

    #[test]
    fn references_are_computed_a_few_columns_at_a_time_and_kept_for_a_wider_x() {
        let problem = SpmmProblem::drawn(Arc::new(examples::five_by_five()), 42);
        let k = 2 * COLUMNS as u32 + 1;
        for precision in Precision::UNIFORM {
            let is_left = |k: u32| problem.extend_reference(&of("cpu/spmm/rows", k, precision));
            assert_eq!([(); 4].map(|()| is_left(k)), [true, true, false, false]);
            assert_eq!([3, k, k + 1, k + 1].map(is_left), [false; 4]);
        }
        let (double, single) = (lock(&problem.double), lock(&problem.single));
        let [double, single] =
            [&double.references[&Precision::F64], &single.references[&Precision::F32]];
        let columns = |of: &ColumnReferences| -> [Vec<usize>; 2] {
            let references = of.references.iter().map(BlockReference::columns);
            [references.collect(), of.unrounded.iter().map(Unrounded::columns).collect()]
        };
        let steps = vec![COLUMNS, COLUMNS, 1, 1];
        assert_eq!(columns(double), [steps.clone(), vec![]]);
        assert_eq!(columns(single), [steps.clone(), steps]);
    }

    #[test]
    fn a_check_that_is_cancelled_computes_no_more_than_a_few_columns() {
        let problem = SpmmProblem::drawn(Arc::new(examples::five_by_five()), 42);
        let k = 2 * COLUMNS + 1;
        let configuration = of("cpu/spmm/rows", k as u32, Precision::F64);
        let y = Output::Vector(vec![0.0; 5 * k]);
        let verdict = |is_cancelled: bool| {
            let flag = AtomicBool::new(is_cancelled);
            let check = problem.check_watched(&configuration, &y, &Watch::cancelled_by(&flag));
            let found = lock(&problem.double).references[&Precision::F64].references.len();
            (check.map(|check| check.verdict), found)
        };
        assert_eq!([true, false].map(verdict), [(None, 1), (Some(Verdict::Fail), 3)]);
    }

    #[test]
    fn results_of_a_narrow_and_of_a_wide_x_are_checked_with_the_same_references() {
        // Rows without nonzeros, and a full one.
        let entries: Vec<_> = (0..40)
            .flat_map(|i| (0..if i == 9 { 30 } else { i % 4 }).map(move |j| (i, j * 7 % 30)))
            .map(|(i, j)| (i, j, 0.1 + (i * 30 + j) as f64))
            .collect();
        let a = Csr::from_triplets(40, 30, &entries).unwrap();
        let problem = SpmmProblem::drawn(Arc::new(a.clone()), 42);
        let single = a.map(|value| value as f32);
        for k in [12u32, 3, 20] {
            let columns = k as usize;
            let mut y = vec![0.0; 40 * columns];
            serial(&a, columns, &problem.double_block(columns), &mut y);
            let check =
                problem.check(&of("cpu/spmm/serial", k, Precision::F64), &Output::Vector(y));
            assert_eq!((check.verdict, check.rel_err), (Verdict::Pass, Some(0.0)), "{k}");
            let mut y = vec![0.0; 40 * columns];
            serial(&single, columns, &problem.single_block(columns).unwrap(), &mut y);
            let single = of("cpu/spmm/serial", k, Precision::F32);
            let check = problem.check(&single, &Output::Single(y.clone()));
            assert_eq!(check.verdict, Verdict::Pass, "{k} {:?}", check.reason);
            assert!(check.rounding.is_some_and(|found| found.max > 0.0), "{k}");
            // The last column of the full row.
            y[10 * columns - 1] *= 1.001;
            let wrong = problem.check(&single, &Output::Single(y)).reason.unwrap();
            assert!(wrong.starts_with(&format!("column {}: row 9 is", k - 1)), "{wrong}");
        }
    }
}
