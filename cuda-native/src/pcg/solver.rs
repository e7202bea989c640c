//! `cuda/pcg/device`: everything on the device, from the first residual to the solution.

use std::any::Any;
use std::sync::Arc;

use sparsescope_core::experiment::solving::{Asked, ToldSetUp, share_done};
use sparsescope_core::experiment::{PrepareError, Watch};
use sparsescope_core::matrix::AnyFormat;
use sparsescope_core::memory::MemoryLimit;
use sparsescope_core::pcg::{Recurrence, SolveParameters};
use sparsescope_core::record::Costs;

use super::operator::Operator;
use super::preconditioner::Preconditioner;
use super::prepared::Enqueues;
use super::program::Program;
use super::source::Source;
use super::state::{Ended, Scalars};
use super::system::System;
use crate::device::{Device, DeviceError, row_count};
use crate::launch::enqueue;
use crate::machine::Machine;
use crate::refusal::refused;
use crate::solves::Failure;
use crate::upload::Uploads;

/// A solver that is set up.
pub(super) struct Solver<'p> {
    device: &'p Device,
    system: System,
    preconditioner: Preconditioner<'p>,
    scalars: Scalars,
    program: Program,
    how: SolveParameters,
    /// Keeps alive what others may access on the device.
    _held: Vec<Box<dyn Any>>,
}

impl<'p> Solver<'p> {
    /// Sets up as requested, with the costs; `None` when cancelled.
    pub(super) fn set_up(
        machine: &'p Machine,
        uploads: &Uploads<f64>,
        asked: &Asked<'_>,
        memory: MemoryLimit,
        watch: &Watch<'_>,
    ) -> Result<Option<(Self, ToldSetUp, Costs)>, PrepareError> {
        let device = machine.device();
        let how = asked.how(false, memory);
        let host = asked.problem().a();
        let csr = AnyFormat::Csr(Arc::clone(host));
        let csr = uploads.matrix(device, &csr).map_err(refused)?;
        let uploaded = csr.copy().spent();
        let source = Source::copied(Arc::clone(&csr)).map_err(refused)?;
        let format = (asked.format_of_a(), asked.encodes());
        let a = Operator::of(device, source, format, memory)?;
        let made = Preconditioner::set_up(device, (&csr, uploads), asked, memory, watch)?;
        let Some((preconditioner, told)) = made else { return Ok(None) };
        let system = System::new(device, asked, &how, preconditioner.own_residual());
        let system = system.map_err(refused)?;
        let bind = || {
            let rows = row_count(host.rows())?;
            let blocks = (a.blocks(), preconditioner.blocks());
            let scalars = Scalars::new(device, rows, how.max_iterations, blocks)?;
            let of = (&a, &preconditioner, &scalars);
            let program = Program::of(device, of, &system.vectors(), &how, system.start())?;
            let launches = program.launches().filter_map(|launch| launch.cost(device).transpose());
            let mut launches: Vec<_> = launches.collect::<Result<_, DeviceError>>()?;
            launches.extend(preconditioner.launches(device)?);
            Ok((scalars, program, launches))
        };
        let (scalars, program, launches) = bind().map_err(refused)?;
        let spent = uploaded + a.spent + preconditioner.spent() + system.spent() + scalars.spent();
        // The number of bytes moved depends on the iterations, so no minimum is given.
        let costs = Costs {
            conversion_s: a.conversion_s,
            plan_s: told.setup_s(),
            upload_s: Some(spent.upload_s),
            allocate_s: Some(spent.allocate_s),
            launches,
            format_bytes: a.bytes + preconditioner.bytes() + system.bytes() + scalars.bytes(),
            ..Costs::default()
        };
        let _held: Vec<Box<dyn Any>> = vec![Box::new(csr), Box::new(a)];
        let solver = Self { device, system, preconditioner, scalars, program, how, _held };
        Ok(Some((solver, told, costs)))
    }

    /// The scalars of the last solve.
    fn ended(&self) -> Result<Ended, Failure> {
        if self.preconditioner.is_stuck(self.device)? {
            return Err(Failure::Beside("timed out waiting for a row dependency".to_owned()));
        }
        Ok(self.scalars.ended(self.device)??)
    }
}

impl Enqueues for Solver<'_> {
    fn reset(&mut self) -> Result<(), Failure> {
        Ok(enqueue(self.device, &self.program.reset)?)
    }

    fn solve(&mut self, watch: &Watch<'_>) -> Result<(), Failure> {
        let how = &self.how;
        let mut first = None;
        let finished = self.program.run(self.device, &mut |look| {
            let first = *first.get_or_insert(look.residual);
            watch.tell(share_done(look.iterations as usize, look.residual / first, how));
            !watch.is_cancelled()
        });
        if finished? { Ok(()) } else { Err(Failure::Cancelled) }
    }

    fn told(&mut self, seconds: f64) -> Result<(Recurrence, f64), Failure> {
        let ended = self.ended()?;
        let (x, download_s) = self.system.read(self.device)?;
        let recurrence = Recurrence {
            x,
            iterations: ended.iterations,
            converged: ended.converged,
            cancelled: false,
            tol: self.how.tol,
            norm_b: ended.norm_b,
            history: ended.history,
            seconds,
            alphas: ended.alphas,
            betas: ended.betas,
        };
        Ok((recurrence, download_s))
    }
}
