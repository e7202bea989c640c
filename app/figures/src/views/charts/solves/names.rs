//! Names of solves in legends and rows: the preconditioner, and whatever else differs.

use crate::model::RunOf;
use crate::views::charts::plot::kernel;

/// What the runs differ in apart from their preconditioners.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::views::charts) struct Names {
    kernels: bool,
    systems: bool,
}

impl Names {
    pub(in crate::views::charts) fn of(runs: &[RunOf<'_>]) -> Self {
        let Some(first) = runs.first() else { return Self::default() };
        Self {
            kernels: runs.iter().any(|run| kernel(run) != kernel(first)),
            systems: runs.iter().any(|run| run.system() != first.system()),
        }
    }

    /// The same for runs of one kernel.
    pub(in crate::views::charts) fn of_kernel(runs: &[RunOf<'_>]) -> Self {
        Self { kernels: false, ..Self::of(runs) }
    }

    /// Order and name: for a solve its preconditioner, plus kernel and system if they differ
    /// between runs; for other runs the kernel.
    pub(in crate::views::charts) fn class(self, run: &RunOf<'_>) -> (usize, String) {
        if run.solved().is_none() {
            return (0, kernel(run));
        }
        let mut name = run.method();
        let system = run.system();
        if self.systems && !system.is_empty() {
            name += &format!(" ({system})");
        }
        if self.kernels {
            name += &format!(", {}", kernel(run));
        }
        (run.method_order(), name)
    }
}
