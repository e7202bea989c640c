//! Arguments of `sparsescope bench`.

use std::path::PathBuf;
use std::time::Duration;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueEnum};
use sparsescope_core::experiment::SubjectSource;
use sparsescope_core::record::{Operation, Shard};

use super::help::{FORMATS, KERNELS, OUTPUT, RANKS, SAMPLING, WHAT};
use super::parameter_args::{PARAMETERS, ParameterArgs};
use super::shared_args::{
    BackendArg, GpuArgs, HeaderArgs, PrecisionArg, RankArgs, ReadArgs, ReorderArg,
};
use super::values::{block_size, byte_count, duration, share, spy_bytes, thread_count};

/// An operation by its word.
fn operation() -> impl TypedValueParser<Value = Operation> {
    let value = |&one: &Operation| {
        let suite = SubjectSource::default_suite(one);
        PossibleValue::new(one.as_str()).help(format!("{} (suite {suite})", one.about()))
    };
    PossibleValuesParser::new(Operation::ALL.iter().map(value))
        .map(|word| Operation::of(&word).expect("one of the possible values")) // invariant
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
const RESUME_TAKES_FROM_BUNDLE: [&str; 17] = [
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
    "energy",
    "seed",
    "reorder",
    PARAMETERS,
    "no_source",
];

#[derive(Debug, Args)]
#[command(next_help_heading = OUTPUT)]
pub(super) struct BenchArgs {
    /// Files, gen:KIND?key=value&... or suite:NAME [default: the suite of the operation]
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
    /// Also run the kernel of a shared library (see docs/kernel-library.md)
    ///
    /// The library computes SpMV, SpMM or symmetric Gauss–Seidel, or solves A·x = b, in a process of its own. Can be
    /// repeated. It runs with your permissions: use only code that you trust.
    #[arg(long, value_name = "FILE.so", help_heading = KERNELS, hide_short_help = true)]
    pub(super) kernel_library: Vec<PathBuf>,
    /// With --kernel-library: how long each call of a library may take, e.g. 5m [default: 60s]
    #[arg(long, value_name = "TIME", value_parser = duration, requires = "kernel_library", help_heading = KERNELS, hide_short_help = true)]
    pub(super) library_limit: Option<Duration>,
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
    /// Also measure the energy of each CUDA kernel, which takes about 8 s more per run
    ///
    /// It is read from the GPU while the kernel is repeated, never estimated. A run whose energy cannot be read says why
    /// (see docs/energy.md).
    #[arg(long, help_heading = SAMPLING, hide_short_help = true)]
    pub(super) energy: bool,
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
    /// With f32, the matrix and x are rounded. On wgpu the default is f32: it does not support f64. With f32:f64,
    /// bf16:f32 and f16:f32, CUDA kernels on CSR and compact HLL, and of SpMM on BSR, store the matrix in the first format
    /// and compute in the second.
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
