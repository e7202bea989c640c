//! A·x = b with a symmetric positive definite A as a problem: the system, what a user gives beside it,
//! and when a solution passes.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use super::side::lock;
use crate::experiment::configuration::Configuration;
use crate::experiment::output::Output;
use crate::experiment::resident::Resident;
use crate::fsai::Fsai;
use crate::gate::solved;
use crate::kernel::{Parameter, Parameters};
use crate::matrix::Csr;
use crate::parallel::*;
use crate::pcg::check_spd;
use crate::record::{Check, Work};

/// A·x = b, A symmetric and positive definite.
#[derive(Debug)]
pub struct SolveProblem {
    a: Arc<Csr>,
    given: Given,
    /// The right-hand sides made so far, by their words.
    sides: Mutex<BTreeMap<String, Arc<Vec<f64>>>>,
    /// What the processor set up last.
    factor: Mutex<Option<Arc<Fsai>>>,
    wants_g: bool,
    /// G of the last set-up, if it is known here.
    g: Mutex<Option<Arc<Csr>>>,
    /// The factor of another matrix, whose pattern the first set-up takes, and whether it drops what that
    /// dropped.
    kept: Mutex<Option<(Arc<Fsai>, bool)>>,
}

/// What stands in the place of parameters.
#[derive(Clone, Debug, Default)]
pub struct Given {
    /// The right-hand side, one element a row.
    pub b: Option<Arc<Vec<f64>>>,
    /// What the solver begins with, one element a row.
    pub start: Option<Arc<Vec<f64>>>,
    /// The pattern of a factorised sparse approximate inverse.
    pub pattern: Option<Arc<Csr>>,
    /// Its factor G.
    pub factor: Option<Arc<Csr>>,
}

/// The word of files for what a user gave.
const GIVEN: &str = "file";

impl SolveProblem {
    /// Of a symmetric matrix with a positive diagonal; says in a sentence what else it is. Vectors that
    /// are given have an element a row; panics otherwise.
    pub fn new(a: Arc<Csr>, given: Given) -> Result<Self, String> {
        check_spd(&a).map_err(|error| error.to_string())?;
        for vector in [&given.b, &given.start].into_iter().flatten() {
            assert_eq!(vector.len(), a.rows(), "b and x have one element a row");
        }
        let (sides, factor, g, kept) = Default::default();
        Ok(Self { a, given, sides, factor, wants_g: false, g, kept })
    }

    /// The same where the next set-up of a factor takes the pattern and the groups of one that was made for
    /// another matrix, and computes its values anew; with `keep_filter` it drops what that dropped.
    pub fn reusing(self, factor: Arc<Fsai>, keep_filter: bool) -> Self {
        *lock(&self.kept) = Some((factor, keep_filter));
        self
    }

    /// The same where a set-up leaves G to be read, wherever it was made.
    pub fn keeping_g(self) -> Self {
        Self { wants_g: true, ..self }
    }

    /// Whether G is to be read once it is set up.
    pub fn is_g_wanted(&self) -> bool {
        self.wants_g
    }

    /// A, n × n.
    pub fn a(&self) -> &Arc<Csr> {
        &self.a
    }

    /// What stands in the place of parameters.
    pub fn given(&self) -> &Given {
        &self.given
    }

    /// The right-hand side that the parameters name, unless it is given: A·1, whose solution is known, or
    /// ones.
    pub fn b(&self, parameters: &Parameters) -> Arc<Vec<f64>> {
        if let Some(given) = &self.given.b {
            return Arc::clone(given);
        }
        let word = parameters.get(Parameter::RightSide).unwrap_or_default();
        let mut sides = lock(&self.sides);
        let made = sides.entry(word).or_insert_with_key(|word| {
            let (n, a) = (self.a.rows(), &self.a);
            Arc::new(match word.as_str() {
                "ones" => vec![1.0; n],
                _ => (0..n).into_par_iter().map(|i| a.row(i).1.iter().sum()).collect(),
            })
        });
        Arc::clone(made)
    }

    /// The parameters in force as files hold them: also those that have their default, none that has no
    /// effect.
    pub fn params(&self, configuration: &Configuration) -> BTreeMap<String, String> {
        let mut params = configuration.kernel.in_force(&configuration.parameters);
        let Given { b, start, pattern, factor } = &self.given;
        let mut give = |parameter: Parameter, is_given: bool| {
            if let Some(value) = params.get_mut(parameter.name()).filter(|_| is_given) {
                GIVEN.clone_into(value);
            }
        };
        give(Parameter::RightSide, b.is_some());
        give(Parameter::Start, start.is_some());
        give(Parameter::Pattern, pattern.is_some());
        if pattern.is_some() || factor.is_some() {
            params.retain(|name, _| !["power", "prefilter"].contains(&name.as_str()));
        }
        if factor.is_some() {
            let of_set_up = ["pattern", "postfilter", "merge", "merge_block", "shift", "set_up"];
            params.retain(|name, _| !of_set_up.contains(&name.as_str()));
        }
        params
    }

    /// Whether the next set-up takes a pattern that is there.
    #[cfg(not(target_family = "wasm"))]
    pub(in crate::experiment) fn has_kept(&self) -> bool {
        lock(&self.kept).is_some()
    }

    /// What the processor set up last, or was given; none where it did not.
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

    /// The factor G of the last set-up, or the one that was given; none where none has been made, or where a
    /// device keeps it.
    pub fn g(&self) -> Option<Arc<Csr>> {
        lock(&self.g).clone()
    }

    /// An estimate: how many entries a factor has is known once it has been made, and its set-up asks for
    /// its memory itself.
    pub(in crate::experiment) fn resident(&self, configuration: &Configuration) -> Vec<Resident> {
        let (parameters, a) = (&configuration.parameters, &self.a);
        let word = |parameter| parameters.get(parameter).unwrap_or_default();
        let mut resident = Vec::new();
        let format = word(Parameter::FormatA);
        if format != "csr" {
            resident.push(Resident { name: format!("A as {format}"), bytes: 2 * a.bytes() });
        }
        if word(Parameter::Preconditioner) == "fsai" {
            let power = parameters.number::<u64>(Parameter::Power).unwrap_or(1).min(8);
            let bytes = 2 * a.bytes() * power * power;
            let threads = configuration.threads;
            resident.push(Resident { name: format!("G of {parameters}, {threads}"), bytes });
        }
        let vectors = format!("vectors of {parameters}, {}", configuration.threads);
        resident.push(Resident { name: vectors, bytes: 8 * 8 * a.rows() as u64 });
        resident
    }

    /// Against the residual computed from x, whatever the solver says of it.
    pub(in crate::experiment) fn check(
        &self,
        configuration: &Configuration,
        output: &Output,
    ) -> Option<Check> {
        let Output::Solution(solution) = output else { return None };
        let parameters = &configuration.parameters;
        let tolerance = parameters.number(Parameter::Tolerance).unwrap_or_default();
        let solution_is_ones =
            self.given.b.is_none() && parameters.get(Parameter::RightSide).as_deref() == Some("a1");
        let mut check =
            solved(&self.a, &self.b(parameters), &solution.x, tolerance, &solution.solve);
        if solution_is_ones {
            check.rel_err = distance_from_ones(&solution.x);
        }
        Some(check)
    }

    pub(in crate::experiment) fn work(&self, output: &Output) -> Work {
        let Output::Solution(solution) = output else { return Work::default() };
        let iterations = solution.solve.iterations;
        Work { flops: solution.flops, iterations, ..Work::default() }
    }

    pub(in crate::experiment) fn release(&self) {
        *lock(&self.factor) = None;
    }
}

/// ‖x − 1‖ / ‖1‖; none where it is not finite.
fn distance_from_ones(x: &[f64]) -> Option<f64> {
    let squares: f64 = x.iter().map(|x| (x - 1.0) * (x - 1.0)).sum();
    Some((squares / x.len().max(1) as f64).sqrt()).filter(|distance| distance.is_finite())
}
