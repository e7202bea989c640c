//! Runs the kernels of several ranks: check, warm up, sample in rounds, check again, all ranks in step.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use super::agreed::agreed;
use super::cg::{Solver, SolverOnDevice, Wanted, check_spd};
use super::exchange::Exchange;
use super::launch::{RankPool, rank_pool};
use super::matrix::SharedMatrix;
use super::on_device::ProductOnDevice;
use super::product::{Product, Spent};
use super::task::Task;
use super::told::distributed;
use super::world::World;
use sparsescope_bench::experiment::{
    Configuration, DeviceFailure, Ending, Observer, RankDevice, Settings, Solution, SpmvProblem,
    Temperature,
};
use sparsescope_bench::measure::CacheSizes;
use sparsescope_kernels::spmv::gather;
use sparsescope_matrix::memory::MemoryLimit;
use sparsescope_model::kernel::DeviceKind;
use sparsescope_record::{Check, Environment, Figures, Operation, Run, Verdict};

/// Number of rounds in which the kernels are sampled, so that drift of the machines affects all of them
/// equally.
const ROUNDS: usize = 5;

/// Samples shorter than this are measured over several executions.
const SHORTEST_SAMPLE_S: f64 = 50e-6;

/// Maximum executions per sample.
const MOST_REPETITIONS: f64 = 10_000.0;

/// State shared by all runs, the same on all ranks except for the CPU model.
pub struct MpiRunner<'r> {
    /// All ranks.
    pub world: &'r World,
    /// Sample counts and kernel settings.
    pub settings: &'r Settings,
    /// The machine of rank 0, with the combined bandwidth of all ranks.
    pub environment: &'r Environment,
    /// Memory limit for the formats of a rank.
    pub memory: MemoryLimit,
    /// Where the kernels of several GPUs run, if available.
    pub device: Option<&'r dyn RankDevice>,
    /// Set from elsewhere to stop; if any rank is cancelled, all stop.
    pub cancel: &'r AtomicBool,
}

/// A configuration that is ready to be timed.
struct Ready<'r> {
    configuration: Configuration,
    task: Box<dyn Task + 'r>,
    pool: RankPool,
    run: Run,
    repetitions: u32,
    /// Seconds of the first execution, on the slowest rank.
    once: f64,
    spent: Spent,
}

/// Result of a single execution.
pub struct Once {
    /// The rank's part of the result, in the order of the whole matrix.
    pub result: Vec<f64>,
    /// The solver's output, with x being that part.
    pub solution: Option<Solution>,
    /// Its record, without samples: the check over all ranks, parameters and costs.
    pub run: Run,
    /// Seconds, on the slowest rank.
    pub seconds: f64,
}

/// Why a configuration cannot be timed.
enum Refusal {
    /// A rank was cancelled.
    Cancelled,
    /// The run to record instead.
    Run(Box<Run>),
    /// This rank cannot continue; a reason that the other ranks do not know.
    Own(String),
}

impl<'r> MpiRunner<'r> {
    /// Runs all configurations on a matrix. Rank 0 has an observer, which receives each run. Fails with a
    /// reason known to this rank only: the others may be waiting for it.
    pub fn run(
        &self,
        matrix: &SharedMatrix,
        configurations: &[Configuration],
        mut observer: Option<&mut dyn Observer>,
    ) -> Result<Ending, String> {
        let total = configurations.len();
        let mut ready = Vec::new();
        let mut ended = Vec::new();
        for (done, configuration) in configurations.iter().enumerate() {
            tell(&mut observer, done, 2 * total, configuration);
            if self.cancelled() {
                return Ok(Ending::Cancelled);
            }
            match self.prepare(matrix, configuration) {
                Ok(one) => ready.push(one),
                Err(Refusal::Run(run)) => ended.push(*run),
                Err(Refusal::Cancelled) => return Ok(Ending::Cancelled),
                Err(Refusal::Own(sentence)) => return Err(sentence),
            }
        }
        for round in 1..=ROUNDS {
            for (k, one) in ready.iter_mut().enumerate() {
                let done = total + (round - 1) * total / ROUNDS + k / ROUNDS;
                tell(&mut observer, done, 2 * total, &one.configuration);
                let runs = self.settings.runs;
                let samples = runs * round / ROUNDS - runs * (round - 1) / ROUNDS;
                if self.cancelled() || !self.sample(one, samples)? {
                    return self.conclude(matrix, ready, ended, observer, Ending::Cancelled);
                }
            }
        }
        self.conclude(matrix, ready, ended, observer, Ending::Complete)
    }

    /// One checked execution of a configuration; `None` if any rank was cancelled.
    pub fn once(
        &self,
        matrix: &SharedMatrix,
        configuration: &Configuration,
    ) -> Result<Option<Once>, DeviceFailure> {
        match self.begun(matrix, configuration) {
            Ok(one) => Ok(Some(Once {
                result: one.task.result(matrix),
                solution: one.task.solution().cloned(),
                run: one.run,
                seconds: one.once,
            })),
            Err(Refusal::Cancelled) => Ok(None),
            Err(Refusal::Run(run)) => {
                Err(DeviceFailure::Alike(run.check.reason.unwrap_or_default()))
            }
            Err(Refusal::Own(sentence)) => Err(DeviceFailure::Own(sentence)),
        }
    }

    /// Prepares a configuration and warms it up; otherwise a run without times, on all ranks together.
    fn prepare(
        &self,
        matrix: &SharedMatrix,
        configuration: &Configuration,
    ) -> Result<Ready<'r>, Refusal> {
        let mut one = self.begun(matrix, configuration)?;
        if one.run.check.verdict != Verdict::Pass {
            one.task.tell(&mut one.run);
            return Err(Refusal::Run(Box::new(one.run)));
        }
        let repetitions =
            (SHORTEST_SAMPLE_S / one.once.max(1e-9)).ceil().clamp(1.0, MOST_REPETITIONS);
        one.repetitions = repetitions as u32;
        one.run.warmup = self.settings.warmup as u32;
        match self.executed(&mut one, self.settings.warmup as u32).map_err(Refusal::Own)? {
            Some(_) => Ok(one),
            None => Err(Refusal::Cancelled),
        }
    }

    /// Executes a configuration for the first time and checks its result.
    fn begun(
        &self,
        matrix: &SharedMatrix,
        configuration: &Configuration,
    ) -> Result<Ready<'r>, Refusal> {
        let on_device = configuration.kernel.device == DeviceKind::Nccl;
        let model = match self.device {
            Some(device) if on_device => device.model(),
            _ => &self.environment.cpu.model,
        };
        let id = matrix.record().map_or("", |record| &record.id);
        let mut run = configuration.empty_run(id, &self.environment.id, model);
        if !on_device {
            run.threads = configuration.threads * self.world.ranks() as u32;
        }
        let refused = |mut run: Run, verdict: Verdict, reason: String| {
            run.check = Check { verdict, reason: Some(reason), ..Check::default() };
            Refusal::Run(Box::new(run))
        };
        let unfit = configuration.admit().err().map(|error| error.to_string()).or_else(|| {
            let is_cold = configuration.temperature == Temperature::Cold;
            is_cold.then(|| "MPI runs support warm caches only".to_owned())
        });
        if let Some(reason) = unfit {
            return Err(refused(run, Verdict::Unsupported, reason));
        }
        let pool = match agreed(self.world, rank_pool(self.world, configuration.threads)) {
            Ok(pool) => pool,
            Err(reason) => return Err(refused(run, Verdict::Unsupported, reason)),
        };
        let start = Instant::now();
        let made = match configuration.kernel.operation {
            _ if on_device => self.on_device(matrix, configuration, &mut run).map(Some),
            Operation::Solve => self.solver(matrix, configuration, &pool, &mut run),
            _ => {
                let made = self.product(matrix, configuration, &pool, &mut run);
                made.map(Some).map_err(DeviceFailure::Alike)
            }
        };
        let mut task = match made {
            Ok(Some(task)) => task,
            Ok(None) => return Err(Refusal::Cancelled),
            Err(DeviceFailure::Alike(reason)) => {
                return Err(refused(run, Verdict::Refused, reason));
            }
            Err(DeviceFailure::Own(sentence)) => return Err(Refusal::Own(sentence)),
        };
        run.params.insert("ranks".to_owned(), self.world.ranks().to_string());
        if !on_device {
            let seconds = self.world.max(start.elapsed().as_secs_f64());
            run.costs.conversion_s = seconds - run.costs.plan_s;
        }
        run.costs.plan_s += matrix.plan_seconds();

        task.spoil();
        self.world.barrier();
        let start = Instant::now();
        match pool.pool.install(|| task.run()) {
            Ok(Some(_)) => {}
            Ok(None) => return Err(Refusal::Cancelled),
            Err(DeviceFailure::Alike(reason)) => return Err(refused(run, Verdict::Fail, reason)),
            Err(DeviceFailure::Own(sentence)) => return Err(Refusal::Own(sentence)),
        }
        let once = self.world.max(start.elapsed().as_secs_f64());
        run.check = task.check(self.world, matrix);
        let (configuration, spent) = (configuration.clone(), Spent::default());
        Ok(Ready { configuration, task, pool, run, repetitions: 1, once, spent })
    }

    /// The SpMV of a configuration.
    fn product(
        &self,
        matrix: &SharedMatrix,
        configuration: &Configuration,
        RankPool { pool, .. }: &RankPool,
        run: &mut Run,
    ) -> Result<Box<dyn Task + 'r>, String> {
        let overlaps = configuration.kernel.id.ends_with("-overlap");
        let near_bytes = CacheSizes::of(&self.environment.cpu).private_bytes;
        let (local, memory) = (matrix.local(), self.memory);
        let (plan, x) = (matrix.plan().clone(), matrix.x().to_vec());
        let exchange = Exchange::new(self.world, plan, x, local.halo().len());
        let format = (SpmvProblem::spec(configuration), overlaps);
        let threads = (configuration.threads as usize, near_bytes);
        let made = pool.install(|| Product::new(local, exchange, format, threads, memory));
        let product = agreed(self.world, made)?;
        run.params = product.params.clone();
        run.costs.format_bytes = self.world.sum(product.format_bytes);
        run.costs.minimal_bytes = self.world.sum(product.minimal_bytes);
        Ok(Box::new(product))
    }

    /// The solver of a configuration; bytes moved depend on the iterations, so no minimum is given.
    fn solver(
        &self,
        matrix: &SharedMatrix,
        configuration: &Configuration,
        RankPool { pool, .. }: &RankPool,
        run: &mut Run,
    ) -> Result<Option<Box<dyn Task + 'r>>, DeviceFailure> {
        run.params = configuration.kernel.in_force(&configuration.parameters);
        check_spd(self.world, matrix.local(), matrix.partition(), matrix.cols())
            .map_err(DeviceFailure::Alike)?;
        let wanted = Wanted {
            parameters: &configuration.parameters,
            pool,
            near_bytes: CacheSizes::of(&self.environment.cpu).private_bytes,
            limit: self.memory,
            cancel: self.cancel,
        };
        let solver = Solver::new(self.world, matrix, wanted).map_err(DeviceFailure::Alike)?;
        let Some(solver) = solver else { return Ok(None) };
        run.costs.format_bytes = self.world.sum(solver.format_bytes);
        run.costs.plan_s = solver.setup_s();
        Ok(Some(Box::new(solver)))
    }

    /// The multi-GPU kernel of a configuration.
    fn on_device(
        &self,
        matrix: &SharedMatrix,
        configuration: &Configuration,
        run: &mut Run,
    ) -> Result<Box<dyn Task + 'r>, DeviceFailure> {
        let missing = || DeviceFailure::Alike("the GPUs of the ranks were not opened".to_owned());
        let device = self.device.ok_or_else(missing)?;
        let (kernel, memory) = (configuration.kernel, self.memory);
        let (task, costs): (Box<dyn Task>, _) = match kernel.operation {
            Operation::Solve => {
                run.params = kernel.in_force(&configuration.parameters);
                check_spd(self.world, matrix.local(), matrix.partition(), matrix.cols())
                    .map_err(DeviceFailure::Alike)?;
                let parameters = &configuration.parameters;
                let asked = (parameters, memory, self.cancel);
                let (solver, told) = SolverOnDevice::new(self.world, matrix, device, asked)?;
                if let Some(told) = told {
                    run.params.insert("graph".to_owned(), told);
                }
                let costs = solver.costs();
                (Box::new(solver), costs)
            }
            _ => {
                let product = device.product(
                    kernel.id,
                    (matrix.local().clone(), matrix.plan().clone()),
                    matrix.elements(),
                    memory,
                );
                let product = agreed(self.world, product).map_err(DeviceFailure::Alike)?;
                let costs = product.costs();
                let vectors = 8 * (matrix.partition().rows() + matrix.cols());
                run.costs.minimal_bytes = self.world.sum(costs.bytes) + vectors;
                (Box::new(ProductOnDevice::new(product)), costs)
            }
        };
        run.costs.format_bytes = self.world.sum(costs.bytes);
        run.costs.conversion_s = self.world.max(costs.conversion_s);
        run.costs.upload_s = Some(self.world.max(costs.upload_s));
        run.costs.allocate_s = Some(self.world.max(costs.allocate_s));
        Ok(task)
    }

    /// Executes `times` times in a row, with all ranks starting together. Returns the total seconds and their
    /// breakdown; `None` if any rank was cancelled. Fails with a reason known to this rank only.
    fn executed(&self, one: &mut Ready<'r>, times: u32) -> Result<Option<(f64, Spent)>, String> {
        self.world.barrier();
        let (RankPool { pool, is_bound }, task) = (one.pool.clone(), &mut one.task);
        let is_awake = is_bound && task.is_short();
        let begin = || task.time(times);
        let timed = match is_awake {
            true => pool.install(|| gather(begin)),
            false => pool.install(begin),
        };
        match timed {
            Ok(timed) => Ok(timed),
            // A failure of this kind would have occurred in the first execution.
            Err(DeviceFailure::Alike(_)) => Ok(None),
            Err(DeviceFailure::Own(sentence)) => Err(sentence),
        }
    }

    /// Takes `samples` samples: each is the time of the slowest rank. Returns false if it was stopped.
    fn sample(&self, one: &mut Ready<'r>, samples: usize) -> Result<bool, String> {
        if one.run.samples.is_empty() {
            // Clear the result of the first check, so that the last check sees what the samples computed.
            one.task.spoil();
        }
        for _ in 0..samples {
            let repetitions = one.repetitions;
            let Some((seconds, spent)) = self.executed(one, repetitions)? else {
                return Ok(false);
            };
            one.run.samples.push(self.world.max(seconds) / f64::from(repetitions));
            one.spent += spent;
        }
        Ok(true)
    }

    /// Checks the result of the last samples, computes the figures and reports all runs in the order of the
    /// plan.
    fn conclude(
        &self,
        matrix: &SharedMatrix,
        ready: Vec<Ready<'r>>,
        ended: Vec<Run>,
        mut observer: Option<&mut dyn Observer>,
        ending: Ending,
    ) -> Result<Ending, String> {
        let mut goes_on = true;
        for run in ended {
            goes_on = goes_on && self.keep(run, &mut observer);
        }
        for one in ready {
            let Ready { configuration, mut task, mut run, repetitions, spent, .. } = one;
            let executions = (run.samples.len() as u32 * repetitions).max(1);
            let spent = spent.over(executions);
            let traffic = task.traffic(matrix);
            let threads = configuration.threads;
            run.distributed = Some(distributed(self.world, matrix, threads, spent, traffic));
            if run.samples.is_empty() || !task.has_result() {
                continue; // Cancelled before its first sample, or in one that left nothing to check.
            }
            run.check = run.check.worse(task.check(self.world, matrix));
            task.tell(&mut run);
            if run.check.verdict != Verdict::Pass {
                run.samples.clear();
            } else {
                let work = task.work(matrix);
                run.repetitions = repetitions;
                run.cut_short = run.samples.len() < self.settings.runs;
                run.figures =
                    Figures::from_samples(&run.samples, work.flops as f64, run.costs.minimal_bytes);
                if work.flops == 0 {
                    run.figures = None;
                }
                if run.figures.is_none() {
                    run.samples.clear();
                }
                if let Some(figures) = run.figures.as_mut() {
                    run.work = Some(work);
                    run.metric =
                        Some(configuration.kernel.operation.metric(&work, figures.median_s));
                    if let Some(copy) = self.copy_bandwidth(&configuration, run.threads) {
                        figures.set_copy(copy);
                    }
                }
            }
            goes_on = goes_on && self.keep(run, &mut observer);
        }
        Ok(if goes_on { ending } else { Ending::Cancelled })
    }

    /// Copy bandwidth of all ranks in bytes per second, with `threads` threads or on their devices, each of
    /// which copies as fast as the slowest.
    fn copy_bandwidth(&self, configuration: &Configuration, threads: u32) -> Option<f64> {
        if configuration.kernel.device == DeviceKind::Nccl {
            let model = self.device?.model();
            let copy = self.environment.gpus.iter().find(|gpu| gpu.model == model)?.copy?;
            return Some(copy * self.world.ranks() as f64);
        }
        self.environment.bandwidth.iter().find(|b| b.threads == threads).map(|b| b.copy)
    }

    /// Reports a run to rank 0's observer. Returns whether to continue, the same on all ranks.
    fn keep(&self, run: Run, observer: &mut Option<&mut dyn Observer>) -> bool {
        let stops = observer.as_deref_mut().is_some_and(|observer| !observer.finished(run));
        !self.world.any(stops)
    }

    /// Whether any rank was cancelled.
    fn cancelled(&self) -> bool {
        self.world.any(self.cancel.load(Ordering::Relaxed))
    }
}

fn tell(
    observer: &mut Option<&mut dyn Observer>,
    done: usize,
    total: usize,
    configuration: &Configuration,
) {
    if let Some(observer) = observer.as_deref_mut() {
        observer.progress(done, total, configuration.kernel.id);
    }
}
