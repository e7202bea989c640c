//! The solver parameters on the command line, for `solve` and `bench`.

use clap::Args;
use sparsescope_core::experiment::ParameterLists;
use sparsescope_core::kernel::{Parameter, ParameterError};

use super::values::value_of;

/// Preconditioner, formats, and when to end.
#[derive(Clone, Debug, Args)]
pub(super) struct SolverArgs {
    /// What conjugate gradients are preconditioned with: none, jacobi, symgs (a symmetric Gauss-Seidel
    /// sweep) or fsai (a factorised sparse approximate inverse) [default: fsai]
    #[arg(long, value_name = "WORD,...", value_delimiter = ',', value_parser = value_of(Parameter::Preconditioner))]
    precond: Vec<String>,
    /// FSAI: the power of A whose lower triangle is the pattern [default: 2]
    #[arg(long, value_name = "K,...", value_delimiter = ',', value_parser = value_of(Parameter::Power))]
    power: Vec<String>,
    /// FSAI: entries of A with a_ij^2 <= D a_ii a_jj do not count for the pattern [default: 0]
    #[arg(long, value_name = "D,...", value_delimiter = ',', value_parser = value_of(Parameter::Prefilter), allow_negative_numbers = true)]
    prefilter: Vec<String>,
    /// FSAI: drop entries of G with g_ij^2 <= T times the squares of their row; 0 drops none [default: 0]
    #[arg(long, value_name = "T,...", value_delimiter = ',', value_parser = value_of(Parameter::Postfilter), allow_negative_numbers = true)]
    postfilter: Vec<String>,
    /// FSAI, adaptive pattern: rounds in which a row grows [default: 5]
    #[arg(long, value_name = "N,...", value_delimiter = ',', value_parser = value_of(Parameter::Steps))]
    steps: Vec<String>,
    /// FSAI, adaptive pattern: entries that a row gains in a round [default: 3]
    #[arg(long, value_name = "N,...", value_delimiter = ',', value_parser = value_of(Parameter::PerStep))]
    per_step: Vec<String>,
    /// FSAI, adaptive pattern: end where a round betters a row by less than this share [default: 0.001]
    #[arg(long, value_name = "S,...", value_delimiter = ',', value_parser = value_of(Parameter::Gain), allow_negative_numbers = true)]
    gain: Vec<String>,
    /// FSAI: rows with similar patterns share a dense system that may make up to A times the work, from
    /// 1; or off [default: off]
    #[arg(long, value_name = "A,...", value_delimiter = ',', value_parser = value_of(Parameter::Merge), allow_negative_numbers = true)]
    merge: Vec<String>,
    /// FSAI: rows among which such rows are looked for, or all [default: 8192]
    #[arg(long, value_name = "ROWS,...", value_delimiter = ',', value_parser = value_of(Parameter::MergeBlock))]
    merge_block: Vec<String>,
    /// FSAI: added to the diagonals of the dense systems, for a matrix that is barely definite
    /// [default: 0]
    #[arg(long, value_name = "S,...", value_delimiter = ',', value_parser = value_of(Parameter::Shift), allow_negative_numbers = true)]
    shift: Vec<String>,
    /// FSAI on a GPU: who sets it up: device, processor, or split, where the processor gathers the dense systems
    /// that the device solves [default: device]
    #[arg(long, value_name = "WHO,...", value_delimiter = ',', value_parser = value_of(Parameter::SetUp))]
    set_up: Vec<String>,
    /// Format of A and of G where these are not named one by one: csr, hyb or hll [default: csr]
    #[arg(long, value_name = "FORMAT,...", value_delimiter = ',', value_parser = value_of(Parameter::FormatA))]
    format: Vec<String>,
    /// Format of A
    #[arg(long, value_name = "FORMAT,...", value_delimiter = ',', value_parser = value_of(Parameter::FormatA))]
    format_a: Vec<String>,
    /// Format of G
    #[arg(long, value_name = "FORMAT,...", value_delimiter = ',', value_parser = value_of(Parameter::FormatG))]
    format_g: Vec<String>,
    /// On several ranks: classic (Hestenes and Stiefel, two reductions an iteration), single (Chronopoulos and Gear,
    /// one) or pipelined (Ghysels and Vanroose, one under the product) [default: classic]
    #[arg(long, value_name = "WORD,...", value_delimiter = ',', value_parser = value_of(Parameter::Cg))]
    cg: Vec<String>,
    /// End at this relative residual [default: 1e-10]
    #[arg(long, value_name = "T,...", value_delimiter = ',', value_parser = value_of(Parameter::Tolerance), allow_negative_numbers = true)]
    tol: Vec<String>,
    /// End after so many iterations all the same [default: 10000]
    #[arg(long, value_name = "N,...", value_delimiter = ',', value_parser = value_of(Parameter::MaxIterations))]
    max_iter: Vec<String>,
}

/// The system of solves that are measured.
#[derive(Clone, Debug, Args)]
pub(super) struct SystemArgs {
    /// FSAI: how the pattern is found: recursive, power or adaptive [default: recursive]
    #[arg(long, value_name = "HOW,...", value_delimiter = ',', value_parser = value_of(Parameter::Pattern))]
    pattern: Vec<String>,
    /// The right-hand side of solves: a1 (A times ones), ones or range[:SEED] (A times random numbers) [default: a1]
    #[arg(long, value_name = "WORD,...", value_delimiter = ',', value_parser = value_of(Parameter::RightSide))]
    b: Vec<String>,
    /// What solves begin with: zero, or precond for the preconditioned b [default: zero]
    #[arg(long, value_name = "WORD,...", value_delimiter = ',', value_parser = value_of(Parameter::Start))]
    x0: Vec<String>,
}

impl SolverArgs {
    /// Adds the values given for each parameter.
    pub(super) fn add_to(&self, lists: &mut ParameterLists) -> Result<(), ParameterError> {
        let or_both =
            |own: &'_ Vec<String>| if own.is_empty() { self.format.clone() } else { own.clone() };
        for (parameter, values) in [
            (Parameter::Preconditioner, &self.precond),
            (Parameter::Power, &self.power),
            (Parameter::Prefilter, &self.prefilter),
            (Parameter::Postfilter, &self.postfilter),
            (Parameter::Steps, &self.steps),
            (Parameter::PerStep, &self.per_step),
            (Parameter::Gain, &self.gain),
            (Parameter::Merge, &self.merge),
            (Parameter::MergeBlock, &self.merge_block),
            (Parameter::Shift, &self.shift),
            (Parameter::SetUp, &self.set_up),
            (Parameter::FormatA, &or_both(&self.format_a)),
            (Parameter::FormatG, &or_both(&self.format_g)),
            (Parameter::Cg, &self.cg),
            (Parameter::Tolerance, &self.tol),
            (Parameter::MaxIterations, &self.max_iter),
        ] {
            lists.set(parameter, values)?;
        }
        Ok(())
    }
}

impl SystemArgs {
    /// Adds the values given for each parameter.
    pub(super) fn add_to(&self, lists: &mut ParameterLists) -> Result<(), ParameterError> {
        lists.set(Parameter::Pattern, &self.pattern)?;
        lists.set(Parameter::RightSide, &self.b)?;
        lists.set(Parameter::Start, &self.x0)
    }
}
