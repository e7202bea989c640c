//! What a solve is asked for, and what it is recorded as once its x was held against the rows; the same whoever
//! iterates.

use crate::experiment::Solution;
use crate::experiment::solving::ToldSetUp;
use crate::gate::ResidualNorms;
use crate::kernel::{Parameter, Parameters};
use crate::mpi::matrix::SharedMatrix;
use crate::mpi::world::World;
use crate::pcg::{Recurrence, SolveParameters, Start};
use crate::record::Check;

/// When to end, and what to begin with.
pub(super) fn how(parameters: &Parameters) -> SolveParameters {
    let usual = SolveParameters::default();
    SolveParameters {
        tol: parameters.number(Parameter::Tolerance).unwrap_or(usual.tol),
        max_iterations: parameters.number(Parameter::MaxIterations).unwrap_or(usual.max_iterations),
        start: match parameters.get(Parameter::Start).as_deref() {
            Some("precond") => Start::Preconditioned,
            _ => Start::Zero,
        },
        ..usual
    }
}

/// Whether b is A·1, so that the solution is known.
pub(super) fn is_a_times_ones(parameters: &Parameters) -> bool {
    parameters.get(Parameter::RightSide).as_deref() != Some("ones")
}

/// The rank's elements of b, in the local order.
pub(super) fn right_side(matrix: &SharedMatrix, parameters: &Parameters) -> Vec<f64> {
    match is_a_times_ones(parameters) {
        true => sums_of_rows(matrix),
        false => vec![1.0; matrix.local().own_rows()],
    }
}

/// A·1 in the local order, each row's entries added as one process adds them.
fn sums_of_rows(matrix: &SharedMatrix) -> Vec<f64> {
    let local = matrix.local();
    let mut row = Vec::new();
    let sum = |i: usize| {
        local.global_entries(local.global_row(i), &mut row);
        row.iter().map(|(_, value)| value).sum()
    };
    (0..local.own_rows()).map(sum).collect()
}

/// The verdict over all ranks, and what is recorded of a solve whose x is the rank's part in the local order, with
/// the norms of its rows.
pub(super) fn checked(
    world: &World,
    matrix: &SharedMatrix,
    (told, is_a_times_ones): (&ToldSetUp, bool),
    (solved, norms): (Recurrence, ResidualNorms),
) -> (Check, Solution) {
    let all = world.all_lists(&norms.to_words()).into_iter();
    let all = all.filter_map(|words| words.try_into().ok()).map(ResidualNorms::from_words);
    let norms = ResidualNorms::join(all.collect::<Vec<_>>().as_slice());
    let off_ones: f64 = solved.x.iter().map(|x| (x - 1.0) * (x - 1.0)).sum();
    let off_ones = world.total(off_ones);
    let (tolerance, x) = (solved.tol, matrix.local().in_global_order(&solved.x));
    let solved = solved.with_residual(norms.residual(), norms.size());
    let sizes = (matrix.partition().rows(), matrix.nnz());
    let mut solution = told.solution_of(sizes, &solved);
    solution.x = x;
    let mut check = norms.check(tolerance, &solution.solve);
    if is_a_times_ones {
        let rows = matrix.partition().rows().max(1) as f64;
        check.rel_err = Some((off_ones / rows).sqrt()).filter(|off| off.is_finite());
    }
    (check, solution)
}
