//! `cpu/spmv/auto`: runs the kernel that a short trial finds the fastest, on A or on its transpose.

mod trial;

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::spmv::{bind_here, start};
use crate::experiment::choosing::{Candidate, SERIAL, on_processor, why};
use crate::experiment::configuration::Configuration;
use crate::experiment::error::{KernelError, PrepareError};
use crate::experiment::operations::{Side, SpmvProblem, SpmvSide};
use crate::experiment::output::Output;
use crate::experiment::problem::Problem;
use crate::experiment::task::{Bound, Finished, Task, Watch};
use sparsescope_kernels::spmv::Products;
use sparsescope_matrix::memory::MemoryLimit;
use sparsescope_model::kernel::parameters::{COMPACT, OP, SCALE};
use sparsescope_model::kernel::{Parameter, Parameters};
use sparsescope_record::{Choice, Costs, Tried};
use trial::{Runner, race};

/// The kernel's id.
pub(super) const ID: &str = "cpu/spmv/auto";

/// Budget of the choice, conversions included, in SpMVs of the serial kernel; a conversion under way when it
/// runs out is finished.
const MOST_PRODUCTS: f64 = 200.0;

/// Minimum budget in seconds after the statistics, which may take most of 200 SpMVs of a small matrix.
const AT_LEAST_S: f64 = 0.1;

/// Binds the kernel; its setup picks the kernel to run, on the pool that it will run on.
pub(super) fn bind<'p>(
    configuration: &Configuration,
    problem: &'p SpmvProblem,
    memory: MemoryLimit,
    near_bytes: u64,
) -> Result<Bound<'p>, PrepareError> {
    let side = side(configuration, problem, memory)?;
    let asked =
        Asked { configuration: configuration.clone(), problem, memory, near_bytes, wake_s: 0.0 };
    let task: Box<dyn Task + 'p> = match side {
        Side::Double(side) => Box::new(Auto::new(asked, side)),
        Side::Single(side) => Box::new(Auto::new(asked, side)),
    };
    let value = configuration.parameters.text(COMPACT.id()).unwrap_or_default();
    let mut params = configuration.kernel.computed(&configuration.parameters);
    params.insert(COMPACT.id().name().to_owned(), value);
    Ok(Bound { task, parts: None, costs: Costs::default(), params })
}

/// That of A, or of its transpose if the configuration requests it.
fn side(
    configuration: &Configuration,
    problem: &SpmvProblem,
    memory: MemoryLimit,
) -> Result<Side, PrepareError> {
    problem.check_transposed(configuration, memory)?;
    problem.turned(configuration).side(configuration.precision, memory)
}

/// Chooses a kernel on the ambient pool, whose workers sleep between calls, so that each call of several threads
/// takes `wake_s` seconds longer than in the trial. Returns the kernel bound, with its costs; `None` when
/// cancelled.
pub(super) fn chosen(
    configuration: &Configuration,
    problem: &SpmvProblem,
    (memory, near_bytes): (MemoryLimit, u64),
    wake_s: f64,
    watch: &Watch<'_>,
) -> Result<Option<Bound<'static>>, PrepareError> {
    let side = side(configuration, problem, memory)?;
    let asked = Asked { configuration: configuration.clone(), problem, memory, near_bytes, wake_s };
    let found = match side {
        Side::Double(side) => Auto::new(asked, side).choose(watch)?,
        Side::Single(side) => Auto::new(asked, side).choose(watch)?,
    };
    Ok(found.map(|Found { runner, parts, costs, choice }| {
        let (task, params) = (runner.into_task(), choice.params.clone());
        let conversion_s = problem.transposition_s(configuration) + costs.conversion_s;
        let costs = Costs { conversion_s, choice: Some(choice), ..costs };
        Bound { task, parts, costs, params }
    }))
}

/// The request: what to choose a kernel for.
struct Asked<'p> {
    configuration: Configuration,
    problem: &'p SpmvProblem,
    memory: MemoryLimit,
    near_bytes: u64,
    /// Seconds that a call of several threads takes to wake them; 0 if they stay awake between calls.
    wake_s: f64,
}

/// The SpMV; once chosen, that of the kernel that it runs.
struct Auto<'p, T> {
    asked: Asked<'p>,
    side: Arc<SpmvSide<T>>,
    /// y before each execution, if it adds to y.
    start: Option<Arc<Vec<T>>>,
    chosen: Option<Chosen>,
}

struct Chosen {
    task: Box<dyn Task>,
    parts: Option<usize>,
}

impl<T: Products> Task for Auto<'_, T>
where
    Output: From<Vec<T>>,
{
    fn is_in_place(&self) -> bool {
        self.start.is_some()
    }

    fn is_product(&self) -> bool {
        true
    }

    fn reset(&mut self) {
        if let Some(chosen) = &mut self.chosen {
            chosen.task.reset();
        }
    }

    fn set_up(&mut self, costs: &mut Costs, watch: &Watch<'_>) -> Result<Finished, PrepareError> {
        let Some(found) = self.choose(watch)? else { return Ok(Finished::Cancelled) };
        self.chosen = Some(Chosen { task: found.runner.into_task(), parts: found.parts });
        let (choice, Asked { configuration, problem, .. }) = (found.choice, &self.asked);
        *costs = Costs {
            conversion_s: problem.transposition_s(configuration) + choice.conversion_s,
            plan_s: choice.seconds() - choice.conversion_s,
            choice: Some(choice),
            ..found.costs
        };
        Ok(Finished::Done)
    }

    fn parts(&self) -> Option<usize> {
        self.chosen.as_ref()?.parts
    }

    fn spoil(&mut self) {
        if let Some(chosen) = &mut self.chosen {
            chosen.task.spoil();
        }
    }

    fn run(&mut self, watch: &Watch<'_>) -> Result<Finished, KernelError> {
        match &mut self.chosen {
            Some(chosen) => chosen.task.run(watch),
            None => Err(KernelError::new(ID, "it was not set up, so no kernel was chosen")),
        }
    }

    fn output(&self) -> Output {
        match &self.chosen {
            Some(chosen) => chosen.task.output(),
            None => Vec::new().into(),
        }
    }
}

/// The chosen kernel, ready to run.
struct Found {
    runner: Runner,
    parts: Option<usize>,
    /// Costs of that kernel alone.
    costs: Costs,
    choice: Choice,
}

/// The kernel that leads the trial.
struct Leader {
    runner: Runner,
    configuration: Configuration,
    bound: Bare,
    /// Its place among the candidates.
    place: usize,
    /// Whether its format was built for this trial only.
    is_new: bool,
}

/// What is known of a bound kernel besides its task.
struct Bare {
    parts: Option<usize>,
    costs: Costs,
    params: std::collections::BTreeMap<String, String>,
}

impl<'p, T: Products> Auto<'p, T>
where
    Output: From<Vec<T>>,
{
    fn new(asked: Asked<'p>, side: Arc<SpmvSide<T>>) -> Self {
        let problem = asked.problem.turned(&asked.configuration);
        let start = start(&asked.configuration, problem);
        Self { asked, side, start, chosen: None }
    }

    /// Tries the candidates that the statistics suggest; `None` when cancelled.
    fn choose(&self, watch: &Watch<'_>) -> Result<Option<Found>, PrepareError> {
        let start = Instant::now();
        let Asked { configuration, .. } = &self.asked;
        let mut threads = configuration.threads;
        let compact = configuration.parameters.get(&COMPACT);
        let all = on_processor(&**self.side.a(), threads as usize, compact);
        let mut choice =
            Choice { statistics_s: start.elapsed().as_secs_f64(), ..Choice::default() };
        let mut leader: Option<Leader> = None;
        let mut end = start;
        let many = all.len();
        // Every kernel reads the previous y where one is added.
        let added = self.start.as_ref().map_or(0, |start| size_of_val(start.as_slice()) as u64);
        for (place, candidate) in all.into_iter().enumerate() {
            watch.tell(place as f64 / many as f64);
            if watch.is_cancelled() {
                return Ok(None);
            }
            let mut tried = Tried {
                kernel: candidate.kernel.id.to_owned(),
                params: candidate.parameters.names(),
                minimal_bytes: candidate.minimal_bytes + added,
                ..Tried::default()
            };
            let spent = choice.seconds();
            let configuration = match self.admitted(&candidate, threads) {
                Ok(_) if leader.is_some() && Instant::now() >= end => {
                    Err("the trial ran out of time".to_owned())
                }
                admitted => admitted,
            };
            let entered = configuration.and_then(|configuration| {
                self.enter((place, configuration), &mut tried, &mut choice, watch)
            });
            match entered {
                Ok(None) => return Ok(None),
                Ok(Some(mut entered)) => match leader.take() {
                    None => {
                        // Conversions made earlier count as if they were made now.
                        let left = Duration::from_secs_f64(left_s(entered.runner.least_s, spent));
                        end = Instant::now() + left;
                        if !self.pays_to_wake(entered.runner.least_s) {
                            threads = 1;
                        }
                        leader = Some(entered);
                    }
                    Some(mut best) => {
                        end = end.checked_sub(already(&tried, &entered)).unwrap_or(end);
                        let from = Instant::now();
                        let raced = race(&mut best.runner, &mut entered.runner, end, watch);
                        choice.trial_s += from.elapsed().as_secs_f64();
                        if raced.map_err(refused)?.is_none() {
                            return Ok(None);
                        }
                        tried.least_s = Some(entered.runner.least_s);
                        if let Some(tried) = choice.tried.get_mut(best.place) {
                            tried.least_s = Some(best.runner.least_s);
                        }
                        let is_serial = best.configuration.kernel.id == SERIAL;
                        let (winner, loser) = match entered.runner.beats(&best.runner, is_serial) {
                            true => (entered, best),
                            false => (best, entered),
                        };
                        self.forget(&loser, &winner);
                        leader = Some(winner);
                    }
                },
                Err(reason) => tried.left_out = Some(reason),
            }
            choice.tried.push(tried);
        }
        let Some(leader) = leader else {
            let reason = choice.tried.iter().find_map(|tried| tried.left_out.clone());
            let reason = reason.unwrap_or_else(|| "no kernel can run on this matrix".to_owned());
            return Err(PrepareError::Refused(reason));
        };
        let Leader { runner, configuration, bound, place, .. } = leader;
        let Bare { parts, costs, params } = bound;
        if let Some(tried) = choice.tried.get_mut(place) {
            tried.least_s = Some(runner.least_s);
            tried.minimal_bytes = costs.minimal_bytes;
        }
        choice.kernel = configuration.kernel.id.to_owned();
        let computed = configuration.kernel.computed(&configuration.parameters);
        choice.params = params;
        choice.params.retain(|name, _| !computed.contains_key(name));
        choice.why = why(&choice, place, SERIAL, self.side.a().minimal_bytes() + added);
        Ok(Some(Found { runner, parts, costs, choice }))
    }

    /// Whether the other threads could save more than waking them takes, given the seconds on one thread.
    fn pays_to_wake(&self, alone_s: f64) -> bool {
        let Asked { configuration, wake_s, .. } = &self.asked;
        alone_s - alone_s / f64::from(configuration.threads) > *wake_s
    }

    /// The configuration of a candidate, or the reason why it cannot run, in a sentence.
    fn admitted(&self, candidate: &Candidate, threads: u32) -> Result<Configuration, String> {
        let Asked { configuration, problem, .. } = &self.asked;
        let threads = if candidate.kernel.takes.threads { threads } else { 1 };
        let with = |all: Parameters, of: Parameter| match configuration.parameters.text(of) {
            Some(value) => all.with(of, &value),
            None => all,
        };
        let computed = [OP.id(), SCALE.id()].into_iter();
        let configuration = Configuration {
            kernel: candidate.kernel,
            parameters: computed.fold(candidate.parameters.clone(), with),
            threads,
            ..configuration.clone()
        };
        problem.admit(&configuration).map_err(|error| error.to_string())?;
        Ok(configuration)
    }

    /// Prepares a candidate and executes it for the first time; fails with the reason in a sentence.
    fn enter(
        &self,
        (place, configuration): (usize, Configuration),
        tried: &mut Tried,
        choice: &mut Choice,
        watch: &Watch<'_>,
    ) -> Result<Option<Leader>, String> {
        let Asked { memory, near_bytes, wake_s, .. } = &self.asked;
        let is_new = !self.side.has(SpmvProblem::spec(&configuration));
        let start = self.start.clone();
        let bound = bind_here(&configuration, &*self.side, start, *memory, *near_bytes);
        let Bound { task, parts, costs, params } = bound.map_err(|error| error.to_string())?;
        tried.conversion_s = costs.conversion_s;
        choice.conversion_s += costs.conversion_s;
        choice.plan_s += costs.plan_s;
        let wake_s = if parts.unwrap_or(1) > 1 { *wake_s } else { 0.0 };
        let from = Instant::now();
        let runner = Runner::new(task, wake_s, watch).map_err(|error| error.to_string())?;
        choice.trial_s += from.elapsed().as_secs_f64();
        let Some(runner) = runner else { return Ok(None) };
        tried.least_s = Some(runner.least_s);
        let bound = Bare { parts, costs, params };
        Ok(Some(Leader { runner, configuration, bound, place, is_new }))
    }

    /// Frees the format of a kernel that lost, unless others use it.
    fn forget(&self, loser: &Leader, winner: &Leader) {
        let of = |one: &Leader| SpmvProblem::spec(&one.configuration);
        if loser.is_new && of(loser) != of(winner) {
            self.side.forget(of(loser));
        }
    }
}

/// Seconds left for conversions and races after `spent_s`, if one SpMV of the serial kernel takes `serial_s`.
fn left_s(serial_s: f64, spent_s: f64) -> f64 {
    (MOST_PRODUCTS * serial_s - spent_s).clamp(AT_LEAST_S, 1e6)
}

/// The part of the conversion that another kernel already paid for.
fn already(tried: &Tried, entered: &Leader) -> Duration {
    let seconds = if entered.is_new { 0.0 } else { tried.conversion_s };
    Duration::try_from_secs_f64(seconds).unwrap_or_default()
}

fn refused(error: KernelError) -> PrepareError {
    PrepareError::Refused(error.to_string())
}

#[cfg(test)]
mod tests;
