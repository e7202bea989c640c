//! Sets up what a configuration executes on the ranks or their devices.

use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use super::agreed::agreed;
use super::cg::{Solver, SolverOnDevice, Wanted, check_spd};
use super::exchange::Exchange;
use super::matrix::SharedMatrix;
use super::on_device::ProductOnDevice;
use super::product::Product;
use super::task::Task;
use super::world::World;
use sparsescope_bench::experiment::{Configuration, DeviceFailure, RankDevice, SpmvProblem};
use sparsescope_matrix::memory::MemoryLimit;
use sparsescope_record::{Costs, Operation};

/// A task with the costs and the effective parameters of its setup.
pub(super) struct Made {
    pub(super) task: Box<dyn Task>,
    pub(super) costs: Costs,
    pub(super) params: BTreeMap<String, String>,
}

/// Where a task is set up, the same on all ranks except for the rank itself.
#[derive(Clone, Copy)]
pub(super) struct Place<'p> {
    pub(super) world: &'p World,
    pub(super) matrix: &'p SharedMatrix,
    /// Where the kernels of several GPUs run.
    pub(super) device: Option<&'p dyn RankDevice>,
    /// Bytes of the caches of one core.
    pub(super) near_bytes: u64,
    /// Memory limit for the formats of a rank.
    pub(super) memory: MemoryLimit,
}

impl Place<'_> {
    /// The task of a configuration, set up on all ranks together; `None` if any rank was cancelled.
    pub(super) fn made(
        self,
        configuration: &Configuration,
        pool: &rayon::ThreadPool,
        cancel: &AtomicBool,
    ) -> Result<Option<Made>, DeviceFailure> {
        let Self { world, matrix, device, .. } = self;
        let begun = Instant::now();
        let made = match (device, configuration.kernel.operation) {
            (Some(device), operation) => Some(self.on_device(device, configuration, operation)?),
            (None, Operation::Solve) => self.solver(configuration, pool, cancel)?,
            (None, _) => Some(self.product(configuration, pool).map_err(DeviceFailure::Alike)?),
        };
        let Some(mut made) = made else { return Ok(None) };
        made.params.insert("ranks".to_owned(), world.ranks().to_string());
        if device.is_none() {
            let seconds = world.max(begun.elapsed().as_secs_f64());
            made.costs.conversion_s = seconds - made.costs.plan_s;
        }
        made.costs.plan_s += matrix.plan_seconds();
        Ok(Some(made))
    }

    /// The SpMV of a configuration.
    fn product(
        self,
        configuration: &Configuration,
        pool: &rayon::ThreadPool,
    ) -> Result<Made, String> {
        let Self { world, matrix, near_bytes, memory, .. } = self;
        let overlaps = configuration.kernel.id.ends_with("-overlap");
        let local = matrix.local();
        let (plan, x) = (matrix.plan().clone(), matrix.x().to_vec());
        let exchange = Exchange::new(world, plan, x, local.halo().len());
        let format = (SpmvProblem::spec(configuration), overlaps);
        let threads = (configuration.threads as usize, near_bytes);
        let made = pool.install(|| Product::new(local, exchange, format, threads, memory));
        let product = agreed(world, made)?;
        let params = product.params.clone();
        let costs = Costs {
            format_bytes: world.sum(product.format_bytes),
            minimal_bytes: world.sum(product.minimal_bytes),
            ..Costs::default()
        };
        Ok(Made { task: Box::new(product), costs, params })
    }

    /// The solver of a configuration; bytes moved depend on the iterations, so no minimum is given.
    fn solver(
        self,
        configuration: &Configuration,
        pool: &rayon::ThreadPool,
        cancel: &AtomicBool,
    ) -> Result<Option<Made>, DeviceFailure> {
        let Self { world, matrix, near_bytes, memory, .. } = self;
        let parameters = &configuration.parameters;
        check_spd(world, matrix.local(), matrix.partition(), matrix.cols())
            .map_err(DeviceFailure::Alike)?;
        let wanted = Wanted { parameters, pool, near_bytes, limit: memory, cancel };
        let solver = Solver::new(world, matrix, wanted).map_err(DeviceFailure::Alike)?;
        let Some(solver) = solver else { return Ok(None) };
        let costs = Costs {
            format_bytes: world.sum(solver.format_bytes),
            plan_s: solver.setup_s(),
            ..Costs::default()
        };
        let params = configuration.kernel.in_force(parameters);
        Ok(Some(Made { task: Box::new(solver), costs, params }))
    }

    /// The multi-GPU kernel of a configuration.
    fn on_device(
        self,
        device: &dyn RankDevice,
        configuration: &Configuration,
        operation: Operation,
    ) -> Result<Made, DeviceFailure> {
        let Self { world, matrix, memory, .. } = self;
        let (kernel, parameters) = (configuration.kernel, &configuration.parameters);
        let (mut params, mut minimal_bytes) = (BTreeMap::new(), 0);
        let (task, costs): (Box<dyn Task>, _) = match operation {
            Operation::Solve => {
                params = kernel.in_force(parameters);
                check_spd(world, matrix.local(), matrix.partition(), matrix.cols())
                    .map_err(DeviceFailure::Alike)?;
                let (solver, told) =
                    SolverOnDevice::new(world, matrix, device, (parameters, memory))?;
                params.extend(told.map(|told| ("graph".to_owned(), told)));
                let costs = solver.costs();
                (Box::new(solver), costs)
            }
            _ => {
                let rows = (matrix.local().clone(), matrix.plan().clone());
                let product = device.product(kernel.id, rows, matrix.elements(), memory);
                let product = agreed(world, product).map_err(DeviceFailure::Alike)?;
                let costs = product.costs();
                let vectors = 8 * (matrix.partition().rows() + matrix.cols());
                minimal_bytes = world.sum(costs.bytes) + vectors;
                (Box::new(ProductOnDevice::new(product)?), costs)
            }
        };
        let costs = Costs {
            format_bytes: world.sum(costs.bytes),
            minimal_bytes,
            conversion_s: world.max(costs.conversion_s),
            upload_s: Some(world.max(costs.upload_s)),
            allocate_s: Some(world.max(costs.allocate_s)),
            ..Costs::default()
        };
        Ok(Made { task, costs, params })
    }
}
