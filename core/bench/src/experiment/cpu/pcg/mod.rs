//! The CPU kernels for conjugate gradients, bound to a system: setup, timed by phase, then solves.

mod set_up;

use std::sync::Arc;
use std::time::Instant;

use super::CpuBackend;
use crate::experiment::backend::{Availability, Prepared};
use crate::experiment::binding::Binds;
use crate::experiment::configuration::Configuration;
use crate::experiment::error::{KernelError, PrepareError};
use crate::experiment::operations::SolveProblem;
use crate::experiment::output::Output;
use crate::experiment::solving::{Asked, share_done};
use crate::experiment::task::{Bound, Finished, Task, Watch};
use set_up::{Ready, Wanted};
use sparsescope_kernels::pcg::{Solved, solve};
use sparsescope_matrix::memory::MemoryLimit;
use sparsescope_model::kernel::KernelDescriptor;
use sparsescope_record::Costs;

/// The kernels, and whether each uses several threads, in the order of the descriptors.
const LAUNCHERS: &[(&str, bool)] = &[("cpu/pcg/serial", false), ("cpu/pcg/threads", true)];

fn launcher(id: &str) -> Option<bool> {
    LAUNCHERS.iter().find(|(known, _)| *known == id).map(|&(_, parallel)| parallel)
}

impl Binds<SolveProblem> for CpuBackend {
    fn has(&self, kernel: &KernelDescriptor) -> Availability {
        Availability::built(launcher(kernel.id).is_some())
    }

    /// Sets nothing up yet.
    fn bind<'p>(
        &'p self,
        configuration: &Configuration,
        problem: &'p SolveProblem,
        memory: MemoryLimit,
    ) -> Result<Box<dyn Prepared + 'p>, PrepareError> {
        let id = configuration.kernel.id;
        let parallel = launcher(id)
            .ok_or_else(|| PrepareError::Unsupported("not included in this build".to_owned()))?;
        let asked = Asked::new(problem, configuration.parameters.clone());
        let (b, workers) = (asked.b(), configuration.threads as usize);
        let wanted = Wanted { asked, parallel, workers, memory };
        let task = Box::new(Solver { id, wanted, b, ready: None, solved: None, left_out: 0.0 });
        // Bytes moved depend on the iterations, so no minimum is given.
        let costs = Costs { format_bytes: problem.a().bytes(), ..Costs::default() };
        let params = problem.params(configuration);
        self.prepared(configuration, |_| Ok(Bound { task, parts: None, costs, params }))
    }
}

/// A system and its solver.
struct Solver<'p> {
    id: &'static str,
    wanted: Wanted<'p>,
    b: Arc<Vec<f64>>,
    ready: Option<Ready>,
    solved: Option<Solved>,
    left_out: f64,
}

impl Task for Solver<'_> {
    fn set_up(&mut self, costs: &mut Costs, watch: &Watch<'_>) -> Result<Finished, PrepareError> {
        let Some(ready) = self.wanted.ready(watch)? else { return Ok(Finished::Cancelled) };
        (costs.conversion_s, costs.plan_s) = (ready.conversion_s, ready.told.setup_s());
        costs.format_bytes = ready.a.bytes();
        self.ready = Some(ready);
        Ok(Finished::Done)
    }

    fn spoil(&mut self) {
        self.solved = None;
    }

    fn run(&mut self, watch: &Watch<'_>) -> Result<Finished, KernelError> {
        let Some(Ready { a, preconditioner, how, .. }) = &self.ready else {
            return Err(KernelError::new(self.id, "it was not set up"));
        };
        let begun = Instant::now();
        let mut first = None;
        let mut told = |iteration: usize, residual: f64| {
            let first = *first.get_or_insert(residual);
            watch.tell(share_done(iteration, residual / first, how));
            !watch.is_cancelled()
        };
        let b = std::hint::black_box(self.b.as_slice());
        let csr = self.wanted.asked.problem().a();
        let solved = solve(a, csr, preconditioner, b, how, &mut told);
        let solved = solved.map_err(|breakdown| KernelError::broke(self.id, &breakdown))?;
        let finished = if solved.cancelled { Finished::Cancelled } else { Finished::Done };
        self.left_out = begun.elapsed().as_secs_f64() - solved.seconds;
        // A solve that was stopped has come some of the way.
        self.solved = Some(solved);
        Ok(finished)
    }

    fn left_out(&self) -> f64 {
        self.left_out
    }

    fn output(&self) -> Output {
        match (&self.solved, &self.ready) {
            (Some(solved), Some(ready)) => {
                Output::Solution(Box::new(ready.told.solution(&self.wanted.asked, solved)))
            }
            _ => Output::Vector(Vec::new()),
        }
    }
}

#[cfg(test)]
mod tests;
