//! What solves of a system need before the first of them: A in its format, and the preconditioner.

use std::fmt::Display;
use std::sync::Arc;
use std::time::Instant;

use crate::experiment::error::PrepareError;
use crate::experiment::operations::{Given, SolveProblem};
use crate::experiment::task::Watch;
use crate::fsai::{Fsai, FsaiParameters, Merging, PatternRule};
use crate::kernel::{Parameter, Parameters};
use crate::memory::MemoryLimit;
use crate::pcg::{Operator, OperatorFormat, Preconditioner, SolveParameters, Start};
use crate::record::SetUpSizes;

/// What is to be set up.
pub(super) struct Wanted<'p> {
    pub(super) problem: &'p SolveProblem,
    pub(super) parameters: Parameters,
    /// On the ambient pool, which has so many workers.
    pub(super) parallel: bool,
    pub(super) workers: usize,
    pub(super) memory: MemoryLimit,
}

/// What the set-up leaves.
pub(super) struct Ready {
    pub(super) a: Operator,
    pub(super) preconditioner: Preconditioner,
    pub(super) sizes: Option<SetUpSizes>,
    /// Bringing A into its format.
    pub(super) conversion_s: f64,
    /// The preconditioner, all phases together.
    pub(super) setup_s: f64,
    pub(super) how: SolveParameters,
}

/// A preconditioner, and what it holds where it is a factor.
type Made = (Preconditioner, Option<SetUpSizes>);

fn refused(error: impl Display) -> PrepareError {
    PrepareError::Refused(error.to_string())
}

impl Wanted<'_> {
    /// Does it all; none once it is cancelled.
    pub(super) fn ready(&self, watch: &Watch<'_>) -> Result<Option<Ready>, PrepareError> {
        let begun = Instant::now();
        let a = Operator::new(self.problem.a(), self.format(Parameter::FormatA), self.memory);
        let a = a.map_err(refused)?;
        let conversion_s = match a.format() {
            OperatorFormat::Csr => 0.0,
            _ => begun.elapsed().as_secs_f64(),
        };
        let begun = Instant::now();
        let Some((preconditioner, sizes)) = self.preconditioner(watch)? else {
            return Ok(None);
        };
        let setup_s = begun.elapsed().as_secs_f64();
        let start = match (&self.problem.given().start, self.word(Parameter::Start).as_str()) {
            (Some(given), _) => Start::Given(given.to_vec()),
            (None, "precond") => Start::Preconditioned,
            (None, _) => Start::Zero,
        };
        let usual = SolveParameters::default();
        let how = SolveParameters {
            tol: self.parameters.number(Parameter::Tolerance).unwrap_or(usual.tol),
            max_iterations: self
                .parameters
                .number(Parameter::MaxIterations)
                .unwrap_or(usual.max_iterations),
            start,
            parallel: self.parallel,
            limit: self.memory,
        };
        Ok(Some(Ready { a, preconditioner, sizes, conversion_s, setup_s, how }))
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

    /// The preconditioner; none once it is cancelled.
    fn preconditioner(&self, watch: &Watch<'_>) -> Result<Option<Made>, PrepareError> {
        let (a, limit) = (self.problem.a(), self.memory);
        let plain = match self.word(Parameter::Preconditioner).as_str() {
            "none" => Ok(Preconditioner::None),
            "jacobi" => Preconditioner::jacobi(a, limit),
            "symgs" => Preconditioner::symgs(a, self.workers, limit),
            _ => return self.fsai(watch),
        };
        Ok(Some((plain.map_err(refused)?, None)))
    }

    fn fsai(&self, watch: &Watch<'_>) -> Result<Option<Made>, PrepareError> {
        let Given { factor, pattern, .. } = self.problem.given();
        let cancelled = || watch.is_cancelled();
        let made = match (factor, self.problem.take_kept()) {
            (Some(g), _) => Fsai::from_factor(Arc::clone(g)).map(Some),
            (None, Some((kept, keep_filter))) => {
                let mut kept = Arc::unwrap_or_clone(kept);
                let a = self.problem.a();
                let renewed = kept.refresh(a, keep_filter, self.memory, &cancelled);
                renewed.map(|renewed| renewed.map(|()| kept))
            }
            (None, None) => {
                let rule = pattern.clone().map(PatternRule::Given);
                let rule = rule.unwrap_or_else(|| pattern_rule(&self.parameters));
                let parameters = set_up_parameters(&self.parameters, rule);
                Fsai::set_up(self.problem.a(), &parameters, self.memory, &cancelled)
            }
        };
        let Some(fsai) = made.map_err(refused)? else { return Ok(None) };
        let report = fsai.report();
        let phases = report.phases.iter().map(|phase| (phase.name, phase.seconds)).collect();
        let sizes = SetUpSizes {
            prefiltered: report.entries_prefiltered,
            pattern: report.entries_pattern,
            before_filter: report.entries_before_filter,
            factor: report.entries,
            systems: report.systems,
            largest: report.largest,
        };
        let format = self.format(Parameter::FormatG);
        let preconditioner = Preconditioner::fsai(fsai.g(), fsai.gt(), format, phases, self.memory);
        self.problem.keep(&Arc::new(fsai));
        Ok(Some((preconditioner.map_err(refused)?, Some(sizes))))
    }
}

/// The rule that the parameters name.
fn pattern_rule(parameters: &Parameters) -> PatternRule {
    let whole = |parameter| parameters.number::<u32>(parameter).unwrap_or(1);
    let power = whole(Parameter::Power);
    match parameters.get(Parameter::Pattern).as_deref() {
        Some("power") => PatternRule::Power { power },
        Some("adaptive") => PatternRule::Adaptive {
            steps: whole(Parameter::Steps),
            per_step: whole(Parameter::PerStep),
            gain: parameters.number(Parameter::Gain).unwrap_or_default(),
        },
        _ => PatternRule::Recursive { power },
    }
}

fn set_up_parameters(parameters: &Parameters, pattern: PatternRule) -> FsaiParameters {
    let number = |parameter| parameters.number::<f64>(parameter);
    FsaiParameters {
        pattern,
        prefilter: number(Parameter::Prefilter).unwrap_or_default(),
        postfilter: number(Parameter::Postfilter).unwrap_or_default(),
        merge: number(Parameter::Merge)
            .map(|alpha| Merging { alpha, block: parameters.number(Parameter::MergeBlock) }),
        shift: number(Parameter::Shift).unwrap_or_default(),
    }
}
