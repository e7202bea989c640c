//! Options that several commands take: the device, the precision, the parameters of formats.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use sparsescope_core::experiment::ParameterLists;
use sparsescope_core::io::points::HeaderLine;
use sparsescope_core::kernel::{Parameter, ParameterError};
use sparsescope_core::record::Precision;

use super::outcome::UsageError;
use super::values::value_of;

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum BackendArg {
    /// Processor
    Cpu,
    /// NVIDIA GPU
    Cuda,
    /// Any GPU through Vulkan, Metal or Direct3D 12, in f32
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
    /// Number of the GPU to run on, from 0, among those of its backend
    #[arg(long, default_value_t = 0, value_name = "N")]
    pub(super) device: usize,
}

/// Parameters of formats.
#[derive(Clone, Debug, Args)]
pub(super) struct FormatArgs {
    /// Rows a hack of HLL: powers of two from 4 to 256 [default: 32]
    #[arg(long, value_name = "N,...", value_delimiter = ',', value_parser = value_of(Parameter::HackSize))]
    pub(super) hack_size: Vec<String>,
    /// Sort the rows of HLL by length in windows of N rows [default: as they come]
    #[arg(long, value_name = "N,...", value_delimiter = ',', value_parser = value_of(Parameter::Sigma))]
    pub(super) sigma: Vec<String>,
    /// Keep rows of more than N entries apart from HLL's hacks, in CSR [default: none]
    #[arg(long, value_name = "N,...", value_delimiter = ',', value_parser = value_of(Parameter::Spill))]
    pub(super) spill: Vec<String>,
    /// Width of HYB's ELLPACK part [default: the largest that a third of the rows reach]
    #[arg(long, value_name = "N,...", value_delimiter = ',', value_parser = value_of(Parameter::HybWidth))]
    pub(super) hyb_width: Vec<String>,
    /// Edge of BSR's blocks, 2 to 8 [default: the one that moves the fewest bytes]
    #[arg(long, value_name = "N,...", value_delimiter = ',', value_parser = value_of(Parameter::BsrBlock))]
    pub(super) bsr_block: Vec<String>,
    /// Least share of slots that hold entries for BSR and DIA to be run [default: 70 and 20]
    #[arg(long, value_name = "PERCENT,...", value_delimiter = ',', value_parser = value_of(Parameter::MinFill))]
    pub(super) min_fill: Vec<String>,
    /// Values of compact formats: auto, plain, or codes of 8 or 16 bits [default: the smallest]
    #[arg(long, value_name = "HOW,...", value_delimiter = ',', value_parser = value_of(Parameter::Values))]
    pub(super) values: Vec<String>,
    /// Whether kernels that choose another may choose compact formats, on or off [default: on]
    #[arg(long, value_name = "HOW,...", value_delimiter = ',', value_parser = value_of(Parameter::Compact))]
    pub(super) compact: Vec<String>,
    /// The same as --compact off
    #[arg(long, conflicts_with = "compact")]
    pub(super) no_compact: bool,
}

impl FormatArgs {
    /// The values given for each parameter.
    pub(super) fn lists(&self) -> Result<ParameterLists, ParameterError> {
        let mut lists = ParameterLists::default();
        let off = ["off".to_owned()];
        let compact = if self.no_compact { &off[..] } else { &self.compact };
        for (parameter, values) in [
            (Parameter::Compact, compact),
            (Parameter::HackSize, &self.hack_size[..]),
            (Parameter::Sigma, &self.sigma),
            (Parameter::Spill, &self.spill),
            (Parameter::HybWidth, &self.hyb_width),
            (Parameter::BsrBlock, &self.bsr_block),
            (Parameter::MinFill, &self.min_fill),
            (Parameter::Values, &self.values),
        ] {
            lists.set(parameter, values)?;
        }
        Ok(lists)
    }
}

/// What the first line of a file of points is.
#[derive(Clone, Copy, Debug, Args)]
pub(super) struct HeaderArgs {
    /// Read the first line of a CSV file as names [default: if none of its fields is a number or missing]
    #[arg(long)]
    header: bool,
    /// Read the first line of a CSV file as a point
    #[arg(long, conflicts_with = "header")]
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
    /// On several ranks: the rank of each row, from 0, one a line, as METIS writes it [default: contiguous rows of
    /// about equal entries]
    #[arg(long, value_name = "FILE")]
    pub(super) partition: Option<PathBuf>,
    /// On several ranks: which row and column becomes the first, the second and so on, from 0, one a line, as
    /// `info --write-permutation` writes it
    #[arg(long, value_name = "FILE", conflicts_with = "partition")]
    pub(super) permutation: Option<PathBuf>,
}

impl RankArgs {
    /// Fails if a single process gets options that share rows out among ranks.
    pub(super) fn refuse(&self) -> Result<(), UsageError> {
        let given = [("--partition", &self.partition), ("--permutation", &self.permutation)];
        match given.iter().find(|(_, file)| file.is_some()) {
            None => Ok(()),
            Some((option, _)) => Err(UsageError(format!(
                "{option} is for several ranks: `mpirun -n 4 sparsescope …` of a build with the feature `mpi`"
            ))),
        }
    }
}
