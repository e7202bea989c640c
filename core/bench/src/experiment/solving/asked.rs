//! The solver parameters of a configuration.

use std::sync::Arc;

use crate::experiment::error::PrepareError;
use crate::experiment::operations::{Given, SolveProblem};
use crate::experiment::task::Watch;
use sparsescope_kernels::fsai::{Fsai, FsaiParameters, Merging, PatternRule};
use sparsescope_kernels::pcg::{OperatorFormat, Scale, SolveParameters, Start};
use sparsescope_matrix::matrix::{Csr, ValueCoding};
use sparsescope_matrix::memory::MemoryLimit;
use sparsescope_model::kernel::parameters::{
    FORMAT_A, FORMAT_G, GAIN, HYB_WIDTH, MAX_ITER, MERGE, MERGE_BLOCK, PATTERN, PER_STEP,
    POSTFILTER, POWER, PRECOND, PREFILTER, SET_UP, SHIFT, START, STEPS, TOL, VALUES,
};
use sparsescope_model::kernel::{
    Applied, Guess, Param, Parameters, PatternKind, SetUpBy, SolverFormat,
};

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
        self.parameters.get(&PRECOND)
    }

    /// The format of A.
    pub fn format_of_a(&self) -> OperatorFormat {
        self.format(&FORMAT_A)
    }

    /// The format of a factor and of its transpose.
    pub fn format_of_factor(&self) -> OperatorFormat {
        self.format(&FORMAT_G)
    }

    /// Whether values in HLL may be stored as codes.
    pub fn encodes(&self) -> bool {
        self.parameters.get(&VALUES) == ValueCoding::Auto
    }

    /// Initial values and stopping criteria of a solve.
    pub fn how(&self, parallel: bool, limit: MemoryLimit) -> SolveParameters {
        let how = SolveParameters { parallel, limit, ..how_of(&self.parameters) };
        let Some(given) = &self.problem.given().start else { return how };
        let scale = self.scale();
        SolveParameters {
            start: Start::Given(given.iter().map(|&x| scale.there(x)).collect()),
            ..how
        }
    }

    /// Where the inverse is set up: on the CPU if it starts from an existing factor, or from an existing
    /// pattern and its groups.
    pub fn set_up_by(&self) -> SetUpBy {
        match self.problem.given().factor.is_some() || self.problem.has_kept() {
            true => SetUpBy::Processor,
            false => self.parameters.get(&SET_UP),
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
        let Some(fsai) = made? else { return Ok(None) };
        let fsai = Arc::new(fsai);
        self.problem.keep(&fsai);
        Ok(Some(fsai))
    }

    fn format(&self, of: &'static Param<SolverFormat>) -> OperatorFormat {
        match self.parameters.get(of) {
            SolverFormat::Csr => OperatorFormat::Csr,
            SolverFormat::Hyb => OperatorFormat::Hyb { width: self.parameters.get(&HYB_WIDTH) },
            SolverFormat::Hll => OperatorFormat::Hll,
        }
    }
}

/// Initial values and stopping criteria of a solve, from the configuration's parameters alone.
pub fn how_of(parameters: &Parameters) -> SolveParameters {
    SolveParameters {
        tol: parameters.get(&TOL),
        max_iterations: parameters.get(&MAX_ITER),
        start: match parameters.get(&START) {
            Guess::Preconditioned => Start::Preconditioned,
            Guess::Zero => Start::Zero,
        },
        ..SolveParameters::default()
    }
}

/// Parameters for setting up an inverse, from the configuration's parameters alone.
pub fn inverse_of(parameters: &Parameters) -> FsaiParameters {
    let power = parameters.get(&POWER);
    let block = parameters.get(&MERGE_BLOCK);
    FsaiParameters {
        pattern: match parameters.get(&PATTERN) {
            PatternKind::Recursive => PatternRule::Recursive { power },
            PatternKind::Power => PatternRule::Power { power },
            PatternKind::Adaptive => PatternRule::Adaptive {
                steps: parameters.get(&STEPS),
                per_step: parameters.get(&PER_STEP),
                gain: parameters.get(&GAIN),
            },
        },
        prefilter: parameters.get(&PREFILTER),
        postfilter: parameters.get(&POSTFILTER),
        merge: parameters.get(&MERGE).map(|alpha| Merging { alpha, block }),
        shift: parameters.get(&SHIFT),
    }
}
