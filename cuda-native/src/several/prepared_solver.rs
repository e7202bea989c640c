//! Conjugate gradients on several GPUs, ready to run.

use std::collections::BTreeMap;
use std::sync::Arc;

use sparsescope_core::experiment::solving::{Asked, ToldSetUp};
use sparsescope_core::experiment::{DeviceSystem, Elements, PrepareError, Watch};
use sparsescope_core::memory::MemoryLimit;
use sparsescope_core::order;
use sparsescope_core::pcg::{Recurrence, SolveParameters, Start};
use sparsescope_core::record::{Costs, Distributed};

use super::held::Held;
use super::pace::Pace;
use super::prepared_product::not_shared;
use super::product::Took;
use super::rank::Rank;
use super::shared_out::{SharedOut, Source};
use super::solver::{LocalSolver, Told};
use super::team::Team;
use crate::device::DeviceError;
use crate::pcg::Ended;
use crate::refusal::refused;
use crate::solves::{Failure, Made, PreparedSolver, Solves};

/// A solver of a system on a team, set up.
pub(super) struct OnTeam {
    held: Held<LocalSolver>,
    how: Arc<SolveParameters>,
    record: Distributed,
    no_graph: Option<String>,
}

impl Solves for OnTeam {
    fn reset(&mut self) -> Result<(), Failure> {
        Ok(reset(&self.held)?)
    }

    fn flush(&mut self) -> Result<(), Failure> {
        self.held.each(|rank, _| rank.flush())?;
        Ok(())
    }

    fn time(&mut self, watch: &Watch<'_>) -> Result<f64, Failure> {
        timed(&self.held, watch)?.ok_or(Failure::Cancelled)
    }

    fn told(&mut self, seconds: f64) -> Result<(Recurrence, f64), Failure> {
        let (ended, x, download_s) = told(&self.held)??;
        Ok((ended.with(x, self.how.tol, seconds), download_s))
    }

    fn params(&self) -> BTreeMap<String, String> {
        let told = self.no_graph.iter().map(|why| ("graph".to_owned(), format!("none: {why}")));
        order::map(told)
    }

    fn distributed(&self) -> Option<Distributed> {
        Some(self.record.clone())
    }
}

/// Solves of a team, to be set up.
pub(super) fn prepared<'p>(
    team: Arc<Team>,
    kernel: &'static str,
    asked: Asked<'p>,
    params: BTreeMap<String, String>,
    memory: MemoryLimit,
) -> PreparedSolver<'p, OnTeam> {
    let set_up = move |asked: &Asked<'p>, _: &Watch<'_>| made(&team, asked, memory).map(Some);
    PreparedSolver::new(None, kernel, asked, params, Box::new(set_up))
}

fn made(
    team: &Arc<Team>,
    asked: &Asked<'_>,
    memory: MemoryLimit,
) -> Result<Made<OnTeam>, PrepareError> {
    let a = Arc::clone(asked.problem().a());
    let source: Source = a;
    let how = Arc::new(asked.how(false, memory));
    let start = match &how.start {
        Start::Given(x) => Some(elements(Arc::new(x.clone()))),
        Start::Zero | Start::Preconditioned => None,
    };
    let system = DeviceSystem {
        b: elements(asked.b()),
        start,
        applied: asked.applied(),
        format: asked.format_of_a(),
        how: Arc::clone(&how),
    };
    let set_up = set_up(team, &source, &system, memory)?;
    let SetUpAll { held, took, diagonal_s, no_graph, record } = set_up;
    let phases = [("diagonal", diagonal_s)];
    let phases = if diagonal_s > 0.0 { &phases[..] } else { &[] };
    let told = ToldSetUp::new(asked.applied(), phases, None, diagonal_s);
    let costs = Costs {
        conversion_s: took.conversion_s,
        plan_s: record.plan_s,
        upload_s: Some(took.spent.upload_s),
        allocate_s: Some(took.spent.allocate_s),
        format_bytes: took.bytes,
        ..Costs::default()
    };
    Ok((OnTeam { held, how, record, no_graph }, told, costs))
}

/// A setup on all GPUs.
pub(super) struct SetUpAll {
    pub(super) held: Held<LocalSolver>,
    pub(super) took: Took,
    /// Seconds of computing the reciprocals of the diagonal, on the slowest GPU.
    pub(super) diagonal_s: f64,
    pub(super) no_graph: Option<String>,
    pub(super) record: Distributed,
}

/// Sets up solves of a system on all GPUs, each of which generates its own rows.
pub(super) fn set_up(
    team: &Arc<Team>,
    source: &Source,
    system: &DeviceSystem,
    memory: MemoryLimit,
) -> Result<SetUpAll, PrepareError> {
    let shared = SharedOut::among(team, source, memory).map_err(|error| not_shared(&error))?;
    // p·q, then r·r and r·z together.
    let record = Distributed { reductions: Some(2), ..shared.record.clone() };
    let (number, shared, system) = (team.number(), Arc::new(shared), system.clone());
    let set_up = team.jointly(move |rank| {
        let rows = shared.take(rank.number())?;
        let (mut solver, set_up) = LocalSolver::of(rank, rows, &system, memory)?;
        let no_graph = solver.rehearse(rank)?;
        rank.hold(number, solver);
        Ok((set_up, no_graph))
    });
    let set_up = set_up.map_err(refused)?;
    let held = Held::of(Arc::clone(team), number);
    let all: Vec<Took> = set_up.iter().map(|(one, _)| one.took).collect();
    let diagonal_s = set_up.iter().map(|(one, _)| one.diagonal_s).fold(0.0, f64::max);
    let no_graph = set_up.into_iter().find_map(|(_, no_graph)| no_graph);
    Ok(SetUpAll { held, took: Took::of_all(&all), diagonal_s, no_graph, record })
}

/// The result of the last solve on all GPUs, combined, or what is wrong with it.
pub(super) fn told(held: &Held<LocalSolver>) -> Result<Result<Whole, Failure>, DeviceError> {
    Ok(together(held.each(|rank, solver| solver.told(rank))?))
}

/// Resets, solves, and returns the seconds of the solve; `None` if it was stopped.
pub(super) fn solve(
    held: &Held<LocalSolver>,
    watch: &Watch<'_>,
) -> Result<Option<f64>, DeviceError> {
    reset(held)?;
    timed(held, watch)
}

/// Undoes the changes of a solve.
fn reset(held: &Held<LocalSolver>) -> Result<(), DeviceError> {
    held.each(|rank, solver| solver.reset(rank.device())).map(|_| ())
}

/// Solves with a clock on each GPU, and returns the seconds of the slowest; `None` if it was
/// stopped.
fn timed(held: &Held<LocalSolver>, watch: &Watch<'_>) -> Result<Option<f64>, DeviceError> {
    let pace = Arc::new(Pace::default());
    let theirs = Arc::clone(&pace);
    let mut meanwhile = || {
        if watch.is_cancelled() {
            pace.stop();
        }
        watch.tell(pace.share());
    };
    meanwhile();
    let solve = move |rank: &Rank, solver: &mut LocalSolver| {
        let mut finished = false;
        let seconds = rank.time(|| {
            finished = solver.solve(rank, &theirs)?;
            Ok(())
        })?;
        Ok((seconds, finished))
    };
    let solved = held.jointly_watched(solve, &mut meanwhile)?;
    if solved.iter().any(|&(_, finished)| !finished) {
        return Ok(None);
    }
    Ok(Some(solved.into_iter().map(|(seconds, _)| seconds).fold(0.0, f64::max)))
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
fn together(told: Vec<Told>) -> Result<Whole, Failure> {
    let mut ended: Option<Ended> = None;
    let (mut x, mut download_s) = (Vec::new(), 0f64);
    for (rank, one) in told.into_iter().enumerate() {
        let this = one.ended?;
        match &ended {
            None => ended = Some(this),
            Some(first) if first.has_bits_of(&this) => {}
            Some(_) => {
                return Err(Failure::Beside(format!(
                    "GPUs {rank} and 0 computed different residuals, so the result is invalid"
                )));
            }
        }
        x.extend(one.x.map_err(Failure::Beside)?);
        download_s = download_s.max(one.download_s);
    }
    let none = || Failure::Beside("no GPU returned a solution".to_owned());
    ended.map(|ended| (ended, x, download_s)).ok_or_else(none)
}
