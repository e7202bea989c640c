//! Runs kernels of several ranks: check, warm up, sample in rounds, check again, all ranks in step.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use super::exchange::Exchange;
use super::launch::{RankPool, rank_pool};
use super::matrix::{SharedMatrix, agreed};
use super::product::{Product, Spent};
use super::told::distributed;
use super::world::World;
use crate::experiment::{Configuration, Ending, Observer, Settings, SpmvProblem, Temperature};
use crate::gate::RowErrors;
use crate::measure::CacheSizes;
use crate::memory::MemoryLimit;
use crate::record::{Check, Environment, Figures, Operation, Run, Verdict, Work};
use crate::spmv::gather;

/// Samples of the kernels are taken in so many turns, so that drift of the machines hits all alike.
const ROUNDS: usize = 5;

/// Samples shorter than this are measured over several executions.
const SHORTEST_SAMPLE_S: f64 = 50e-6;

/// Most executions behind one sample.
const MOST_REPETITIONS: f64 = 10_000.0;

/// Everything that runs share, alike on all ranks but for the model of the processor.
pub struct MpiRunner<'r> {
    /// All ranks.
    pub world: &'r World,
    /// How often kernels are run.
    pub settings: &'r Settings,
    /// The machine of rank 0, its bandwidth that of all ranks together.
    pub environment: &'r Environment,
    /// Bytes that the formats of a rank may take.
    pub memory: MemoryLimit,
    /// Set from elsewhere to stop; what any rank hears, all heed.
    pub cancel: &'r AtomicBool,
}

/// A configuration that is ready to be timed.
struct Ready {
    configuration: Configuration,
    product: Product,
    pool: RankPool,
    run: Run,
    repetitions: u32,
    spent: Spent,
}

impl MpiRunner<'_> {
    /// Runs all configurations on a matrix. Rank 0 has an observer, which is told each run.
    pub fn run(
        &self,
        matrix: &SharedMatrix,
        configurations: &[Configuration],
        mut observer: Option<&mut dyn Observer>,
    ) -> Ending {
        let total = configurations.len();
        let mut ready = Vec::new();
        let mut ended = Vec::new();
        for (done, configuration) in configurations.iter().enumerate() {
            tell(&mut observer, done, 2 * total, configuration);
            if self.cancelled() {
                return Ending::Cancelled;
            }
            match self.prepare(matrix, configuration) {
                Ok(one) => ready.push(one),
                Err(run) => ended.push(*run),
            }
        }
        for round in 1..=ROUNDS {
            for (k, one) in ready.iter_mut().enumerate() {
                let done = total + (round - 1) * total / ROUNDS + k / ROUNDS;
                tell(&mut observer, done, 2 * total, &one.configuration);
                if self.cancelled() {
                    return self.conclude(matrix, ready, ended, observer, Ending::Cancelled);
                }
                let runs = self.settings.runs;
                let samples = runs * round / ROUNDS - runs * (round - 1) / ROUNDS;
                self.sample(one, samples);
            }
        }
        self.conclude(matrix, ready, ended, observer, Ending::Complete)
    }

    /// One execution of a configuration: y of the rank's rows in the order of the whole matrix, and its check over all
    /// ranks.
    pub fn once(
        &self,
        matrix: &SharedMatrix,
        configuration: &Configuration,
    ) -> Result<(Vec<f64>, Check), String> {
        match self.prepare(matrix, configuration) {
            Ok(one) => Ok((matrix.local().in_global_order(one.product.y()), one.run.check)),
            Err(run) if run.check.verdict == Verdict::Fail => Ok((Vec::new(), run.check)),
            Err(run) => Err(run.check.reason.unwrap_or_default()),
        }
    }

    /// Makes a configuration ready and checks its result; a run without times otherwise, on all ranks alike.
    fn prepare(
        &self,
        matrix: &SharedMatrix,
        configuration: &Configuration,
    ) -> Result<Ready, Box<Run>> {
        let mut run = configuration.empty_run(
            matrix.record().map_or("", |record| &record.id),
            &self.environment.id,
            &self.environment.cpu.model,
        );
        run.threads = configuration.threads * self.world.ranks() as u32;
        let refused = |mut run: Run, verdict: Verdict, reason: String| {
            run.check = Check { verdict, reason: Some(reason), ..Check::default() };
            Box::new(run)
        };
        let unfit = configuration.admit().err().map(|error| error.to_string()).or_else(|| {
            let is_cold = configuration.temperature == Temperature::Cold;
            is_cold.then(|| "ranks are measured with warm caches only".to_owned())
        });
        if let Some(reason) = unfit {
            return Err(refused(run, Verdict::Unsupported, reason));
        }
        if !Product::is_of(configuration.kernel.format()) {
            let reason = "this build does not have it".to_owned();
            return Err(refused(run, Verdict::Unsupported, reason));
        }
        let pool = agreed(self.world, rank_pool(self.world, configuration.threads));
        let pool = match pool {
            Ok(pool) => pool,
            Err(reason) => return Err(refused(run, Verdict::Unsupported, reason)),
        };
        let start = Instant::now();
        let overlaps = configuration.kernel.id.ends_with("-overlap");
        let near_bytes = CacheSizes::of(&self.environment.cpu).private_bytes;
        let (local, memory) = (matrix.local(), self.memory);
        let (plan, x) = (matrix.plan().clone(), matrix.x().to_vec());
        let exchange = Exchange::new(self.world, plan, x, local.halo().len());
        let format = (SpmvProblem::spec(configuration), overlaps);
        let threads = configuration.threads as usize;
        let made = pool
            .pool
            .install(|| Product::new(local, exchange, format, (threads, near_bytes), memory));
        let mut product = match agreed(self.world, made) {
            Ok(product) => product,
            Err(reason) => return Err(refused(run, Verdict::Refused, reason)),
        };
        run.params = product.params.clone();
        run.params.insert("ranks".to_owned(), self.world.ranks().to_string());
        run.costs.conversion_s = self.world.max(start.elapsed().as_secs_f64());
        run.costs.plan_s = matrix.plan_seconds();
        run.costs.format_bytes = self.world.sum(product.format_bytes);
        run.costs.minimal_bytes = self.world.sum(product.minimal_bytes);

        product.spoil();
        self.world.barrier();
        let start = Instant::now();
        pool.pool.install(|| product.run());
        let once = self.world.max(start.elapsed().as_secs_f64());
        run.check = self.check(matrix, &product);
        if run.check.verdict != Verdict::Pass {
            return Err(Box::new(run));
        }
        let repetitions = (SHORTEST_SAMPLE_S / once.max(1e-9)).ceil().clamp(1.0, MOST_REPETITIONS);
        let configuration = configuration.clone();
        let (repetitions, spent) = (repetitions as u32, Spent::default());
        let mut one = Ready { configuration, product, pool, run, repetitions, spent };
        self.executed(&mut one, self.settings.warmup as u32);
        one.run.warmup = self.settings.warmup as u32;
        Ok(one)
    }

    /// The verdict over the rows of all ranks, the same on each.
    fn check(&self, matrix: &SharedMatrix, product: &Product) -> Check {
        let y = matrix.local().in_global_order(product.y());
        let own = matrix.reference().errors(&y).to_words();
        let all = self.world.all_lists(&own).into_iter().filter_map(|words| words.try_into().ok());
        all.map(RowErrors::from_words).fold(RowErrors::default(), RowErrors::join).check()
    }

    /// Executes so often in a row, all ranks beginning together. Seconds of all of it, and how they were spent.
    fn executed(&self, one: &mut Ready, times: u32) -> (f64, Spent) {
        self.world.barrier();
        let (RankPool { pool, is_bound }, product) = (one.pool.clone(), &mut one.product);
        let begin = || {
            let mut spent = Spent::default();
            let start = Instant::now();
            for _ in 0..times {
                let one = product.run();
                spent.computing += one.computing;
                spent.packing += one.packing;
                spent.waiting += one.waiting;
            }
            (start.elapsed().as_secs_f64(), spent)
        };
        match is_bound {
            true => pool.install(|| gather(begin)),
            false => pool.install(begin),
        }
    }

    /// Takes so many samples: each is the time of the rank that took longest.
    fn sample(&self, one: &mut Ready, samples: usize) {
        for _ in 0..samples {
            let repetitions = one.repetitions;
            let (seconds, spent) = self.executed(one, repetitions);
            one.run.samples.push(self.world.max(seconds) / f64::from(repetitions));
            one.spent.computing += spent.computing;
            one.spent.packing += spent.packing;
            one.spent.waiting += spent.waiting;
        }
    }

    /// Checks what the last samples left, computes the figures and tells all runs in the order of the plan.
    fn conclude(
        &self,
        matrix: &SharedMatrix,
        ready: Vec<Ready>,
        ended: Vec<Run>,
        mut observer: Option<&mut dyn Observer>,
        ending: Ending,
    ) -> Ending {
        let mut goes_on = true;
        for run in ended {
            goes_on = goes_on && self.keep(run, &mut observer);
        }
        for one in ready {
            let Ready { configuration, product, mut run, repetitions, spent, .. } = one;
            let executions = (run.samples.len() as u32 * repetitions).max(1);
            let mean = |seconds: f64| seconds / f64::from(executions);
            let spent = Spent {
                computing: mean(spent.computing),
                packing: mean(spent.packing),
                waiting: mean(spent.waiting),
            };
            run.distributed = Some(distributed(self.world, matrix, configuration.threads, spent));
            if run.samples.is_empty() {
                continue; // Cancelled before its first sample.
            }
            let again = self.check(matrix, &product);
            if again.verdict != Verdict::Pass {
                (run.check, run.samples) = (again, Vec::new());
            } else {
                let work = Work { flops: 2 * matrix.nnz(), ..Work::default() };
                run.repetitions = repetitions;
                run.cut_short = run.samples.len() < self.settings.runs;
                run.figures =
                    Figures::from_samples(&run.samples, work.flops as f64, run.costs.minimal_bytes);
                if let Some(figures) = run.figures.as_mut() {
                    run.work = Some(work);
                    run.metric = Some(Operation::Spmv.metric(&work, figures.median_s));
                    let threads = run.threads;
                    let same = self.environment.bandwidth.iter().find(|b| b.threads == threads);
                    same.iter().for_each(|bandwidth| figures.set_copy(bandwidth.copy));
                }
            }
            goes_on = goes_on && self.keep(run, &mut observer);
        }
        if goes_on { ending } else { Ending::Cancelled }
    }

    /// Tells rank 0's observer of a run. Whether to go on, the same on all ranks.
    fn keep(&self, run: Run, observer: &mut Option<&mut dyn Observer>) -> bool {
        let stops = observer.as_deref_mut().is_some_and(|observer| !observer.finished(run));
        !self.world.any(stops)
    }

    /// Whether any rank was told to stop.
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
