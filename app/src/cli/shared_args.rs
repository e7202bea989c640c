//! Options that several commands take: the device, the precision, the parameters of formats.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use sparsescope_core::experiment::{MatrixSource, ParameterLists, SubjectSource};
use sparsescope_core::io::ReadOptions;
use sparsescope_core::io::points::HeaderLine;
use sparsescope_core::kernel::ParameterError;
use sparsescope_core::kernel::parameters::{
    BSR_BLOCK, COMPACT, HACK_SIZE, HYB_WIDTH, MIN_FILL, SIGMA, SPILL, VALUES,
};
use sparsescope_core::record::Precision;

use super::help::{FORMATS, KERNELS, RANKS, WHAT};
use super::outcome::UsageError;
use super::values::value_of;

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
}

impl From<PrecisionArg> for Precision {
    fn from(arg: PrecisionArg) -> Self {
        match arg {
            PrecisionArg::F64 => Self::F64,
            PrecisionArg::F32 => Self::F32,
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

/// Parameters of formats.
#[derive(Clone, Debug, Args)]
pub(super) struct FormatArgs {
    /// Rows per hack of HLL: powers of two from 4 to 256 [default: 32]
    #[arg(long, value_name = "N,...", value_delimiter = ',', value_parser = value_of(HACK_SIZE.id()), help_heading = FORMATS, hide_short_help = true)]
    pub(super) hack_size: Vec<String>,
    /// Rows per window in which HLL sorts rows by length [default: 1, not sorted]
    #[arg(long, value_name = "N,...", value_delimiter = ',', value_parser = value_of(SIGMA.id()), help_heading = FORMATS, hide_short_help = true)]
    pub(super) sigma: Vec<String>,
    /// Store rows with more than N nonzeros in CSR instead of HLL [default: none]
    #[arg(long, value_name = "N,...", value_delimiter = ',', value_parser = value_of(SPILL.id()), help_heading = FORMATS, hide_short_help = true)]
    pub(super) spill: Vec<String>,
    /// Width of the ELLPACK part of HYB [default: the largest that at least 1/3 of the rows fill]
    #[arg(long, value_name = "N,...", value_delimiter = ',', value_parser = value_of(HYB_WIDTH.id()), help_heading = FORMATS, hide_short_help = true)]
    pub(super) hyb_width: Vec<String>,
    /// Block size of BSR, 2 to 8 [default: the size that moves the fewest bytes]
    #[arg(long, value_name = "N,...", value_delimiter = ',', value_parser = value_of(BSR_BLOCK.id()), help_heading = FORMATS, hide_short_help = true)]
    pub(super) bsr_block: Vec<String>,
    /// Minimum fill for BSR and DIA to run, in percent [default: 70 for BSR, 20 for DIA]
    #[arg(long, value_name = "PERCENT,...", value_delimiter = ',', value_parser = value_of(MIN_FILL.id()), help_heading = FORMATS, hide_short_help = true)]
    pub(super) min_fill: Vec<String>,
    /// Value encoding of compact formats: auto (the smallest), plain, or 8-bit or 16-bit codes [default: auto]
    #[arg(long, value_name = "HOW,...", value_delimiter = ',', value_parser = value_of(VALUES.id()), help_heading = FORMATS, hide_short_help = true)]
    pub(super) values: Vec<String>,
    /// Whether the auto kernels may choose compact formats: on or off [default: on]
    #[arg(long, value_name = "HOW,...", value_delimiter = ',', value_parser = value_of(COMPACT.id()), help_heading = FORMATS, hide_short_help = true)]
    pub(super) compact: Vec<String>,
    /// The same as --compact off
    #[arg(long, conflicts_with = "compact", help_heading = FORMATS, hide_short_help = true)]
    pub(super) no_compact: bool,
}

impl FormatArgs {
    /// The values given for each parameter.
    pub(super) fn lists(&self) -> Result<ParameterLists, ParameterError> {
        let mut lists = ParameterLists::default();
        let off = ["off".to_owned()];
        let compact = if self.no_compact { &off[..] } else { &self.compact };
        for (parameter, values) in [
            (COMPACT.id(), compact),
            (HACK_SIZE.id(), &self.hack_size[..]),
            (SIGMA.id(), &self.sigma),
            (SPILL.id(), &self.spill),
            (HYB_WIDTH.id(), &self.hyb_width),
            (BSR_BLOCK.id(), &self.bsr_block),
            (MIN_FILL.id(), &self.min_fill),
            (VALUES.id(), &self.values),
        ] {
            lists.set(parameter, values)?;
        }
        Ok(lists)
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
            Some((option, _)) => Err(UsageError(format!(
                "{option} needs several ranks: run `mpirun -n 4 sparsescope …` with a build that has the `mpi` feature"
            ))),
        }
    }
}
