//! A system and what solves it, ready to be executed with all other ranks.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use super::applied::Applied;
use super::asked::{About, Side, checked, how, right_side};
use super::factor::{Factors, Making};
use super::system::System;
use super::{classic, pipelined, single};
use crate::distributed::LocalMatrix;
use crate::experiment::solving::{Applied as Asked, ToldSetUp, inverse_of};
use crate::experiment::{DeviceFailure, Solution};
use crate::fsai::{FsaiParameters, SetUp};
use crate::kernel::{Parameter, Parameters};
use crate::matrix::{FormatSpec, HllLayout, Order};
use crate::memory::MemoryLimit;
use crate::mpi::agreed::agreed;
use crate::mpi::exchange::Exchange;
use crate::mpi::links;
use crate::mpi::matrix::SharedMatrix;
use crate::mpi::product::{Product, Spent};
use crate::mpi::reduction::Reduction;
use crate::mpi::task::{Task, Traffic};
use crate::mpi::world::World;
use crate::pcg::{Recurrence, SolveParameters};
use crate::record::{Check, PairTraffic, Verdict};

/// Which iteration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Iteration {
    Classic,
    Single,
    Pipelined,
}

/// Conjugate gradients for a system of which the rank has its rows.
pub(in crate::mpi) struct Solver<'c> {
    system: System,
    iteration: Iteration,
    how: SolveParameters,
    told: ToldSetUp,
    /// What is sent in an iteration, A's halo and those of the factors.
    pairs: Vec<PairTraffic>,
    about_b: About,
    cancel: &'c AtomicBool,
    /// What the last solve gave that was not stopped.
    solved: Option<Recurrence>,
    solution: Option<Solution>,
    /// Bytes of A and of the factors in their formats.
    pub(in crate::mpi) format_bytes: u64,
}

/// What a solver is made with, the same on all ranks.
#[derive(Clone, Copy)]
pub(in crate::mpi) struct Wanted<'w, 'c> {
    pub(in crate::mpi) parameters: &'w Parameters,
    /// Of so many threads.
    pub(in crate::mpi) pool: &'w rayon::ThreadPool,
    pub(in crate::mpi) near_bytes: u64,
    pub(in crate::mpi) limit: MemoryLimit,
    pub(in crate::mpi) cancel: &'c AtomicBool,
}

impl<'c> Solver<'c> {
    /// Sets the preconditioner up. Nothing where any rank was told to
    /// stop; fails on all ranks alike.
    pub(in crate::mpi) fn new(
        world: &World,
        matrix: &SharedMatrix,
        wanted: Wanted<'_, 'c>,
    ) -> Result<Option<Self>, String> {
        let Wanted { parameters, pool, near_bytes, limit, cancel } = wanted;
        let word = |parameter| parameters.get(parameter).unwrap_or_default();
        let (iteration, vectors) = match word(Parameter::Cg).as_str() {
            "single" => (Iteration::Single, single::VECTORS),
            "pipelined" => (Iteration::Pipelined, pipelined::VECTORS),
            _ => (Iteration::Classic, classic::VECTORS),
        };
        let local = matrix.local();
        let Side { b, about: about_b } = right_side(world, matrix, parameters)?;
        let needed = 8 * u128::from(6 + vectors) * local.own_rows() as u128;
        agreed(world, limit.check("the vectors of conjugate gradients", needed))?;

        let exchange =
            Exchange::new(world, matrix.plan().clone(), matrix.x().to_vec(), local.halo().len());
        let spec = format(&word(Parameter::FormatA));
        let threads = (pool.current_num_threads(), near_bytes);
        let a = pool.install(|| Product::new(local, exchange, (spec, true), threads, limit));
        let mut a = agreed(world, a)?;
        // The halo is held against x made by index before anything is built on it.
        Product::spoil(&mut a);
        pool.install(|| a.run());
        let check = Task::check(&mut a, world, matrix);
        if check.verdict != Verdict::Pass {
            return Err(format!("its product is wrong: {}", check.reason.unwrap_or_default()));
        }

        let begun = Instant::now();
        let making = Making {
            world,
            local,
            partition: matrix.partition(),
            spec: format(&word(Parameter::FormatG)),
            pool,
            near_bytes,
            limit,
        };
        let applied = Asked::of(parameters);
        let mut sent: Vec<(usize, u64)> = matrix.plan().bytes_sent(size_of::<f64>()).collect();
        let mut format_bytes = a.format_bytes;
        let (k, report) = match applied {
            Asked::None => (Applied::None, None),
            Asked::Jacobi => (Applied::jacobi(local), None),
            Asked::Symgs => return Err("sweeps run in one process".to_owned()),
            Asked::Fsai => {
                let asked = inverse_of(parameters);
                let cancelled = || cancel.load(Ordering::Relaxed);
                let Some((factors, mut report)) = Factors::set_up(making, &asked, &cancelled)?
                else {
                    return Ok(None);
                };
                report.entries_prefiltered = prefiltered(local, &mut a, &asked);
                sent.extend(factors.bytes_sent());
                format_bytes += factors.bytes();
                (Applied::Fsai(Box::new(factors)), Some(of_all(world, report)))
            }
        };
        let phases: Vec<(&str, f64)> = match &report {
            Some(report) => report.phases.iter().map(|phase| (phase.name, phase.seconds)).collect(),
            None if applied == Asked::Jacobi => vec![("diagonal", begun.elapsed().as_secs_f64())],
            None => Vec::new(),
        };
        let setup_s = world.max(begun.elapsed().as_secs_f64());
        let told = ToldSetUp::new(applied, &phases, report.as_ref(), setup_s);
        let how = how(parameters);
        let (reduction, spent) = (Reduction::new(world), Spent::default());
        let pairs = links::traffic(world, sent.iter().copied());
        Ok(Some(Self {
            system: System { a, k, b, reduction, spent },
            iteration,
            how,
            told,
            pairs,
            about_b,
            cancel,
            solved: None,
            solution: None,
            format_bytes,
        }))
    }

    /// Seconds of the preconditioner's set-up, on the slowest rank.
    pub(in crate::mpi) fn setup_s(&self) -> f64 {
        self.told.setup_s()
    }
}

impl Task for Solver<'_> {
    fn spoil(&mut self) {
        (self.solved, self.solution) = (None, None);
    }

    fn run(&mut self) -> Result<Option<Spent>, DeviceFailure> {
        self.system.spent = Spent::default();
        let begun = Instant::now();
        let (system, how, cancel) = (&mut self.system, &self.how, self.cancel);
        let solved = match self.iteration {
            Iteration::Classic => classic::classic(system, how, cancel),
            Iteration::Single => single::single(system, how, cancel),
            Iteration::Pipelined => pipelined::pipelined(system, how, cancel),
        };
        let solved = solved.map_err(|error| DeviceFailure::Alike(error.to_string()))?;
        let Spent { packing, waiting, .. } = self.system.spent;
        let computing = begun.elapsed().as_secs_f64() - packing - waiting;
        if solved.cancelled {
            return Ok(None);
        }
        self.solved = Some(solved);
        Ok(Some(Spent { computing, packing, waiting }))
    }

    fn check(&mut self, world: &World, matrix: &SharedMatrix) -> Check {
        let Some(solved) = self.solved.clone() else { return Check::default() };
        let norms = self.system.residual(matrix.local(), &solved.x);
        let told = (&self.told, self.about_b);
        let (check, solution) = checked(world, matrix, told, (solved, norms));
        self.solution = Some(solution);
        check
    }

    fn solution(&self) -> Option<&Solution> {
        self.solution.as_ref()
    }

    fn traffic(&self, _: &SharedMatrix) -> Traffic {
        let reductions = match self.iteration {
            Iteration::Classic => classic::REDUCTIONS,
            Iteration::Single => single::REDUCTIONS,
            Iteration::Pipelined => pipelined::REDUCTIONS,
        };
        Traffic { transport: "mpi", pairs: self.pairs.clone(), reductions: Some(reductions) }
    }

    fn is_short(&self) -> bool {
        false
    }
}

/// The format that a word names.
fn format(word: &str) -> FormatSpec {
    match word {
        "hll" => FormatSpec::Hll(HllLayout {
            hack_size: crate::matrix::DEFAULT_HACK_SIZE,
            order: Order::ColumnMajor,
            sigma: 1,
            spill: None,
        }),
        _ => FormatSpec::Csr,
    }
}

/// The rank's entries of Ã, of which its patterns do not need those above its rows.
fn prefiltered(local: &LocalMatrix, a: &mut Product, asked: &FsaiParameters) -> u64 {
    let inside = local.interior().rows();
    let row = |i: usize| match i.checked_sub(inside) {
        Some(i) => local.boundary().row(i),
        None => local.interior().row(i),
    };
    let on_diagonal = |i: usize| {
        let (col, val) = row(i);
        let at = col.binary_search(&(i as u32));
        at.map_or(0.0, |at| val[at] * (1.0 + asked.shift))
    };
    let own: Vec<f64> = (0..local.own_rows()).map(on_diagonal).collect();
    let diagonal = a.with_halo(&own);
    let delta = asked.prefilter;
    let kept = |i: usize| {
        let (col, val) = row(i);
        let is_kept = |&(&c, &v): &(&u32, &f64)| match c as usize {
            c if c == i => true,
            c if delta > 0.0 => v * v > delta * diagonal[i] * diagonal[c],
            _ => v != 0.0,
        };
        col.iter().zip(val).filter(is_kept).count() as u64
    };
    (0..local.own_rows()).map(kept).sum()
}

/// What all ranks' set-ups made, and the longest that each phase took.
fn of_all(world: &World, own: SetUp) -> SetUp {
    let seconds: Vec<u64> = own.phases.iter().map(|phase| phase.seconds.to_bits()).collect();
    let all = world.all_lists(&seconds);
    let phases = own.phases.iter().enumerate().map(|(k, phase)| {
        let of_rank = |list: &Vec<u64>| list.get(k).copied().map_or(0.0, f64::from_bits);
        crate::fsai::Phase { seconds: all.iter().map(of_rank).fold(0.0, f64::max), ..*phase }
    });
    SetUp {
        phases: phases.collect(),
        entries_prefiltered: world.sum(own.entries_prefiltered),
        entries_pattern: world.sum(own.entries_pattern),
        entries_before_filter: world.sum(own.entries_before_filter),
        entries: world.sum(own.entries),
        systems: world.sum(own.systems),
        largest: world.most(own.largest),
        ..own
    }
}
