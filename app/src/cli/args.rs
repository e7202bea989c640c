//! The command-line arguments.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Parser, Subcommand, ValueEnum};
use sparsescope_core::kernel::Parameter;
use sparsescope_core::record::{Operation, Shard};

use super::operand_args::{
    SKYLINE_HELP, SOLVE_HELP, SYMGS_HELP, SkylineArgs, SolveArgs, SpmvArgs, SymgsArgs,
};
use super::shared_args::{BackendArg, FormatArgs, GpuArgs, HeaderArgs, PrecisionArg, RankArgs};
use super::solver_args::{SolverArgs, SystemArgs};
use super::values::{
    MAX_SIZE, block_size, byte_count, duration, factor, share, spy_bytes, thread_count, value_of,
};

/// See a sparse matrix, run the kernels that people write for it, share what came out.
#[derive(Debug, Parser)]
#[command(name = "sparsescope", version, about)]
#[command(after_help = MATRIX_HELP)]
pub(super) struct Cli {
    #[command(subcommand)]
    pub(super) command: Option<Command>,
    /// Result bundles, matrices and lessons to open in the window [default: an example]
    #[arg(value_name = "FILE")]
    pub(super) files: Vec<PathBuf>,
    /// Show what a link to the web viewer shows: the part after its `#`
    #[arg(long, value_name = "v1;...")]
    pub(super) state: Option<String>,
    /// Show no progress
    #[arg(short, long, global = true)]
    pub(super) quiet: bool,
}

const MATRIX_HELP: &str = "\
MATRIX is a path (.mtx, .mtx.gz, a collection's .tar.gz, or a text of \"rows cols entries\" and
triplets under another extension), gen:KIND?key=value&... or suite:NAME;
`sparsescope generate --list` explains generators and suites.";

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Open bundles, matrices and lessons in the window, as without a command
    View(ViewArgs),
    /// Run kernels on matrices, check every result, print who wins, write a bundle and a report
    #[command(after_help = MATRIX_HELP)]
    Bench(Box<BenchArgs>),
    /// Describe a matrix: rows, structure, bytes and padding of each format
    #[command(after_help = MATRIX_HELP)]
    Info(InfoArgs),
    /// Multiply a matrix by a vector
    #[command(after_help = MATRIX_HELP)]
    Spmv(SpmvArgs),
    /// Sweep over a system with symmetric Gauss-Seidel
    #[command(after_help = SYMGS_HELP)]
    Symgs(SymgsArgs),
    /// Keep of a set of points those that no other dominates
    #[command(after_help = SKYLINE_HELP)]
    Skyline(SkylineArgs),
    /// Solve a symmetric positive definite system with preconditioned conjugate gradients
    #[command(after_help = SOLVE_HELP)]
    Solve(Box<SolveArgs>),
    /// Write a matrix, or points, from a generator
    Generate(GenerateArgs),
    /// Download matrices of the SuiteSparse collection, resumable and checked
    Fetch(FetchArgs),
    /// List every kernel
    Kernels(KernelsArgs),
    /// Describe this machine and measure its memory bandwidth
    Devices(DevicesArgs),
    /// Say what changed between two bundles, and how sure that is
    Compare(CompareArgs),
    /// Make one bundle of several
    Merge(MergeArgs),
    /// Write parts of a bundle as other files
    Export(ExportArgs),
    /// Show bundles and lessons in a browser: the web viewer on 127.0.0.1
    Serve(ServeArgs),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum OperationArg {
    /// y = A·x
    Spmv,
    /// A symmetric Gauss–Seidel iteration
    Symgs,
    /// The points that no other dominates
    Skyline,
    /// A·x = b by conjugate gradients
    Solve,
    /// Many small dense systems, each symmetric positive definite
    BatchedDense,
    /// x ← x + 1
    #[cfg(feature = "proof")]
    Increment,
}

impl From<OperationArg> for Operation {
    fn from(arg: OperationArg) -> Self {
        match arg {
            OperationArg::Spmv => Self::Spmv,
            OperationArg::Symgs => Self::Symgs,
            OperationArg::Skyline => Self::Skyline,
            OperationArg::Solve => Self::Solve,
            OperationArg::BatchedDense => Self::BatchedDense,
            #[cfg(feature = "proof")]
            OperationArg::Increment => Self::Increment,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum ReorderArg {
    /// Reverse Cuthill-McKee: a small bandwidth
    Rcm,
}

impl From<ReorderArg> for sparsescope_core::matrix::Reordering {
    fn from(arg: ReorderArg) -> Self {
        match arg {
            ReorderArg::Rcm => Self::Rcm,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum ProgressArg {
    /// One JSON object a line on standard error
    Json,
}

/// Which part of the plan to run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ShardArg {
    /// The one that the environment names.
    Auto,
    /// This one.
    Part(Shard),
}

impl std::str::FromStr for ShardArg {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.trim() {
            "auto" => Ok(Self::Auto),
            text => text.parse().map(Self::Part),
        }
    }
}

/// Arguments that `--resume` takes from the bundle.
const RESUME_TAKES_FROM_BUNDLE: [&str; 22] = [
    "precision",
    "output",
    "shard",
    "kernels",
    "backend",
    "gpus",
    "threads",
    "block_sizes",
    "runs",
    "until",
    "at_most",
    "warmup",
    "cold",
    "seed",
    "reorder",
    "FormatArgs",
    "SweepArgs",
    "counting",
    "SolverArgs",
    "SystemArgs",
    "rhs",
    "no_source",
];

#[derive(Debug, Args)]
pub(super) struct BenchArgs {
    /// Matrices; without any (and without --suite) the operation's suite is run: `mini` for products,
    /// `sweeps` for symgs, `points` for skyline, `solver` for solves, `batches` for batched-dense
    #[arg(value_name = "MATRIX")]
    pub(super) matrices: Vec<String>,
    /// What to compute
    #[arg(long, value_enum, default_value = "spmv")]
    pub(super) operation: OperationArg,
    /// Run all matrices of a suite, or of a file that names one a line: a path, gen:..., suite:... or a
    /// name of the SuiteSparse collection, which is fetched; # begins a comment
    #[arg(long, value_name = "NAME|FILE")]
    pub(super) suite: Option<String>,
    #[command(flatten)]
    pub(super) header: HeaderArgs,
    /// Run the K-th of N parts of the plan, which another process splits alike without being asked; `merge`
    /// joins them. `auto` takes K and N from a Slurm job array, from srun or from Open MPI's mpirun, see
    /// docs/clusters.md
    #[arg(long, value_name = "K/N|auto")]
    pub(super) shard: Option<ShardArg>,
    /// Kernel ids or patterns such as 'cpu/csr/*' or 'cpu/{csr,hll}/*' [default: all that run here]
    #[arg(long, value_name = "GLOB,...")]
    pub(super) kernels: Vec<String>,
    /// Kernels of your own beside these: a CUDA file whose header says how it is launched, see
    /// docs/your-own-kernel.md; may be given several times. It runs with all your rights on your GPU
    #[arg(long, value_name = "FILE.cu")]
    pub(super) kernel_file: Vec<PathBuf>,
    /// Keep the text of these files out of the bundle, which then holds its SHA-256 alone
    #[arg(long, requires = "kernel_file")]
    pub(super) no_source: bool,
    /// Devices to run on [default: cpu, and cuda where it is; wgpu where kernels of it are named]
    #[arg(long, value_enum, value_delimiter = ',')]
    pub(super) backend: Vec<BackendArg>,
    #[command(flatten)]
    pub(super) gpu: GpuArgs,
    /// Numbers of GPUs that share each matrix, from the first GPU on: also run the kernels of several GPUs,
    /// nccl/*, on so many of them
    #[arg(long, value_name = "N,...", value_delimiter = ',', value_parser = value_of(Parameter::Ranks))]
    pub(super) gpus: Vec<String>,
    /// Threads a block of GPU kernels
    #[arg(long, value_name = "N,...", value_delimiter = ',', value_parser = block_size, default_values_t = [32, 64, 96, 128, 160])]
    pub(super) block_sizes: Vec<u32>,
    /// Thread counts of parallel CPU kernels [default: 1, 2, 4, ... and all]
    #[arg(long, value_name = "N,...", value_delimiter = ',', value_parser = thread_count)]
    pub(super) threads: Vec<u32>,
    /// Timed samples of each run
    #[arg(long, default_value_t = 20, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub(super) runs: u32,
    /// Take samples in rounds until half the width of the median's 95 % interval is below this share
    /// of the median: 1% or 0.01; at least 10 and at most 1000 a run
    #[arg(long, value_name = "P", value_parser = share, conflicts_with = "runs")]
    pub(super) until: Option<f64>,
    /// Time after which a run's sampling ends all the same, e.g. 30s [default: 10s]
    #[arg(long, value_name = "TIME", value_parser = duration, requires = "until")]
    pub(super) at_most: Option<Duration>,
    /// Untimed executions before the first sample
    #[arg(long, default_value_t = 3, value_name = "N", value_parser = clap::value_parser!(u32).range(0..=100_000))]
    pub(super) warmup: u32,
    /// Measure with flushed caches too
    #[arg(long)]
    pub(super) cold: bool,
    /// The vector x, which sweeps begin with: Matrix Market, or one number a line [default: from --seed]
    #[arg(long, value_name = "FILE")]
    pub(super) x: Option<PathBuf>,
    /// Seed of x (for products, integers 1 to 5) and of the right-hand sides of sweeps and of dense systems
    #[arg(long, default_value_t = sparsescope_core::measure::DEFAULT_SEED, value_name = "S")]
    pub(super) seed: u64,
    /// Number the rows and columns of the matrices anew
    #[arg(long, value_enum, conflicts_with_all = ["partition", "permutation"])]
    pub(super) reorder: Option<ReorderArg>,
    #[command(flatten)]
    pub(super) ranks: RankArgs,
    #[command(flatten)]
    pub(super) format: FormatArgs,
    #[command(flatten)]
    pub(super) sweep: SweepArgs,
    /// Where the GPU kernels of paper 004 count the points they keep: by atomics on the device, or on
    /// the host [default: device]
    #[arg(long, value_name = "WHERE,...", value_delimiter = ',', value_parser = value_of(Parameter::Counting))]
    pub(super) counting: Vec<String>,
    #[command(flatten)]
    pub(super) solver: SolverArgs,
    #[command(flatten)]
    pub(super) system: SystemArgs,
    /// Right-hand sides of dense systems: the last unit vector for all, or random numbers from -1 to 1
    /// from --seed [default: last-unit]
    #[arg(long, value_name = "WHICH,...", value_delimiter = ',', value_parser = value_of(Parameter::Rhs))]
    pub(super) rhs: Vec<String>,
    /// Precision of the values; for f32 the matrix and x are rounded [default: f64; f32 with wgpu, which
    /// has no other]
    #[arg(long, value_enum, value_delimiter = ',')]
    pub(super) precision: Vec<PrecisionArg>,
    /// Bytes that the formats of a matrix may take, e.g. 8G [default: 3/4 of the free memory]
    #[arg(long, value_name = "BYTES", value_parser = byte_count)]
    pub(super) memory_limit: Option<u64>,
    /// Bytes that the picture of each matrix's structure may take in the bundle, and that of an
    /// operation's levels or of how densely points lie beside it; 0 for none
    #[arg(long, value_name = "BYTES", default_value = "128KiB", value_parser = spy_bytes)]
    pub(super) spy_bytes: u64,
    /// Stop after this time, e.g. 90s, 5m or 1.5h, keeping what is measured by then
    #[arg(long, value_name = "TIME", value_parser = duration)]
    pub(super) time_limit: Option<Duration>,
    /// A name kept in the bundle, e.g. of the machine
    #[arg(long, value_name = "TEXT")]
    pub(super) label: Option<String>,
    /// The bundle to write [default: sparsescope-DATE-TIME.zip, of a part
    /// sparsescope-DATE-TIME-part-K-of-N.zip, never an existing file]
    #[arg(short, value_name = "FILE.zip")]
    pub(super) output: Option<PathBuf>,
    /// Continue an interrupted bundle (its journal alone is enough) and replace it; settings and
    /// kernels are the bundle's, files have to be named again, as arguments or by --suite FILE
    #[arg(long, value_name = "FILE.zip", conflicts_with_all = RESUME_TAKES_FROM_BUNDLE)]
    pub(super) resume: Option<PathBuf>,
    /// Overwrite existing files
    #[arg(long)]
    pub(super) force: bool,
    /// Also write the runs as CSV; - prints them instead of the summary
    #[arg(long, value_name = "FILE")]
    pub(super) csv: Option<PathBuf>,
    /// Print the runs as JSON instead of the summary
    #[arg(long)]
    pub(super) json: bool,
    /// Only list what would be run, with --shard in that part
    #[arg(long)]
    pub(super) plan: bool,
    /// How progress is told, for a program that started this one
    #[arg(long, value_enum, hide = true)]
    pub(super) progress: Option<ProgressArg>,
    /// Print the table of all runs before the summary
    #[arg(long)]
    pub(super) all: bool,
    /// Print details after the summary: what spmv/auto chose, how ranks shared the work
    #[arg(short, long)]
    pub(super) verbose: bool,
    /// Do not write the report: a page with charts beside the bundle, FILE.html
    #[arg(long)]
    pub(super) no_report: bool,
}

/// Parameters of Gauss–Seidel.
#[derive(Clone, Debug, Args)]
pub(super) struct SweepArgs {
    /// What a Gauss–Seidel sweep solves each row for: b, or what x was (smoother) [default: standard]
    #[arg(long, value_name = "MODE,...", value_delimiter = ',', value_parser = value_of(Parameter::Mode))]
    pub(super) mode: Vec<String>,
}

#[derive(Debug, Args)]
pub(super) struct InfoArgs {
    /// The matrix
    pub(super) matrix: String,
    /// Number its rows and columns anew, and tell what it was like before
    #[arg(long, value_enum)]
    pub(super) reorder: Option<ReorderArg>,
    /// Where to write which row and column became the first, the second and so on, from 0, one a line
    #[arg(long, value_name = "FILE", requires = "reorder")]
    pub(super) write_permutation: Option<PathBuf>,
    /// Overwrite an existing file
    #[arg(long)]
    pub(super) force: bool,
    /// Print JSON
    #[arg(long)]
    pub(super) json: bool,
}

#[derive(Debug, Args)]
pub(super) struct GenerateArgs {
    /// KIND?key=value&..., e.g. 'stencil27?n=40'
    #[arg(required_unless_present = "list")]
    pub(super) spec: Option<String>,
    /// The file to write: Matrix Market, or points as text, as CSV if its name ends in .csv, or in binary
    /// form if it ends in .points; .gz compresses
    #[arg(short, value_name = "FILE", required_unless_present = "list")]
    pub(super) output: Option<PathBuf>,
    /// Explain every generator and suite
    #[arg(long, conflicts_with_all = ["spec", "output"])]
    pub(super) list: bool,
    /// Write the diagonal and the triangle below it, in half the bytes, of a matrix that is symmetric
    #[arg(long, conflicts_with = "list")]
    pub(super) symmetric: bool,
    /// Overwrite an existing file
    #[arg(long)]
    pub(super) force: bool,
}

#[derive(Debug, Args)]
pub(super) struct FetchArgs {
    /// Matrices of the collection: NAME, or GROUP/NAME where several groups have one
    #[arg(value_name = "NAME", required = true)]
    pub(super) names: Vec<String>,
    /// Where to put them [default: `sparsescope/matrices` in the user's cache folder]
    #[arg(long, value_name = "FOLDER")]
    pub(super) folder: Option<PathBuf>,
    /// Fetch what is there already once more
    #[arg(long)]
    pub(super) force: bool,
    /// Largest archive to download, in bytes, e.g. 500M; it may decompress to 16 times as much
    /// [default: 64GiB]
    #[arg(long, value_name = "BYTES", value_parser = byte_count, default_value_t = MAX_SIZE, hide_default_value = true)]
    pub(super) max_size: u64,
}

#[derive(Debug, Args)]
pub(super) struct KernelsArgs {
    #[command(flatten)]
    pub(super) gpu: GpuArgs,
    /// Print JSON
    #[arg(long)]
    pub(super) json: bool,
}

#[derive(Debug, Args)]
pub(super) struct DevicesArgs {
    /// Thread counts to measure the bandwidth with [default: 1, 2, 4, ... and all]
    #[arg(long, value_name = "N,...", value_delimiter = ',', value_parser = thread_count)]
    pub(super) threads: Vec<u32>,
    /// Print JSON
    #[arg(long)]
    pub(super) json: bool,
}

#[derive(Debug, Args)]
pub(super) struct CompareArgs {
    /// The bundle measured before
    #[arg(value_name = "A.zip")]
    pub(super) before: PathBuf,
    /// The bundle measured after
    #[arg(value_name = "B.zip")]
    pub(super) after: PathBuf,
    /// Exit with 3 when a run of B is surely slower than R times that of A, or wrong where A's was
    /// right
    #[arg(long, value_name = "R", value_parser = factor)]
    pub(super) fail_above: Option<f64>,
    /// List the runs without a clear change too
    #[arg(long)]
    pub(super) all: bool,
    /// Print JSON
    #[arg(long)]
    pub(super) json: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum PreferArg {
    /// The last bundle that has it
    Last,
}

#[derive(Debug, Args)]
pub(super) struct MergeArgs {
    /// The bundles, two or more; a .json with results of Ginkgo's SpMV benchmark, nvbench or
    /// Google Benchmark counts as one, also alone
    #[arg(value_name = "BUNDLE", required = true)]
    pub(super) bundles: Vec<PathBuf>,
    /// The bundle to write
    #[arg(short, value_name = "FILE.zip")]
    pub(super) output: PathBuf,
    /// Which run counts when several bundles have one [default: none, that is an error]
    #[arg(long, value_enum)]
    pub(super) prefer: Option<PreferArg>,
    /// The new bundle's label [default: those of the bundles]
    #[arg(long, value_name = "TEXT")]
    pub(super) label: Option<String>,
    /// Overwrite an existing file
    #[arg(long)]
    pub(super) force: bool,
}

#[derive(Debug, Args)]
pub(super) struct ViewArgs {
    /// Result bundles, matrices and lessons [default: an example]
    #[arg(value_name = "FILE")]
    pub(super) files: Vec<PathBuf>,
    /// Show what a link to the web viewer shows: the part after its `#`
    #[arg(long, value_name = "v1;...")]
    pub(super) state: Option<String>,
}

#[derive(Debug, Args)]
pub(super) struct ExportArgs {
    /// The bundle; all but --csv take several, --html lessons too
    #[arg(value_name = "BUNDLE", required = true)]
    pub(super) bundles: Vec<PathBuf>,
    /// Write the table of runs as CSV; - prints it
    #[arg(long, value_name = "FILE", required_unless_present_any = ["html", "report", "svg", "png", "table"])]
    pub(super) csv: Option<PathBuf>,
    /// Write one file that opens in any browser, without a server or network: viewer,
    /// bundles and lessons
    #[arg(long, value_name = "FILE")]
    pub(super) html: Option<PathBuf>,
    /// Write one page without script to read and to print: summary, charts, matrices
    #[arg(long, value_name = "FILE")]
    pub(super) report: Option<PathBuf>,
    /// Write every chart as SVG into a folder, or one figure to a path that ends in .svg
    #[arg(long, value_name = "DIR|FILE")]
    pub(super) svg: Option<PathBuf>,
    /// Write the same figures as PNG
    #[arg(long, value_name = "DIR|FILE")]
    pub(super) png: Option<PathBuf>,
    /// Write what the figure shows as CSV; - prints it
    #[arg(long, value_name = "FILE")]
    pub(super) table: Option<PathBuf>,
    /// What the viewer shows: the part of a link after #, such as v1;search=cant;theme=dark
    #[arg(long, value_name = "LINK", default_value = "v1")]
    pub(super) state: String,
    /// The view of the figure, in place of the state's
    #[arg(long)]
    pub(super) view: Option<String>,
    /// The chart, in place of the state's: kernels, threads, roofline, …; another word lists all
    #[arg(long)]
    pub(super) chart: Option<String>,
    /// Overwrite an existing file
    #[arg(long)]
    pub(super) force: bool,
}

#[derive(Debug, Args)]
pub(super) struct ServeArgs {
    /// Result bundles and lessons to show [default: an example]
    #[arg(value_name = "BUNDLE")]
    pub(super) bundles: Vec<PathBuf>,
    /// Port on 127.0.0.1 [default: a free one]
    #[arg(long, value_name = "P")]
    pub(super) port: Option<u16>,
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }
}
