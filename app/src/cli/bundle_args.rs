//! Arguments of the commands that take bundles: compare, board, merge, export.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::help::{OUTPUT, WHAT};
use super::values::{factor, type_pt, width_mm};

#[derive(Debug, Args)]
pub(super) struct CompareArgs {
    /// The bundle measured before
    #[arg(value_name = "A.zip")]
    pub(super) before: PathBuf,
    /// The bundle measured after
    #[arg(value_name = "B.zip")]
    pub(super) after: PathBuf,
    /// Exit with 3 if a run takes significantly longer in B than R times its time in A
    ///
    /// Also exit with 3 if a check that passed in A failed, was undecided or was limited by rounding in B.
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
    /// A bundle whose checksums or figures do not match or in which a run failed its check is left out, and the
    /// exit code is 3. Numbers open their bundles in the viewer if its page is viewer/index.html in the folder.
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

/// The state of the viewer if none is given.
pub(super) const STATE: &str = "v1";

#[derive(Debug, Args)]
pub(super) struct ExportArgs {
    /// The bundles; --csv and --bencher take only one, --html also takes lessons
    #[arg(value_name = "BUNDLE", required = true)]
    pub(super) bundles: Vec<PathBuf>,
    /// State of the viewer: the part of a link after #, e.g. v1;theme=dark
    #[arg(long, value_name = "LINK", default_value = STATE, help_heading = WHAT)]
    pub(super) state: String,
    /// View of the figure [default: the view of the state]
    #[arg(long, value_name = "NAME", help_heading = WHAT)]
    pub(super) view: Option<String>,
    /// Chart, e.g. roofline; `help` lists all [default: the chart of the state]
    #[arg(long, value_name = "NAME", help_heading = WHAT)]
    pub(super) chart: Option<String>,
    /// Write the table of runs as CSV; - prints it
    #[arg(long, value_name = "FILE", help_heading = OUTPUT)]
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
