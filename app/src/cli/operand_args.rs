//! Arguments of the commands that compute one result: an SpMV, an SpMM, a sweep, a skyline, a solution.

use std::path::PathBuf;

use clap::Args;
use sparsescope_core::kernel::parameters::{MODE, VECTORS};

use super::help::{KERNELS, OUTPUT, SOLVER, WHAT};
use super::parameter_args::ParameterArgs;
use super::shared_args::{BackendArg, GpuArgs, HeaderArgs, PrecisionArg, RankArgs, ReadArgs};
use super::values::{block_size, thread_count, tolerance, value_of};

#[derive(Debug, Args)]
pub(super) struct SpmvArgs {
    /// The matrix A: file, gen:KIND?key=value&... or suite:NAME
    #[arg(value_name = "MATRIX")]
    pub(super) matrix: String,
    #[command(flatten)]
    pub(super) read: ReadArgs,
    /// The vector x [default: random integers 1 to 5 (--seed)]
    ///
    /// The file is Matrix Market, has one number per line, or is a vector of NumPy, MATLAB, PETSc or hypre.
    #[arg(long, value_name = "FILE", help_heading = WHAT)]
    pub(super) x: Option<PathBuf>,
    /// With --scale ALPHA:BETA: y before the product [default: random from -1 to 1 (--seed)]
    #[arg(long, value_name = "FILE", help_heading = WHAT)]
    pub(super) y: Option<PathBuf>,
    /// Seed of x and y if no files are given
    #[arg(long, default_value_t = sparsescope_core::measure::DEFAULT_SEED, value_name = "S", help_heading = WHAT, hide_short_help = true)]
    pub(super) seed: u64,
    /// Kernel id
    #[arg(long, default_value = "cpu/csr/serial", value_name = "ID", help_heading = KERNELS)]
    pub(super) kernel: String,
    /// Threads [default: all]
    #[arg(long, value_name = "N", value_parser = thread_count, help_heading = KERNELS)]
    pub(super) threads: Option<u32>,
    #[command(flatten)]
    pub(super) gpu: GpuArgs,
    /// Threads per block of a GPU kernel
    #[arg(long, value_name = "N", value_parser = block_size, default_value_t = 128, help_heading = KERNELS, hide_short_help = true)]
    pub(super) block_size: u32,
    /// Precision of the values [default: f64]
    ///
    /// With f32, the matrix and x are rounded; y is always written in f64. The default is f32 for kernels
    /// that do not support f64. With f32:f64, bf16:f32 and f16:f32, CUDA kernels on CSR and compact HLL store the matrix
    /// in the first format and compute in the second.
    #[arg(long, value_enum, value_name = "NAME", help_heading = KERNELS)]
    pub(super) precision: Option<PrecisionArg>,
    #[command(flatten)]
    pub(super) parameters: ParameterArgs,
    /// Expected y; exit with 3 if a row differs by more than --tol
    #[arg(long, value_name = "FILE", help_heading = OUTPUT)]
    pub(super) expect: Option<PathBuf>,
    /// Error bound: largest |y-e| / max(1, |e|)
    ///
    /// e is the vector of --expect. This is a bound on the error of each row of y; --tol of `solve` is a residual.
    #[arg(long, visible_alias = "max-error", value_name = "T", default_value = "1e-5", value_parser = tolerance, requires = "expect", allow_negative_numbers = true, help_heading = OUTPUT)]
    pub(super) tol: f64,
    /// Write y to this file: a NumPy array (.npy), or a Matrix Market array, 17 significant digits
    ///
    /// The file is gzipped if its name ends in .gz.
    #[arg(short, value_name = "FILE", required_unless_present = "expect", help_heading = OUTPUT)]
    pub(super) output: Option<PathBuf>,
    /// Overwrite an existing file
    #[arg(long, help_heading = OUTPUT)]
    pub(super) force: bool,
}

#[derive(Debug, Args)]
pub(super) struct SpmmArgs {
    /// The matrix A: file, gen:KIND?key=value&... or suite:NAME
    #[arg(value_name = "MATRIX")]
    pub(super) matrix: String,
    #[command(flatten)]
    pub(super) read: ReadArgs,
    /// The matrix X, with as many rows as A has columns [default: random integers 1 to 5 (--seed)]
    ///
    /// The file is a NumPy array (.npy), a Matrix Market array, or text with one row per line, as numpy.savetxt writes
    /// it; blanks, commas or semicolons separate its numbers. In a sparse matrix, such as Matrix Market's coordinate
    /// form, missing elements are 0.
    #[arg(long, value_name = "FILE", conflicts_with = VECTORS.id().name(), help_heading = WHAT)]
    pub(super) x: Option<PathBuf>,
    /// Not an option of spmm: the error names `spmv --op t`
    #[arg(long, hide = true)]
    pub(super) op: Option<String>,
    /// Seed of X if no file is given
    #[arg(long, default_value_t = sparsescope_core::measure::DEFAULT_SEED, value_name = "S", help_heading = WHAT, hide_short_help = true)]
    pub(super) seed: u64,
    /// Kernel id
    #[arg(long, default_value = "cpu/spmm/simd", value_name = "ID", help_heading = KERNELS)]
    pub(super) kernel: String,
    /// Threads [default: all]
    #[arg(long, value_name = "N", value_parser = thread_count, help_heading = KERNELS)]
    pub(super) threads: Option<u32>,
    #[command(flatten)]
    pub(super) gpu: GpuArgs,
    /// Threads per block of a GPU kernel
    #[arg(long, value_name = "N", value_parser = block_size, default_value_t = 128, help_heading = KERNELS, hide_short_help = true)]
    pub(super) block_size: u32,
    /// Precision of the values
    ///
    /// With f32, A and X are rounded; Y is always written in f64. With f32:f64, bf16:f32 and f16:f32, CUDA
    /// kernels on CSR and BSR store A in the first format and compute in the second.
    #[arg(long, value_enum, value_name = "NAME", default_value = "f64", help_heading = KERNELS)]
    pub(super) precision: PrecisionArg,
    #[command(flatten)]
    pub(super) parameters: ParameterArgs,
    /// Write Y to this file: a NumPy array (.npy), or a Matrix Market array, 17 significant digits
    ///
    /// If X is a NumPy array in Fortran order, a Y in .npy is in that order, too. The file is gzipped if its name ends in
    /// .gz.
    #[arg(short, value_name = "FILE", help_heading = OUTPUT)]
    pub(super) output: PathBuf,
    /// Overwrite an existing file
    #[arg(long, help_heading = OUTPUT)]
    pub(super) force: bool,
}

#[derive(Debug, Args)]
pub(super) struct SymgsArgs {
    /// The matrix A: file, gen:KIND?key=value&... or suite:NAME
    #[arg(value_name = "MATRIX")]
    pub(super) matrix: String,
    #[command(flatten)]
    pub(super) read: ReadArgs,
    /// Number of symmetric sweeps
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1_000_000), help_heading = WHAT)]
    pub(super) sweeps: u32,
    /// Right-hand side of each row update: b, or the previous x (smoother)
    #[arg(long, value_name = "standard|smoother", default_value = "standard", value_parser = value_of(MODE.id()), help_heading = WHAT)]
    pub(super) mode: String,
    /// Right-hand side [default: random from -1 to 1 (--seed)]
    ///
    /// The file is Matrix Market, has one number per line, or is a vector of NumPy, MATLAB, PETSc or hypre. archive is
    /// the vector that comes with A: NAME_b.mtx in its archive, or a right-hand side in the same file (Matrix Market,
    /// AMGX, Harwell-Boeing, MATLAB, PETSc).
    #[arg(long, value_name = "FILE|archive", help_heading = WHAT)]
    pub(super) b: Option<PathBuf>,
    /// Column of the file of b, from 1 [default: its only column]
    #[arg(long, value_name = "K", requires = "b", value_parser = clap::value_parser!(u32).range(1..), help_heading = WHAT, hide_short_help = true)]
    pub(super) b_column: Option<u32>,
    /// Initial x [default: random from 0.01 to 1 (--seed)]
    ///
    /// The file is in one of the forms of --b. archive is the vector that comes with A: NAME_x0.mtx or NAME_x.mtx in
    /// its archive, or a second vector in the same file.
    #[arg(long, value_name = "FILE|archive", help_heading = WHAT)]
    pub(super) x0: Option<PathBuf>,
    /// Column of the file of x0, from 1 [default: its only column]
    #[arg(long, value_name = "K", requires = "x0", value_parser = clap::value_parser!(u32).range(1..), help_heading = WHAT, hide_short_help = true)]
    pub(super) x0_column: Option<u32>,
    /// Seed of b and x if no files are given
    #[arg(long, default_value_t = sparsescope_core::measure::DEFAULT_SEED, value_name = "S", help_heading = WHAT, hide_short_help = true)]
    pub(super) seed: u64,
    /// Kernel id
    #[arg(long, default_value = "cpu/symgs/serial", value_name = "ID", help_heading = KERNELS)]
    pub(super) kernel: String,
    /// Threads [default: all]
    #[arg(long, value_name = "N", value_parser = thread_count, help_heading = KERNELS)]
    pub(super) threads: Option<u32>,
    #[command(flatten)]
    pub(super) gpu: GpuArgs,
    /// Threads per block, for GPU kernels with a variable block size
    #[arg(long, value_name = "N", value_parser = block_size, default_value_t = 128, help_heading = KERNELS, hide_short_help = true)]
    pub(super) block_size: u32,
    /// Precision of the values
    ///
    /// With f32, the matrix, b and x are rounded. No kernel of symgs supports the values that name two precisions.
    #[arg(long, value_enum, value_name = "NAME", default_value = "f64", help_heading = KERNELS)]
    pub(super) precision: PrecisionArg,
    /// Expected x; exit with 3 if an element differs by more than --tol
    #[arg(long, value_name = "FILE", help_heading = OUTPUT)]
    pub(super) expect: Option<PathBuf>,
    /// Error bound: largest |x-e|
    ///
    /// e is the vector of --expect. This is a bound on the error of each element of x; --tol of `solve` is a residual.
    #[arg(long, visible_alias = "max-error", value_name = "T", default_value = "1e-3", value_parser = tolerance, requires = "expect", allow_negative_numbers = true, help_heading = OUTPUT)]
    pub(super) tol: f64,
    /// Write x to this file: a NumPy array (.npy), or a Matrix Market array, 17 significant digits
    ///
    /// The file is gzipped if its name ends in .gz.
    #[arg(short, value_name = "FILE", required_unless_present_any = ["expect", "json"], help_heading = OUTPUT)]
    pub(super) output: Option<PathBuf>,
    /// Overwrite an existing file
    #[arg(long, help_heading = OUTPUT)]
    pub(super) force: bool,
    /// Print JSON
    #[arg(long, help_heading = OUTPUT)]
    pub(super) json: bool,
}

#[derive(Debug, Args)]
pub(super) struct SkylineArgs {
    /// The points: file, gen:points-KIND?n=...&d=... or suite:NAME
    #[arg(value_name = "POINTS", required_unless_present = "minimize")]
    pub(super) points: Option<String>,
    /// Compare only these columns: names in the header, or numbers from 1
    ///
    /// The default is the columns that --minimize and --maximize name, or else all but that of --id.
    #[arg(long, value_name = "COLUMN,...", value_delimiter = ',', help_heading = WHAT)]
    pub(super) columns: Vec<String>,
    /// Smaller is better in these columns, or in all if none is named
    #[arg(long, value_name = "COLUMN,...", num_args = 0..=1, value_delimiter = ',', help_heading = WHAT)]
    pub(super) minimize: Option<Vec<String>>,
    /// Larger is better in these columns [default: all that --minimize does not name]
    #[arg(long, value_name = "COLUMN,...", value_delimiter = ',', help_heading = WHAT)]
    pub(super) maximize: Vec<String>,
    /// Column with the names of the points, for the output
    #[arg(long, value_name = "COLUMN", help_heading = WHAT)]
    pub(super) id: Option<String>,
    #[command(flatten)]
    pub(super) header: HeaderArgs,
    /// Kernel id
    #[arg(long, default_value = "cpu/skyline/fast", value_name = "ID", help_heading = KERNELS)]
    pub(super) kernel: String,
    /// Threads [default: all]
    #[arg(long, value_name = "N", value_parser = thread_count, help_heading = KERNELS)]
    pub(super) threads: Option<u32>,
    #[command(flatten)]
    pub(super) gpu: GpuArgs,
    /// Threads per block, for GPU kernels with a variable block size
    #[arg(long, value_name = "N", value_parser = block_size, default_value_t = 64, help_heading = KERNELS, hide_short_help = true)]
    pub(super) block_size: u32,
    /// Write the skyline points to this file, in input order; gzipped if it ends in .gz
    ///
    /// They are written as CSV to .csv files, as binary to .points files and as text to all others. With --id, the
    /// file is CSV and begins with a column of row numbers and one of names.
    #[arg(short, value_name = "FILE", help_heading = OUTPUT)]
    pub(super) output: Option<PathBuf>,
    /// Write six decimals, as the paper's program does, instead of exact values
    #[arg(long, requires = "output", help_heading = OUTPUT, hide_short_help = true)]
    pub(super) paper_format: bool,
    /// Overwrite an existing file
    #[arg(long, help_heading = OUTPUT)]
    pub(super) force: bool,
    /// Print JSON
    #[arg(long, help_heading = OUTPUT)]
    pub(super) json: bool,
}

#[derive(Debug, Args)]
pub(super) struct SolveArgs {
    /// The matrix A: file, gen:... or suite:NAME; several with --reuse-pattern
    #[arg(value_name = "MATRIX", required = true)]
    pub(super) matrices: Vec<String>,
    #[command(flatten)]
    pub(super) read: ReadArgs,
    /// Right-hand side
    ///
    /// a1 is A times a vector of ones, so the solution is known; range is A times a random vector. archive is the vector
    /// that comes with A: NAME_b.mtx in its archive, or a right-hand side in the same file (Matrix Market, AMGX,
    /// Harwell-Boeing, MATLAB, PETSc). A file is Matrix Market, has one number per line, or is a vector of NumPy,
    /// MATLAB, PETSc or hypre.
    #[arg(long, value_name = "a1|ones|range[:SEED]|FILE|archive", default_value = "a1", help_heading = WHAT)]
    pub(super) b: String,
    /// Column of the file of b, from 1 [default: its only column]
    #[arg(long, value_name = "K", requires = "b", value_parser = clap::value_parser!(u32).range(1..), help_heading = WHAT, hide_short_help = true)]
    pub(super) b_column: Option<u32>,
    /// Initial guess; precond is the preconditioned b
    ///
    /// archive is the vector that comes with A: NAME_x0.mtx or NAME_x.mtx in its archive, or a second vector in the
    /// same file.
    #[arg(long, value_name = "zero|precond|FILE|archive", default_value = "zero", help_heading = WHAT)]
    pub(super) x0: String,
    /// Column of the file of x0, from 1 [default: its only column]
    #[arg(long, value_name = "K", requires = "x0", value_parser = clap::value_parser!(u32).range(1..), help_heading = WHAT, hide_short_help = true)]
    pub(super) x0_column: Option<u32>,
    /// Kernel id [default: cpu/pcg/threads, or cuda/pcg/device with --backend cuda]
    #[arg(long, value_name = "ID", help_heading = KERNELS)]
    pub(super) kernel: Option<String>,
    /// Device to run on if no kernel is named
    #[arg(long, value_enum, value_name = "NAME", conflicts_with = "kernel", help_heading = KERNELS)]
    pub(super) backend: Option<BackendArg>,
    /// Threads [default: all]
    #[arg(long, value_name = "N", value_parser = thread_count, help_heading = KERNELS)]
    pub(super) threads: Option<u32>,
    #[command(flatten)]
    pub(super) gpu: GpuArgs,
    #[command(flatten)]
    pub(super) parameters: ParameterArgs,
    /// FSAI: pattern of G: recursive, power, adaptive, or a file
    #[arg(long, value_name = "HOW|FILE", default_value = "recursive", help_heading = SOLVER, hide_short_help = true)]
    pub(super) pattern: String,
    /// FSAI: read G from a file; lower triangular with a positive diagonal
    #[arg(long, value_name = "FILE", conflicts_with = "pattern", help_heading = SOLVER, hide_short_help = true)]
    pub(super) read_g: Option<PathBuf>,
    /// FSAI: write G to a file (Matrix Market; gzipped if it ends in .gz)
    #[arg(long, value_name = "FILE", help_heading = SOLVER, hide_short_help = true)]
    pub(super) write_g: Option<PathBuf>,
    /// FSAI: reuse the first matrix's pattern for the others; recompute only the values of G
    #[arg(long, conflicts_with = "read_g", help_heading = SOLVER, hide_short_help = true)]
    pub(super) reuse_pattern: bool,
    /// With --reuse-pattern: reuse the first matrix's filter for G instead of filtering again
    #[arg(long, requires = "reuse_pattern", help_heading = SOLVER, hide_short_help = true)]
    pub(super) keep_filter: bool,
    #[command(flatten)]
    pub(super) ranks: RankArgs,
    /// Write x to this file: a NumPy array (.npy), or a Matrix Market array, 17 significant digits
    ///
    /// The file is gzipped if its name ends in .gz.
    #[arg(short, value_name = "FILE", help_heading = OUTPUT)]
    pub(super) output: Option<PathBuf>,
    /// Write the relative residual after each iteration as CSV
    #[arg(long, value_name = "FILE", help_heading = OUTPUT)]
    pub(super) history: Option<PathBuf>,
    /// Overwrite existing files
    #[arg(long, help_heading = OUTPUT)]
    pub(super) force: bool,
    /// Print JSON
    #[arg(long, help_heading = OUTPUT)]
    pub(super) json: bool,
}
