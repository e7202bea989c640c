//! Options that several commands take: the device, the precision, the order of rows, how files are read, how ranks
//! share rows.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use sparsescope_core::experiment::{MatrixSource, SubjectSource};
use sparsescope_core::io::ReadOptions;
use sparsescope_core::io::points::HeaderLine;
use sparsescope_core::matrix::Reordering;
use sparsescope_core::record::Precision;

use super::help::{KERNELS, RANKS, WHAT};
use super::outcome::UsageError;

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum BackendArg {
    /// CPU
    Cpu,
    /// NVIDIA GPU
    Cuda,
    /// Any GPU through Vulkan, Metal or Direct3D 12, f32 only
    Wgpu,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum PrecisionArg {
    /// 64-bit values
    F64,
    /// 32-bit values
    F32,
    /// Matrix in 32 bits, vectors and sums in 64
    #[value(name = "f32:f64")]
    F32F64,
    /// Matrix in bfloat16, vectors and sums in 32 bits
    #[value(name = "bf16:f32")]
    Bf16F32,
    /// Matrix in 16 bits (IEEE), vectors and sums in 32
    #[value(name = "f16:f32")]
    F16F32,
}

impl From<PrecisionArg> for Precision {
    fn from(arg: PrecisionArg) -> Self {
        match arg {
            PrecisionArg::F64 => Self::F64,
            PrecisionArg::F32 => Self::F32,
            PrecisionArg::F32F64 => Self::F32F64,
            PrecisionArg::Bf16F32 => Self::Bf16F32,
            PrecisionArg::F16F32 => Self::F16F32,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum ReorderArg {
    /// Reverse Cuthill–McKee, for a small bandwidth
    Rcm,
}

impl From<ReorderArg> for Reordering {
    fn from(arg: ReorderArg) -> Self {
        match arg {
            ReorderArg::Rcm => Self::Rcm,
        }
    }
}

/// Which GPU.
#[derive(Clone, Copy, Debug, Args)]
pub(super) struct GpuArgs {
    /// Index of the GPU among those of its backend
    #[arg(long, default_value_t = 0, value_name = "N", help_heading = KERNELS, hide_short_help = true)]
    pub(super) device: usize,
}

/// How to read a file that is an edge list or has several variables.
#[derive(Clone, Debug, Args)]
pub(super) struct ReadArgs {
    /// First vertex of an edge list [default: 0 if a 0 occurs, else 1]
    #[arg(long, conflicts_with = "compress_ids", value_name = "0|1", value_parser = clap::value_parser!(u32).range(0..=1), help_heading = WHAT, hide_short_help = true)]
    base: Option<u32>,
    /// Mirror each edge of an edge list
    #[arg(long, help_heading = WHAT, hide_short_help = true)]
    undirected: bool,
    /// Number the vertices of an edge list without gaps, in order, leaving out those without edges
    #[arg(long, help_heading = WHAT, hide_short_help = true)]
    compress_ids: bool,
    /// Variable of a MATLAB or HDF5 file, or a path in it, e.g. Problem.A [default: the only matrix]
    #[arg(long, value_name = "NAME", help_heading = WHAT, hide_short_help = true)]
    variable: Option<String>,
}

impl ReadArgs {
    fn options(&self) -> ReadOptions {
        let Self { base, undirected, compress_ids, variable } = self.clone();
        ReadOptions { base, undirected, compress_ids, variable }
    }

    /// The options as words of a command.
    pub(super) fn words(&self) -> Vec<String> {
        let base = self.base.map(|base| format!("--base={base}"));
        let undirected = self.undirected.then(|| "--undirected".to_owned());
        let compress_ids = self.compress_ids.then(|| "--compress-ids".to_owned());
        let variable = self.variable.as_ref().map(|name| format!("--variable={name}"));
        [base, undirected, compress_ids, variable].into_iter().flatten().collect()
    }

    /// The source, read with these options. Fails if there are some and it is no file.
    pub(super) fn of(&self, source: SubjectSource) -> Result<SubjectSource, UsageError> {
        let is_file = matches!(source, SubjectSource::Matrix(MatrixSource::File(..)));
        match self.options() {
            options if is_file => Ok(source.with_options(options)),
            options if options == ReadOptions::default() => Ok(source),
            _ => Err(UsageError(format!(
                "--base, --undirected, --compress-ids and --variable need a file with a matrix, found {source}"
            ))),
        }
    }

    /// The same for a matrix.
    pub(super) fn of_matrix(&self, source: MatrixSource) -> Result<MatrixSource, UsageError> {
        match self.of(SubjectSource::Matrix(source))? {
            SubjectSource::Matrix(source) => Ok(source),
            other => Err(UsageError(format!("expected a matrix, found {other}"))),
        }
    }

    /// Fails on several ranks if there are options.
    #[cfg(feature = "mpi")]
    pub(super) fn none_on_ranks(&self) -> Result<(), UsageError> {
        match self.options() == ReadOptions::default() {
            true => Ok(()),
            false => Err(UsageError(
                "--base, --undirected, --compress-ids and --variable work with one process only"
                    .to_owned(),
            )),
        }
    }
}

/// What the first line of a file of points is.
#[derive(Clone, Copy, Debug, Args)]
pub(super) struct HeaderArgs {
    /// Points: the first line of a CSV file is a header [default: if none of its fields is a number or empty]
    #[arg(long, help_heading = WHAT, hide_short_help = true)]
    header: bool,
    /// Points: the first line of a CSV file is a point
    #[arg(long, conflicts_with = "header", help_heading = WHAT, hide_short_help = true)]
    no_header: bool,
}

impl HeaderArgs {
    /// The option as a word of a command, if there is one.
    pub(super) fn word(self) -> Option<String> {
        match self.line() {
            HeaderLine::Names => Some("--header".to_owned()),
            HeaderLine::Point => Some("--no-header".to_owned()),
            HeaderLine::Find => None,
        }
    }

    pub(super) fn line(self) -> HeaderLine {
        match (self.header, self.no_header) {
            (true, _) => HeaderLine::Names,
            (false, true) => HeaderLine::Point,
            (false, false) => HeaderLine::Find,
        }
    }
}

/// How rows are shared out among several ranks.
#[derive(Clone, Debug, Args)]
pub(super) struct RankArgs {
    /// MPI: file with the rank of each row, from 0, one per line, as written by METIS [default: contiguous
    /// rows with about the same number of nonzeros per rank]
    #[arg(long, value_name = "FILE", help_heading = RANKS, hide_short_help = true)]
    pub(super) partition: Option<PathBuf>,
    /// MPI: file with the old index, from 0, of each new row and column, one per line, as written by
    /// `info --write-permutation`
    #[arg(long, value_name = "FILE", conflicts_with = "partition", help_heading = RANKS, hide_short_help = true)]
    pub(super) permutation: Option<PathBuf>,
}

impl RankArgs {
    /// Fails if a single process gets options that share rows out among ranks.
    pub(super) fn refuse(&self) -> Result<(), UsageError> {
        let given = [("--partition", &self.partition), ("--permutation", &self.permutation)];
        match given.iter().find(|(_, file)| file.is_some()) {
            None => Ok(()),
            Some((option, _)) => Err(needs_ranks(option)),
        }
    }
}

/// An option or a kernel that a single process cannot run.
pub(super) fn needs_ranks(what: &str) -> UsageError {
    UsageError(format!(
        "{what} needs several ranks: run `mpirun -n 4 sparsescope …` in a build with `--features mpi`"
    ))
}
