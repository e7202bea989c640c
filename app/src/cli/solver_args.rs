//! The solver parameters on the command line, for `solve` and `bench`.

use clap::Args;
use sparsescope_core::experiment::ParameterLists;
use sparsescope_core::kernel::ParameterError;
use sparsescope_core::kernel::parameters::{
    CG, FORMAT_A, FORMAT_G, GAIN, MAX_ITER, MERGE, MERGE_BLOCK, PATTERN, PER_STEP, POSTFILTER,
    POWER, PRECOND, PREFILTER, RIGHT_SIDE, SET_UP, SHIFT, START, STEPS, TOL,
};

use super::help::{FORMATS, RANKS, SOLVER};
use super::values::value_of;

/// Preconditioner, formats and stopping criteria.
#[derive(Clone, Debug, Args)]
pub(super) struct SolverArgs {
    /// Preconditioner: none, jacobi, symgs or fsai [default: fsai]
    ///
    /// symgs is a symmetric Gauss-Seidel sweep, fsai a factorized sparse approximate inverse.
    #[arg(long, value_name = "WORD,...", value_delimiter = ',', value_parser = value_of(PRECOND.id()), help_heading = SOLVER)]
    precond: Vec<String>,
    /// Stop at this relative residual |b - A x| / |b| [default: 1e-10]
    ///
    /// This is a residual, not a bound on the error of x; --tol of `spmv` and `symgs` is an error bound.
    #[arg(long, value_name = "T,...", value_delimiter = ',', value_parser = value_of(TOL.id()), allow_negative_numbers = true, help_heading = SOLVER)]
    tol: Vec<String>,
    /// Maximum number of iterations [default: 10000]
    #[arg(long, value_name = "N,...", value_delimiter = ',', value_parser = value_of(MAX_ITER.id()), help_heading = SOLVER)]
    max_iter: Vec<String>,
    /// FSAI: power of A whose lower triangle is the pattern [default: 2]
    #[arg(long, value_name = "K,...", value_delimiter = ',', value_parser = value_of(POWER.id()), help_heading = SOLVER, hide_short_help = true)]
    power: Vec<String>,
    /// FSAI: leave nonzeros of A with a_ij^2 <= D a_ii a_jj out of the pattern [default: 0]
    #[arg(long, value_name = "D,...", value_delimiter = ',', value_parser = value_of(PREFILTER.id()), allow_negative_numbers = true, help_heading = SOLVER, hide_short_help = true)]
    prefilter: Vec<String>,
    /// FSAI: drop nonzeros of G with g_ij^2 <= T times the sum of squares of their row; 0 drops
    /// none [default: 0]
    #[arg(long, value_name = "T,...", value_delimiter = ',', value_parser = value_of(POSTFILTER.id()), allow_negative_numbers = true, help_heading = SOLVER, hide_short_help = true)]
    postfilter: Vec<String>,
    /// FSAI, adaptive pattern: maximum number of rounds in which a row grows [default: 5]
    #[arg(long, value_name = "N,...", value_delimiter = ',', value_parser = value_of(STEPS.id()), help_heading = SOLVER, hide_short_help = true)]
    steps: Vec<String>,
    /// FSAI, adaptive pattern: nonzeros added to a row per round [default: 3]
    #[arg(long, value_name = "N,...", value_delimiter = ',', value_parser = value_of(PER_STEP.id()), help_heading = SOLVER, hide_short_help = true)]
    per_step: Vec<String>,
    /// FSAI, adaptive pattern: stop when a round improves a row by less than this fraction
    /// [default: 0.001]
    #[arg(long, value_name = "S,...", value_delimiter = ',', value_parser = value_of(GAIN.id()), allow_negative_numbers = true, help_heading = SOLVER, hide_short_help = true)]
    gain: Vec<String>,
    /// FSAI: merge rows with similar patterns if their shared dense system costs at most A times the separate
    /// ones (A >= 1), or off [default: off]
    #[arg(long, value_name = "A,...", value_delimiter = ',', value_parser = value_of(MERGE.id()), allow_negative_numbers = true, help_heading = SOLVER, hide_short_help = true)]
    merge: Vec<String>,
    /// FSAI: rows per block in which --merge looks for similar rows, or all [default: 8192]
    #[arg(long, value_name = "ROWS,...", value_delimiter = ',', value_parser = value_of(MERGE_BLOCK.id()), help_heading = SOLVER, hide_short_help = true)]
    merge_block: Vec<String>,
    /// FSAI: shift of the diagonals of the dense systems, for a matrix that is barely positive
    /// definite [default: 0]
    #[arg(long, value_name = "S,...", value_delimiter = ',', value_parser = value_of(SHIFT.id()), allow_negative_numbers = true, help_heading = SOLVER, hide_short_help = true)]
    shift: Vec<String>,
    /// FSAI on a GPU: where the setup runs: device, processor (the CPU) or split [default: device]
    ///
    /// With split, the CPU gathers the dense systems and the GPU solves them.
    #[arg(long, value_name = "WHO,...", value_delimiter = ',', value_parser = value_of(SET_UP.id()), help_heading = SOLVER, hide_short_help = true)]
    set_up: Vec<String>,
    /// Solver: format of A and G: csr, hyb or hll [default: csr]
    #[arg(long, value_name = "FORMAT,...", value_delimiter = ',', value_parser = value_of(FORMAT_A.id()), help_heading = FORMATS, hide_short_help = true)]
    format: Vec<String>,
    /// Solver: format of A [default: --format]
    #[arg(long, value_name = "FORMAT,...", value_delimiter = ',', value_parser = value_of(FORMAT_A.id()), help_heading = FORMATS, hide_short_help = true)]
    format_a: Vec<String>,
    /// Solver: format of G [default: --format]
    #[arg(long, value_name = "FORMAT,...", value_delimiter = ',', value_parser = value_of(FORMAT_G.id()), help_heading = FORMATS, hide_short_help = true)]
    format_g: Vec<String>,
    /// Conjugate gradient variant on several ranks: classic, single or pipelined [default: classic]
    ///
    /// classic (Hestenes and Stiefel) has two reductions per iteration, single (Chronopoulos and Gear) has one,
    /// pipelined (Ghysels and Vanroose) overlaps its one reduction with the SpMV.
    #[arg(long, value_name = "WORD,...", value_delimiter = ',', value_parser = value_of(CG.id()), help_heading = RANKS, hide_short_help = true)]
    cg: Vec<String>,
}

/// The system of solves that are measured.
#[derive(Clone, Debug, Args)]
pub(super) struct SystemArgs {
    /// FSAI: pattern of G: recursive, power or adaptive [default: recursive]
    #[arg(long, value_name = "HOW,...", value_delimiter = ',', value_parser = value_of(PATTERN.id()), help_heading = SOLVER, hide_short_help = true)]
    pattern: Vec<String>,
    /// Right-hand side of solves: a1 (A times a vector of ones), ones, or range[:SEED] (A times a random vector)
    /// [default: a1]
    #[arg(long, value_name = "WORD,...", value_delimiter = ',', value_parser = value_of(RIGHT_SIDE.id()), help_heading = SOLVER, hide_short_help = true)]
    b: Vec<String>,
    /// Initial guess of solves: zero, or precond (the preconditioned b) [default: zero]
    #[arg(long, value_name = "WORD,...", value_delimiter = ',', value_parser = value_of(START.id()), help_heading = SOLVER, hide_short_help = true)]
    x0: Vec<String>,
}

impl SolverArgs {
    /// Adds the values given for each parameter.
    pub(super) fn add_to(&self, lists: &mut ParameterLists) -> Result<(), ParameterError> {
        let or_both =
            |own: &'_ Vec<String>| if own.is_empty() { self.format.clone() } else { own.clone() };
        for (parameter, values) in [
            (PRECOND.id(), &self.precond),
            (POWER.id(), &self.power),
            (PREFILTER.id(), &self.prefilter),
            (POSTFILTER.id(), &self.postfilter),
            (STEPS.id(), &self.steps),
            (PER_STEP.id(), &self.per_step),
            (GAIN.id(), &self.gain),
            (MERGE.id(), &self.merge),
            (MERGE_BLOCK.id(), &self.merge_block),
            (SHIFT.id(), &self.shift),
            (SET_UP.id(), &self.set_up),
            (FORMAT_A.id(), &or_both(&self.format_a)),
            (FORMAT_G.id(), &or_both(&self.format_g)),
            (CG.id(), &self.cg),
            (TOL.id(), &self.tol),
            (MAX_ITER.id(), &self.max_iter),
        ] {
            lists.set(parameter, values)?;
        }
        Ok(())
    }
}

impl SystemArgs {
    /// Adds the values given for each parameter.
    pub(super) fn add_to(&self, lists: &mut ParameterLists) -> Result<(), ParameterError> {
        lists.set(PATTERN.id(), &self.pattern)?;
        lists.set(RIGHT_SIDE.id(), &self.b)?;
        lists.set(START.id(), &self.x0)
    }
}
