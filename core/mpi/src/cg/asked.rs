//! The parameters of a solve, and its record once x has been checked against the rows; independent of the
//! iteration.

use crate::matrix::SharedMatrix;
use crate::world::World;
use sparsescope_bench::experiment::Solution;
use sparsescope_bench::experiment::solving::ToldSetUp;
use sparsescope_bench::measure::UniformVector;
use sparsescope_kernels::gate::{ResidualNorms, vanishes};
use sparsescope_kernels::pcg::{
    Magnitude, Recurrence, Scale, SolveParameters, Start, largest, squares,
};
use sparsescope_model::kernel::parameters::{MAX_ITER, RIGHT_SIDE, START, TOL};
use sparsescope_model::kernel::{Guess, Parameters, RightSide};
use sparsescope_record::Check;

/// Stopping criteria and initial values.
pub(super) fn how(parameters: &Parameters) -> SolveParameters {
    SolveParameters {
        tol: parameters.get(&TOL),
        max_iterations: parameters.get(&MAX_ITER),
        start: match parameters.get(&START) {
            Guess::Preconditioned => Start::Preconditioned,
            Guess::Zero => Start::Zero,
        },
        ..SolveParameters::default()
    }
}

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

/// The verdict over all ranks, and the record of a solve; x is the rank's part in the local order and in the
/// unit of b, with the norms of its rows.
pub(super) fn checked(
    world: &World,
    matrix: &SharedMatrix,
    (told, about): (&ToldSetUp, About),
    (solved, norms): (Recurrence, ResidualNorms),
) -> (Check, Solution) {
    let all = world.all_lists(&norms.to_words()).into_iter();
    let all = all.filter_map(|words| words.try_into().ok()).map(ResidualNorms::from_words);
    let norms = ResidualNorms::join(all.collect::<Vec<_>>().as_slice());
    let off_one = |x: &f64| (about.scale.back(*x) - 1.0) * (about.scale.back(*x) - 1.0);
    let off_ones = world.total(solved.x.iter().map(off_one).sum());
    let (tolerance, x) = (solved.tol, matrix.local().in_global_order(&solved.x));
    let solved = solved.with_residual(norms.residual(), norms.size());
    let sizes = (matrix.partition().rows(), matrix.nnz());
    let mut solution = told.solution_of(sizes, &solved);
    solution.x = x;
    let mut check = norms.check(tolerance, &solution.solve);
    let solution = solution.in_unit(about.scale);
    if about.is_a_times_ones {
        let rows = matrix.partition().rows().max(1) as f64;
        check.rel_err = Some((off_ones / rows).sqrt()).filter(|off| off.is_finite());
    }
    (check, solution)
}
