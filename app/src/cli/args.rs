//! The command line: all commands, and the arguments of those without a file of their own.

use std::path::PathBuf;

use clap::{Args, Command as Program, CommandFactory, Parser, Subcommand};
use clap_complete::Shell;

use super::bench_args::BenchArgs;
use super::bundle_args::{BoardArgs, CompareArgs, ExportArgs, MergeArgs};
use super::help::{self, LAST, OUTPUT, WHAT};
use super::operand_args::{SkylineArgs, SolveArgs, SpmmArgs, SpmvArgs, SymgsArgs};
use super::shared_args::{GpuArgs, ReadArgs, ReorderArg};
use super::track_args::TrackArgs;
use super::values::{MAX_SIZE, byte_count, thread_count};

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
    /// Print only results, warnings and errors
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
    /// List all generators and suites with their parameters
    #[arg(long, conflicts_with_all = ["spec", "output"], help_heading = WHAT)]
    pub(super) list: bool,
    /// File to write; gzipped if its name ends in .gz
    ///
    /// A matrix is written in the form of the extension (`convert --help` lists them), else as Matrix Market. Points
    /// are written as CSV to .csv files, as binary to .points files and as text to all others.
    #[arg(short, value_name = "FILE", required_unless_present = "list", help_heading = OUTPUT)]
    pub(super) output: Option<PathBuf>,
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
    /// If OUT ends in .points or .csv, IN is a point set: file, gen:points-KIND?key=value&... or suite:NAME.
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
    /// Largest archive to download, e.g. 500M; it may decompress to 16 times as much [default: 64GiB]
    #[arg(long, value_name = "BYTES", value_parser = byte_count, default_value_t = MAX_SIZE, hide_default_value = true, help_heading = WHAT)]
    pub(super) max_size: u64,
    /// Folder to download to [default: `sparsescope/matrices` in the user's cache folder]
    #[arg(long, value_name = "FOLDER", help_heading = OUTPUT)]
    pub(super) folder: Option<PathBuf>,
    /// Download again even if cached
    #[arg(long, help_heading = OUTPUT)]
    pub(super) force: bool,
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
pub(super) struct ViewArgs {
    /// Bundles, matrices and lessons to open [default: the start page]
    #[arg(value_name = "FILE")]
    pub(super) files: Vec<PathBuf>,
    /// Open with this viewer state: the part of a web viewer link after `#`
    #[arg(long, value_name = "v1;...", help_heading = WHAT)]
    pub(super) state: Option<String>,
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
