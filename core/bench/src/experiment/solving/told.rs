//! Results of a setup and of a solve, as a run records them.

use std::cell::OnceCell;

use super::asked::Asked;
use crate::experiment::output::Solution;
use sparsescope_kernels::fsai::SetUp;
use sparsescope_kernels::pcg::{Ritz, SolveParameters, Solved};
use sparsescope_model::kernel::Applied;
use sparsescope_record::{Phase, SetUpSizes, Solve, Spectrum};

/// Costs and results of a preconditioner setup, shared by all solves that follow it.
#[derive(Debug)]
pub struct ToldSetUp {
    applied: Applied,
    phases: Vec<Phase>,
    sizes: Option<SetUpSizes>,
    setup_s: f64,
    /// Ritz values of the first solve: all solves have the same, and computing them takes long after many
    /// iterations.
    ritz: OnceCell<Option<Ritz>>,
}

impl ToldSetUp {
    /// A preconditioner whose setup took `setup_s` seconds, in these phases; a factor has a report.
    pub fn new(
        applied: Applied,
        phases: &[(&str, f64)],
        report: Option<&SetUp>,
        setup_s: f64,
    ) -> Self {
        let phase = |&(name, seconds): &(&str, f64)| Phase { name: name.to_owned(), seconds };
        let phases = phases.iter().map(phase).collect();
        Self { applied, phases, sizes: report.map(sizes), setup_s, ritz: OnceCell::new() }
    }

    /// Seconds of the setup, all phases together.
    pub fn setup_s(&self) -> f64 {
        self.setup_s
    }

    /// Converts a solve in the solver's unit to the user's.
    pub fn solution(&self, asked: &Asked<'_>, solved: &Solved) -> Solution {
        let a = asked.problem().a();
        self.solution_of((a.rows() as u64, a.nnz() as u64), solved).in_unit(asked.scale())
    }

    /// The same in the solver's unit, for a matrix with these numbers of rows and nonzeros.
    pub fn solution_of(&self, size: (u64, u64), solved: &Solved) -> Solution {
        let finite = |value: f64| Some(value).filter(|value| value.is_finite());
        let ritz = self.ritz.get_or_init(|| solved.ritz()).clone();
        let spectrum = ritz.as_ref().and_then(|ritz| {
            let (smallest, largest) = (*ritz.values.first()?, *ritz.values.last()?);
            let (steps, condition) = (ritz.steps as u64, finite(ritz.condition)?);
            Some(Spectrum { steps, smallest, largest, condition })
        });
        let solve = Solve {
            iterations: solved.iterations as u64,
            converged: solved.converged,
            ended: solved.outcome().to_string(),
            tolerance: solved.tol,
            b_norm: solved.norm_b,
            initial_residual: finite(solved.initial),
            residual: finite(solved.recurrence),
            true_residual: finite(solved.true_residual),
            rounding_floor: finite(solved.rounding_floor),
            setup_s: self.setup_s,
            phases: self.phases.clone(),
            sizes: self.sizes,
            spectrum,
        };
        Solution {
            x: solved.x.clone(),
            flops: self.flops(size) * (solve.iterations + 1),
            solve,
            residuals: solved.history.clone(),
            ritz: ritz.map(|ritz| ritz.values).unwrap_or_default(),
        }
    }

    /// Operations per iteration: two per nonzero of A and of the preconditioner, two per element in three
    /// sums and three updates.
    fn flops(&self, (n, nnz): (u64, u64)) -> u64 {
        let applied = match self.applied {
            Applied::None => 0,
            Applied::Jacobi => n,
            Applied::Symgs => 2 * nnz + 3 * n,
            Applied::Fsai => self.sizes.map_or(0, |sizes| 4 * sizes.factor),
        };
        2 * nnz + applied + 12 * n
    }
}

fn sizes(report: &SetUp) -> SetUpSizes {
    SetUpSizes {
        prefiltered: report.entries_prefiltered,
        pattern: report.entries_pattern,
        before_filter: report.entries_before_filter,
        factor: report.entries,
        systems: report.systems,
        largest: report.largest,
    }
}

/// Progress of a solve, 0 to 1, after an iteration whose residual is `fall` of the first: by the logarithm of
/// the residual, or by the iteration limit.
pub fn share_done(iteration: usize, fall: f64, how: &SolveParameters) -> f64 {
    let by_residual = (fall.ln() / how.tol.ln()).clamp(0.0, 1.0);
    let by_iterations = iteration as f64 / how.max_iterations.max(1) as f64;
    if by_residual.is_finite() { by_residual.max(by_iterations) } else { by_iterations }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn progress_follows_the_residual_or_the_iterations() {
        let how = SolveParameters { tol: 1e-10, max_iterations: 100, ..SolveParameters::default() };
        assert_eq!(share_done(0, 1.0, &how), 0.0);
        assert!((share_done(1, 1e-5, &how) - 0.5).abs() < 1e-12);
        assert_eq!([share_done(50, 10.0, &how), share_done(1, f64::NAN, &how)], [0.5, 0.01]);
        assert_eq!(share_done(1, 0.0, &how), 1.0);
    }
}
