//! The processor's kernels of conjugate gradients, bound to a system: the set-up, which is timed in its
//! phases, then solves.

mod set_up;

use std::cell::OnceCell;
use std::sync::Arc;
use std::time::Instant;

use crate::experiment::configuration::Configuration;
use crate::experiment::error::{KernelError, PrepareError};
use crate::experiment::operations::SolveProblem;
use crate::experiment::output::{Output, Solution};
use crate::experiment::task::{Bound, Finished, Task, Watch};
use crate::memory::MemoryLimit;
use crate::pcg::{Preconditioner, Ritz, SolveParameters, Solved, solve};
use crate::record::{Costs, Phase, Solve, Spectrum};
use set_up::{Ready, Wanted};

/// Whether each kernel works on several threads, in the descriptors' order.
const LAUNCHERS: &[(&str, bool)] = &[("cpu/pcg/serial", false), ("cpu/pcg/threads", true)];

fn launcher(id: &str) -> Option<bool> {
    LAUNCHERS.iter().find(|(known, _)| *known == id).map(|&(_, parallel)| parallel)
}

/// Whether this backend has the kernel.
pub(super) fn has(id: &str) -> bool {
    launcher(id).is_some()
}

/// Binds the configuration's kernel to the system; nothing is set up yet.
pub(super) fn bind<'p>(
    configuration: &Configuration,
    problem: &'p SolveProblem,
    memory: MemoryLimit,
) -> Result<Bound<'p>, PrepareError> {
    let id = configuration.kernel.id;
    let parallel = launcher(id)
        .ok_or_else(|| PrepareError::Unsupported("this build does not have it".to_owned()))?;
    let (parameters, workers) = (configuration.parameters.clone(), configuration.threads as usize);
    let b = problem.b(&parameters);
    let wanted = Wanted { problem, parameters, parallel, workers, memory };
    let task =
        Solver { id, wanted, b, ready: None, solved: None, left_out: 0.0, ritz: OnceCell::new() };
    // How much moves depends on the iterations: no bytes are counted that it must move.
    let costs = Costs { format_bytes: problem.a().bytes(), ..Costs::default() };
    let params = problem.params(configuration);
    Ok(Bound { task: Box::new(task), parts: None, costs, params })
}

/// A system, and what solves it.
struct Solver<'p> {
    id: &'static str,
    wanted: Wanted<'p>,
    b: Arc<Vec<f64>>,
    ready: Option<Ready>,
    solved: Option<Solved>,
    left_out: f64,
    /// Of the first solve; all have the same, and finding them takes long after many iterations.
    ritz: OnceCell<Option<Ritz>>,
}

impl Task for Solver<'_> {
    fn set_up(&mut self, costs: &mut Costs, watch: &Watch<'_>) -> Result<Finished, PrepareError> {
        let Some(ready) = self.wanted.ready(watch)? else { return Ok(Finished::Cancelled) };
        (costs.conversion_s, costs.plan_s) = (ready.conversion_s, ready.setup_s);
        costs.format_bytes = ready.a.bytes();
        self.ready = Some(ready);
        Ok(Finished::Done)
    }

    fn spoil(&mut self) {
        self.solved = None;
    }

    fn run(&mut self, watch: &Watch<'_>) -> Result<Finished, KernelError> {
        let failed = |reason: String| KernelError { kernel: self.id.to_owned(), reason };
        let Some(Ready { a, preconditioner, how, .. }) = &self.ready else {
            return Err(failed("it was not set up".to_owned()));
        };
        let begun = Instant::now();
        let mut first = None;
        let mut told = |iteration: usize, residual: f64| {
            let first = *first.get_or_insert(residual);
            watch.tell(share(iteration, residual / first, how));
            !watch.is_cancelled()
        };
        let b = std::hint::black_box(self.b.as_slice());
        let solved = solve(a, self.wanted.problem.a(), preconditioner, b, how, &mut told);
        let solved = solved.map_err(|error| failed(error.to_string()))?;
        if solved.cancelled {
            return Ok(Finished::Cancelled);
        }
        self.left_out = begun.elapsed().as_secs_f64() - solved.seconds;
        self.solved = Some(solved);
        Ok(Finished::Done)
    }

    fn left_out(&self) -> f64 {
        self.left_out
    }

    fn output(&self) -> Output {
        match (&self.solved, &self.ready) {
            (Some(solved), Some(ready)) => Output::Solution(Box::new(self.solution(solved, ready))),
            _ => Output::Vector(Vec::new()),
        }
    }
}

/// How far a solve has come after an iteration whose residual is `fall` of the first: by the logarithm of
/// the residual, or by the iterations that it may make.
fn share(iteration: usize, fall: f64, how: &SolveParameters) -> f64 {
    let by_residual = (fall.ln() / how.tol.ln()).clamp(0.0, 1.0);
    let by_iterations = iteration as f64 / how.max_iterations.max(1) as f64;
    if by_residual.is_finite() { by_residual.max(by_iterations) } else { by_iterations }
}

impl Solver<'_> {
    fn solution(&self, solved: &Solved, ready: &Ready) -> Solution {
        let finite = |value: f64| Some(value).filter(|value| value.is_finite());
        let ritz = self.ritz.get_or_init(|| solved.ritz()).clone();
        let phase = |&(name, seconds): &(&str, f64)| Phase { name: name.to_owned(), seconds };
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
            setup_s: ready.setup_s,
            phases: ready.preconditioner.phases().iter().map(phase).collect(),
            sizes: ready.sizes,
            spectrum,
        };
        Solution {
            x: solved.x.clone(),
            flops: self.flops(ready) * (solve.iterations + 1),
            solve,
            residuals: solved.history.clone(),
            ritz: ritz.map(|ritz| ritz.values).unwrap_or_default(),
        }
    }

    /// Operations of an iteration: two for each entry of A and of what is applied to the residual, two
    /// for each element in three sums and three updates.
    fn flops(&self, ready: &Ready) -> u64 {
        let (n, nnz) = (self.b.len() as u64, self.wanted.problem.a().nnz() as u64);
        let applied = match (&ready.preconditioner, ready.sizes) {
            (Preconditioner::Jacobi(_), _) => n,
            (Preconditioner::Symgs(_), _) => 2 * nnz + 3 * n,
            (_, Some(sizes)) => 4 * sizes.factor,
            (_, None) => 0,
        };
        2 * nnz + applied + 12 * n
    }
}

#[cfg(test)]
mod tests;
