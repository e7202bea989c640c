//! Arguments of `sparsescope track`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::help::{OUTPUT, WHAT};
use super::values::share;

#[derive(Debug, Args)]
pub(super) struct TrackArgs {
    #[command(subcommand)]
    pub(super) action: TrackAction,
}

#[derive(Debug, Subcommand)]
pub(super) enum TrackAction {
    /// Copy bundles into the folder of a history
    Add(TrackAddArgs),
    /// Write a history as one static HTML page
    Report(TrackReportArgs),
    /// Compare a bundle with a history; exit with 3 if a run became slower or a check result worse
    Check(TrackCheckArgs),
}

#[derive(Debug, Args)]
pub(super) struct TrackAddArgs {
    /// Bundles, or results of Ginkgo's SpMV benchmark, nvbench or Google Benchmark
    #[arg(value_name = "BUNDLE", required = true)]
    pub(super) bundles: Vec<PathBuf>,
    /// Folder of the history; created if it does not exist
    #[arg(long, value_name = "FOLDER", help_heading = OUTPUT)]
    pub(super) to: PathBuf,
}

#[derive(Debug, Args)]
pub(super) struct TrackReportArgs {
    /// Folder of the history
    #[arg(value_name = "FOLDER")]
    pub(super) folder: PathBuf,
    #[command(flatten)]
    pub(super) anchor: AnchorArgs,
    /// The page to write
    #[arg(short, value_name = "FILE.html", help_heading = OUTPUT)]
    pub(super) output: PathBuf,
    /// Overwrite an existing file
    #[arg(long, help_heading = OUTPUT)]
    pub(super) force: bool,
}

#[derive(Debug, Args)]
pub(super) struct TrackCheckArgs {
    /// The new bundle
    #[arg(value_name = "BUNDLE")]
    pub(super) bundle: PathBuf,
    /// Folder of the history
    #[arg(long, value_name = "FOLDER", help_heading = WHAT)]
    pub(super) against: PathBuf,
    #[command(flatten)]
    pub(super) anchor: AnchorArgs,
    /// Smallest change that counts, e.g. 5% or 0.05
    #[arg(long, value_name = "P", value_parser = share, default_value = "2%", help_heading = WHAT)]
    pub(super) min_effect: f64,
    /// Share of checks that may fail although nothing became slower
    ///
    /// This is the probability that at least one run of a check is reported, however many runs it has.
    #[arg(long, value_name = "P", value_parser = share, default_value = "5%", help_heading = WHAT)]
    pub(super) false_alarms: f64,
    /// Also list runs without a significant change
    #[arg(long, help_heading = OUTPUT)]
    pub(super) all: bool,
    /// Also write the largest changes and worse check results as Markdown, for a comment; - prints it instead
    #[arg(long, value_name = "FILE", help_heading = OUTPUT)]
    pub(super) markdown: Option<PathBuf>,
    /// With --markdown: address of the page of the history
    #[arg(long, value_name = "URL", requires = "markdown", help_heading = OUTPUT)]
    pub(super) link: Option<String>,
    /// Overwrite an existing file
    #[arg(long, help_heading = OUTPUT)]
    pub(super) force: bool,
    /// Print JSON
    #[arg(long, help_heading = OUTPUT)]
    pub(super) json: bool,
}

/// What times are divided by.
#[derive(Debug, Args)]
pub(super) struct AnchorArgs {
    /// Divide times by that of this kernel in the same bundle, e.g. cpu/csr/serial
    ///
    /// This removes noise that all kernels of a bundle share, such as that of a busy machine. The kernel must not
    /// change itself; it is not compared.
    #[arg(long, value_name = "KERNEL", help_heading = WHAT)]
    pub(super) anchor: Option<String>,
}
