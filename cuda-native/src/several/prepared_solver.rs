//! Conjugate gradients on several GPUs, ready to run.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::sync::Arc;

use sparsescope_core::experiment::solving::{Asked, ToldSetUp};
use sparsescope_core::experiment::{
    DeviceSystem, Elements, Executed, Finished, KernelError, LastOutput, Output, PrepareError,
    Prepared, Sampled, SetUp, Temperature, Ticket, Watch,
};
use sparsescope_core::memory::MemoryLimit;
use sparsescope_core::pcg::{SolveParameters, Start};
use sparsescope_core::record::{Costs, Distributed};

use super::pace::Pace;
use super::prepared_product::not_shared;
use super::product::Took;
use super::shared_out::{SharedOut, Source};
use super::solver::{LocalSolver, Told};
use super::team::Team;
use crate::clock::to_picoseconds;
use crate::device::DeviceError;
use crate::pcg::Ended;
use crate::refusal::refused;
use crate::sampling::{Execution, cold, hot};

/// Why a solve has no solution.
enum Failure {
    Cancelled,
    Device(DeviceError),
    /// Another reason, as a sentence.
    Other(String),
}

impl From<DeviceError> for Failure {
    fn from(error: DeviceError) -> Self {
        Self::Device(error)
    }
}

/// The result of a setup.
struct Made {
    number: u64,
    how: Arc<SolveParameters>,
    told: ToldSetUp,
    costs: Costs,
    record: Distributed,
}

/// A solver of a system on a team, to be set up.
pub(super) struct PreparedSolves<'p> {
    team: Arc<Team>,
    kernel: &'static str,
    asked: Asked<'p>,
    memory: MemoryLimit,
    params: BTreeMap<String, String>,
    made: Option<Made>,
    /// Seconds of the last solve, and of the one whose solution was requested.
    last: f64,
    once: Option<f64>,
    download_s: Option<f64>,
    repetitions: u32,
}

/// Solves, each after a reset, with a clock on each GPU.
struct Timed<'a> {
    team: &'a Team,
    number: u64,
    watch: &'a Watch<'a>,
    last: &'a mut f64,
}

impl Execution for Timed<'_> {
    type Error = Failure;

    fn is_in_place(&self) -> bool {
        true
    }

    fn reset(&mut self) -> Result<(), Failure> {
        let number = self.number;
        self.team.each(move |rank| {
            rank.with(number, |rank, solver: &mut LocalSolver| solver.reset(rank.device()))
        })?;
        Ok(())
    }

    fn flush(&mut self) -> Result<(), Failure> {
        self.team.each(|rank| rank.flush())?;
        Ok(())
    }

    /// Times one solve, ignoring the count: the next needs a reset.
    fn time(&mut self, _: u32) -> Result<f64, Failure> {
        let (number, watch) = (self.number, self.watch);
        let pace = Arc::new(Pace::default());
        let theirs = Arc::clone(&pace);
        let solve = move |rank: &mut super::rank::Rank| {
            rank.with(number, |rank, solver: &mut LocalSolver| {
                let finished = Cell::new(false);
                let seconds = rank.time(|| {
                    finished.set(solver.solve(rank, &theirs)?);
                    Ok(())
                })?;
                Ok((seconds, finished.get()))
            })
        };
        let mut meanwhile = || {
            if watch.is_cancelled() {
                pace.stop();
            }
            watch.tell(pace.share());
        };
        meanwhile();
        let solved = self.team.jointly_watched(solve, &mut meanwhile)?;
        if solved.iter().any(|&(_, finished)| !finished) {
            return Err(Failure::Cancelled);
        }
        let seconds = solved.into_iter().map(|(seconds, _)| seconds).fold(0.0, f64::max);
        *self.last = seconds;
        Ok(seconds)
    }
}

impl<'p> PreparedSolves<'p> {
    /// Does not run the setup yet.
    pub(super) fn new(
        team: Arc<Team>,
        kernel: &'static str,
        asked: Asked<'p>,
        params: BTreeMap<String, String>,
        memory: MemoryLimit,
    ) -> Self {
        let (made, once, download_s) = Default::default();
        let (last, repetitions) = (0.0, 1);
        Self { team, kernel, asked, memory, params, made, last, once, download_s, repetitions }
    }

    fn failed(&self, failure: Failure) -> KernelError {
        let reason = match failure {
            Failure::Cancelled => "it was cancelled".to_owned(),
            Failure::Device(error) => error.to_string(),
            Failure::Other(sentence) => sentence,
        };
        KernelError { kernel: self.kernel.to_owned(), reason }
    }

    fn not_set_up() -> Failure {
        Failure::Other("it was not set up".to_owned())
    }

    fn timed<'a>(&'a mut self, watch: &'a Watch<'a>) -> Result<Timed<'a>, Failure> {
        let number = self.made.as_ref().ok_or_else(Self::not_set_up)?.number;
        Ok(Timed { team: &self.team, number, watch, last: &mut self.last })
    }

    /// The last solution, with its facts.
    fn solution(&mut self) -> Result<Output, Failure> {
        let made = self.made.as_ref().ok_or_else(Self::not_set_up)?;
        let (ended, x, download_s) = told(&self.team, made.number)?.map_err(Failure::Other)?;
        self.download_s = Some(download_s);
        let recurrence = ended.with(x, made.how.tol, self.last);
        let a = self.asked.problem().a();
        let solved = recurrence.checked(a, &self.asked.b());
        Ok(Output::Solution(Box::new(made.told.solution(&self.asked, &solved))))
    }

    fn samples(
        &mut self,
        n: usize,
        temperature: Temperature,
        watch: &Watch<'_>,
    ) -> Result<Vec<f64>, KernelError> {
        let (once, stop) = (self.once, || watch.is_cancelled());
        let samples = self.timed(watch).and_then(|mut timed| match temperature {
            Temperature::Hot => hot(&mut timed, n, once, &stop),
            Temperature::Cold => cold(&mut timed, n, once, &stop),
        });
        match samples {
            Ok(samples) => {
                self.repetitions = self.repetitions.max(samples.repetitions);
                Ok(samples.seconds.into_iter().map(to_picoseconds).collect())
            }
            Err(Failure::Cancelled) => Ok(Vec::new()),
            Err(failure) => Err(self.failed(failure)),
        }
    }

    /// A solution with its facts; `None` if it was stopped.
    fn executed(&mut self, watch: &Watch<'_>) -> Result<Option<Output>, KernelError> {
        // Non-finite numbers are reported as the CPU kernels report them.
        let how = self.asked.how(false, MemoryLimit::unlimited());
        let admitted = how.admit(self.asked.problem().a().rows(), &self.asked.b());
        admitted.map_err(|error| self.failed(Failure::Other(error.to_string())))?;
        let solved = self.timed(watch).and_then(|mut timed| {
            timed.reset()?;
            timed.time(1)
        });
        match solved {
            Ok(seconds) => self.once = Some(to_picoseconds(seconds)),
            Err(Failure::Cancelled) => return Ok(None),
            Err(failure) => return Err(self.failed(failure)),
        }
        self.solution().map(Some).map_err(|failure| self.failed(failure))
    }

    fn made(&self) -> Result<(Made, Option<String>), PrepareError> {
        let a = Arc::clone(self.asked.problem().a());
        let source: Source = a;
        let how = Arc::new(self.asked.how(false, self.memory));
        let start = match &how.start {
            Start::Given(x) => Some(elements(Arc::new(x.clone()))),
            Start::Zero | Start::Preconditioned => None,
        };
        let system = DeviceSystem {
            b: elements(self.asked.b()),
            start,
            applied: self.asked.applied(),
            format: self.asked.format_of_a(),
            how: Arc::clone(&how),
        };
        let set_up = set_up(&self.team, &source, &system, self.memory)?;
        let SetUpAll { number, took, diagonal_s, no_graph, record } = set_up;
        let phases = [("diagonal", diagonal_s)];
        let phases = if diagonal_s > 0.0 { &phases[..] } else { &[] };
        let told = ToldSetUp::new(self.asked.applied(), phases, None, diagonal_s);
        let costs = Costs {
            conversion_s: took.conversion_s,
            plan_s: record.plan_s,
            upload_s: Some(took.spent.upload_s),
            allocate_s: Some(took.spent.allocate_s),
            format_bytes: took.bytes,
            ..Costs::default()
        };
        Ok((Made { number, how, told, costs, record }, no_graph))
    }
}

/// A setup on all GPUs.
pub(super) struct SetUpAll {
    pub(super) number: u64,
    pub(super) took: Took,
    /// Seconds of computing the reciprocals of the diagonal, on the slowest GPU.
    pub(super) diagonal_s: f64,
    pub(super) no_graph: Option<String>,
    pub(super) record: Distributed,
}

/// Sets up solves of a system on all GPUs, each of which generates its own rows.
pub(super) fn set_up(
    team: &Team,
    source: &Source,
    system: &DeviceSystem,
    memory: MemoryLimit,
) -> Result<SetUpAll, PrepareError> {
    let shared = SharedOut::among(team, source, memory).map_err(|error| not_shared(&error))?;
    // p·q, then r·r and r·z together.
    let record = Distributed { reductions: Some(2), ..shared.record.clone() };
    let (number, shared, system) = (team.number(), Arc::new(shared), system.clone());
    let set_up = team.jointly(move |rank| {
        let held = shared.take(rank.number())?;
        let (mut solver, set_up) = LocalSolver::of(rank, held, &system, memory)?;
        let no_graph = solver.rehearse(rank)?;
        rank.hold(number, solver);
        Ok((set_up, no_graph))
    });
    let set_up = set_up.map_err(refused)?;
    let all: Vec<Took> = set_up.iter().map(|(one, _)| one.took).collect();
    let diagonal_s = set_up.iter().map(|(one, _)| one.diagonal_s).fold(0.0, f64::max);
    let no_graph = set_up.into_iter().find_map(|(_, no_graph)| no_graph);
    Ok(SetUpAll { number, took: Took::of_all(&all), diagonal_s, no_graph, record })
}

/// The result of the last solve on all GPUs, combined, or what is wrong with it.
pub(super) fn told(team: &Team, number: u64) -> Result<Result<Whole, String>, DeviceError> {
    let told = team
        .each(move |rank| rank.with(number, |rank, solver: &mut LocalSolver| solver.told(rank)))?;
    Ok(together(told))
}

/// Resets, solves, and returns the seconds of the solve; `None` if it was stopped.
pub(super) fn solve(
    team: &Team,
    number: u64,
    watch: &Watch<'_>,
) -> Result<Option<f64>, DeviceError> {
    let mut last = 0.0;
    let mut timed = Timed { team, number, watch, last: &mut last };
    match timed.reset().and_then(|()| timed.time(1)) {
        Ok(seconds) => Ok(Some(seconds)),
        Err(Failure::Device(error)) => Err(error),
        Err(Failure::Cancelled | Failure::Other(_)) => Ok(None),
    }
}

/// The iteration record, x, and the seconds of copying it.
type Whole = (Ended, Vec<f64>, f64);

/// Elements of a vector that the host holds.
pub(super) fn elements(of: Arc<Vec<f64>>) -> Elements {
    Arc::new(move |range| {
        let (start, end) = (range.start as usize, range.end as usize);
        of.get(start..end).map(<[f64]>::to_vec).unwrap_or_default()
    })
}

/// Combines the results of all ranks, whose iterations must be equal: the iteration record, x, and
/// the seconds of copying it.
fn together(told: Vec<Told>) -> Result<Whole, String> {
    let mut ended: Option<Ended> = None;
    let (mut x, mut download_s) = (Vec::new(), 0f64);
    for (rank, one) in told.into_iter().enumerate() {
        let this = one.ended.map_err(|error| error.to_string())?;
        match &ended {
            None => ended = Some(this),
            Some(first) if first.has_bits_of(&this) => {}
            Some(_) => {
                return Err(format!(
                    "GPUs {rank} and 0 computed different residuals, so the result is invalid"
                ));
            }
        }
        x.extend(one.x?);
        download_s = download_s.max(one.download_s);
    }
    ended.map(|ended| (ended, x, download_s)).ok_or_else(|| "no GPU returned a solution".to_owned())
}

impl Prepared for PreparedSolves<'_> {
    fn set_up<'t>(&'t mut self, _: &'t Watch<'_>) -> SetUp<'t> {
        Ticket::at_once(|| {
            let (made, no_graph) = self.made()?;
            if let Some(why) = no_graph {
                self.params.insert("graph".to_owned(), format!("none: {why}"));
            }
            self.made = Some(made);
            Ok(Finished::Done)
        })
    }

    fn sample<'t>(
        &'t mut self,
        n: usize,
        temperature: Temperature,
        watch: &'t Watch<'_>,
    ) -> Sampled<'t> {
        Ticket::at_once(|| self.samples(n, temperature, watch))
    }

    fn output<'t>(&'t mut self, watch: &'t Watch<'_>) -> Executed<'t> {
        Ticket::at_once(|| self.executed(watch))
    }

    fn last_output(&mut self) -> LastOutput<'_> {
        Ticket::at_once(|| self.solution().map_err(|failure| self.failed(failure)))
    }

    fn once(&self) -> Option<f64> {
        self.once
    }

    fn repetitions(&self) -> u32 {
        self.repetitions
    }

    fn parts(&self) -> Option<usize> {
        None
    }

    fn costs(&self) -> Costs {
        let costs = self.made.as_ref().map(|made| made.costs.clone()).unwrap_or_default();
        Costs { download_s: self.download_s, ..costs }
    }

    fn params(&self) -> BTreeMap<String, String> {
        self.params.clone()
    }

    fn distributed(&mut self) -> Option<Distributed> {
        self.made.as_ref().map(|made| made.record.clone())
    }
}

impl Drop for PreparedSolves<'_> {
    fn drop(&mut self) {
        if let Some(Made { number, .. }) = self.made {
            // What cannot be released in order is dropped with the team.
            let _ = self.team.each(move |rank| rank.forget(number));
        }
    }
}
