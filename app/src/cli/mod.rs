//! The command line: arguments in, one exit code out. Results go to standard output, progress and errors to
//! standard error.

// First, so that its macro applies to the modules after it.
#[macro_use]
mod terminal;

mod adapter;
mod args;
mod bench;
mod bench_args;
mod bencher;
mod board;
mod bundle_args;
mod choice;
mod compare;
mod convert;
mod devices;
mod export;
mod fetch;
mod figure;
mod folder;
mod generate;
pub(crate) mod gpu;
#[cfg(feature = "mpi")]
mod gpu_of_rank;
mod help;
mod html;
mod info;
mod interrupt;
mod kernels;
mod manual;
mod markup;
mod matrix_output;
mod merge;
mod missing;
#[cfg(feature = "mpi")]
mod mpi;
mod operand_args;
mod operands;
mod outcome;
mod output;
mod page;
mod parameter_args;
pub(crate) mod program;
mod progress;
mod ranks;
mod report;
mod serve;
mod shared_args;
#[cfg(feature = "mpi")]
mod shared_matrix;
mod skyline;
mod solve;
mod spmm;
mod spmv;
mod symgs;
mod table;
mod track;
mod track_args;
mod values;
mod viewer;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use clap::FromArgMatches;
use sparsescope_core::libraries::{HOST, host};
use sparsescope_core::measure::start_ambient_pool;
use sparsescope_core::record::is_invisible;

use args::{Cli, Command};
pub use info::describe;
use interrupt::Interrupt;
pub use operands::{backend, kernel_of, threads};
use outcome::{Outcome, is_usage};
pub use outcome::{UsageError, not_right, sentence};
pub use progress::Told;

/// Runs the program with these arguments, the first of which is its name, and returns its exit code: 0 success,
/// 1 the work failed, 2 usage, 3 a check failed, 130 after Ctrl-C. `program` is the file that starts it: the
/// window measures in a child process.
pub fn run(args: impl IntoIterator<Item = OsString>, program: PathBuf) -> u8 {
    let args: Vec<OsString> = args.into_iter().collect();
    if let Some(code) = host_library(&args) {
        return code;
    }
    program::set(program);
    let cli = parsed(&args).unwrap_or_else(|error| refuse_arguments(&args, &error));
    if let (Some(_), Some(_)) = (&cli.state, &cli.command) {
        eprintln!(
            "error: `--state` applies only when files are opened: without a command, or after `view`"
        );
        return 2;
    }
    let window = match &cli.command {
        None => Some((&cli.files, &cli.state)),
        Some(Command::View(args)) => Some((&args.files, &args.state)),
        Some(_) => None,
    };
    if let Some((files, state)) = window {
        if let Some(missing) = files.iter().find(|file| !file.exists()) {
            eprintln!("error: `{}` is neither a command nor a file", missing.display());
            return 2;
        }
        return match open_window(files, state.as_deref()) {
            Ok(()) => Outcome::Success.into(),
            Err(error) => fail(&error),
        };
    }
    start_ambient_pool();
    let at_once = cli.command.as_ref().is_some_and(|command| {
        matches!(
            command,
            Command::Compare(_)
                | Command::Track(_)
                | Command::Board(_)
                | Command::Merge(_)
                | Command::Export(_)
                | Command::Info(_)
        )
    });
    let interrupt = match Interrupt::install(at_once) {
        Ok(interrupt) => interrupt,
        Err(error) => return fail(&error),
    };
    if let Some(command) = cli.command.as_ref().filter(|command| ranks::is_shared(command)) {
        #[cfg(feature = "mpi")]
        if ranks::launched().is_some() {
            return mpi::run(command, &interrupt, cli.quiet);
        }
        #[cfg(not(feature = "mpi"))]
        if let Some(sentence) = ranks::refusal(command) {
            return fail(&anyhow::anyhow!(sentence));
        }
    }
    let result = match cli.command {
        None | Some(Command::View(_)) => Ok(Outcome::Success), // the window was everything
        Some(Command::Bench(args)) => bench::run(&args, &interrupt, cli.quiet),
        Some(Command::Info(args)) => info::run(&args, &interrupt, cli.quiet),
        Some(Command::Spmv(args)) => spmv::run(&args, &interrupt, cli.quiet),
        Some(Command::Spmm(args)) => spmm::run(&args, &interrupt, cli.quiet),
        Some(Command::Symgs(args)) => symgs::run(&args, &interrupt, cli.quiet),
        Some(Command::Skyline(args)) => skyline::run(&args, &interrupt, cli.quiet),
        Some(Command::Solve(args)) => solve::run(&args, &interrupt, cli.quiet),
        Some(Command::Generate(args)) => generate::run(&args, &interrupt, cli.quiet),
        Some(Command::Convert(args)) => convert::run(&args, &interrupt, cli.quiet),
        Some(Command::Kernels(args)) => kernels::run(&args),
        Some(Command::Devices(args)) => devices::run(&args, &interrupt),
        Some(Command::Fetch(args)) => fetch::run(&args, &interrupt, cli.quiet),
        Some(Command::Compare(args)) => compare::run(&args),
        Some(Command::Track(args)) => track::run(&args, cli.quiet),
        Some(Command::Board(args)) => board::run(&args, cli.quiet),
        Some(Command::Merge(args)) => merge::run(&args, cli.quiet),
        Some(Command::Export(args)) => export::run(&args, cli.quiet),
        Some(Command::Serve(args)) => serve::run(&args, &interrupt),
        Some(Command::Completions(args)) => manual::completions(&args),
        Some(Command::Man(args)) => manual::run(&args, cli.quiet),
    };
    match result {
        Ok(outcome) => outcome.into(),
        Err(_) if interrupt.by_user() => {
            eprintln!("interrupted");
            Outcome::Interrupted.into()
        }
        Err(error) => fail(&error),
    }
}

/// Runs a kernel library for another process of this program, if the arguments say so, until that process is done
/// with it; returns the exit code.
fn host_library(args: &[OsString]) -> Option<u8> {
    let [_, word, library, area, token] = args else { return None };
    (word == HOST).then(|| {
        let files = [library, area].map(Path::new);
        let commands = std::io::BufReader::new(std::io::stdin());
        host(files, &token.to_string_lossy(), gpu::for_library, commands, std::io::stdout())
    })
}

/// Runs `bench` with these arguments in the caller's process and returns the exit code, or the error in one
/// sentence. `stop` ends it with what was measured; the caller handles Ctrl-C.
pub fn measure(args: &[OsString], stop: Arc<AtomicBool>) -> Result<u8, String> {
    let cli = parsed(args).map_err(|error| error.render().to_string().trim_end().to_owned())?;
    let Some(Command::Bench(args)) = cli.command else {
        return Err("expected the arguments of `bench`".to_owned());
    };
    let outcome = bench::run(&args, &Interrupt::raised_by(stop), cli.quiet);
    outcome.map(u8::from).map_err(|error| sentence(&error))
}

fn parsed(args: &[OsString]) -> Result<Cli, clap::Error> {
    let found = Cli::program().try_get_matches_from(args)?;
    Cli::from_arg_matches(&found).map_err(|error| error.format(&mut Cli::program()))
}

#[cfg(feature = "gui")]
fn open_window(files: &[std::path::PathBuf], state: Option<&str>) -> anyhow::Result<()> {
    crate::window::run(files, state)
}

#[cfg(not(feature = "gui"))]
fn open_window(_: &[std::path::PathBuf], _: Option<&str>) -> anyhow::Result<()> {
    anyhow::bail!(
        "this build has no window; `cargo window` in the sources builds one (`--features gui`), and \
         `sparsescope --help` lists the commands of this build"
    )
}

/// Prints what is wrong with the arguments, or the help, and exits. Arguments that contain terminal control
/// sequences are shown without colours, since clap's text cannot be told apart from theirs.
fn refuse_arguments(args: &[OsString], error: &clap::Error) -> ! {
    let steers = |arg: &OsString| arg.to_string_lossy().chars().any(is_invisible);
    if !args.iter().any(steers) {
        error.exit();
    }
    terminal::say(error.render().to_string().trim_end());
    std::process::exit(error.exit_code())
}

/// Prints one sentence on standard error. A reader that closed its end of the pipe is not an error.
fn fail(error: &anyhow::Error) -> u8 {
    let closed_pipe = error.chain().any(|cause| {
        let io = cause.downcast_ref::<std::io::Error>();
        io.is_some_and(|e| e.kind() == std::io::ErrorKind::BrokenPipe)
    });
    if closed_pipe {
        return 0;
    }
    eprintln!("error: {}", sentence(error));
    if is_usage(error) { 2 } else { 1 }
}
