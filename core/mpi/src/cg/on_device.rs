//! Solves on the ranks' devices, as tasks of the runner. The devices reduce and exchange among themselves;
//! the ranks check their results against the rows.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use super::asked::{About, Side, right_side, solution_of};
use super::system::residual;
use crate::agreed::agreed;
use crate::exchange::Exchange;
use crate::matrix::SharedMatrix;
use crate::product::Spent;
use crate::task::{Task, Traffic};
use crate::world::World;
use sparsescope_bench::experiment::solving::{ToldSetUp, how_of};
use sparsescope_bench::experiment::{
    DeviceCosts, DeviceFailure, DeviceSolver, DeviceSystem, Output, RankDevice,
};
use sparsescope_kernels::pcg::{OperatorFormat, Recurrence};
use sparsescope_matrix::memory::MemoryLimit;
use sparsescope_model::kernel::parameters::{FORMAT_A, PRECOND};
use sparsescope_model::kernel::{Applied, Parameters, SolverFormat};

/// Reductions over all ranks per iteration: p·q, then r·r and r·z together.
const REDUCTIONS: u32 = 2;

/// Conjugate gradients with the rows distributed over the devices of the ranks.
pub(crate) struct SolverOnDevice {
    solver: Box<dyn DeviceSolver>,
    /// The rank's elements of b, in the local order.
    b: Vec<f64>,
    /// x with the halo for the check.
    x: Exchange,
    told: ToldSetUp,
    about_b: About,
    costs: DeviceCosts,
}

impl SolverOnDevice {
    /// Sets up a solver and runs a trial iteration. Also returns a note on how iterations are launched, if
    /// there is one.
    pub(crate) fn new(
        world: &World,
        matrix: &SharedMatrix,
        device: &dyn RankDevice,
        (parameters, limit): (&Parameters, MemoryLimit),
    ) -> Result<(Self, Option<String>), DeviceFailure> {
        let local = matrix.local();
        let applied = parameters.get(&PRECOND);
        if !matches!(applied, Applied::None | Applied::Jacobi) {
            let sentence = "on several GPUs, only precond=none and precond=jacobi are supported";
            return Err(DeviceFailure::Alike(sentence.to_owned()));
        }
        let side = right_side(world, matrix, parameters).map_err(DeviceFailure::Alike)?;
        let Side { b, about: about_b } = side;
        let (rows, of_rank) = (local.rows(), local.in_global_order(&b));
        let format = match parameters.get(&FORMAT_A) {
            SolverFormat::Csr => OperatorFormat::Csr,
            SolverFormat::Hll => OperatorFormat::Hll,
            SolverFormat::Hyb => {
                let sentence = "on several GPUs, only the formats csr and hll are supported";
                return Err(DeviceFailure::Alike(sentence.to_owned()));
            }
        };
        let system = DeviceSystem {
            b: Arc::new(move |places| {
                let place = |of: u64| of.saturating_sub(rows.start) as usize;
                of_rank.get(place(places.start)..place(places.end)).unwrap_or_default().to_vec()
            }),
            start: None,
            applied,
            format,
            how: Arc::new(how_of(parameters)),
        };
        let made = device.solver((local.clone(), matrix.plan().clone()), system, limit);
        let mut solver = agreed(world, made).map_err(DeviceFailure::Alike)?;
        let told = solver.rehearse()?;
        let costs = solver.costs();
        let setup_s = world.max(costs.preconditioner_s);
        let phases = [("diagonal", setup_s)];
        let phases = if applied == Applied::Jacobi { &phases[..] } else { &[] };
        let own = vec![0.0; local.own_cols()];
        let made = Self {
            solver,
            b,
            x: Exchange::new(world, matrix.plan().clone(), own, local.halo().len()),
            told: ToldSetUp::new(applied, phases, None, setup_s),
            about_b,
            costs,
        };
        Ok((made, told))
    }

    /// Setup costs on this rank.
    pub(crate) fn costs(&self) -> DeviceCosts {
        self.costs
    }

    /// The result of the last solve, or why it is unusable; the same on all ranks.
    fn solved(&mut self, world: &World) -> Result<Recurrence, String> {
        let solved = agreed(world, self.solver.solved())?;
        let mut hasher = DefaultHasher::new();
        (solved.iterations, solved.converged, solved.norm_b.to_bits()).hash(&mut hasher);
        for of_each in [&solved.history, &solved.alphas, &solved.betas] {
            of_each.iter().for_each(|value| value.to_bits().hash(&mut hasher));
        }
        let all = world.all_lists(&[hasher.finish()]);
        match all.iter().position(|hash| Some(hash) != all.first()) {
            None => Ok(solved),
            Some(rank) => Err(format!(
                "the GPUs of ranks {rank} and 0 computed different residuals, so the result is \
                invalid"
            )),
        }
    }
}

impl Task for SolverOnDevice {
    /// Every solve begins with its initial guess.
    fn spoil(&mut self) {}

    fn run(&mut self, cancel: &AtomicBool) -> Result<Option<Spent>, DeviceFailure> {
        Ok(self.solver.solve(cancel)?.map(|_| Spent::default()))
    }

    /// Solves are timed by the devices' own clocks.
    fn time(
        &mut self,
        times: u32,
        cancel: &AtomicBool,
    ) -> Result<Option<(f64, Spent)>, DeviceFailure> {
        let mut seconds = 0.0;
        for _ in 0..times {
            match self.solver.solve(cancel)? {
                Some(once) => seconds += once,
                None => return Ok(None),
            }
        }
        Ok(Some((seconds, Spent::default())))
    }

    fn output(&mut self, world: &World, matrix: &SharedMatrix) -> Result<Output, String> {
        let mut solved = self.solved(world)?;
        let local = matrix.local();
        solved.x = local.localised(&solved.x);
        self.x.own_mut().copy_from_slice(&solved.x);
        self.x.pack();
        self.x.start();
        let norms = residual(local, &self.b, self.x.all());
        let told = (&self.told, self.about_b);
        Ok(Output::Solution(Box::new(solution_of(world, matrix, told, (solved, norms)))))
    }

    fn traffic(&self, matrix: &SharedMatrix) -> Traffic {
        let pairs = matrix.pairs().to_vec();
        Traffic { transport: "nccl", pairs, reductions: Some(REDUCTIONS) }
    }

    fn is_short(&self) -> bool {
        false
    }
}
