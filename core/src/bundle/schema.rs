//! What a result bundle holds, as Rust types; `bundle.schema.json` beside this file is the
//! normative JSON Schema of the same. Times are seconds, sizes bytes, bandwidths bytes per second.
//!
//! Unknown fields pass when reading, so that a newer minor version still opens. Fields that a
//! newer minor version adds are optional with a default.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::matrix::Statistics;

/// The version written by this program. A reader refuses only a higher `major`.
pub const SCHEMA: SchemaVersion = SchemaVersion { major: 1, minor: 2 };

/// Version of the bundle's schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SchemaVersion {
    /// Raised when old readers would misread the bundle.
    pub major: u32,
    /// Raised when fields, entries or folders are added; never for another meaning of one that
    /// exists, nor for another word in a closed list such as [`Verdict`].
    pub minor: u32,
}

/// `manifest.json`, the first entry of the zip.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Manifest {
    /// Version of the schema that this bundle follows.
    pub schema: SchemaVersion,
    /// Program that wrote it.
    pub producer: Producer,
    /// When it was written, RFC 3339 in UTC.
    pub created: String,
    /// Name given by the user; the only place where a host or person may appear.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// False when the measurement was interrupted.
    pub complete: bool,
    /// Ids of the matrices, each with a folder `matrices/<id>/`.
    pub matrices: Vec<String>,
    /// Number of runs in `runs.json`.
    pub runs: u64,
    /// SHA-256 and size of every other entry, by name.
    pub entries: BTreeMap<String, EntryInfo>,
}

/// Name, version and source revision of a program.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Producer {
    /// `sparsescope`.
    pub name: String,
    /// Its version.
    pub version: String,
    /// Git revision it was built from, when known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revision: Option<String>,
}

/// Checksum and size of an entry before compression.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EntryInfo {
    /// Lower-case hexadecimal SHA-256.
    pub sha256: String,
    /// Uncompressed size.
    pub bytes: u64,
}

/// `environment.json`: one entry a machine (several after a merge); runs name theirs by `id`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Environments {
    /// The machines.
    pub environments: Vec<Environment>,
}

/// A machine as it was while measuring.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Environment {
    /// Short name that runs refer to, unique in the bundle.
    pub id: String,
    /// The processor.
    pub cpu: Cpu,
    /// Installed memory, as far as the control group lets it be used.
    pub memory_bytes: u64,
    /// Operating system and kernel version.
    pub os: String,
    /// How the program was compiled.
    pub build: Build,
    /// Graphics processors used.
    #[serde(default)]
    pub gpus: Vec<Gpu>,
    /// Measured memory bandwidth, one entry a thread count.
    #[serde(default)]
    pub bandwidth: Vec<Bandwidth>,
    /// Each thread of a run was bound to a processor of its own, where there were enough.
    #[serde(default)]
    pub threads_bound: bool,
    /// What may have disturbed the measurement.
    #[serde(default)]
    pub noise: Noise,
}

/// The processor as the operating system describes it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Cpu {
    /// Model name.
    pub model: String,
    /// `x86_64`, `aarch64`, …
    pub architecture: String,
    /// Logical processors that this process may use.
    pub logical: u32,
    /// Physical cores, when known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub physical: Option<u32>,
    /// SIMD extensions found at run time, e.g. `avx2`, `avx512f`.
    #[serde(default)]
    pub simd: Vec<String>,
    /// Caches, smallest level first.
    #[serde(default)]
    pub caches: Vec<Cache>,
    /// Frequency governor, when the system tells.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub governor: Option<String>,
}

/// One cache as a core sees it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cache {
    /// 1, 2, 3, …
    pub level: u32,
    /// `data`, `instruction` or `unified`.
    pub kind: String,
    /// Size.
    pub bytes: u64,
    /// Logical processors that share it, when known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shared_by: Option<u32>,
}

/// How the program was compiled.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Build {
    /// `rustc --version`.
    pub rustc: String,
    /// Target triple.
    pub target: String,
    /// `release` or `debug`.
    pub profile: String,
    /// `RUSTFLAGS` and target features that were set, empty when none.
    pub flags: String,
}

/// A graphics processor.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Gpu {
    /// Model name.
    pub model: String,
    /// Everything else that its backend reports (driver, clocks, library versions), by name.
    #[serde(default)]
    pub details: BTreeMap<String, String>,
    /// Measured copy bandwidth, bytes read plus bytes written per second.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub copy: Option<f64>,
}

/// Memory bandwidth measured with a number of threads (best of several passes; no write-allocate
/// traffic counted, as in STREAM).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Bandwidth {
    /// Threads that took part.
    pub threads: u32,
    /// Size of each array.
    pub array_bytes: u64,
    /// `c[i] = a[i]`: 16 bytes an element.
    pub copy: f64,
    /// `c[i] = a[i] + s·b[i]`: 24 bytes an element.
    pub triad: f64,
    /// `s += a[i]`: 8 bytes an element.
    pub read: f64,
}

/// What may have disturbed the measurement.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Noise {
    /// One-minute load average before the first run, when the system has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub load_before: Option<f64>,
    /// The same after the last run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub load_after: Option<f64>,
    /// Processor seconds that a hypervisor took away meanwhile, when the system counts them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stolen_seconds: Option<f64>,
}

/// Where a matrix came from. Real matrices and stand-ins never share a series.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Source {
    /// Read from a file.
    Real,
    /// Made by a generator that the user asked for.
    Generated,
    /// Made by a generator in place of a named matrix whose file is absent.
    StandIn,
}

impl Source {
    /// The word used in tables and files.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Real => "real",
            Self::Generated => "generated",
            Self::StandIn => "stand-in",
        }
    }
}

/// `matrices/<id>/matrix.json`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MatrixRecord {
    /// Folder name and reference of runs: letters, digits, `.`, `_` and `-`, unique in the bundle.
    pub id: String,
    /// Name shown to people.
    pub name: String,
    /// Real, generated or stand-in.
    pub source: Source,
    /// Generator and its parameters, for generated matrices and stand-ins.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub generator: Option<String>,
    /// How rows and columns were numbered anew, when they were. Identity and statistics are those
    /// of the result.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reordered: Option<Reordered>,
    /// SHA-256 of the canonical CSR (`matrix::identity`).
    pub sha256: String,
    /// Field in the file: `real`, `integer`, `pattern`, `complex`.
    pub field: String,
    /// Symmetry in the file: `general`, `symmetric`, `skew-symmetric`, `hermitian`.
    pub symmetry: String,
    /// Opening to finished CSR.
    pub read_seconds: f64,
    /// Rows, columns, entries, row lengths, structure and the size of each format.
    pub statistics: Statistics,
}

/// How the rows and columns of a matrix were numbered anew, and what it was like before.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reordered {
    /// `rcm`.
    pub by: String,
    /// Largest i − j before.
    pub lower_bandwidth: u64,
    /// Largest j − i before.
    pub upper_bandwidth: u64,
    /// Profile before.
    pub profile: u64,
}

/// `runs.json`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Runs {
    /// Every run, in the order of the plan.
    pub runs: Vec<Run>,
}

/// One kernel on one matrix with one setting.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Run {
    /// Id of the matrix.
    pub matrix: String,
    /// `spmv`, `symgs`, …
    pub operation: String,
    /// Kernel id, e.g. `cpu/csr/nnz`.
    pub kernel: String,
    /// `paper:000` … `paper:004`, `ours`, `vendor`.
    pub origin: Vec<String>,
    /// `cpu` or `cuda`.
    pub backend: String,
    /// Model name of the device.
    pub device: String,
    /// Id of the environment.
    pub environment: String,
    /// Threads asked for; 1 for a serial kernel.
    pub threads: u32,
    /// Parts of the work that were not empty, when that can be fewer than the threads.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parts: Option<u32>,
    /// Threads a block, for GPU kernels.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub block: Option<u32>,
    /// Caches left as the previous product left them (true) or flushed before each sample.
    pub hot: bool,
    /// `f64` or `f32`.
    pub precision: String,
    /// Format parameters, e.g. `hack_size`, `width`.
    #[serde(default)]
    pub params: BTreeMap<String, String>,
    /// Result of the check against the reference.
    pub check: Check,
    /// Every timed sample: seconds of one product. Empty unless the check passed.
    #[serde(default)]
    pub samples: Vec<f64>,
    /// Products behind each sample (small products are timed in groups and divided).
    #[serde(default)]
    pub repetitions: u32,
    /// Products run before the first sample.
    #[serde(default)]
    pub warmup: u32,
    /// What getting ready cost.
    #[serde(default)]
    pub costs: Costs,
    /// Figures derived from the samples; absent unless the check passed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub figures: Option<Figures>,
}

/// How a run's check ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// Every row within its bound.
    Pass,
    /// At least one row outside its bound; no timing is kept.
    Fail,
    /// Not run: too large, or an input that the kernel does not take.
    Refused,
    /// Not run: this build or machine cannot.
    #[default]
    Unsupported,
}

impl Verdict {
    /// The word used in tables and files.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Pass => "pass",
            Self::Fail => "fail",
            Self::Refused => "refused",
            Self::Unsupported => "unsupported",
        }
    }
}

/// A run's check against the reference, and the error measures beside it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Check {
    /// How it ended.
    pub verdict: Verdict,
    /// One sentence unless it passed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// First row outside its bound.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub row: Option<u64>,
    /// Largest difference of a row in units of its bound; ≤ 1 passes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub worst: Option<f64>,
    /// The Tor Vergata paper's s = 1/n Σ δ, δ = |z − y| where at least ε = 1e-10.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub s_paper: Option<f64>,
    /// ‖z − y‖₂ / ‖y‖₂.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rel_err: Option<f64>,
    /// Program that measured and checked, where it was not Sparsescope: the run is imported, and
    /// its verdict rests on the `rel_err` that this program recorded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
}

/// What getting ready for a kernel cost, apart from the products.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Costs {
    /// Conversion from CSR.
    pub conversion_s: f64,
    /// Partitioning and other plans.
    pub plan_s: f64,
    /// Bytes of the format's arrays.
    pub format_bytes: u64,
    /// Minimal bytes that one product moves.
    pub minimal_bytes: u64,
    /// Products after which conversion and plan have paid against `cpu/csr/serial`; absent when
    /// they never do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub break_even: Option<f64>,
    /// On a GPU, what a launch of nothing takes; only beside products so short that it matters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub launch_s: Option<f64>,
    /// On a GPU, the median time of one product when many are launched as one graph; only for
    /// short products.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub graph_s: Option<f64>,
    /// What the layout model predicts of one product; absent for kernels without a model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub predicted: Option<Predicted>,
}

/// What one product asks of the memory, as the layout model ([`crate::layout`]) has it: sectors and
/// lanes of a GPU's kernel, cache lines and shares of a processor's.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Predicted {
    /// On a GPU, sectors of 32 bytes that the warps' loads ask for, hits in caches included.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub load_sectors: Option<u64>,
    /// The same of their stores.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub store_sectors: Option<u64>,
    /// Distinct bytes of each request, summed: what lanes want of those sectors.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub useful_bytes: Option<u64>,
    /// Lanes without work in a step of the inner loop, as a share of all, 0 to 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idle_share: Option<f64>,
    /// On a processor, bytes of the distinct cache lines that each share of the work touches,
    /// summed over the shares.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line_bytes: Option<u64>,
    /// Steps of the share with the most over the mean of the shares; 1 is balanced.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub imbalance: Option<f64>,
}

/// Figures derived from the samples of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Figures {
    /// Median of the samples: the time that rates are computed from.
    pub median_s: f64,
    /// Mean of the samples (the papers' T).
    pub mean_s: f64,
    /// Smallest sample.
    pub min_s: f64,
    /// First quartile.
    pub q1_s: f64,
    /// Third quartile.
    pub q3_s: f64,
    /// Largest sample.
    pub max_s: f64,
    /// Floating-point operations a second / 10⁹ (2·nnz a product for SpMV).
    pub gflops: f64,
    /// Minimal bytes a second / 10⁹.
    pub gbs: f64,
    /// `gbs` in percent of the device's copy bandwidth with the same number of threads.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pct_copy: Option<f64>,
    /// Median time of the serial reference on this matrix over this median.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub speedup: Option<f64>,
    /// `speedup` over threads, for CPU kernels.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub efficiency: Option<f64>,
}
