//! The right-hand side of a solve, and its record once x has been checked against the rows; independent of the
//! iteration.

use super::system::residual;
use crate::exchange::Exchange;
use crate::matrix::SharedMatrix;
use crate::world::World;
use sparsescope_bench::experiment::Solution;
use sparsescope_bench::experiment::solving::ToldSetUp;
use sparsescope_bench::measure::UniformVector;
use sparsescope_kernels::gate::{ResidualNorms, vanishes};
use sparsescope_kernels::pcg::{Magnitude, Recurrence, Scale, largest, squares};
use sparsescope_model::kernel::parameters::{RIGHT_SIDE, TOL};
use sparsescope_model::kernel::{Parameters, RightSide};
use sparsescope_record::{Check, Verdict};

/// A rank's elements of b, in the local order and in the unit in which all ranks solve.
pub(super) struct Side {
    pub(super) b: Vec<f64>,
    pub(super) about: About,
}

/// Properties of b besides its elements.
#[derive(Clone, Copy)]
pub(super) struct About {
    scale: Scale,
    /// Whether b is A·1, so that the solution is known.
    is_a_times_ones: bool,
}

/// The right-hand side that the parameters name. Fails on every rank if it is lost in rounding.
pub(super) fn right_side(
    world: &World,
    matrix: &SharedMatrix,
    parameters: &Parameters,
) -> Result<Side, String> {
    let words = parameters.get(&RIGHT_SIDE);
    let b = match words {
        RightSide::Ones => vec![1.0; matrix.local().own_rows()],
        RightSide::TimesOnes => sums_of_rows(matrix, |value, _| value),
        RightSide::Range(seed) => {
            let mut z = UniformVector::new(seed);
            sums_of_rows(matrix, |value, column| value * z.at(column))
        }
    };
    let of_all = |v: &[f64]| {
        let most = world.max(largest(v.iter().copied()));
        Magnitude::of_parts(most, world.total(squares(v.iter().copied(), most)))
    };
    let norm = of_all(&b);
    let is_a_times_ones = words == RightSide::TimesOnes;
    if is_a_times_ones {
        let size = of_all(&sums_of_rows(matrix, |value, _| value.abs()));
        if let Some(why) = vanishes(norm.norm(), size.norm()) {
            return Err(why);
        }
    }
    let scale = Scale::of_right_side(norm);
    let b = b.into_iter().map(|value| scale.there(value)).collect();
    Ok(Side { b, about: About { scale, is_a_times_ones } })
}

/// The sum of `term` over the nonzeros of each row, in the local order of rows, with the order of addition
/// that a single process uses.
fn sums_of_rows(matrix: &SharedMatrix, mut term: impl FnMut(f64, u64) -> f64) -> Vec<f64> {
    let local = matrix.local();
    let mut row = Vec::new();
    let sum = |i: usize| {
        local.global_entries(local.global_row(i), &mut row);
        row.iter().map(|&(column, value)| term(value, column)).sum()
    };
    (0..local.own_rows()).map(sum).collect()
}

/// The record of a solve; x is the rank's part in the local order and in the unit of b, with the norms of its
/// rows. The x of the record is in the order of the whole matrix and in the user's unit.
pub(super) fn solution_of(
    world: &World,
    matrix: &SharedMatrix,
    (told, about): (&ToldSetUp, About),
    (solved, norms): (Recurrence, ResidualNorms),
) -> Solution {
    let norms = of_all_ranks(world, norms);
    let x = matrix.local().in_global_order(&solved.x);
    let solved = solved.with_residual(norms.residual(), norms.size());
    let sizes = (matrix.partition().rows(), matrix.nnz());
    let solution = told.solution_of(sizes, &solved);
    Solution { x, ..solution }.in_unit(about.scale)
}

/// The verdict over all ranks' parts of a solution: the residual is computed from x again, whatever the solver
/// reports.
pub(crate) fn checked(
    world: &World,
    matrix: &SharedMatrix,
    parameters: &Parameters,
    solution: &Solution,
) -> Check {
    let Side { b, about } = match right_side(world, matrix, parameters) {
        Ok(side) => side,
        Err(why) => {
            let (verdict, reason) = (Verdict::Fail, Some(why));
            return Check { verdict, reason, ..Check::default() };
        }
    };
    let (local, scale) = (matrix.local(), about.scale);
    let x: Vec<f64> = solution.x.iter().map(|&x| scale.there(x)).collect();
    let (plan, own) = (matrix.plan().clone(), local.localised(&x));
    let mut x = Exchange::new(world, plan, own, local.halo().len());
    x.pack();
    x.start();
    let norms = of_all_ranks(world, residual(local, &b, x.all()));
    let mut check = norms.check(parameters.get(&TOL), &solution.solve);
    if about.is_a_times_ones {
        let off_one = |x: &f64| (x - 1.0) * (x - 1.0);
        let off = world.total(solution.x.iter().map(off_one).sum());
        let rows = matrix.partition().rows().max(1) as f64;
        check.rel_err = Some((off / rows).sqrt()).filter(|off| off.is_finite());
    }
    check
}

/// The norms over the rows of all ranks.
fn of_all_ranks(world: &World, own: ResidualNorms) -> ResidualNorms {
    let all = world.all_lists(&own.to_words()).into_iter();
    let all = all.filter_map(|words| words.try_into().ok()).map(ResidualNorms::from_words);
    ResidualNorms::join(all.collect::<Vec<_>>().as_slice())
}
