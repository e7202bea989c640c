//! Arguments of the commands that compute one result: an SpMV, a sweep, a skyline, a solution.

use std::path::PathBuf;

use clap::Args;
use sparsescope_core::kernel::Parameter;

use super::shared_args::{BackendArg, FormatArgs, GpuArgs, HeaderArgs, PrecisionArg, RankArgs};
use super::solver_args::SolverArgs;
use super::values::{block_size, thread_count, tolerance, value_of};

pub(super) const SYMGS_HELP: &str = "\
A symmetric sweep goes over the rows in ascending and then in descending order. In
standard mode each row is solved for b with what x holds then; in smoother mode the old
x of the row stands in the place of its b. The result is checked against two plain loops
over the rows, in the order in which the kernel visits them.

MATRIX is a path, gen:KIND?key=value&... or suite:NAME (`sparsescope generate --list`
explains both); it is square, with an entry other than 0 in every place of its diagonal.";

/// Help text after the options of `skyline`.
pub(super) const SKYLINE_HELP: &str = "\
A point dominates another when it is as good in every dimension and better in one; larger is
better unless --minimize says otherwise. Equal points do not dominate one another: all copies
stay. The result is certified: every point that was dropped is dominated by one that was
kept, and none that was kept by another.

POINTS is a path, gen:points-KIND?n=...&d=... or suite:NAME (`sparsescope generate --list`
explains both). A file is text (a line that begins with the number of dimensions, a line with
the number of points, then a line a point), CSV (names that end in .csv), or this program's
binary form; .gz is decompressed.";

/// Help text after the options of `solve`.
pub(super) const SOLVE_HELP: &str = "\
Conjugate gradients solve A x = b for a symmetric positive definite A. The preconditioner fsai
is K = (G^T G)^-1 with a sparse lower triangular G, such that G A G^T is near to 1: a row of G is
found from one small dense system. Whatever the solver tells, the residual is computed from x anew.

MATRIX is a path, gen:KIND?key=value&... or suite:NAME (`sparsescope generate --list` explains
both). Patterns, G, b and x0 are read from files of the same forms.

Examples:
  sparsescope solve suite:Cubo_4 --power 1 --x0 precond
  sparsescope solve a.mtx --precond jacobi --tol 1e-8 --b b.mtx -o x.mtx
  sparsescope solve a.mtx --pattern adaptive --steps 8 --history residuals.csv
  sparsescope solve a.mtx --merge 1.05 --write-g g.mtx
  sparsescope solve a.mtx --read-g g.mtx --format hyb --json
  sparsescope solve monday.mtx tuesday.mtx --reuse-pattern";

#[derive(Debug, Args)]
pub(super) struct SpmvArgs {
    /// The matrix A
    pub(super) matrix: String,
    /// Kernel id
    #[arg(long, default_value = "cpu/csr/serial", value_name = "ID")]
    pub(super) kernel: String,
    /// The vector x: Matrix Market, or one number a line [default: integers 1 to 5 from --seed]
    #[arg(long, value_name = "FILE")]
    pub(super) x: Option<PathBuf>,
    /// Seed of x when no file is given
    #[arg(long, default_value_t = sparsescope_core::measure::DEFAULT_SEED, value_name = "S")]
    pub(super) seed: u64,
    /// Threads [default: all]
    #[arg(long, value_name = "N", value_parser = thread_count)]
    pub(super) threads: Option<u32>,
    #[command(flatten)]
    pub(super) gpu: GpuArgs,
    /// Threads a block, for a GPU kernel
    #[arg(long, value_name = "N", value_parser = block_size, default_value_t = 128)]
    pub(super) block_size: u32,
    #[command(flatten)]
    pub(super) format: FormatArgs,
    /// Precision of the values; for f32 the matrix and x are rounded [default: f64, or the only one that
    /// the kernel has]
    #[arg(long, value_enum)]
    pub(super) precision: Option<PrecisionArg>,
    /// A result to compare with; exit code 3 when a row differs by more than --tol
    #[arg(long, value_name = "FILE")]
    pub(super) expect: Option<PathBuf>,
    /// Largest difference |y - e| allowed, relative to max(1, |e|)
    #[arg(long, value_name = "T", default_value_t = 1e-5, value_parser = tolerance, requires = "expect", allow_negative_numbers = true)]
    pub(super) tol: f64,
    /// Where to write y (Matrix Market array, 17 significant digits; .gz compresses)
    #[arg(short, value_name = "FILE", required_unless_present = "expect")]
    pub(super) output: Option<PathBuf>,
    /// Overwrite an existing file
    #[arg(long)]
    pub(super) force: bool,
}

#[derive(Debug, Args)]
pub(super) struct SymgsArgs {
    /// The matrix A
    pub(super) matrix: String,
    /// Kernel id
    #[arg(long, default_value = "cpu/symgs/serial", value_name = "ID")]
    pub(super) kernel: String,
    /// What each row is solved for: b (standard), or what x was (smoother)
    #[arg(long, value_name = "standard|smoother", default_value = "standard", value_parser = value_of(Parameter::Mode))]
    pub(super) mode: String,
    /// Precision of the values; for f32 the matrix, b and x are rounded
    #[arg(long, value_enum, default_value = "f64")]
    pub(super) precision: PrecisionArg,
    /// Symmetric sweeps, one after the other
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub(super) sweeps: u32,
    /// The right-hand side b: Matrix Market, or one number a line [default: from -1 to 1, from --seed]
    #[arg(long, value_name = "FILE")]
    pub(super) b: Option<PathBuf>,
    /// x before the first sweep, likewise [default: from 0.01 to 1, from --seed]
    #[arg(long, value_name = "FILE")]
    pub(super) x0: Option<PathBuf>,
    /// Seed of b and x when no files are given
    #[arg(long, default_value_t = sparsescope_core::measure::DEFAULT_SEED, value_name = "S")]
    pub(super) seed: u64,
    /// Threads [default: all]
    #[arg(long, value_name = "N", value_parser = thread_count)]
    pub(super) threads: Option<u32>,
    #[command(flatten)]
    pub(super) gpu: GpuArgs,
    /// Threads a block, for a GPU kernel that takes them
    #[arg(long, value_name = "N", value_parser = block_size, default_value_t = 128)]
    pub(super) block_size: u32,
    /// A result to compare with; exit code 3 when an element differs by more than --tol
    #[arg(long, value_name = "FILE")]
    pub(super) expect: Option<PathBuf>,
    /// Largest difference |x - e| allowed
    #[arg(long, value_name = "T", default_value_t = 1e-3, value_parser = tolerance, requires = "expect", allow_negative_numbers = true)]
    pub(super) tol: f64,
    /// Where to write x (Matrix Market array, 17 significant digits; .gz compresses)
    #[arg(short, value_name = "FILE", required_unless_present_any = ["expect", "json"])]
    pub(super) output: Option<PathBuf>,
    /// Overwrite an existing file
    #[arg(long)]
    pub(super) force: bool,
    /// Print JSON
    #[arg(long)]
    pub(super) json: bool,
}

#[derive(Debug, Args)]
pub(super) struct SkylineArgs {
    /// The points
    pub(super) points: String,
    /// Kernel id
    #[arg(long, default_value = "cpu/skyline/fast", value_name = "ID")]
    pub(super) kernel: String,
    /// Smaller coordinates are better
    #[arg(long)]
    pub(super) minimize: bool,
    #[command(flatten)]
    pub(super) header: HeaderArgs,
    /// Write six decimals, as the paper's program does, instead of what reads back exactly
    #[arg(long, requires = "output")]
    pub(super) paper_format: bool,
    /// Threads [default: all]
    #[arg(long, value_name = "N", value_parser = thread_count)]
    pub(super) threads: Option<u32>,
    #[command(flatten)]
    pub(super) gpu: GpuArgs,
    /// Threads a block, for a GPU kernel that takes them
    #[arg(long, value_name = "N", value_parser = block_size, default_value_t = 64)]
    pub(super) block_size: u32,
    /// Where to write the skyline points, in input order: CSV if the name ends in .csv, binary if it ends in
    /// .points, else text (.gz compresses)
    #[arg(short, value_name = "FILE")]
    pub(super) output: Option<PathBuf>,
    /// Overwrite an existing file
    #[arg(long)]
    pub(super) force: bool,
    /// Print JSON
    #[arg(long)]
    pub(super) json: bool,
}

#[derive(Debug, Args)]
pub(super) struct SolveArgs {
    /// The matrix A; several with --reuse-pattern
    #[arg(value_name = "MATRIX", required = true)]
    pub(super) matrices: Vec<String>,
    /// Kernel id [default: cpu/pcg/threads, or cuda/pcg/device with --backend cuda]
    #[arg(long, value_name = "ID")]
    pub(super) kernel: Option<String>,
    /// Device to run on, where no kernel is named
    #[arg(long, value_enum, conflicts_with = "kernel")]
    pub(super) backend: Option<BackendArg>,
    #[command(flatten)]
    pub(super) solver: SolverArgs,
    /// Width of HYB's ELLPACK part [default: the largest that a third of the rows reach]
    #[arg(long, value_name = "N", value_parser = value_of(Parameter::HybWidth))]
    pub(super) hyb_width: Option<String>,
    /// FSAI: how the pattern is found: recursive, power or adaptive, or a file that has it
    #[arg(long, value_name = "HOW|FILE", default_value = "recursive")]
    pub(super) pattern: String,
    /// FSAI: take G from a file, lower triangular with a positive diagonal
    #[arg(long, value_name = "FILE", conflicts_with = "pattern")]
    pub(super) read_g: Option<PathBuf>,
    /// FSAI: write G (Matrix Market; .gz compresses)
    #[arg(long, value_name = "FILE")]
    pub(super) write_g: Option<PathBuf>,
    /// FSAI: matrices after the first one take its pattern and compute the values of G anew
    #[arg(long, conflicts_with = "read_g")]
    pub(super) reuse_pattern: bool,
    /// With --reuse-pattern: drop of G what was dropped of the first one, in place of filtering anew
    #[arg(long, requires = "reuse_pattern")]
    pub(super) keep_filter: bool,
    /// The right-hand side: a1 (A times ones, so that the solution is known), ones, range (A times random numbers
    /// from a seed), or a file
    #[arg(long, value_name = "a1|ones|range[:SEED]|FILE", default_value = "a1")]
    pub(super) b: String,
    #[command(flatten)]
    pub(super) ranks: RankArgs,
    /// What to begin with: zero, precond (the preconditioned b), or a file
    #[arg(long, value_name = "zero|precond|FILE", default_value = "zero")]
    pub(super) x0: String,
    /// Threads [default: all]
    #[arg(long, value_name = "N", value_parser = thread_count)]
    pub(super) threads: Option<u32>,
    #[command(flatten)]
    pub(super) gpu: GpuArgs,
    /// Where to write x (Matrix Market array, 17 significant digits; .gz compresses)
    #[arg(short, value_name = "FILE")]
    pub(super) output: Option<PathBuf>,
    /// Where to write the relative residual after each iteration, as CSV
    #[arg(long, value_name = "FILE")]
    pub(super) history: Option<PathBuf>,
    /// Overwrite existing files
    #[arg(long)]
    pub(super) force: bool,
    /// Print JSON
    #[arg(long)]
    pub(super) json: bool,
}
