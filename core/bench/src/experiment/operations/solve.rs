//! A·x = b with a symmetric positive definite A as a problem: the system, the user's input for it, and when a
//! solution passes.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use crate::experiment::configuration::Configuration;
use crate::experiment::output::Output;
use crate::experiment::problem::Problem;
use crate::experiment::resident::Resident;
use crate::measure::uniform_vector;
use sparsescope_kernels::fsai::Fsai;
use sparsescope_kernels::gate::{solved, vanishes};
use sparsescope_kernels::pcg::{Magnitude, Scale, check_spd};
use sparsescope_matrix::matrix::Csr;
use sparsescope_matrix::memory::{MemoryError, MemoryLimit};
use sparsescope_matrix::parallel::*;
use sparsescope_model::kernel::parameters::{
    FORMAT_A, PATTERN, POWER, PRECOND, RIGHT_SIDE, START, TOL,
};
use sparsescope_model::kernel::{Applied, Parameter, Parameters, RightSide, SolverFormat};
use sparsescope_record::{Check, Operation, Work};

/// A·x = b, A symmetric and positive definite.
#[derive(Debug)]
pub struct SolveProblem {
    a: Arc<Csr>,
    given: Given,
    /// The right-hand sides made so far, by name.
    sides: Mutex<BTreeMap<String, Arc<Side>>>,
    /// The CPU's last setup.
    factor: Mutex<Option<Arc<Fsai>>>,
    wants_g: bool,
    /// G of the last setup, if it is known here.
    g: Mutex<Option<Arc<Csr>>>,
    /// The factor of another matrix whose pattern the first setup takes, and whether to reuse its filter.
    kept: Mutex<Option<(Arc<Fsai>, bool)>>,
}

/// User input that replaces parameters.
#[derive(Clone, Debug, Default)]
pub struct Given {
    /// The right-hand side, one element per row.
    pub b: Option<Arc<Vec<f64>>>,
    /// The initial guess, one element per row.
    pub start: Option<Arc<Vec<f64>>>,
    /// The pattern of a factorised sparse approximate inverse.
    pub pattern: Option<Arc<Csr>>,
    /// Its factor G.
    pub factor: Option<Arc<Csr>>,
}

/// A right-hand side.
#[derive(Debug)]
struct Side {
    /// As given or made, and as solved for, in another unit.
    b: Arc<Vec<f64>>,
    scaled: Arc<Vec<f64>>,
    scale: Scale,
    /// Why it is unusable, in a sentence.
    vanishes: Option<String>,
}

/// The name that files use for the user's input.
const GIVEN: &str = "file";

impl SolveProblem {
    /// Fails if the vectors that the problem keeps besides A need more than `limit`; called before the first
    /// of them is allocated. A one-line file may declare any number of columns.
    pub fn check_vectors(a: &Csr, limit: MemoryLimit) -> Result<(), MemoryError> {
        // b, x, and the vectors of the iteration.
        limit.check("the solve with b, x and its check", 8 * 8 * a.rows() as u128)
    }

    /// The problem of a symmetric matrix with a positive diagonal; fails with a sentence for any other
    /// matrix. Panics unless given vectors have one element per row.
    pub fn new(a: Arc<Csr>, given: Given) -> Result<Self, String> {
        check_spd(&a).map_err(|error| error.to_string())?;
        for vector in [&given.b, &given.start].into_iter().flatten() {
            assert_eq!(vector.len(), a.rows(), "b and x have one element a row");
        }
        let (sides, factor, g, kept) = Default::default();
        Ok(Self { a, given, sides, factor, wants_g: false, g, kept })
    }

    /// The same, where the next setup of a factor takes pattern and groups of one made for another matrix and
    /// recomputes its values; with `keep_filter` it also drops what that one dropped.
    pub fn reusing(self, factor: Arc<Fsai>, keep_filter: bool) -> Self {
        *lock(&self.kept) = Some((factor, keep_filter));
        self
    }

    /// The same, where a setup leaves G to be read, wherever it was made.
    pub fn keeping_g(self) -> Self {
        Self { wants_g: true, ..self }
    }

    /// Whether G will be read after the setup.
    pub fn is_g_wanted(&self) -> bool {
        self.wants_g
    }

    /// A, n × n.
    pub fn a(&self) -> &Arc<Csr> {
        &self.a
    }

    /// User input that replaces parameters.
    pub fn given(&self) -> &Given {
        &self.given
    }

    /// The right-hand side that the parameters name, unless one is given: A·1, whose solution is known, ones,
    /// or A·z.
    pub fn b(&self, parameters: &Parameters) -> Arc<Vec<f64>> {
        Arc::clone(&self.side(parameters).b)
    }

    /// The right-hand side in the unit in which the system is solved, and that unit: it differs by a power of
    /// two, so that no digits are lost.
    pub fn scaled_b(&self, parameters: &Parameters) -> (Arc<Vec<f64>>, Scale) {
        let side = self.side(parameters);
        (Arc::clone(&side.scaled), side.scale)
    }

    fn side(&self, parameters: &Parameters) -> Arc<Side> {
        let word = match &self.given.b {
            Some(_) => GIVEN.to_owned(),
            None => parameters.get(&RIGHT_SIDE).to_string(),
        };
        let mut sides = lock(&self.sides);
        let side =
            sides.entry(word).or_insert_with(|| Arc::new(self.made(parameters.get(&RIGHT_SIDE))));
        Arc::clone(side)
    }

    /// The right-hand side of this name, or the given one.
    fn made(&self, words: RightSide) -> Side {
        let (n, a) = (self.a.rows(), &self.a);
        let norm = |v: &[f64]| Magnitude::of(v.iter().copied());
        let sums = |of: fn(f64) -> f64| -> Vec<f64> {
            (0..n).into_par_iter().map(|i| a.row(i).1.iter().map(|&v| of(v)).sum()).collect()
        };
        let mut hidden = None;
        let b = match (&self.given.b, words) {
            (Some(given), _) => Arc::clone(given),
            (None, RightSide::Ones) => Arc::new(vec![1.0; n]),
            (None, RightSide::TimesOnes) => {
                let b = sums(|v| v);
                hidden = vanishes(norm(&b).norm(), norm(&sums(f64::abs)).norm());
                Arc::new(b)
            }
            (None, RightSide::Range(seed)) => {
                let z = uniform_vector(n, seed);
                let row = |i: usize| {
                    let (col, val) = a.row(i);
                    col.iter().zip(val).map(|(&c, v)| v * z[c as usize]).sum::<f64>()
                };
                Arc::new((0..n).into_par_iter().map(row).collect())
            }
        };
        let start = self.given.start.as_deref().map(Vec::as_slice);
        let scale = Scale::of(norm(&b), a, start);
        let scaled = match scale.is_one() {
            true => Arc::clone(&b),
            false => Arc::new(b.iter().map(|&value| scale.there(value)).collect()),
        };
        Side { b, scaled, scale, vanishes: hidden }
    }

    /// The effective parameters as files record them: includes defaults, omits those without effect.
    pub fn params(&self, configuration: &Configuration) -> BTreeMap<String, String> {
        let mut params = configuration.kernel.in_force(&configuration.parameters);
        let Given { b, start, pattern, factor } = &self.given;
        let mut give = |parameter: Parameter, is_given: bool| {
            if let Some(value) = params.get_mut(parameter.name()).filter(|_| is_given) {
                GIVEN.clone_into(value);
            }
        };
        give(RIGHT_SIDE.id(), b.is_some());
        give(START.id(), start.is_some());
        give(PATTERN.id(), pattern.is_some());
        if pattern.is_some() || factor.is_some() {
            params.retain(|name, _| !["power", "prefilter"].contains(&name.as_str()));
        }
        if factor.is_some() {
            let of_set_up = ["pattern", "postfilter", "merge", "merge_block", "shift", "set_up"];
            params.retain(|name, _| !of_set_up.contains(&name.as_str()));
        }
        params
    }

    /// Whether the next setup takes an existing pattern.
    #[cfg(not(target_family = "wasm"))]
    pub(in crate::experiment) fn has_kept(&self) -> bool {
        lock(&self.kept).is_some()
    }

    /// The CPU's last setup, or the given factor; `None` if there is neither.
    pub fn factor(&self) -> Option<Arc<Fsai>> {
        lock(&self.factor).clone()
    }

    #[cfg(not(target_family = "wasm"))]
    pub(in crate::experiment) fn take_kept(&self) -> Option<(Arc<Fsai>, bool)> {
        lock(&self.kept).take()
    }

    #[cfg(not(target_family = "wasm"))]
    pub(in crate::experiment) fn keep(&self, factor: &Arc<Fsai>) {
        *lock(&self.factor) = Some(Arc::clone(factor));
        self.keep_g(factor.g());
    }

    #[cfg(not(target_family = "wasm"))]
    pub(in crate::experiment) fn keep_g(&self, g: &Arc<Csr>) {
        *lock(&self.g) = Some(Arc::clone(g));
    }

    /// The factor G of the last setup, or the given one; `None` if none has been made, or if a device keeps
    /// it.
    pub fn g(&self) -> Option<Arc<Csr>> {
        lock(&self.g).clone()
    }
}

impl Problem for SolveProblem {
    fn operation(&self) -> Operation {
        Operation::Solve
    }

    fn is_empty(&self) -> bool {
        self.a.rows() == 0
    }

    /// An estimate: the nonzeros of a factor are known only once it has been made, and its setup allocates
    /// its memory itself.
    fn resident(&self, configuration: &Configuration, _: MemoryLimit) -> Vec<Resident> {
        let (parameters, a) = (&configuration.parameters, &self.a);
        let mut resident = Vec::new();
        if parameters.get(&FORMAT_A) != SolverFormat::Csr {
            let format = parameters.text(FORMAT_A.id()).unwrap_or_default();
            resident.push(Resident { name: format!("A as {format}"), bytes: 2 * a.bytes() });
        }
        let is_listed = configuration.kernel.allowed(PRECOND.id()).is_some();
        if is_listed && parameters.get(&PRECOND) == Applied::Fsai {
            let power = u64::from(parameters.get(&POWER).min(8));
            let bytes = 2 * a.bytes() * power * power;
            let threads = configuration.threads;
            resident.push(Resident { name: format!("G of {parameters}, {threads}"), bytes });
        }
        let vectors = format!("vectors of {parameters}, {}", configuration.threads);
        resident.push(Resident { name: vectors, bytes: 9 * 8 * a.rows() as u64 });
        resident
    }

    /// Checks the residual computed from x, whatever the solver reports.
    fn compare(&self, configuration: &Configuration, output: &Output) -> Option<Check> {
        let Output::Solution(solution) = output else { return None };
        let parameters = &configuration.parameters;
        let tolerance = parameters.get(&TOL);
        let solution_is_ones =
            self.given.b.is_none() && parameters.get(&RIGHT_SIDE) == RightSide::TimesOnes;
        let (b, scale) = self.scaled_b(parameters);
        let x: Vec<f64> = solution.x.iter().map(|&x| scale.there(x)).collect();
        let mut check = solved(&self.a, &b, &x, tolerance, &solution.solve);
        if solution_is_ones {
            check.rel_err = distance_from_ones(&solution.x);
        }
        Some(check)
    }

    fn work(&self, output: &Output) -> Work {
        let Output::Solution(solution) = output else { return Work::default() };
        let iterations = solution.solve.iterations;
        Work { flops: solution.flops, iterations, ..Work::default() }
    }

    /// Rounding may leave nothing of a right-hand side.
    fn refusal(&self, configuration: &Configuration) -> Option<String> {
        self.side(&configuration.parameters).vanishes.clone()
    }

    fn release(&self) {
        *lock(&self.factor) = None;
    }
}

/// ‖x − 1‖ / ‖1‖; `None` if it is not finite.
fn distance_from_ones(x: &[f64]) -> Option<f64> {
    let squares: f64 = x.iter().map(|x| (x - 1.0) * (x - 1.0)).sum();
    Some((squares / x.len().max(1) as f64).sqrt()).filter(|distance| distance.is_finite())
}
