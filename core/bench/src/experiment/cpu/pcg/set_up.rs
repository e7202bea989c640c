//! Setup before the first solve of a system: A in its format, and the preconditioner.

use std::fmt::Display;
use std::time::Instant;

use crate::experiment::error::PrepareError;
use crate::experiment::solving::{Asked, ToldSetUp};
use crate::experiment::task::Watch;
use sparsescope_kernels::pcg::{Operator, OperatorFormat, Preconditioner, SolveParameters};
use sparsescope_matrix::memory::MemoryLimit;
use sparsescope_model::kernel::Applied;

/// What to set up.
pub(super) struct Wanted<'p> {
    pub(super) asked: Asked<'p>,
    /// Whether to use the workers of the ambient pool.
    pub(super) parallel: bool,
    pub(super) workers: usize,
    pub(super) memory: MemoryLimit,
}

/// Result of the setup.
pub(super) struct Ready {
    pub(super) a: Operator,
    pub(super) preconditioner: Preconditioner,
    pub(super) told: ToldSetUp,
    /// Seconds of converting A into its format.
    pub(super) conversion_s: f64,
    pub(super) how: SolveParameters,
}

fn refused(error: impl Display) -> PrepareError {
    PrepareError::Refused(error.to_string())
}

impl Wanted<'_> {
    /// Runs the whole setup; `None` when cancelled.
    pub(super) fn ready(&self, watch: &Watch<'_>) -> Result<Option<Ready>, PrepareError> {
        let begun = Instant::now();
        let a = Operator::new(self.asked.problem().a(), self.asked.format_of_a(), self.memory);
        let a = a.map_err(refused)?;
        let conversion_s = match a.format() {
            OperatorFormat::Csr => 0.0,
            _ => begun.elapsed().as_secs_f64(),
        };
        let Some((preconditioner, told)) = self.preconditioner(watch)? else { return Ok(None) };
        let how = self.asked.how(self.parallel, self.memory);
        Ok(Some(Ready { a, preconditioner, told, conversion_s, how }))
    }

    /// Sets up the preconditioner; `None` when cancelled.
    fn preconditioner(
        &self,
        watch: &Watch<'_>,
    ) -> Result<Option<(Preconditioner, ToldSetUp)>, PrepareError> {
        let begun = Instant::now();
        let (a, limit) = (self.asked.problem().a(), self.memory);
        let (made, factor) = match self.asked.applied() {
            Applied::None => (Ok(Preconditioner::None), None),
            Applied::Jacobi => (Preconditioner::jacobi(a, limit), None),
            Applied::Symgs => (Preconditioner::symgs(a, self.workers, limit), None),
            Applied::Fsai => {
                let Some(fsai) = self.asked.factor(limit, watch)? else { return Ok(None) };
                let phases = fsai.report().phases.iter();
                let phases = phases.map(|phase| (phase.name, phase.seconds)).collect();
                let format = self.asked.format_of_factor();
                (Preconditioner::fsai(fsai.g(), fsai.gt(), format, phases, limit), Some(fsai))
            }
        };
        let made = made.map_err(refused)?;
        let (seconds, report) =
            (begun.elapsed().as_secs_f64(), factor.as_ref().map(|f| f.report()));
        let told = ToldSetUp::new(self.asked.applied(), made.phases(), report, seconds);
        Ok(Some((made, told)))
    }
}
