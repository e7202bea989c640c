//! What a solve records: its preconditioner, its system, and where its time goes.

use sparsescope_core::kernel::Parameter;
use sparsescope_core::record::Solve;

use super::open::RunOf;

/// Setup phases that depend only on the pattern of A: they can be skipped if the pattern is reused
/// for other values.
const SYMBOLIC: [&str; 3] = ["prefilter", "pattern", "group"];

/// Returns whether the description of a preconditioner includes this parameter.
pub(super) fn is_preconditioning(name: &str) -> bool {
    let is_signed = |of: Parameter| !of.about().sign.is_empty();
    ["precond", "pattern", "power"].contains(&name) || Parameter::of(name).is_some_and(is_signed)
}

impl<'a> RunOf<'a> {
    /// The record of its solver.
    pub fn solved(&self) -> Option<&'a Solve> {
        self.run.solve.as_ref()
    }

    /// The value in effect of this parameter.
    pub(crate) fn param(&self, name: &str) -> Option<&'a str> {
        self.run.params.get(name).map(String::as_str)
    }

    /// The same if it is not the default.
    pub(crate) fn unusual(&self, name: &str) -> Option<&'a str> {
        let usual = Parameter::of(name).and_then(Parameter::default);
        self.param(name).filter(|value| Some(*value) != usual.as_deref())
    }

    /// The preconditioner with its non-default parameters: `Jacobi`, `FSAI, k = 2, τ = 0.01`.
    pub fn method(&self) -> String {
        let mut words = self.preconditioner();
        if self.param("precond") == Some("fsai") {
            let all = Parameter::ALL.map(Parameter::about).into_iter();
            for about in all.filter(|about| !about.sign.is_empty()) {
                if let Some(value) = self.unusual(about.name) {
                    words += &format!(", {} = {value}", about.sign);
                }
            }
        }
        words
    }

    /// The preconditioner with its k: `Jacobi`, `FSAI, k = 2`.
    pub(crate) fn preconditioner(&self) -> String {
        let name = match self.param("precond") {
            Some("jacobi") => return "Jacobi".into(),
            Some("symgs") => return "SymGS".into(),
            Some("none") => return "no preconditioner".into(),
            Some("fsai") => "FSAI",
            Some(other) => return other.into(),
            None => return self.run.kernel.clone(),
        };
        let power = || self.param("power").unwrap_or("?");
        match self.param("pattern") {
            None => format!("{name} with a given G"),
            Some("recursive") => format!("{name}, k = {}", power()),
            Some("power") => format!("{name} power, k = {}", power()),
            Some("adaptive") => format!("{name} adaptive"),
            Some(_) => format!("{name} on a given pattern"),
        }
    }

    /// The position of its preconditioner among the others.
    pub(crate) fn method_order(&self) -> usize {
        let known = ["none", "jacobi", "symgs", "fsai"];
        let word = self.param("precond");
        known.iter().position(|known| Some(*known) == word).unwrap_or(known.len())
    }

    /// The non-default parts of the system and its tolerance: `b ones, x₀ precond`; for a solve
    /// that gave up also its iteration limit.
    pub(crate) fn system(&self) -> String {
        let gave_up = self.solved().is_some_and(|solve| !solve.converged);
        let all = [("b", "b"), ("x0", "x₀"), ("tol", "tol"), ("max_iter", "max iterations")];
        let words = all
            .iter()
            .filter(|(name, _)| gave_up || *name != "max_iter")
            .filter_map(|(name, sign)| self.unusual(name).map(|value| format!("{sign} {value}")));
        words.collect::<Vec<_>>().join(", ")
    }

    /// Seconds before the first iteration: setup of the preconditioner, and conversion of A to its
    /// format.
    pub(crate) fn set_up_s(&self) -> Option<f64> {
        Some(self.solved()?.setup_s + self.run.costs.conversion_s)
    }

    /// Seconds of the setup saved by reusing a pattern; `None` if no phase computes one.
    pub(crate) fn symbolic_s(&self) -> Option<f64> {
        let phases = self.solved()?.phases.iter();
        let symbolic: Vec<f64> = phases
            .filter(|phase| SYMBOLIC.contains(&phase.name.as_str()))
            .map(|phase| phase.seconds)
            .collect();
        (!symbolic.is_empty()).then(|| symbolic.iter().sum())
    }

    /// Median seconds of a solve.
    pub(crate) fn solve_s(&self) -> Option<f64> {
        self.solved()?;
        Some(self.figures()?.median_s)
    }

    /// Seconds from the matrix to one solution: setup and solve.
    pub(crate) fn whole_solve_s(&self) -> Option<f64> {
        Some(self.set_up_s()? + self.solve_s()?)
    }

    /// Returns whether it has a time to solution, and the other has none or a longer one.
    pub(crate) fn solves_before(&self, other: &Self) -> bool {
        let own_s = self.whole_solve_s();
        own_s.is_some_and(|own_s| other.whole_solve_s().is_none_or(|other_s| own_s < other_s))
    }

    /// Mean seconds per iteration; `None` if there were none.
    pub(crate) fn iteration_s(&self) -> Option<f64> {
        let iterations = self.solved().map(|solve| solve.iterations).filter(|all| *all > 0)?;
        Some(self.solve_s()? / iterations as f64)
    }

    /// Nonzeros of its factor G per nonzero of A.
    pub fn density(&self) -> Option<f64> {
        let entries = self.solved()?.sizes?.factor;
        Some(entries as f64 / self.matrix()?.statistics.nnz as f64)
    }
}
