//! The command-line arguments.

use std::path::PathBuf;
use std::time::Duration;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args, Command as Program, CommandFactory, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;
use sparsescope_core::record::{Operation, Shard};

use super::help::{self, FORMATS, KERNELS, LAST, OUTPUT, RANKS, SAMPLING, WHAT};
use super::operand_args::{SkylineArgs, SolveArgs, SpmmArgs, SpmvArgs, SymgsArgs};
use super::parameter_args::{PARAMETERS, ParameterArgs};
use super::shared_args::{BackendArg, GpuArgs, HeaderArgs, PrecisionArg, RankArgs, ReadArgs};
use super::track_args::TrackArgs;
use super::values::{
    MAX_SIZE, block_size, byte_count, duration, factor, share, spy_bytes, thread_count, type_pt,
    width_mm,
};

/// See a sparse matrix, run CPU and GPU kernels on it, and share the result as one file
#[derive(Debug, Parser)]
#[command(name = "sparsescope", version, about, max_term_width = 100)]
pub(super) struct Cli {
    #[command(subcommand)]
    pub(super) command: Option<Command>,
    /// Bundles, matrices and lessons to open in the window [default: the start page]
    #[arg(value_name = "FILE")]
    pub(super) files: Vec<PathBuf>,
    /// Open with this viewer state: the part of a web viewer link after `#`
    #[arg(long, value_name = "v1;...", hide_short_help = true)]
    pub(super) state: Option<String>,
    /// Do not show progress
    #[arg(short, long, global = true, help_heading = OUTPUT, display_order = LAST)]
    pub(super) quiet: bool,
}

impl Cli {
    /// The whole command line with its help.
    pub(super) fn program() -> Program {
        help::arranged(Self::command())
    }
}

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Open bundles, matrices and lessons in the window (the default command)
    View(ViewArgs),
    /// Measure kernels on matrices, check every result, write a bundle and a report
    Bench(Box<BenchArgs>),
    /// Describe a matrix: rows, structure, bytes and padding of each format
    Info(InfoArgs),
    /// Compute one SpMV, y = A·x
    Spmv(SpmvArgs),
    /// Multiply a matrix by several vectors, Y = A·X
    Spmm(SpmmArgs),
    /// Run symmetric Gauss–Seidel sweeps on a system
    Symgs(SymgsArgs),
    /// Compute the skyline (Pareto front) of a point set
    Skyline(SkylineArgs),
    /// Solve a symmetric positive definite system with preconditioned conjugate gradients
    Solve(Box<SolveArgs>),
    /// Write a matrix or a point set from a generator
    Generate(GenerateArgs),
    /// Write a matrix or a point set in another form
    Convert(ConvertArgs),
    /// Download matrices of the SuiteSparse collection
    Fetch(FetchArgs),
    /// List all kernels and whether each can run here
    Kernels(KernelsArgs),
    /// Describe this machine and measure its memory bandwidth
    Devices(DevicesArgs),
    /// Show what changed between two bundles, with confidence intervals
    Compare(CompareArgs),
    /// Keep bundles over time, and notice which runs became slower
    Track(TrackArgs),
    /// Write the best results of a folder of bundles as one static HTML page
    Board(BoardArgs),
    /// Merge bundles into one
    Merge(MergeArgs),
    /// Export bundles as a web page, a report, charts or CSV
    Export(ExportArgs),
    /// Serve the web viewer with bundles and lessons on 127.0.0.1
    Serve(ServeArgs),
    /// Print a completion script for a shell
    Completions(CompletionsArgs),
    /// Write the man pages of all commands
    Man(ManArgs),
}

/// An operation by its word.
fn operation() -> impl TypedValueParser<Value = Operation> {
    let value = |one: &Operation| PossibleValue::new(one.as_str()).help(one.about());
    PossibleValuesParser::new(Operation::ALL.iter().map(value))
        .map(|word| Operation::of(&word).expect("one of the possible values")) // invariant
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum ReorderArg {
    /// Reverse Cuthill-McKee, for a small bandwidth
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
    /// One JSON object per line on standard error
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
const RESUME_TAKES_FROM_BUNDLE: [&str; 16] = [
    "precision",
    "output",
    "shard",
    "kernels",
    "backend",
    "threads",
    "block_sizes",
    "runs",
    "until",
    "at_most",
    "warmup",
    "cold",
    "seed",
    "reorder",
    PARAMETERS,
    "no_source",
];

#[derive(Debug, Args)]
#[command(next_help_heading = OUTPUT)]
pub(super) struct BenchArgs {
    /// Files, gen:KIND?key=value&... or suite:NAME [default: the suite of the operation]
    ///
    /// The suites of the operations are `mini` for spmv and spmm, `sweeps` for symgs, `points` for skyline, `solver`
    /// for solve and `batches` for batched-dense.
    #[arg(value_name = "MATRIX", help_heading = None::<&'static str>)]
    pub(super) matrices: Vec<String>,
    /// What to compute
    #[arg(long, value_parser = operation(), default_value = Operation::Spmv.as_str(), help_heading = WHAT)]
    pub(super) operation: Operation,
    /// Measure all matrices of a suite, or of a file with one per line
    ///
    /// Each line is a path, gen:..., suite:... or the name of a matrix of the SuiteSparse collection, which is
    /// then downloaded. # starts a comment.
    #[arg(long, value_name = "NAME|FILE", help_heading = WHAT)]
    pub(super) suite: Option<String>,
    #[command(flatten)]
    pub(super) header: HeaderArgs,
    #[command(flatten)]
    pub(super) read: ReadArgs,
    /// Kernel ids or patterns, e.g. 'cpu/csr/*' [default: all that run here]
    ///
    /// Braces hold alternatives: 'cpu/{csr,hll}/*'.
    #[arg(long, value_name = "GLOB,...", help_heading = KERNELS)]
    pub(super) kernels: Vec<String>,
    /// Also run your own kernels from a CUDA file (see docs/your-own-kernel.md)
    ///
    /// The file's header says how to launch them. Can be repeated. The kernels run with your permissions: use only
    /// code that you trust.
    #[arg(long, value_name = "FILE.cu", help_heading = KERNELS, hide_short_help = true)]
    pub(super) kernel_file: Vec<PathBuf>,
    /// Store only the SHA-256 of kernel files in the bundle, not their text
    #[arg(long, requires = "kernel_file", help_heading = KERNELS, hide_short_help = true)]
    pub(super) no_source: bool,
    /// Also run the SpMV kernel of a shared library (see docs/kernel-library.md)
    ///
    /// The library runs in a process of its own. Can be repeated. It runs with your permissions: use only code that
    /// you trust.
    #[arg(long, value_name = "FILE.so", help_heading = KERNELS, hide_short_help = true)]
    pub(super) kernel_library: Vec<PathBuf>,
    /// With --kernel-library: how long each call of a library may take, e.g. 5m
    #[arg(long, value_name = "TIME", value_parser = duration, requires = "kernel_library", default_value = "60s", help_heading = KERNELS, hide_short_help = true)]
    pub(super) library_limit: Duration,
    /// Devices to run on [default: cpu,cuda]
    ///
    /// By default, cuda is skipped without an NVIDIA GPU, and wgpu is added if --kernels names its kernels.
    #[arg(long, value_enum, value_delimiter = ',', value_name = "NAME,...", help_heading = KERNELS)]
    pub(super) backend: Vec<BackendArg>,
    #[command(flatten)]
    pub(super) gpu: GpuArgs,
    /// Threads per block of GPU kernels
    #[arg(long, value_name = "N,...", value_delimiter = ',', value_parser = block_size, default_values_t = [32, 64, 96, 128, 160], help_heading = KERNELS, hide_short_help = true)]
    pub(super) block_sizes: Vec<u32>,
    /// Thread counts of parallel CPU kernels [default: 1, 2, 4, ... and all]
    #[arg(long, value_name = "N,...", value_delimiter = ',', value_parser = thread_count, help_heading = KERNELS)]
    pub(super) threads: Vec<u32>,
    /// Timed samples per run
    #[arg(long, default_value_t = 20, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100_000), help_heading = SAMPLING)]
    pub(super) runs: u32,
    /// Sample until the median is known to within this fraction, e.g. 1%
    ///
    /// Each run is sampled in rounds until half the width of the median's 95 % confidence interval is below this
    /// fraction (1% or 0.01) of the median, with at least 10 and at most 1000 samples.
    #[arg(long, value_name = "P", value_parser = share, conflicts_with = "runs", help_heading = SAMPLING)]
    pub(super) until: Option<f64>,
    /// With --until: maximum sampling time per run, e.g. 30s [default: 10s]
    #[arg(long, value_name = "TIME", value_parser = duration, requires = "until", help_heading = SAMPLING, hide_short_help = true)]
    pub(super) at_most: Option<Duration>,
    /// Untimed executions before the first sample
    #[arg(long, default_value_t = 3, value_name = "N", value_parser = clap::value_parser!(u32).range(0..=100_000), help_heading = SAMPLING, hide_short_help = true)]
    pub(super) warmup: u32,
    /// Also measure with cold (flushed) caches
    #[arg(long, help_heading = SAMPLING)]
    pub(super) cold: bool,
    /// File with x (for symgs, the initial x) [default: from --seed]
    ///
    /// The file is Matrix Market, has one number per line, or is a vector of NumPy, MATLAB, PETSc or hypre.
    #[arg(long, value_name = "FILE", help_heading = WHAT, hide_short_help = true)]
    pub(super) x: Option<PathBuf>,
    /// Seed of x (integers 1 to 5 for SpMV and SpMM) and of the right-hand sides of symgs and batched-dense
    #[arg(long, default_value_t = sparsescope_core::measure::DEFAULT_SEED, value_name = "S", help_heading = WHAT, hide_short_help = true)]
    pub(super) seed: u64,
    /// Reorder the rows and columns of each matrix
    #[arg(long, value_enum, value_name = "HOW", conflicts_with_all = ["partition", "permutation"], help_heading = WHAT, hide_short_help = true)]
    pub(super) reorder: Option<ReorderArg>,
    #[command(flatten)]
    pub(super) parameters: ParameterArgs,
    /// Run shard K of N; every process derives the same split
    ///
    /// `auto` takes K and N from a Slurm job array, from srun or from Open MPI's mpirun (see docs/clusters.md).
    /// `merge` joins the bundles.
    #[arg(long, value_name = "K/N|auto", help_heading = RANKS, hide_short_help = true)]
    pub(super) shard: Option<ShardArg>,
    #[command(flatten)]
    pub(super) ranks: RankArgs,
    /// Precision of the values [default: f64]
    ///
    /// With f32, the matrix and x are rounded. On wgpu the default is f32: it does not support f64.
    #[arg(long, value_enum, value_delimiter = ',', value_name = "P,...", help_heading = KERNELS)]
    pub(super) precision: Vec<PrecisionArg>,
    /// Memory for the formats of a matrix, in bytes, e.g. 8G [default: 3/4 of the free memory]
    #[arg(long, value_name = "BYTES", value_parser = byte_count, help_heading = FORMATS, hide_short_help = true)]
    pub(super) memory_limit: Option<u64>,
    /// Size limit for the picture of each matrix's structure in the bundle; 0 stores none
    ///
    /// The limit also applies to the pictures of dependency levels and of point density.
    #[arg(long, value_name = "BYTES", default_value = "128KiB", value_parser = spy_bytes, help_heading = OUTPUT, hide_short_help = true)]
    pub(super) spy_bytes: u64,
    /// Stop after this time, e.g. 90s, 5m or 1.5h, and keep the results so far
    #[arg(long, value_name = "TIME", value_parser = duration, help_heading = SAMPLING, hide_short_help = true)]
    pub(super) time_limit: Option<Duration>,
    /// Label to store in the bundle, e.g. the machine's name
    #[arg(long, value_name = "TEXT", help_heading = OUTPUT, hide_short_help = true)]
    pub(super) label: Option<String>,
    /// The bundle to write [default: sparsescope-DATE-TIME.zip]
    ///
    /// The default name of a shard is sparsescope-DATE-TIME-part-K-of-N.zip. Existing files are kept unless
    /// --force is given.
    #[arg(short, value_name = "FILE.zip", help_heading = OUTPUT)]
    pub(super) output: Option<PathBuf>,
    /// Resume an interrupted measurement and replace its bundle
    ///
    /// The journal alone is enough. Settings and kernels come from the bundle; pass the matrix files again, as
    /// arguments or with --suite FILE.
    #[arg(long, value_name = "FILE.zip", conflicts_with_all = RESUME_TAKES_FROM_BUNDLE, help_heading = WHAT)]
    pub(super) resume: Option<PathBuf>,
    /// Overwrite existing files
    #[arg(long, help_heading = OUTPUT)]
    pub(super) force: bool,
    /// Also write the runs as CSV; - prints them instead of the summary
    #[arg(long, value_name = "FILE", help_heading = OUTPUT, hide_short_help = true)]
    pub(super) csv: Option<PathBuf>,
    /// Print the runs as JSON instead of the summary
    #[arg(long, help_heading = OUTPUT)]
    pub(super) json: bool,
    /// Dry run: list the runs (of this shard) and exit
    #[arg(long, help_heading = WHAT)]
    pub(super) plan: bool,
    /// Progress format, for programs that run this one
    #[arg(long, value_enum, hide = true)]
    pub(super) progress: Option<ProgressArg>,
    /// Print no summary, for programs that run this one
    #[arg(long, hide = true)]
    pub(super) no_summary: bool,
    /// Print the table of all runs before the summary
    #[arg(long)]
    pub(super) all: bool,
    /// Print details after the summary: what spmv/auto chose, how ranks shared the work
    #[arg(short, long)]
    pub(super) verbose: bool,
    /// Do not write the HTML report next to the bundle (FILE.html)
    #[arg(long)]
    pub(super) no_report: bool,
}

#[derive(Debug, Args)]
pub(super) struct InfoArgs {
    /// The matrix: file, gen:KIND?key=value&... or suite:NAME
    #[arg(value_name = "MATRIX")]
    pub(super) matrix: String,
    /// Reorder rows and columns; print statistics before and after
    #[arg(long, value_enum, value_name = "HOW", help_heading = WHAT)]
    pub(super) reorder: Option<ReorderArg>,
    #[command(flatten)]
    pub(super) read: ReadArgs,
    /// Write the old index of each new row, from 0, one per line
    #[arg(long, value_name = "FILE", requires = "reorder", help_heading = OUTPUT)]
    pub(super) write_permutation: Option<PathBuf>,
    /// Overwrite an existing file
    #[arg(long, help_heading = OUTPUT)]
    pub(super) force: bool,
    /// Print JSON
    #[arg(long, help_heading = OUTPUT)]
    pub(super) json: bool,
}

#[derive(Debug, Args)]
pub(super) struct GenerateArgs {
    /// KIND?key=value&..., e.g. 'stencil27?n=40'
    #[arg(value_name = "SPEC", required_unless_present = "list")]
    pub(super) spec: Option<String>,
    /// File to write; gzipped if its name ends in .gz
    ///
    /// A matrix is written in the form of the extension (`convert --help` lists them), else as Matrix Market. Points
    /// are written as CSV to .csv files, as binary to .points files and as text to all others.
    #[arg(short, value_name = "FILE", required_unless_present = "list", help_heading = OUTPUT)]
    pub(super) output: Option<PathBuf>,
    /// List all generators and suites with their parameters
    #[arg(long, conflicts_with_all = ["spec", "output"], help_heading = WHAT)]
    pub(super) list: bool,
    /// Write only the lower triangle of a symmetric matrix, to halve the file size
    #[arg(long, conflicts_with = "list", help_heading = OUTPUT)]
    pub(super) symmetric: bool,
    /// Overwrite an existing file
    #[arg(long, help_heading = OUTPUT)]
    pub(super) force: bool,
}

#[derive(Debug, Args)]
pub(super) struct ConvertArgs {
    /// The matrix: file, - for standard input, gen:KIND?key=value&... or suite:NAME
    ///
    /// The same for points, if OUT ends in .points or .csv.
    #[arg(value_name = "IN")]
    pub(super) input: String,
    /// File to write, in the form of its extension; gzipped if its name ends in .gz
    ///
    /// With -, Matrix Market goes to standard output.
    #[arg(value_name = "OUT")]
    pub(super) output: PathBuf,
    #[command(flatten)]
    pub(super) read: ReadArgs,
    /// Write only the lower triangle of a symmetric matrix, as Matrix Market
    #[arg(long, help_heading = OUTPUT)]
    pub(super) symmetric: bool,
    /// Overwrite an existing file
    #[arg(long, help_heading = OUTPUT)]
    pub(super) force: bool,
}

#[derive(Debug, Args)]
pub(super) struct FetchArgs {
    /// Names in the collection, e.g. cant; GROUP/NAME if several groups have a matrix of this name
    #[arg(value_name = "NAME", required = true)]
    pub(super) names: Vec<String>,
    /// Folder to download to [default: `sparsescope/matrices` in the user's cache folder]
    #[arg(long, value_name = "FOLDER", help_heading = OUTPUT)]
    pub(super) folder: Option<PathBuf>,
    /// Download again even if cached
    #[arg(long, help_heading = OUTPUT)]
    pub(super) force: bool,
    /// Largest archive to download, e.g. 500M; it may decompress to 16 times as much [default: 64GiB]
    #[arg(long, value_name = "BYTES", value_parser = byte_count, default_value_t = MAX_SIZE, hide_default_value = true, help_heading = WHAT)]
    pub(super) max_size: u64,
}

#[derive(Debug, Args)]
pub(super) struct KernelsArgs {
    #[command(flatten)]
    pub(super) gpu: GpuArgs,
    /// Print JSON
    #[arg(long, help_heading = OUTPUT)]
    pub(super) json: bool,
}

#[derive(Debug, Args)]
pub(super) struct DevicesArgs {
    /// Thread counts for the bandwidth measurement [default: 1, 2, 4, ... and all]
    #[arg(long, value_name = "N,...", value_delimiter = ',', value_parser = thread_count, help_heading = WHAT)]
    pub(super) threads: Vec<u32>,
    /// Print JSON
    #[arg(long, help_heading = OUTPUT)]
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
    /// Exit with 3 if a run is significantly slower in B than R x its time in A
    ///
    /// Also exit with 3 if a result is correct in A but wrong in B.
    #[arg(long, value_name = "R", value_parser = factor, help_heading = OUTPUT)]
    pub(super) fail_above: Option<f64>,
    /// Also list runs without a significant change
    #[arg(long, help_heading = OUTPUT)]
    pub(super) all: bool,
    /// Print JSON
    #[arg(long, help_heading = OUTPUT)]
    pub(super) json: bool,
}

#[derive(Debug, Args)]
pub(super) struct BoardArgs {
    /// Folder of the bundles; the page is index.html in it
    ///
    /// A bundle whose checksums do not match or that has a wrong result is left out, and the exit code is 3.
    #[arg(value_name = "FOLDER")]
    pub(super) folder: PathBuf,
    /// Overwrite an existing page
    #[arg(long, help_heading = OUTPUT)]
    pub(super) force: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum PreferArg {
    /// The run from the last bundle that contains it
    Last,
}

#[derive(Debug, Args)]
pub(super) struct MergeArgs {
    /// The bundles, two or more
    ///
    /// A .json file with results of Ginkgo's SpMV benchmark, nvbench or Google Benchmark is imported as a bundle, and
    /// may be the only input.
    #[arg(value_name = "BUNDLE", required = true)]
    pub(super) bundles: Vec<PathBuf>,
    /// Which run to keep if several bundles have the same run [default: fail]
    #[arg(long, value_enum, value_name = "WHICH", help_heading = WHAT)]
    pub(super) prefer: Option<PreferArg>,
    /// The bundle to write
    #[arg(short, value_name = "FILE.zip", help_heading = OUTPUT)]
    pub(super) output: PathBuf,
    /// Label of the new bundle [default: the labels of the inputs]
    #[arg(long, value_name = "TEXT", help_heading = OUTPUT)]
    pub(super) label: Option<String>,
    /// Overwrite an existing file
    #[arg(long, help_heading = OUTPUT)]
    pub(super) force: bool,
}

#[derive(Debug, Args)]
pub(super) struct ViewArgs {
    /// Bundles, matrices and lessons to open [default: the start page]
    #[arg(value_name = "FILE")]
    pub(super) files: Vec<PathBuf>,
    /// Open with this viewer state: the part of a web viewer link after `#`
    #[arg(long, value_name = "v1;...", help_heading = WHAT)]
    pub(super) state: Option<String>,
}

#[derive(Debug, Args)]
pub(super) struct ExportArgs {
    /// The bundles; --csv and --bencher take only one, --html also takes lessons
    #[arg(value_name = "BUNDLE", required = true)]
    pub(super) bundles: Vec<PathBuf>,
    /// State of the viewer: the part of a link after #, e.g. v1;theme=dark
    #[arg(long, value_name = "LINK", default_value = "v1", help_heading = WHAT)]
    pub(super) state: String,
    /// View of the figure [default: the view of the state]
    #[arg(long, value_name = "NAME", help_heading = WHAT)]
    pub(super) view: Option<String>,
    /// Chart, e.g. roofline; `help` lists all [default: the chart of the state]
    #[arg(long, value_name = "NAME", help_heading = WHAT)]
    pub(super) chart: Option<String>,
    /// Write the table of runs as CSV; - prints it
    #[arg(long, value_name = "FILE", help_heading = OUTPUT, required_unless_present_any = ["bencher", "html", "report", "svg", "png", "pdf", "table"])]
    pub(super) csv: Option<PathBuf>,
    /// Write the times as JSON in the Bencher Metric Format; - prints it
    #[arg(long, value_name = "FILE", help_heading = OUTPUT)]
    pub(super) bencher: Option<PathBuf>,
    /// Write the viewer, bundles and lessons as one HTML file that works offline
    #[arg(long, value_name = "FILE", help_heading = OUTPUT)]
    pub(super) html: Option<PathBuf>,
    /// Write a static HTML report: summary, charts, matrices; no scripts
    #[arg(long, value_name = "FILE", help_heading = OUTPUT)]
    pub(super) report: Option<PathBuf>,
    /// Write all charts as SVG into a folder, or one figure to a .svg file
    #[arg(long, value_name = "DIR|FILE", help_heading = OUTPUT)]
    pub(super) svg: Option<PathBuf>,
    /// Write the same figures as PNG
    #[arg(long, value_name = "DIR|FILE", help_heading = OUTPUT)]
    pub(super) png: Option<PathBuf>,
    /// Write the same figures as PDF
    #[arg(long, value_name = "DIR|FILE", help_heading = OUTPUT)]
    pub(super) pdf: Option<PathBuf>,
    /// Width of figures in millimetres, e.g. 85 for one column of a paper, 170 for two
    ///
    /// Charts are laid out for this width. The figures of other views are scaled with their text.
    #[arg(long, value_name = "N", value_parser = width_mm, help_heading = OUTPUT)]
    pub(super) width_mm: Option<f32>,
    /// With --width-mm: size of the text of charts in points [default: 8]
    #[arg(long, value_name = "N", value_parser = type_pt, requires = "width_mm", help_heading = OUTPUT)]
    pub(super) type_pt: Option<f32>,
    /// Write the figure's data as CSV; - prints it
    #[arg(long, value_name = "FILE", help_heading = OUTPUT)]
    pub(super) table: Option<PathBuf>,
    /// Overwrite an existing file
    #[arg(long, help_heading = OUTPUT)]
    pub(super) force: bool,
}

#[derive(Debug, Args)]
pub(super) struct ServeArgs {
    /// Bundles and lessons to show [default: the start page]
    #[arg(value_name = "BUNDLE")]
    pub(super) bundles: Vec<PathBuf>,
    /// Port on 127.0.0.1 [default: a free port]
    #[arg(long, value_name = "P", help_heading = WHAT)]
    pub(super) port: Option<u16>,
}

#[derive(Debug, Args)]
pub(super) struct CompletionsArgs {
    /// The shell
    #[arg(value_enum, value_name = "SHELL")]
    pub(super) shell: Shell,
}

#[derive(Debug, Args)]
pub(super) struct ManArgs {
    /// Folder to write to [default: print the page of the program]
    #[arg(value_name = "DIR")]
    pub(super) folder: Option<PathBuf>,
    /// Overwrite existing files
    #[arg(long, requires = "folder", help_heading = OUTPUT)]
    pub(super) force: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The program and its commands, as they are after parsing, on a terminal of 100 columns.
    fn commands() -> Vec<Program> {
        let mut program = Cli::program().term_width(100).disable_help_subcommand(true);
        program.build();
        help::with_subcommands(&program).into_iter().cloned().collect()
    }

    #[test]
    fn the_command_line_is_consistent() {
        Cli::program().debug_assert();
    }

    #[test]
    fn short_help_fits_on_one_screen_and_all_help_in_100_columns() {
        for mut command in commands() {
            let [short, long] =
                [command.render_help(), command.render_long_help()].map(|help| help.to_string());
            assert!(short.lines().count() <= 40, "{} lines:\n{short}", short.lines().count());
            for help in [short, long] {
                let wide: Vec<_> = help.lines().filter(|line| line.chars().count() > 100).collect();
                assert!(wide.is_empty(), "{}:\n{}", command.get_name(), wide.join("\n"));
            }
        }
    }

    #[test]
    fn every_option_is_described() {
        for command in commands() {
            for arg in command.get_arguments().filter(|arg| !arg.is_hide_set()) {
                assert!(arg.get_help().is_some(), "{}: {}", command.get_name(), arg.get_id());
            }
        }
    }

    #[test]
    fn every_help_ends_with_examples_that_the_program_accepts() {
        for mut command in commands() {
            for help in [command.render_help(), command.render_long_help()] {
                let help = help.to_string();
                let (_, examples) = help.split_once("\nExamples:\n").unwrap();
                assert!(examples.lines().count() >= 2, "{help}");
                for example in examples.lines() {
                    // Of a line for a shell, what the program gets.
                    let words =
                        example.split_whitespace().take_while(|word| !matches!(*word, ">" | "|"));
                    let words = words.map(|word| word.trim_matches('\''));
                    let parsed = Cli::program().try_get_matches_from(words);
                    assert!(parsed.is_ok(), "{example}: {}", parsed.unwrap_err());
                }
            }
        }
    }
}
