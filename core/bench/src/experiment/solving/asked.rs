//! The solver parameters of a configuration.

use std::fmt::Display;
use std::sync::Arc;

use crate::experiment::error::PrepareError;
use crate::experiment::operations::{Given, SolveProblem};
use crate::experiment::task::Watch;
use sparsescope_kernels::fsai::{Fsai, FsaiParameters, Merging, PatternRule};
use sparsescope_kernels::pcg::{OperatorFormat, Scale, SolveParameters, Start};
use sparsescope_matrix::matrix::Csr;
use sparsescope_matrix::memory::MemoryLimit;
use sparsescope_model::kernel::{Parameter, Parameters, SetUpBy};

/// The preconditioner applied to the residual.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Applied {
    /// None.
    None,
    /// The reciprocals of the diagonal.
    Jacobi,
    /// A symmetric Gauss–Seidel sweep from zero.
    Symgs,
    /// A factorised sparse approximate inverse.
    Fsai,
}

/// A system, and the parameters to solve it with.
#[derive(Clone, Debug)]
pub struct Asked<'p> {
    problem: &'p SolveProblem,
    parameters: Parameters,
}

impl<'p> Asked<'p> {
    /// Combines a system and its parameters.
    pub fn new(problem: &'p SolveProblem, parameters: Parameters) -> Self {
        Self { problem, parameters }
    }

    /// The system.
    pub fn problem(&self) -> &'p SolveProblem {
        self.problem
    }

    /// The right-hand side in the solver's unit, one element per row.
    pub fn b(&self) -> Arc<Vec<f64>> {
        self.problem.scaled_b(&self.parameters).0
    }

    /// The solver's unit.
    pub fn scale(&self) -> Scale {
        self.problem.scaled_b(&self.parameters).1
    }

    /// The preconditioner.
    pub fn applied(&self) -> Applied {
        Applied::of(&self.parameters)
    }

    /// The format of A.
    pub fn format_of_a(&self) -> OperatorFormat {
        self.format(Parameter::FormatA)
    }

    /// The format of a factor and of its transpose.
    pub fn format_of_factor(&self) -> OperatorFormat {
        self.format(Parameter::FormatG)
    }

    /// Initial values and stopping criteria of a solve.
    pub fn how(&self, parallel: bool, limit: MemoryLimit) -> SolveParameters {
        let start = match (&self.problem.given().start, self.word(Parameter::Start).as_str()) {
            (Some(given), _) => {
                let scale = self.scale();
                Start::Given(given.iter().map(|&x| scale.there(x)).collect())
            }
            (None, "precond") => Start::Preconditioned,
            (None, _) => Start::Zero,
        };
        let usual = SolveParameters::default();
        let tol = self.parameters.number(Parameter::Tolerance);
        let max_iterations = self.parameters.number(Parameter::MaxIterations);
        SolveParameters {
            tol: tol.unwrap_or(usual.tol),
            max_iterations: max_iterations.unwrap_or(usual.max_iterations),
            start,
            parallel,
            limit,
        }
    }

    /// Where the inverse is set up: on the CPU if it starts from an existing factor, or from an existing
    /// pattern and its groups.
    pub fn set_up_by(&self) -> SetUpBy {
        match self.problem.given().factor.is_some() || self.problem.has_kept() {
            true => SetUpBy::Processor,
            false => self.parameters.set_up(),
        }
    }

    /// Parameters for setting up an inverse from scratch.
    pub fn inverse(&self) -> FsaiParameters {
        let rule = self.problem.given().pattern.clone().map(PatternRule::Given);
        let parameters = inverse_of(&self.parameters);
        FsaiParameters { pattern: rule.unwrap_or(parameters.pattern), ..parameters }
    }

    /// Passes a factor that was set up on a device to the problem.
    pub fn keep(&self, g: &Arc<Csr>) {
        self.problem.keep_g(g);
    }

    /// The given factor, or the one that the parameters describe, set up on the CPU on the ambient rayon
    /// pool, or one with the reused pattern; `None` when cancelled. The problem stores it.
    pub fn factor(
        &self,
        memory: MemoryLimit,
        watch: &Watch<'_>,
    ) -> Result<Option<Arc<Fsai>>, PrepareError> {
        let Given { factor, .. } = self.problem.given();
        let cancelled = || watch.is_cancelled();
        let made = match (factor, self.problem.take_kept()) {
            (Some(g), _) => Fsai::from_factor(Arc::clone(g)).map(Some),
            (None, Some((kept, keep_filter))) => {
                let mut kept = Arc::unwrap_or_clone(kept);
                let a = self.problem.a();
                let renewed = kept.refresh(a, keep_filter, memory, &cancelled);
                renewed.map(|renewed| renewed.map(|()| kept))
            }
            (None, None) => Fsai::set_up(self.problem.a(), &self.inverse(), memory, &cancelled),
        };
        let refused = |error: &dyn Display| PrepareError::Refused(error.to_string());
        let Some(fsai) = made.map_err(|error| refused(&error))? else { return Ok(None) };
        let fsai = Arc::new(fsai);
        self.problem.keep(&fsai);
        Ok(Some(fsai))
    }

    fn word(&self, parameter: Parameter) -> String {
        self.parameters.get(parameter).unwrap_or_default()
    }

    fn format(&self, of: Parameter) -> OperatorFormat {
        match self.word(of).as_str() {
            "hyb" => OperatorFormat::Hyb { width: self.parameters.number(Parameter::HybWidth) },
            "hll" => OperatorFormat::Hll,
            _ => OperatorFormat::Csr,
        }
    }
}

impl Applied {
    /// The preconditioner that the parameters name.
    pub fn of(parameters: &Parameters) -> Self {
        match parameters.get(Parameter::Preconditioner).unwrap_or_default().as_str() {
            "none" => Self::None,
            "jacobi" => Self::Jacobi,
            "symgs" => Self::Symgs,
            _ => Self::Fsai,
        }
    }
}

/// Parameters for setting up an inverse, from the configuration's parameters alone.
pub fn inverse_of(parameters: &Parameters) -> FsaiParameters {
    let number = |parameter| parameters.number::<f64>(parameter).unwrap_or_default();
    let block = parameters.number(Parameter::MergeBlock);
    let merge = parameters.number(Parameter::Merge);
    FsaiParameters {
        pattern: pattern_rule(parameters),
        prefilter: number(Parameter::Prefilter),
        postfilter: number(Parameter::Postfilter),
        merge: merge.map(|alpha| Merging { alpha, block }),
        shift: number(Parameter::Shift),
    }
}

/// The rule that the parameters name.
fn pattern_rule(parameters: &Parameters) -> PatternRule {
    let whole = |parameter| parameters.number::<u32>(parameter).unwrap_or(1);
    let power = whole(Parameter::Power);
    match parameters.get(Parameter::Pattern).unwrap_or_default().as_str() {
        "power" => PatternRule::Power { power },
        "adaptive" => PatternRule::Adaptive {
            steps: whole(Parameter::Steps),
            per_step: whole(Parameter::PerStep),
            gain: parameters.number(Parameter::Gain).unwrap_or_default(),
        },
        _ => PatternRule::Recursive { power },
    }
}
