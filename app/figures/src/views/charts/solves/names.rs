//! What solves are called in legends and rows: how they were preconditioned, and whatever else differs.

use crate::model::RunOf;
use crate::views::charts::plot::kernel;

/// What some runs differ in beside their preconditioners.
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

    /// Order and name: of a solve its preconditioner, and kernel and system where others have another one;
    /// of other runs the kernel.
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
